package experiments

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/checkers"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// scribe is an observer of its own with what a test tells it and the journal.
type scribe struct {
	o    *observer
	lsn  wal.LSN
	page map[page.ID]*page.Page
}

// act draws something that a writer's boot may do.
func (w *scribe) act(rt *rapid.T) {
	w.lsn += 8
	j := w.o.rec.log
	switch rapid.IntRange(0, 5).Draw(rt, "act") {
	case 5:
		blocks := uint32(rapid.IntRange(0, 3).Draw(rt, "blocks"))
		w.o.oracle.Truncated(16384, blocks, w.lsn)
		j.cut(16384, blocks, w.lsn)
	case 0:
		w.o.commits = append(w.o.commits, w.lsn)
		j.appended(w.lsn)
	case 1:
		if len(w.o.commits) > 0 {
			first := w.o.commits[0]
			w.o.recall(first)
			w.o.rec.visible(first)
		}
	case 2:
		w.o.survived(w.lsn - wal.LSN(8*rapid.IntRange(1, 4).Draw(rt, "back")))
	default:
		id := page.ID{Rel: 16384, Block: uint32(rapid.IntRange(0, 2).Draw(rt, "block"))}
		p := w.page[id]
		if p == nil {
			p = new(page.Page)
			w.page[id] = p
		}
		p[rapid.IntRange(0, page.Size-1).Draw(rt, "byte")]++
		w.o.oracle.Appended(id, w.lsn, p)
		j.page(id, w.lsn, p)
	}
}

func newScribe(t require.TestingT, path string) *scribe {
	event := int64(0)
	rec := &Recorder{stamp: func() int64 { event++; return event }}
	j, err := openJournal(path)
	require.NoError(t, err)
	rec.log = j
	return &scribe{o: newObserver(rec), page: map[page.ID]*page.Page{}}
}

// TestJournalIsMemory: an observer that reads a journal knows what the one
// knew that wrote it.
func TestJournalIsMemory(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(dir, "w.1.journal")
		require.NoError(rt, os.RemoveAll(path))
		w := newScribe(rt, path)
		for range rapid.IntRange(0, 30).Draw(rt, "acts") {
			w.act(rt)
		}
		require.NoError(rt, w.o.rec.log.f.Close())
		o := newObserver(&Recorder{})
		a, err := readJournal(path, "w", o)
		require.NoError(rt, err)
		require.Equal(rt, w.o.rec.hist.Commits, a.hist.Commits)
		require.True(rt, slices.Equal(w.o.commits, o.commits), "%v %v", w.o.commits, o.commits)
		require.True(rt, slices.Equal(w.o.found, o.found), "%v %v", w.o.found, o.found)
		for id, p := range w.page {
			require.Equal(rt, w.o.oracle.Latest(id), o.oracle.Latest(id))
			got, want := o.oracle.Check(id, w.lsn, p), w.o.oracle.Check(id, w.lsn, p)
			require.Equal(rt, want, got)
		}
	})
}

// TestJournalCutShort: wherever SIGKILL cuts a journal off, it reads as what
// was whole.
func TestJournalCutShort(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "c1.1.journal")
	j, err := openJournal(path)
	require.NoError(t, err)
	op := checkers.Op{ID: 1, Client: 1, Worker: 1, Kind: checkers.Put, Keys: []int64{3}, Values: []uint64{17},
		Host: "db", Outcome: checkers.Pending, Call: 5, Return: checkers.Open}
	j.op(&op)
	op.Outcome, op.Return, op.Token = checkers.Committed, 9, 0x120
	j.op(&op)
	j.mark(checkers.Observation{Name: "epoch", Host: "db", Boot: 2, LSN: 7, Event: 10})
	j.broken(checkers.Verdict{Check: "pages", What: "bad", Details: []string{"a \"b\"", "c"}})
	require.NoError(t, j.f.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	seen := map[checkers.Outcome]bool{}
	for n := range len(text) + 1 {
		require.NoError(t, os.WriteFile(path, text[:n], 0o644))
		a, err := readJournal(path, "c1", nil)
		require.NoError(t, err, "%q", text[:n])
		if len(a.hist.Ops) > 0 {
			seen[a.hist.Ops[0].Outcome] = true
		}
		if n == len(text) {
			require.Equal(t, []checkers.Op{op}, a.hist.Ops)
			require.Equal(t, []checkers.Observation{{Name: "epoch", Host: "db", Boot: 2, LSN: 7, Event: 10}}, a.marks)
			require.Equal(t, []checkers.Verdict{{Check: "pages", Result: checkers.Broken, What: "bad",
				Details: []string{"a \"b\"", "c"}}}, a.broken)
			require.Equal(t, "c1: bad", pagesVerdict([]*account{a}).What)
		}
	}
	require.Equal(t, map[checkers.Outcome]bool{checkers.Pending: true, checkers.Committed: true}, seen)
}

