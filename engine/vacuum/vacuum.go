package vacuum

import (
	"errors"
	"fmt"

	"tornpage/engine/fsm"
	"tornpage/engine/heap"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/pager"
)

// Horizon tells what became of transactions, for all snapshots, present and to
// come; txn's View is one. A vacuum asks it without latches and pins where it
// may block.
type Horizon = heap.Horizon

// Index is an index of the table.
type Index interface {
	// Vacuum removes every entry whose TID dead calls dead. When it returns nil
	// they are gone for good: their removal is in the log. dead never blocks.
	Vacuum(dead func(page.TID) bool) (IndexStats, error)
}

// IndexStats counts what one index's vacuum did.
type IndexStats struct {
	Removed uint64 // entries
	Left    uint64 // entries that stay
	Pages   uint32 // pages that became free
}

// Lock is the exclusive lock of the table, which a cut needs and the caller
// has. None of the functions blocks.
type Lock struct {
	Try    func() bool // false: others use the table
	Unlock func()
	Wanted func() bool // somebody waits for what is held; nil: never
}

// Table is what a vacuum works on.
type Table struct {
	Rel   page.Rel
	Free  *fsm.Map // of Rel
	Lock  Lock     // Try nil: the tail is never cut
	Lines int      // line pointers that a page may have (heap's LinesPerPage); 0: 291
}

// Stats counts what one vacuum did.
type Stats struct {
	Blocks    uint32 // of the table when it began
	Scanned   uint32 // of those, looked at
	Skipped   uint32 // all-visible, passed over
	New       uint32 // of zeros
	Pruned    uint32 // pruned
	Visible   uint32 // became all-visible
	Truncated uint32 // cut off
	Rounds    uint32 // over all indexes
	Live      uint64 // rows that are live, on the blocks looked at
	Recent    uint64 // dead, but some snapshot may see them
	Dead      uint64 // line pointers found or made dead
	Reclaimed uint64 // line pointers given up
	LeftDead  uint64 // left to a later vacuum (Config.BypassPercent)
	Index     IndexStats
	Rests     uint64 // times that the cost limit was reached
}

// ErrBusy refuses a second vacuum of the same table (rule V6).
var ErrBusy = errors.New("the table is being vacuumed already: wait for that to end")

// Vacuum vacuums one table. It lives for one boot.
type Vacuum struct {
	pg    *pager.Pager
	m     host.Machine
	table Table
	cfg   Config
	seen  bool // a vacuum of this boot has looked at every block (rule V7)
	busy  bool

	// Of the vacuum that runs.
	h        Horizon
	indexes  []Index
	stats    Stats
	list     deadList
	nonempty uint32 // blocks up to the last that is known to hold a row
	balance  int    // cost since the last rest
	plan     heap.Plan
	sight    sight
	giveUp   []uint16 // dead line pointers of the block in work
	held     []uint16 // those of a block that waits for a round to end
	xids     []uint32 // whose fate is needed
	near     page.Page
	nearMap  page.ID // the map page that near is a copy of
	haveMap  bool
}

// New makes the vacuum of a table.
func New(pg *pager.Pager, t Table, cfg Config) *Vacuum {
	t.Lines = orDefault(t.Lines, page.MaxHeapTuples)
	return &Vacuum{pg: pg, m: pg.Machine(), table: t, cfg: cfg.withDefaults()}
}

// Run vacuums the table and the indexes given, which are all that it has. The
// caller sees to rule V6. An error leaves the table right, and what was not
// done to a later vacuum; Stats then tell how far this one came. engine.ErrFull
// is one that does not end the boot.
func (v *Vacuum) Run(h Horizon, indexes []Index) (Stats, error) {
	if v.busy {
		return Stats{}, fmt.Errorf("vacuum of rel %d: %w", v.table.Rel, ErrBusy)
	}
	v.busy = true
	defer func() { v.busy = false }()
	v.h, v.indexes = h, indexes
	v.stats, v.nonempty, v.balance, v.haveMap = Stats{}, 0, 0, false
	v.list.reset()
	if err := v.all(); err != nil {
		return v.stats, fmt.Errorf("vacuum of rel %d: %w", v.table.Rel, err)
	}
	return v.stats, nil
}

func (v *Vacuum) all() error {
	n, err := v.pg.Blocks(v.table.Rel)
	if err != nil {
		return err
	}
	v.stats.Blocks = n
	if err := v.scan(n); err != nil {
		return err
	}
	if len(v.list.tids) > 0 {
		if v.bypass() {
			v.m.Mark("vacuum.bypassed")
			v.stats.LeftDead = uint64(len(v.list.tids))
		} else if err := v.round(); err != nil {
			return err
		}
	}
	v.seen = true
	if v.worthCutting() {
		return v.cut()
	}
	return nil
}

// bypass decides to leave the dead line pointers of a first and only round.
func (v *Vacuum) bypass() bool {
	return v.stats.Rounds == 0 && v.cfg.BypassPercent > 0 &&
		uint64(v.list.pages)*100 < uint64(v.stats.Blocks)*uint64(v.cfg.BypassPercent)
}

// round removes the entries of the dead line pointers from all indexes, then
// gives the line pointers up (rule V1).
func (v *Vacuum) round() error {
	v.stats.Rounds++
	if v.stats.Rounds > 1 {
		v.m.Mark("vacuum.another-round")
	}
	for i, x := range v.indexes {
		st, err := x.Vacuum(v.list.has)
		if err != nil {
			return fmt.Errorf("index %d of %d: %w", i+1, len(v.indexes), err)
		}
		v.stats.Index.Removed += st.Removed
		v.stats.Index.Pages += st.Pages
		v.stats.Index.Left += st.Left
		v.m.Mark("vacuum.index-done")
	}
	for i := 0; i < len(v.list.tids); {
		var block uint32
		block, v.giveUp, i = v.list.block(i, v.giveUp[:0])
		if err := v.visit(block); err != nil {
			return err
		}
		v.table.Free.Set(block, v.sight.free)
	}
	v.list.reset()
	return nil
}

// rest lets others run, and sleeps if the vacuum has cost enough.
func (v *Vacuum) rest() {
	v.m.Pay()
	d, left := v.cfg.pause(v.balance)
	v.balance = left
	if d > 0 {
		v.stats.Rests++
		v.m.Sleep(d)
	}
}
