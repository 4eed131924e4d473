package heap

import (
	"slices"

	"tornpage/engine/host"
)

// txns is the transactions of a test. Commits are numbered, and published at
// once; what ended before a crash is known after it.
type txns struct {
	next    uint32
	running map[uint32]bool
	commit  map[uint32]int // number of the commit; others that do not run have aborted
	commits int
	open    []*txn
	asking  uint32 // every so many-th XID's status has to be looked up first; 0: none
	asked   int
}

func newTxns() *txns {
	return &txns{next: 10, running: map[uint32]bool{}, commit: map[uint32]int{}}
}

// crash aborts everything that runs.
func (t *txns) crash() {
	clear(t.running)
	t.open = nil
}

// oldest is the number of commits in the oldest snapshot.
func (t *txns) oldest() int {
	n := t.commits
	for _, x := range t.open {
		n = min(n, x.snap)
	}
	return n
}

// txn is a transaction with one snapshot; it implements Xact.
type txn struct {
	t     *txns
	m     host.Machine
	snap  int
	live  []uint32 // its XIDs that were not rolled back
	known map[uint32]bool
	fresh bool // the next write takes a new XID: there was a savepoint
}

func (t *txns) begin(m host.Machine) *txn {
	x := &txn{t: t, m: m, snap: t.commits, known: map[uint32]bool{}}
	t.open = append(t.open, x)
	return x
}

// XID implements Xact.
func (x *txn) XID() (uint32, error) {
	if len(x.live) == 0 || x.fresh {
		x.live = append(x.live, x.t.next)
		x.t.running[x.t.next] = true
		x.t.next++
		x.fresh = false
	}
	return x.live[len(x.live)-1], nil
}

// Own implements Xact.
func (x *txn) Own(xid uint32) bool { return slices.Contains(x.live, xid) }

func (x *txn) lacks(xid uint32) bool {
	return x.t.asking != 0 && xid%x.t.asking == 0 && !x.known[xid]
}

// Sees implements View.
func (x *txn) Sees(xid uint32) Verdict {
	n, committed := x.t.commit[xid]
	switch {
	case x.Own(xid):
		return Yes
	case x.t.running[xid] || xid >= x.t.next:
		return No
	case x.lacks(xid):
		return Ask
	case committed && n <= x.snap:
		return Yes
	}
	return No
}

// Fate implements Fates.
func (x *txn) Fate(xid uint32) Fate {
	n, committed := x.t.commit[xid]
	switch {
	case x.t.running[xid] || xid >= x.t.next:
		return Running
	case x.lacks(xid):
		return AskFate
	case !committed:
		return Aborted
	case n <= x.t.oldest():
		return Gone
	}
	return Recent
}

// Resolve implements Xact; it blocks.
func (x *txn) Resolve(xids ...uint32) error {
	x.t.asked++
	for _, xid := range xids {
		if x.t.running[xid] {
			panic("the status of a running transaction is asked for")
		}
		x.known[xid] = true
	}
	x.m.Sleep(0)
	return nil
}

// rollbackTo aborts all but the first n XIDs.
func (x *txn) rollbackTo(n int) {
	for _, xid := range x.live[n:] {
		delete(x.t.running, xid)
	}
	x.live, x.fresh = x.live[:n], true
}

// end publishes the end.
func (x *txn) end(commit bool) {
	if commit {
		x.t.commits++
	}
	for _, xid := range x.live {
		delete(x.t.running, xid)
		if commit {
			x.t.commit[xid] = x.t.commits
		}
	}
	x.t.open = slices.DeleteFunc(x.t.open, func(o *txn) bool { return o == x })
}
