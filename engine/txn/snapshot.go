package txn

import (
	"slices"

	"tornpage/engine/heap"
	"tornpage/engine/invariant"
	"tornpage/engine/wal"
)

// Snapshot is a published state. It is shared by all who took it between the
// same two publications.
type Snapshot struct {
	LSN     wal.LSN // of the last commit in it
	next    uint32  // no XID from here on has ended in it
	running []uint32
	refs    int
	newer   *Snapshot
}

// ended reports whether xid had been published, or aborted, in the snapshot.
func (s *Snapshot) ended(xid uint32) bool {
	if xid >= s.next {
		return false
	}
	if n := len(s.running); n == 0 || xid < s.running[0] || xid > s.running[n-1] {
		return true
	}
	_, running := slices.BinarySearch(s.running, xid)
	return !running
}

// Take gives the present snapshot; Give gives it back. Nothing is pruned that
// it may see. Whoever waits for room on a page must not hold one.
func (t *Manager) Take() *Snapshot {
	t.newest.refs++
	return t.newest
}

// Give ends the use of a snapshot.
func (t *Manager) Give(s *Snapshot) {
	s.refs--
	if s.refs < 0 {
		invariant.Broken("E3", "snapshot at %v given back more often than taken", s.LSN)
	}
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

// publish makes commits up to lsn visible; they have left the running set.
func (t *Manager) publish(lsn wal.LSN) {
	s := t.newest
	if lsn < s.LSN {
		invariant.Broken("T3", "the published state goes from %v back to %v", s.LSN, lsn)
	}
	if s.refs > 0 {
		s = t.fresh()
		t.newest.newer = s
		t.newest = s
	}
	s.LSN, s.next = lsn, t.next
	s.running = append(s.running[:0], t.running...)
	t.wake()
}

func (t *Manager) fresh() *Snapshot {
	s := t.spare
	if s == nil {
		return &Snapshot{}
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
	memo []known
}

type known struct {
	xid       uint32
	committed bool
}

// Begin forgets what v knew.
func (v *View) Begin(t *Manager) { v.t, v.s, v.memo = t, nil, v.memo[:0] }

// Set makes v the view of s.
func (v *View) Set(s *Snapshot) { v.s = s }

// Sees implements heap.View.
func (v *View) Sees(xid uint32) heap.Verdict {
	if !v.s.ended(xid) {
		return heap.No
	}
	committed, ok := v.status(xid)
	switch {
	case !ok:
		return heap.Ask
	case committed:
		return heap.Yes
	}
	return heap.No
}

// Fate implements heap.Fates: what became of xid, for all views and not for
// this one alone.
func (v *View) Fate(xid uint32) heap.Fate {
	if v.t.Running(xid) {
		return heap.Running
	}
	committed, ok := v.status(xid)
	switch {
	case !ok:
		return heap.AskFate
	case !committed:
		return heap.Aborted
	case v.t.oldest.ended(xid):
		return heap.Gone
	}
	return heap.Recent
}

func (v *View) status(xid uint32) (committed, ok bool) {
	if committed, ok = v.t.status.get(xid); ok {
		return committed, true
	}
	for _, k := range v.memo {
		if k.xid == xid {
			return k.committed, true
		}
	}
	return false, false
}

// Resolve finds out the statuses of XIDs that Sees or Fate asked for. It may
// block for pages, and is called without latches or pins. The view remembers
// the answers: the shared cache alone could lose them before they are used.
func (v *View) Resolve(xids ...uint32) error {
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
		v.memo = append(v.memo, known{xid, committed})
	}
	return nil
}
