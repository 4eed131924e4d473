package txn

import (
	"errors"
	"fmt"
	"slices"

	"tornpage/engine/heap"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
)

// Level is an isolation level; doc.go says what each gives.
type Level uint8

// The levels of the SQL standard that differ in PostgreSQL.
const (
	ReadCommitted Level = iota
	RepeatableRead
	Serializable // refused
)

var levelNames = [...]string{"read committed", "repeatable read", "serializable"}

// String is the level's name in SQL.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("isolation level %d", uint8(l))
}

// Errors of transactions.
var (
	ErrNotSupported = errors.New("not supported")
	ErrNoSavepoint  = errors.New("no such savepoint")
	ErrSavepoints   = errors.New("too many savepoints")
)

// maxStatusPages is on how many status pages the XIDs of one transaction may
// lie: its commit pins and changes them all at once, and no operation may need
// more pins (the smallest pool has 8 frames for two operations).
const maxStatusPages = 4

// Xact is a transaction in progress. It is used by one task at a time:
//
//	x, err := t.Start(level)
//	x.Statement(); search with x, change rows under x.XID(); x.EndStatement()
//	xid, subs := x.Tree(); append the commit record; Queue.Enter, Queue.Wait
//	x.End()
//
// It implements heap.Xact: the view of the present statement's snapshot with
// the transaction's own changes.
type Xact struct {
	t      *Manager
	view   View
	level  Level
	snap   *Snapshot // nil: between statements
	owner  Owner
	frames []frame  // the transaction, then its open savepoints
	live   []uint32 // its XIDs that were not rolled back, ascending
	dead   []uint32 // RollbackTo's answer
	state  xactState
	next   *Xact
}

var _ heap.Xact = (*Xact)(nil)

// frame is a transaction or a savepoint in it.
type frame struct {
	name string
	xid  uint32 // 0: has written nothing
	at   int    // index of xid in live; those of the frame and of all inside it follow
	mark uint64 // locks taken since are released with it
}

type xactState uint8

const (
	xactIdle xactState = iota
	xactOpen
)

// Start begins a transaction. It takes no XID and no snapshot yet.
func (t *Manager) Start(level Level) (*Xact, error) {
	switch {
	case t.locks == nil:
		invariant.Broken("T6", "a transaction begins without a lock table")
	case level > RepeatableRead:
		return nil, fmt.Errorf("%w: isolation level %v; use repeatable read and lock what must not change (for update)",
			ErrNotSupported, level)
	case t.failed != nil:
		return nil, t.failed
	}
	x := t.idle
	if x == nil {
		x = &Xact{t: t}
	} else {
		t.idle, x.next = x.next, nil
	}
	x.level, x.state = level, xactOpen
	x.view.Begin(t)
	x.frames = append(x.frames[:0], frame{})
	x.live = x.live[:0]
	t.locks.begin(&x.owner)
	return x, nil
}

// Level is the isolation level.
func (x *Xact) Level() Level { return x.level }

// Owner is what the transaction holds its locks as.
func (x *Xact) Owner() *Owner { return &x.owner }

// Snapshot is the present statement's, nil between statements.
func (x *Xact) Snapshot() *Snapshot { return x.snap }

func (x *Xact) open() {
	if x.state != xactOpen {
		invariant.Broken("T9", "a transaction is used after its end (%v)", &x.owner)
	}
}

// Statement begins a statement. At read committed it gives it the present
// snapshot; called within a statement it moves that one to the present, which
// is then to be executed anew. At repeatable read the first call takes the
// snapshot of the whole transaction, and the others do nothing.
func (x *Xact) Statement() {
	x.open()
	if x.snap != nil && x.level != ReadCommitted {
		return
	}
	old := x.snap
	x.snap = x.t.Take()
	x.view.Set(x.snap)
	if old != nil {
		x.t.Give(old)
	}
}

// EndStatement ends a statement: at read committed its snapshot holds back
// nothing any more.
func (x *Xact) EndStatement() {
	x.open()
	if x.level == ReadCommitted {
		x.giveSnapshot()
	}
}

func (x *Xact) giveSnapshot() {
	if s := x.snap; s != nil {
		x.snap = nil
		x.view.Set(nil)
		x.t.Give(s)
	}
}

// XID is the XID to write with: that of the innermost savepoint, or of the
// transaction. The first call in each takes one, and one for all around it
// that have none, outermost first, so that an XID is below those of what is
// inside it. It may block, to log a horizon.
func (x *Xact) XID() (uint32, error) {
	x.open()
	if xid := x.frames[len(x.frames)-1].xid; xid != 0 {
		return xid, nil
	}
	for i := range x.frames {
		if x.frames[i].xid != 0 {
			continue
		}
		if err := x.take(&x.frames[i]); err != nil {
			return 0, err
		}
	}
	return x.frames[len(x.frames)-1].xid, nil
}

// take gives f an XID.
func (x *Xact) take(f *frame) error {
	if n := len(x.live); n > x.t.locks.cfg.SubXIDs {
		return fmt.Errorf("%w: %v has %d that wrote, which is the limit: commit more often, or raise SubXIDs",
			ErrSavepoints, &x.owner, n-1)
	}
	xid, err := x.t.begin(&x.owner)
	if err != nil {
		return err
	}
	if !x.statusFits(xid) {
		x.t.Aborted(xid)
		return fmt.Errorf("%w: XID %d of %v is too far from its first one, %d: savepoints that write may lie on %d status pages (%d XIDs each); commit earlier",
			ErrSavepoints, xid, &x.owner, x.live[0], maxStatusPages, page.StatusXIDs)
	}
	f.xid, f.at = xid, len(x.live)
	if f.at == 0 {
		x.owner.xid = xid
	}
	x.live = append(x.live, xid)
	return nil
}

// statusFits reports whether x's XIDs with xid, the largest, lie on few enough
// status pages.
func (x *Xact) statusFits(xid uint32) bool {
	pages, block := 1, page.StatusBlock(xid)
	for n := len(x.live); n > 0; {
		if b := page.StatusBlock(x.live[n-1]); b != block {
			block = b
			pages++
		}
		n, _ = slices.BinarySearch(x.live[:n], block*page.StatusXIDs)
	}
	return pages <= maxStatusPages
}

// Own reports whether xid is one of the transaction's, not rolled back.
func (x *Xact) Own(xid uint32) bool {
	return len(x.live) > 0 && xid >= x.live[0] && x.owns(xid)
}

// owns is Own for what is not older than the transaction, as most XIDs are.
func (x *Xact) owns(xid uint32) bool {
	_, own := slices.BinarySearch(x.live, xid)
	return own
}

// Sees implements heap.View: the statement's snapshot, and the transaction's
// own changes. Those that were rolled back have aborted, and so are not seen.
func (x *Xact) Sees(xid uint32) heap.Verdict {
	if x.Own(xid) {
		return heap.Yes
	}
	if x.snap == nil {
		invariant.Broken("T8", "%v searches outside of a statement, without a snapshot", &x.owner)
	}
	return x.view.Sees(xid)
}

// Fate implements heap.Fates.
func (x *Xact) Fate(xid uint32) heap.Fate { return x.view.Fate(xid) }

// Resolve finds out statuses; see View.Resolve.
func (x *Xact) Resolve(xids ...uint32) error { return x.view.Resolve(xids...) }
