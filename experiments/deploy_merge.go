package experiments

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"tornpage/checkers"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// account is what one process of a deployment left in its journal.
type account struct {
	host   string
	hist   checkers.History
	marks  []checkers.Observation
	broken []checkers.Verdict
}

// readJournal reads the journal of a process. What concerns pages and commits
// in the log is told to an observer, if there is one, as it happened: so a
// boot takes over what its predecessors knew.
func readJournal(path, host string, o *observer) (*account, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := reader{a: account{host: host}, o: o, pages: map[page.ID]*page.Page{}}
	empty := checkers.History{}
	r.text.WriteString(empty.String())
	for number := 1; ; number++ {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			break // the process died in it
		}
		text = rest
		if err := r.line(string(line)); err != nil {
			return nil, fmt.Errorf("journal %s:%d: %w", path, number, err)
		}
	}
	h, err := checkers.Parse(r.text.String())
	if err != nil {
		return nil, fmt.Errorf("journal %s, its history: %w", path, err)
	}
	r.a.hist = *h
	r.a.hist.Ops = lastWords(h.Ops)
	return &r.a, nil
}

// lastWords keeps the last line of each operation.
func lastWords(ops []checkers.Op) []checkers.Op {
	at := map[int64]int{}
	var kept []checkers.Op
	for _, op := range ops {
		i, ok := at[op.ID]
		if !ok {
			i = len(kept)
			at[op.ID] = i
			kept = append(kept, op)
		}
		kept[i] = op
	}
	return kept
}

// reader reads one journal.
type reader struct {
	a     account
	o     *observer // may be nil
	text  strings.Builder
	pages map[page.ID]*page.Page
}

func (r *reader) line(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	f := strings.Fields(rest)
	switch word {
	case "mark":
		return r.mark(f)
	case "broken":
		return r.broken(rest)
	case "append", "survived":
		lsn, err := parseLSN(strings.Join(f, " "))
		if err == nil && r.o != nil {
			r.commit(word, lsn)
		}
		return err
	case "page":
		return r.page(f)
	case "cut":
		return r.cut(f)
	case "commit":
		if len(f) > 0 && r.o != nil {
			lsn, err := parseLSN(f[0])
			if err != nil {
				return err
			}
			r.o.recall(lsn)
		}
	}
	r.text.WriteString(line + "\n")
	return nil
}

func (r *reader) commit(word string, lsn wal.LSN) {
	if word == "append" {
		r.o.commits = append(r.o.commits, lsn)
		return
	}
	r.o.survived(lsn)
}

// recall takes in that an earlier boot showed a commit.
func (o *observer) recall(lsn wal.LSN) {
	upTo := func(c wal.LSN) bool { return c <= lsn }
	o.commits = slices.DeleteFunc(o.commits, upTo)
	o.found = slices.DeleteFunc(o.found, upTo)
}

func (r *reader) mark(f []string) error {
	if len(f) != 4 {
		return fmt.Errorf("%d words, want a mark's name, host/boot, LSN and event", len(f))
	}
	host, boot, _ := strings.Cut(f[1], "/")
	b, err1 := strconv.ParseUint(boot, 10, 64)
	lsn, err2 := parseLSN(f[2])
	event, err3 := strconv.ParseInt(f[3], 10, 64)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return err
	}
	r.a.marks = append(r.a.marks, checkers.Observation{Name: f[0], Host: host, Boot: b, LSN: lsn, Event: event})
	return nil
}

func (r *reader) broken(rest string) error {
	check, what, _ := strings.Cut(rest, " ")
	text, err := strconv.Unquote(what)
	if err != nil {
		return fmt.Errorf("%.60q: %w", what, err)
	}
	lines := strings.Split(text, "\n")
	r.a.broken = append(r.a.broken, checkers.Verdict{Check: check, Result: checkers.Broken, What: lines[0], Details: lines[1:]})
	return nil
}

// page rebuilds a page from the sectors that changed.
func (r *reader) page(f []string) error {
	if len(f) != 4 {
		return fmt.Errorf("%d words, want a page's relation, block, LSN and sectors", len(f))
	}
	rel, err1 := strconv.ParseUint(f[0], 10, 32)
	block, err2 := strconv.ParseUint(f[1], 10, 32)
	lsn, err3 := parseLSN(f[2])
	sectors, err4 := base64.StdEncoding.DecodeString(f[3])
	if err := cmp.Or(err1, err2, err3, err4); err != nil {
		return err
	}
	id := page.ID{Rel: page.Rel(rel), Block: uint32(block)}
	p := r.pages[id]
	if p == nil {
		p = new(page.Page)
		r.pages[id] = p
	}
	for ; len(sectors) > 0; sectors = sectors[1+pageSector:] {
		at := int(sectors[0]) * pageSector
		if len(sectors) < 1+pageSector || at+pageSector > page.Size {
			return fmt.Errorf("page %v: sector %d with %d bytes, want one below %d with %d", id, sectors[0],
				len(sectors)-1, page.Size/pageSector, pageSector)
		}
		copy(p[at:], sectors[1:1+pageSector])
	}
	if r.o != nil {
		r.o.oracle.Appended(id, lsn, p)
	}
	return nil
}