func FuzzJournal(f *testing.F) {
	f.Add("mark durable db/1 0/120 7\nappend 0/120\nsurvived 0/80\ncommit 0/120 visible 9\n")
	f.Add("op 1 c1 n1 db/0 put k3=17 pending 5..\nop 1 c1 n1 db/0 put k3=17 committed @0/120 5..9\n")
	f.Add("page 16384 3 0/120 AAAA\ncut 16384 2 0/128\nbroken pages \"what\\nmore\"\n")
	f.Add("boot db/1 4 end 0/80\nexit db/1 9 disk full\ndurable 5 0/80\n")
	path := filepath.Join(f.TempDir(), "x.1.journal")
	f.Fuzz(func(t *testing.T, text string) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		a, err := readJournal(path, "x", newObserver(&Recorder{}))
		if err != nil {
			require.ErrorContains(t, err, path)
			return
		}
		h := merge([]*account{a})
		require.Len(t, h.Ops, len(a.hist.Ops))
	})
}

func TestJournalErrorsNameTheLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.1.journal")
	for text, want := range map[string]string{
		"append 0/1\nappend x\n":          `:2: "x", want an LSN`,
		"cut 1 2\n":                       ":1: 2 words, want a relation",
		"cut 1 x 0/8\n":                   ":1: strconv.ParseUint",
		"mark a\n":                        ":1: 1 words, want a mark's name",
		"page 1 2 0/8 AAAA\n":             "sector 0 with 2 bytes",
		"page 1 2 0/8 EAAA\n":             "sector 16 with 2 bytes",
		"page 1 2 0/8 !\n":                ":1: illegal base64",
		"broken pages what\n":             `:1: "what"`,
		"op 1 c1 db/0 put k1=1 hm 1..2\n": "its history: line 2",
		"hello\n":                         "its history: line 2",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := readJournal(path, "x", nil)
		require.ErrorContains(t, err, want)
	}
}

// TestMerge: operations get the boot of their server and numbers of their own,
// and what a killed client did not hear of is unknown.
func TestMerge(t *testing.T) {
	parse := func(host, text string) *account {
		h, err := checkers.Parse("tornpage history 1\n" + text)
		require.NoError(t, err)
		return &account{host: host, hist: *h}
	}
	h := merge([]*account{
		parse("db", "boot db/1 1 end 0/10\ndurable 2 0/20\ndurable 8 0/40\ncommit 0/40 visible 9\n"),
		parse("c1", "op 1 c1 n1 db/0 put k1=7 committed @0/40 5..10\nop 2 c1 n1 db/0 put k1=8 pending 14..\n"),
		parse("c2", "op 1 c1 n2 db/0 get k1=7 committed @0/40 11..13\nop 2 c1 n2 db/0 get k1 pending 25..\n"),
		parse("db", "boot db/2 20 end 0/40\ndurable 21 0/30\n"),
		parse("c1", "op 1 c1 n1 db/0 get k1=7 committed @0/40 22..23\n"),
	})
	require.Equal(t, `tornpage history 1
boot db/1 1 end 0/10
boot db/2 20 end 0/40
durable 2 0/20
durable 8 0/40
commit 0/40 visible 9
op 1 c1 n1 db/1 put k1=7 committed @0/40 5..10
op 2 c2 n2 db/1 get k1=7 committed @0/40 11..13
op 3 c1 n1 db/1 put k1=8 unknown 14..
op 4 c3 n1 db/2 get k1=7 committed @0/40 22..23
op 5 c2 n2 db/2 get k1 pending 25..
`, h.String())
}

// TestBoard: two mappings give every stamp once, and in order to each.
func TestBoard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "board")
	first, err := makeBoard(path)
	require.NoError(t, err)
	const each = 10_000
	var stamps [2][]int64
	var both sync.WaitGroup
	for i := range stamps {
		b, err := openBoard(path)
		require.NoError(t, err)
		both.Go(func() {
			for range each {
				stamps[i] = append(stamps[i], b.stamp())
			}
		})
		t.Cleanup(func() { require.NoError(t, b.close()) })
	}
	both.Wait()
	all := slices.Concat(stamps[0], stamps[1])
	require.True(t, slices.IsSorted(stamps[0]) && slices.IsSorted(stamps[1]))
	slices.Sort(all)
	require.Len(t, slices.Compact(all), 2*each)
	require.EqualValues(t, 2*each+1, first.stamp())
	require.NoError(t, first.close())

	require.NoError(t, os.WriteFile(path, []byte("short"), 0o644))
	_, err = openBoard(path)
	require.ErrorContains(t, err, "5 bytes, want 4096")
}
