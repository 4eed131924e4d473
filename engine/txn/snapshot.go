package txn

import (
	"time"

	"tornpage/engine/heap"
	"tornpage/engine/invariant"
	"tornpage/engine/wal"
)

// Snapshot is a published state: all commits up to an LSN, and nothing else.
// It is shared by all who took it between the same two publications.
type Snapshot struct {
	LSN    wal.LSN // of the last commit in it
	t      *Manager
	next   uint32        // the XID to be given out next when it was the newest
	passed time.Duration // when it ceased to be the newest
	refs   int
	newer  *Snapshot
}

// Take gives the present snapshot; Give gives it back. Nothing is pruned that
// it may see. Whoever waits for room on a page must not hold one.
func (t *Manager) Take() *Snapshot {
	t.newest.refs++
	t.taken++
	return t.newest
}

// Give ends the use of a snapshot.
func (t *Manager) Give(s *Snapshot) {
	s.refs--
	if s.refs < 0 {
		invariant.Broken("E3", "snapshot at %v given back more often than taken", s.LSN)
	}
	t.taken--
	if s.refs > 0 || s != t.oldest || s == t.newest {
		return
	}
	for t.oldest.refs == 0 && t.oldest != t.newest {
		old := t.oldest
		t.oldest = old.newer
		old.newer, t.spare = t.spare, old
	}
	t.wake()
}

// Published is the LSN of the last published commit.
func (t *Manager) Published() wal.LSN { return t.newest.LSN }

// Oldest is the LSN of the oldest snapshot that somebody may hold.
func (t *Manager) Oldest() wal.LSN { return t.oldest.LSN }

// Horizon says what the oldest snapshot holds back.
type Horizon struct {
	LSN       wal.LSN       // of the oldest snapshot; nothing that it sees is garbage
	Snapshots int           // in use
	Age       time.Duration // since the oldest ceased to be the newest state; 0: it is
	XIDs      uint32        // given out since then, or since the last publication
	Recorded  int           // XIDs whose ends are kept in memory for the sake of snapshots, rounded up
}

// Horizon looks at the oldest snapshot in use.
func (t *Manager) Horizon() Horizon {
	h := Horizon{LSN: t.oldest.LSN, Snapshots: t.taken, XIDs: t.next - t.oldest.next, Recorded: t.window.recorded()}
	if t.oldest != t.newest {
		h.Age = t.m.Now() - t.oldest.passed
	}
	return h
}

// publish makes commits up to lsn visible; they have left the running set.
func (t *Manager) publish(lsn wal.LSN) {
	s := t.newest
	if lsn < s.LSN {
		invariant.Broken("T3", "the published state goes from %v back to %v", s.LSN, lsn)
	}
	if s.refs > 0 {
		s.passed = t.m.Now()
		s = t.fresh()
		t.newest.newer = s
		t.newest = s
	}
	s.LSN, s.next = lsn, t.next
	t.wake()
}

func (t *Manager) fresh() *Snapshot {
	s := t.spare
	if s == nil {
		return &Snapshot{t: t}
	}
	t.spare = s.newer
	s.newer = nil
	return s
}

// View is a snapshot with the statuses that its user had to look up; it is
// what heap searches with. Begin it for each transaction, and set it to each
// snapshot that the transaction uses. What was looked up stays: it is final.
type View struct {
	t    *Manager
	s    *Snapshot
	memo memo
}

// Begin makes v a view of t's transactions, of no snapshot yet.
func (v *View) Begin(t *Manager) {
	if v.t != t {
		v.memo.clear()
	}
	v.t, v.s = t, nil
}

// Set makes v the view of s.
func (v *View) Set(s *Snapshot) { v.s = s }

// Sees implements heap.View.
func (v *View) Sees(xid uint32) heap.Verdict {
	switch end := v.t.window.end(xid); {
	case end == endOld: // before every snapshot: its status decides
	case end <= v.s.LSN:
		return heap.Yes
	default:
		return heap.No
	}
	committed, ok := v.old(xid)
	switch {
	case !ok:
		return heap.Ask
	case committed:
		return heap.Yes
	}
	return heap.No
}

// Fate implements heap.Fates: what became of xid, for all views and not for
// this one alone. Pruning asks it for every tuple of a page.
func (v *View) Fate(xid uint32) heap.Fate {
	switch end := v.t.window.end(xid); {
	case end == endOld: // before every snapshot: its status decides
	case end == endRunning:
		return heap.Running
	case end == endAborted:
		return heap.Aborted
	case end <= v.t.oldest.LSN:
		return heap.Gone
	default:
		return heap.Recent
	}
	committed, ok := v.old(xid)
	switch {
	case !ok:
		return heap.AskFate
	case !committed:
		return heap.Aborted
	}
	return heap.Gone
}

// status is the final status of an XID that has ended, if it is at hand.
func (v *View) status(xid uint32) (committed, ok bool) {
	if end := v.t.window.end(xid); end != endOld {
		return end != endAborted, true
	}
	return v.old(xid)
}

// old is the status of an XID that ended before every snapshot, if it is at
// hand.
func (v *View) old(xid uint32) (committed, ok bool) {
	if committed, ok = v.t.status.get(xid); ok {
		return committed, true
	}
	return v.memo.get(xid)
}

// Resolve finds out the statuses of XIDs that Sees or Fate asked for. It may
// block for pages, and is called without latches or pins. The view remembers
// the answers: the shared cache alone could lose them before they are used.
func (v *View) Resolve(xids ...uint32) error {
	v.memo.reserve(len(xids))
	for _, xid := range xids {
		if v.t.Running(xid) {
			invariant.Broken("T4", "the status of XID %d is asked for while it runs", xid)
		}
		committed, ok := v.status(xid)
		if !ok {
			var err error
			if committed, err = v.t.status.load(xid); err != nil {
				return err
			}
		}
		v.memo.put(xid, committed)
	}
	return nil
}
