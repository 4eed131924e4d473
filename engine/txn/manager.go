package txn

import (
	"errors"
	"slices"

	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/wal"
)

const (
	// FirstXID is the first ordinary XID. Source: PostgreSQL's
	// FirstNormalTransactionId; 0 is none, 1 and 2 are bootstrap and frozen.
	FirstXID = 3
	// lastXID leaves room below the wrap-around.
	lastXID = 1<<32 - 1<<20
)

// ErrNoXIDs ends a data set's life: see doc.go.
var ErrNoXIDs = errors.New("transaction identifiers are used up: dump and reload the table")

// Manager gives out XIDs and snapshots. Make it with NewManager.
type Manager struct {
	status   *Status
	log      func(horizon uint32) error // appends the record of a new horizon
	latch    *host.Latch                // of extending the horizon
	batch    uint32
	next     uint32   // XID to give out next
	horizon  uint32   // XIDs below it may be given out (rule T1)
	running  []uint32 // sorted
	oldest   *Snapshot
	newest   *Snapshot
	spare    *Snapshot
	moves    uint64     // changes of the oldest snapshot or the running set
	moved    *host.Cond // such a change
	failed   error
	Extended uint64 // horizons logged
}

// NewManager starts with the state that storage found: every XID below next
// has ended, and everything up to published is visible. logHorizon appends
// the record of a new horizon; it is called without latches of pages. batch
// is how many XIDs a horizon reserves; 0: 1,024.
func NewManager(m host.Machine, st *Status, next uint32, published wal.LSN, batch uint32, logHorizon func(uint32) error) *Manager {
	if batch == 0 {
		batch = 1024
	}
	next = max(next, FirstXID)
	t := &Manager{
		status:  st,
		log:     logHorizon,
		latch:   host.NewLatch(m, host.WaitWALInsert),
		batch:   batch,
		next:    next,
		horizon: next,
		moved:   m.NewCond(host.WaitSpace),
	}
	t.newest = &Snapshot{LSN: published, next: next}
	t.oldest = t.newest
	return t
}

// Begin gives a new XID and puts it into the running set. It may switch, to
// log a horizon.
func (t *Manager) Begin() (uint32, error) {
	for t.next >= t.horizon {
		if err := t.extend(); err != nil {
			return 0, err
		}
	}
	if t.failed != nil {
		return 0, t.failed
	}
	xid := t.next
	t.next++
	t.running = append(t.running, xid)
	return xid, nil
}

func (t *Manager) extend() error {
	t.latch.Lock()
	defer t.latch.Unlock()
	if t.next < t.horizon || t.failed != nil {
		return t.failed
	}
	if t.next > lastXID {
		return ErrNoXIDs
	}
	horizon := t.next + t.batch
	if err := t.log(horizon); err != nil {
		return err
	}
	t.Extended++
	t.horizon = horizon
	return nil
}

// Next is the XID to be given out next.
func (t *Manager) Next() uint32 { return t.next }

// Running reports whether xid is in the running set.
func (t *Manager) Running(xid uint32) bool {
	if n := len(t.running); n == 0 || xid < t.running[0] || xid > t.running[n-1] {
		return false
	}
	_, ok := slices.BinarySearch(t.running, xid)
	return ok
}

// RunningXIDs is the running set, sorted; valid until the next call of any
// method.
func (t *Manager) RunningXIDs() []uint32 { return t.running }

// leave takes an XID out of the running set.
func (t *Manager) leave(xid uint32) {
	i, ok := slices.BinarySearch(t.running, xid)
	if !ok {
		invariant.Broken("T4", "XID %d ends but does not run (running: %v)", xid, t.running)
	}
	t.running = slices.Delete(t.running, i, i+1)
}

// Aborted publishes an abort, whose record is in the log or never will be.
func (t *Manager) Aborted(xid uint32) {
	t.leave(xid)
	t.status.put(xid, false)
	t.wake()
}

// Moves counts what may make more prunable: snapshots given back, and ends of
// transactions.
func (t *Manager) Moves() uint64 { return t.moves }

// WaitMoved blocks until Moves has passed since. Take since before looking:
// what happens while one pays for having looked is then not missed.
func (t *Manager) WaitMoved(since uint64) error {
	for t.failed == nil && t.moves == since {
		t.moved.Wait()
	}
	return t.failed
}

func (t *Manager) wake() {
	t.moves++
	if t.moved.Waiting() > 0 {
		t.moved.Broadcast()
	}
}

// Fail makes Begin and WaitMoved give err from now on.
func (t *Manager) Fail(err error) {
	t.failed = err
	t.wake()
}
