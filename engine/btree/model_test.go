package btree

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine"
	"tornpage/engine/compute/computetest"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
	"tornpage/sim"
)

// entry is what the model knows of one entry. Times are steps of one counter.
type entry struct {
	key     int64
	id      page.TID
	begun   uint64  // when its insert began
	done    uint64  // when that had ended, 0: not
	doneLSN wal.LSN // a log end at which its insert record is surely in
	dead    uint64  // since when vacuum may remove it, 0: it may not
	gone    uint64  // when the vacuum that surely removed it had ended, 0: not
	goneLSN wal.LSN
}

// scene is a run of several boots.
type scene struct {
	fail     func(format string, args ...any)
	mem      *computetest.Mem
	cfg      Config
	pad      int
	frames   int
	moves    uint64
	tasks    int
	ops      int
	keys     uint64
	vacuums  bool
	full     uint64
	refused  int
	clock    uint64
	nextID   uint32
	entries  map[page.TID]*entry
	vacuumed int
	pages    int
	counts   map[string]int
	marks    map[string]uint64
}

func (s *scene) now() uint64 { s.clock++; return s.clock }

// boot checks what the last boot left, works, and checks again.
func (s *scene) boot(m host.Machine) {
	durable := s.mem.End()
	b := start(m, s.mem, s.frames, s.moves, s.cfg)
	s.settle(b, min(durable, b.st.Durable()))
	b.full = s.full
	left := s.tasks
	done := m.NewCond(host.WaitWork)
	for i := range s.tasks {
		m.Go(fmt.Sprint("task ", i), func() {
			s.task(b, i, m.Rand("task", uint64(i)))
			left--
			done.Broadcast()
		})
	}
	for left > 0 {
		done.Wait()
	}
	if err := b.st.WaitDurable(s.mem.End()); err != nil {
		s.fail("%v", err)
	}
	s.settle(b, 0)
	s.compare(b)
}

// settle holds the tree on which nothing works against the model, and takes
// over what only the tree can know. Whatever was done by durable must be there.
func (s *scene) settle(b *boot, durable wal.LSN) {
	st, bad := b.findings()
	if len(bad) > 0 {
		s.fail("boot %d: %v", b.m.Boot(), bad)
	}
	s.counts["incomplete"] += st.Incomplete
	s.counts["half-dead"] += st.HalfDead
	s.counts["levels"] = max(s.counts["levels"], st.Levels)
	have := map[page.TID]int64{}
	c := b.tree.Scan(Range{})
	for {
		tuple, id, ok, err := c.Next()
		if err != nil {
			s.fail("scan of a quiet tree: %v", err)
		}
		if !ok {
			break
		}
		have[id] = keyOf(tuple)
	}
	c.Close()
	if st.Entries != len(have) {
		s.fail("the check counts %d entries, a scan %d", st.Entries, len(have))
	}
	for _, id := range slices.SortedFunc(maps.Keys(s.entries), compareIDs) {
		e := s.entries[id]
		key, ok := have[id]
		delete(have, id)
		in := e.done != 0 && (durable == 0 || e.doneLSN <= durable)
		out := e.gone != 0 && (durable == 0 || e.goneLSN <= durable)
		switch {
		case ok && key != e.key:
			s.fail("row %v has key %d, want %d", id, key, e.key)
		case ok && out:
			s.fail("row %v of key %d is back", id, e.key)
		case !ok && in && e.dead == 0:
			s.fail("row %v of key %d is lost", id, e.key)
		case !ok:
			delete(s.entries, id)
		default:
			e.begun, e.done, e.doneLSN, e.gone = 0, s.now(), 0, 0
		}
	}
	if len(have) > 0 {
		s.fail("rows that nobody inserted: %v", have)
	}
}

func compareIDs(a, b page.TID) int {
	return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(a.Offset, b.Offset))
}

// compare holds the pages in the pool against redo of the log.
func (s *scene) compare(b *boot) {
	pages, _, err := s.mem.Replay()
	if err != nil {
		s.fail("replay: %v", err)
	}
	n, _ := b.pg.Blocks(testRel)
	for block := range n {
		id := page.ID{Rel: testRel, Block: block}
		f, err := b.pg.Pool().Pin(id)
		if err != nil {
			s.fail("%v", err)
		}
		want := pages[id]
		if want == nil {
			want = new(page.Page)
		}
		if err := computetest.Equal(id, f.Page(), want); err != nil {
			s.fail("done against redone: %v", err)
		}
		b.pg.Pool().Unpin(f)
	}
}

func (s *scene) task(b *boot, n int, r host.Rand) {
	for range s.ops {
		switch k := r.N(16); {
		case k < 8:
			s.insert(b, int64(r.N(s.keys)), 1+int(r.N(3)))
		case k < 10:
			s.lookup(b, int64(r.N(s.keys)))
		case k < 12:
			s.scan(b, &r)
		case k < 15 && s.vacuums:
			s.kill(&r)
		case k == 15 && n == 0 && s.vacuums:
			s.vacuum(b)
		}
		if r.N(6) == 0 {
			b.m.Sleep(time.Duration(r.N(200_000)))
		}
	}
}

func (s *scene) insert(b *boot, key int64, count int) {
	for range count {
		s.nextID++
		e := &entry{key: key, id: page.TID{Block: s.nextID * 7919 % 100_003, Offset: uint16(s.nextID%3) + 1}, begun: s.now()}
		s.entries[e.id] = e
		err := b.tree.Insert(9, tupleOf(nil, key, s.pad), e.id)
		if s.isFull(err) {
			delete(s.entries, e.id) // it must not be there
			continue
		}
		if err != nil {
			s.fail("insert of %d: %v", key, err)
		}
		e.done, e.doneLSN = s.now(), s.mem.End()
	}
}

