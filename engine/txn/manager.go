package txn

import (
	"errors"
	"fmt"

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
	// warnXIDs before the last one, the log says so. Source: PostgreSQL 15's
	// xidWarnLimit (varsup.c).
	warnXIDs = 40_000_000
)

// ErrNoXIDs ends a data set's life: see doc.go.
var ErrNoXIDs = errors.New("transaction identifiers are used up: dump and reload the table")

// Manager gives out XIDs and snapshots. Make it with NewManager.
type Manager struct {
	m        host.Machine
	status   *Status
	log      func(horizon uint32) error // appends the record of a new horizon
	latch    *host.Latch                // of extending the horizon
	batch    uint32
	next     uint32 // XID to give out next
	horizon  uint32 // XIDs below it may be given out (rule T1)
	warned   bool   // that XIDs run out
	window   window
	open     int // XIDs that run
	list     []uint32
	locks    *LockTable // nil: there is none
	idle     *Xact
	oldest   *Snapshot
	newest   *Snapshot
	spare    *Snapshot
	taken    int        // snapshots in use
	moves    uint64     // changes of the oldest snapshot, and ends
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
		m:       m,
		status:  st,
		log:     logHorizon,
		latch:   host.NewLatch(m, host.WaitWALInsert),
		batch:   batch,
		next:    next,
		horizon: next,
		moved:   m.NewCond(host.WaitSpace),
	}
	t.window.begin(next)
	t.newest = &Snapshot{t: t, LSN: published, next: next}
	t.oldest = t.newest
	return t
}

// Begin gives a new XID and puts it into the running set. It may switch, to
// log a horizon.
func (t *Manager) Begin() (uint32, error) { return t.begin(nil) }

// begin is Begin for an XID of o's, which may be nil.
func (t *Manager) begin(o *Owner) (uint32, error) {
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
	t.open++
	t.window.add(xid, o)
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
	left := lastXID + 1 - t.next
	if left <= warnXIDs && !t.warned {
		t.warned = true
		t.m.Mark("txn.xids-run-out")
		t.m.Logf("only %d transaction identifiers are left: dump and reload the data before they are used up", left)
	}
	horizon := t.next + min(t.batch, left)
	if err := t.log(horizon); err != nil {
		return fmt.Errorf("XID horizon %d: %w", horizon, err)
	}
	t.Extended++
	t.horizon = horizon
	return nil
}

// Next is the XID to be given out next.
func (t *Manager) Next() uint32 { return t.next }

// Running reports whether xid is in the running set.
func (t *Manager) Running(xid uint32) bool {
	return xid < t.next && t.window.end(xid) == endRunning
}

// RunningXIDs is the running set, sorted, those of subtransactions included;
// valid until the next call. It looks at every XID whose end some snapshot may
// not see.
func (t *Manager) RunningXIDs() []uint32 {
	t.list = t.window.running(t.list[:0], t.next)
	return t.list
}

// leave takes an XID out of the running set: its commit's LSN, or endAborted.
func (t *Manager) leave(xid uint32, end wal.LSN) {
	if !t.Running(xid) {
		invariant.Broken("T4", "XID %d ends but does not run (running: %v)", xid, t.RunningXIDs())
	}
	owner := t.window.leave(xid, end)
	t.open--
	t.status.put(xid, end != endAborted)
	if t.locks != nil {
		t.locks.ended(owner)
	}
}

// Aborted publishes an abort, whose record is in the log or never will be. It
// is of one XID: a transaction with subtransactions is a Xact.
func (t *Manager) Aborted(xid uint32) {
	t.leave(xid, endAborted)
	t.wake()
}

// abortAll publishes the aborts of several XIDs.
func (t *Manager) abortAll(xids []uint32) {
	for _, xid := range xids {
		t.leave(xid, endAborted)
	}
	if len(xids) > 0 {
		t.wake()
	}
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
	t.window.trim(t.oldest.LSN)
	t.moves++
	if t.moved.Waiting() > 0 {
		t.moved.Broadcast()
	}
}

// Fail makes Begin, WaitMoved, and all waits for locks and ends give err from
// now on.
func (t *Manager) Fail(err error) {
	t.failed = err
	if t.locks != nil {
		t.locks.Fail(err)
	}
	t.wake()
}