// cut tells the oracle that a relation was cut.
func (r *reader) cut(f []string) error {
	if len(f) != 3 {
		return fmt.Errorf("%d words, want a relation, its blocks and an LSN", len(f))
	}
	rel, err1 := strconv.ParseUint(f[0], 10, 32)
	blocks, err2 := strconv.ParseUint(f[1], 10, 32)
	lsn, err3 := parseLSN(f[2])
	if err := cmp.Or(err1, err2, err3); err != nil {
		return err
	}
	if r.o != nil {
		r.o.oracle.Truncated(page.Rel(rel), uint32(blocks), lsn)
	}
	return nil
}

func parseLSN(s string) (wal.LSN, error) {
	hi, lo, _ := strings.Cut(s, "/")
	h, err1 := strconv.ParseUint(hi, 16, 32)
	l, err2 := strconv.ParseUint(lo, 16, 32)
	if err := cmp.Or(err1, err2); err != nil {
		return 0, fmt.Errorf("%.60q, want an LSN like 0/1FD8", s)
	}
	return wal.LSN(h<<32 | l), nil
}

// merge makes one history of the accounts of all processes, in the order in
// which the processes were started.
func merge(accounts []*account) *checkers.History {
	h := &checkers.History{}
	last := map[string]int{}
	for n, a := range accounts {
		last[a.host] = n
	}
	clients := 0
	for n, a := range accounts {
		numbers := map[int]int{}
		for _, op := range a.hist.Ops {
			if numbers[op.Client] == 0 {
				clients++
				numbers[op.Client] = clients
			}
			op.Client = numbers[op.Client]
			if op.Outcome == checkers.Pending && last[a.host] != n {
				op.Outcome = checkers.Unknown // its process died and was booted again
			}
			h.Ops = append(h.Ops, op)
		}
		h.Boots = append(h.Boots, a.hist.Boots...)
		h.Exits = append(h.Exits, a.hist.Exits...)
		h.Durable = append(h.Durable, a.hist.Durable...)
		h.Commits = append(h.Commits, a.hist.Commits...)
	}
	slices.SortFunc(h.Ops, func(a, b checkers.Op) int { return cmp.Compare(a.Call, b.Call) })
	for i := range h.Ops {
		h.Ops[i].ID = int64(i + 1)
	}
	slices.SortFunc(h.Boots, func(a, b checkers.Boot) int { return cmp.Compare(a.OpenedAt, b.OpenedAt) })
	slices.SortFunc(h.Exits, func(a, b checkers.Exit) int { return cmp.Compare(a.Event, b.Event) })
	slices.SortFunc(h.Commits, func(a, b checkers.Commit) int { return cmp.Compare(a.Visible, b.Visible) })
	slices.SortFunc(h.Durable, func(a, b checkers.Point) int { return cmp.Compare(a.Event, b.Event) })
	top := wal.LSN(0)
	h.Durable = slices.DeleteFunc(h.Durable, func(p checkers.Point) bool {
		known := p.LSN <= top
		top = max(top, p.LSN)
		return known
	})
	nameBoots(h)
	return h
}

// nameBoots gives each operation the boot of its server: the last that had
// opened when it was called. A server answers only once it has opened, and a
// request reaches no later boot than the one that its connection was made to
// (rule D2). If another boot opened between, that connection was dead, and the
// operation did nothing, whatever its boot is said to be.
func nameBoots(h *checkers.History) {
	for i := range h.Ops {
		for _, b := range h.Boots {
			if op := &h.Ops[i]; b.Host == op.Host && b.OpenedAt < op.Call {
				op.Boot = b.Boot
			}
		}
	}
}

// watermarks holds what all processes observed against the rules, in the order
// of their stamps.
func watermarks(accounts []*account) checkers.Verdict {
	var all []checkers.Observation
	for _, a := range accounts {
		all = append(all, a.marks...)
	}
	slices.SortFunc(all, func(a, b checkers.Observation) int { return cmp.Compare(a.Event, b.Event) })
	w := newObserver(&Recorder{}).marks
	for _, o := range all {
		w.Observe(o)
	}
	return w.Verdict()
}

// pagesVerdict is the first page that some boot found wrong.
func pagesVerdict(accounts []*account) checkers.Verdict {
	for _, a := range accounts {
		for _, v := range a.broken {
			v.What = a.host + ": " + v.What
			return v
		}
	}
	return checkers.Verdict{Check: "pages", Result: checkers.Holds}
}