func (s *scene) isFull(err error) bool {
	if s.full == 0 || !errors.Is(err, engine.ErrFull) {
		return false
	}
	s.refused++
	return true
}

// kill lets vacuum remove some entries, whole ranges of keys at times.
func (s *scene) kill(r *host.Rand) {
	from := int64(r.N(s.keys))
	to := from + int64(r.N(1+s.keys/4))
	for _, id := range slices.SortedFunc(maps.Keys(s.entries), compareIDs) {
		if e := s.entries[id]; e.done != 0 && e.dead == 0 && e.key >= from && e.key <= to {
			e.dead = s.now()
		}
	}
}

func (s *scene) vacuum(b *boot) {
	at := s.now()
	st, err := b.tree.Vacuum(func(id page.TID) bool {
		e := s.entries[id]
		if e == nil {
			s.fail("vacuum met row %v, which nobody inserted", id)
		}
		return e.dead != 0 && e.dead < at
	})
	s.pages += st.Pages
	if s.isFull(err) {
		return
	}
	if err != nil {
		s.fail("vacuum: %v", err)
	}
	s.vacuumed += st.Deleted
	ended := s.now()
	for _, e := range s.entries {
		if e.dead != 0 && e.dead < at && e.gone == 0 {
			e.gone, e.goneLSN = ended, s.mem.End()
		}
	}
}

// judge holds what a reader saw between two times against the model: got is in
// order, has all that was there all the time, and nothing that never was.
func (s *scene) judge(what string, begun uint64, got []got, belongs func(key int64) bool, desc bool) {
	ended := s.now()
	saw := map[page.TID]bool{}
	for i, g := range got {
		e := s.entries[g.id]
		switch {
		case e == nil || e.key != g.key || !belongs(g.key):
			s.fail("%s saw key %d row %v, which does not belong there", what, g.key, g.id)
		case e.gone != 0 && e.gone < begun:
			s.fail("%s saw key %d row %v, which was removed before", what, g.key, g.id)
		case saw[g.id]:
			s.fail("%s saw key %d row %v twice", what, g.key, g.id)
		}
		saw[g.id] = true
		if i > 0 {
			c := cmp.Or(cmp.Compare(got[i-1].key, g.key), compareIDs(got[i-1].id, g.id))
			if c == 0 || (c > 0) != desc {
				s.fail("%s saw %v after %v", what, g, got[i-1])
			}
		}
	}
	for id, e := range s.entries {
		if belongs(e.key) && e.done != 0 && e.done < begun && (e.dead == 0 || e.dead > ended) && !saw[id] {
			s.fail("%s did not see key %d row %v, there since %d (now %d to %d)", what, e.key, id, e.done, begun, ended)
		}
	}
}

type got struct {
	key int64
	id  page.TID
}

func (s *scene) lookup(b *boot, key int64) {
	begun := s.now()
	ids, err := b.tree.Lookup(tupleOf(nil, key, s.pad), nil)
	if err != nil {
		s.fail("lookup: %v", err)
	}
	var all []got
	for _, id := range ids {
		all = append(all, got{key, id})
	}
	s.judge(fmt.Sprintf("lookup of %d", key), begun, all, func(k int64) bool { return k == key }, false)
}

// scan reads a range, open or closed, at times by a prefix: keys div 4.
func (s *scene) scan(b *boot, r *host.Rand) {
	from, to := int64(r.N(s.keys)), int64(r.N(s.keys))
	var rg Range
	rg.Desc = r.N(2) == 0
	prefix := r.N(4) == 0
	bound := func(key int64) (bd Bound) {
		if r.N(5) == 0 {
			return bd
		}
		bd = Bound{Tuple: tupleOf(nil, key, 0), Inclusive: r.N(2) == 0}
		if prefix {
			bd.Compare = func(a, b []byte) int { return cmp.Compare(keyOf(a)/4, keyOf(b)/4) }
		}
		return bd
	}
	rg.From, rg.To = bound(from), bound(to)
	if prefix {
		from, to = from/4, to/4
	}
	belongs := func(k int64) bool {
		if prefix {
			k /= 4
		}
		return (rg.From.Tuple == nil || k > from || k == from && rg.From.Inclusive) &&
			(rg.To.Tuple == nil || k < to || k == to && rg.To.Inclusive)
	}
	begun := s.now()
	c := b.tree.Scan(rg)
	defer c.Close()
	var all []got
	for {
		tuple, id, ok, err := c.Next()
		if err != nil {
			s.fail("scan: %v", err)
		}
		if !ok {
			break
		}
		all = append(all, got{keyOf(tuple), id})
		if r.N(8) == 0 {
			b.m.Sleep(time.Duration(r.N(100_000)))
		}
	}
	s.judge(fmt.Sprintf("scan from %d to %d, %+v", from, to, rg), begun, all, belongs, rg.Desc)
}

func (s *scene) begin() { s.entries, s.counts = map[page.TID]*entry{}, map[string]int{} }

// play runs the scene: each kill ends a boot after so long.
func (s *scene) play(t require.TestingT, seed uint64, kills []time.Duration) {
	s.begin()
	w := world(t, seed, s.boot)
	defer w.Close()
	for _, after := range kills {
		w.Boot("h")
		w.Run(w.Now() + after)
		s.failed(w)
		w.Kill("h")
	}
	w.Boot("h")
	w.Run(w.Now() + time.Hour)
	s.failed(w)
	if w.Up("h") {
		s.fail("the last boot did not finish its work")
	}
}

func (s *scene) failed(w *sim.World) {
	if f := w.Failure(); f != nil {
		s.fail("%v\n%s", f, f.Stack)
	}
}
