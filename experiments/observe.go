package experiments

import (
	"fmt"

	"tornpage/checkers"
	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// observer watches the writer's storage over all its boots: the page oracle,
// the watermarks, the durable points and the commits of the history. It is a
// decorator of engine.Storage, so the engine does not know of it.
type observer struct {
	rec     *Recorder
	oracle  *checkers.Oracle
	marks   *checkers.Watermarks
	pages   checkers.Verdict // the first page that was wrong
	commits []wal.LSN        // appended, and not yet seen by readers
	found   []wal.LSN        // of them, what recovery kept
	copy    page.Page
}

func newObserver(rec *Recorder) *observer {
	return &observer{
		rec:    rec,
		oracle: checkers.NewOracle(checkers.Masking{Hints: true}),
		marks: checkers.NewWatermarks(
			checkers.Monotone("durable"), checkers.Monotone("append"), checkers.Monotone("visible"),
			checkers.Lasting("epoch"), checkers.Sole("epoch"),
			checkers.Order("visible", "<=", "durable", checkers.SameBoot),
			checkers.Order("evict", "<=", "durable", checkers.SameBoot),
			checkers.Order("view", "<=", "durable", checkers.Cluster),
		),
		pages: checkers.Verdict{Check: "pages", Result: checkers.Holds},
	}
}

// canonical is the page as the oracle compares it: the sums of a page of parts
// are only right once it was sealed.
func (o *observer) canonical(id page.ID, p *page.Page) *page.Page {
	if !id.Rel.HasParts() {
		return p
	}
	o.copy = *p
	page.Seal(id, &o.copy, true)
	return &o.copy
}

// watched is one boot's storage under observation.
type watched struct {
	engine.Storage
	m       host.Machine
	o       *observer
	durable wal.LSN // the last one noted
}

func (o *observer) watch(m host.Machine, st engine.Storage) *watched {
	return &watched{Storage: st, m: m, o: o}
}

func (w *watched) note(name string, lsn wal.LSN) {
	seen := checkers.Observation{Event: w.o.rec.stamp(), Host: w.m.Name(), Boot: w.m.Boot(), Name: name, LSN: lsn}
	w.o.marks.Observe(seen)
	w.o.rec.log.mark(seen)
}

func (w *watched) page(v checkers.Verdict) {
	if w.o.pages.Result == checkers.Holds && v.Result == checkers.Broken {
		v.What = fmt.Sprintf("at event %d, %s", w.o.rec.stamp(), v.What)
		w.o.pages = v
		w.o.rec.log.broken(v)
	}
}

// Open records the boot.
func (w *watched) Open() (engine.State, error) {
	st, err := w.Storage.Open()
	if err != nil {
		return st, err
	}
	o := w.o
	o.survived(st.Survived)
	o.rec.boot(checkers.Boot{Host: w.m.Name(), Boot: w.m.Boot(), End: st.Survived})
	w.note("epoch", wal.LSN(st.Epoch))
	w.note("durable", st.End)
	o.rec.durable(st.End)
	for _, lsn := range o.found {
		o.rec.visible(lsn)
	}
	o.found = o.found[:0]
	return st, nil
}

// survived takes in that all above end, of earlier boots, is gone. It must be
// told before the new boot appends, which gives LSNs above end a new meaning.
// Commits below that nobody had published become visible when the boot opens.
func (o *observer) survived(end wal.LSN) {
	o.rec.log.survived(end)
	o.oracle.Crashed(end)
	for _, lsn := range o.commits {
		if lsn <= end {
			o.found = append(o.found, lsn)
		}
	}
	o.commits = o.commits[:0]
}

// marked is a machine whose marks the observer hears first: a boot may die in
// recovery, after it has cut the log and before Open returns.
type marked struct {
	host.Machine
	heard func(mark string)
}

func (m marked) Mark(name string) {
	m.heard(name)
	m.Machine.Mark(name)
}

// Append shows the oracle each page as its change left it.
func (w *watched) Append(m *wal.MTR, builtFor wal.LSN) (wal.LSN, error) {
	lsn, err := w.Storage.Append(m, builtFor)
	if err != nil {
		return lsn, err
	}
	w.note("append", lsn)
	for i := range m.Blocks() {
		if id, p, _, _ := m.Block(i); p != nil {
			p = w.o.canonical(id, p)
			w.page(w.o.oracle.Appended(id, lsn, p))
			w.o.rec.log.page(id, lsn, p)
		}
	}
	if rel, blocks, ok := m.Truncation(); ok {
		w.page(w.o.oracle.Truncated(rel, blocks, lsn))
		w.o.rec.log.cut(rel, blocks, lsn)
	}
	if m.Rmgr() == wal.RmgrTransaction && m.Info()&wal.XactOpMask == wal.InfoCommit {
		w.o.commits = append(w.o.commits, lsn)
		w.o.rec.log.appended(lsn)
	}
	return lsn, nil
}

func (w *watched) Durable() wal.LSN {
	lsn := w.Storage.Durable()
	w.point(lsn)
	return lsn
}

func (w *watched) WaitDurable(lsn wal.LSN) error {
	if err := w.Storage.WaitDurable(lsn); err != nil {
		return err
	}
	w.point(w.Storage.Durable())
	return nil
}

func (w *watched) point(lsn wal.LSN) {
	if lsn == w.durable {
		return
	}
	w.durable = lsn
	w.note("durable", lsn)
	w.o.rec.durable(lsn)
}

// ReadPage holds what storage gives against what was appended. A cut may be
// appended while a page behind it is read ahead: then either answer is right.
func (w *watched) ReadPage(id page.ID, changedBy, at wal.LSN, p *page.Page) error {
	before := w.o.oracle.Latest(id)
	err := w.Storage.ReadPage(id, changedBy, at, p)
	got := p
	switch {
	case isNoPage(err):
		got = nil
	case err != nil:
		return err
	default:
		got = w.o.canonical(id, p)
	}
	if at == 0 {
		at = w.o.oracle.Latest(id)
		if before != at && w.o.oracle.Check(id, before, got).Green() {
			return err
		}
	}
	w.page(w.o.oracle.Check(id, at, got))
	return err
}

func (w *watched) Evict(id page.ID, p *page.Page) error {
	w.point(w.Storage.Durable())
	w.note("evict", page.LSNOf(id, p))
	return w.Storage.Evict(id, p)
}

// published is told by the engine of each commit that readers can see.
func (w *watched) published(_ uint32, lsn wal.LSN) {
	w.point(w.Storage.Durable())
	w.note("visible", lsn)
	w.o.rec.visible(lsn)
	c := w.o.commits
	for len(c) > 0 && c[0] <= lsn {
		c = c[1:]
	}
	w.o.commits = c
}
