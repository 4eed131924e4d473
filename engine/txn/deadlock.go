package txn

import (
	"fmt"
	"strings"

	"tornpage/engine/invariant"
)

// Wait is one edge of the wait-for graph.
type Wait struct {
	Waiter  string
	Mode    Mode   // wanted, on ID
	ID      LockID //
	XID     uint32 // not 0: the end of this XID is wanted, and no lock
	Blocker string
	Queued  bool // the blocker does not hold the lock but asked for it earlier
}

// String says who waits for what.
func (w Wait) String() string {
	switch {
	case w.XID != 0:
		return fmt.Sprintf("%s waits for the end of XID %d, which is of %s", w.Waiter, w.XID, w.Blocker)
	case w.Queued:
		return fmt.Sprintf("%s waits for %v on %v, behind %s", w.Waiter, w.Mode, w.ID, w.Blocker)
	}
	return fmt.Sprintf("%s waits for %v on %v, held by %s", w.Waiter, w.Mode, w.ID, w.Blocker)
}

// Deadlock is a request that was refused because it would have closed a cycle.
// The first Wait is the request; each blocker is the next one's waiter, and the
// last one's is the first waiter. It is an ErrDeadlock.
type Deadlock struct {
	Cycle []Wait
}

// maxTold bounds the waits that the text of a deadlock names.
const maxTold = 8

// Error names the cycle, and the next step.
func (d *Deadlock) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: ", ErrDeadlock)
	for i, w := range d.Cycle {
		if i == maxTold {
			fmt.Fprintf(&b, "and %d more, back to %s; ", len(d.Cycle)-i, d.Cycle[0].Waiter)
			break
		}
		fmt.Fprintf(&b, "%v; ", w)
	}
	fmt.Fprintf(&b, "%s is refused: roll it back and try again", d.Cycle[0].Waiter)
	return b.String()
}

// Unwrap makes it an ErrDeadlock.
func (d *Deadlock) Unwrap() error { return ErrDeadlock }

// closes reports whether the wait-for graph leads from o, which has just
// queued up, back to o. Every new edge begins or ends at o, so that all cycles
// do (rule T6). full follows all edges, breadth first, so that the path that
// it leaves in via is a shortest one; otherwise edges are left out that others
// stand for (see each).
func (l *LockTable) closes(o *Owner, full bool) bool {
	l.search++
	l.todo = append(l.todo[:0], o)
	for i := 0; i < len(l.todo); i++ {
		if l.expand(l.todo[i], o, full) {
			return true
		}
	}
	return false
}

// expand looks at everybody whom w waits for. It reports whether o is among
// them.
func (l *LockTable) expand(w, o *Owner, full bool) bool {
	if w.target != nil {
		return l.visit(w, w.target, o)
	}
	against := conflicts[w.mode]
	for p := w.prev; p != nil; p = p.prev {
		if against&p.mode.set() == 0 {
			continue
		}
		if l.visit(w, p, o) {
			return true
		}
		// Whoever else keeps w waiting keeps p waiting too, and needs no edge
		// from w: a long queue is then searched in the time of its length.
		if !full && conflicts[p.mode]&against == against {
			return false
		}
	}
	if w.lock.modes&against == 0 {
		return false
	}
	for h := w.lock.first; h != nil; h = h.lockNext {
		if h.owner != w && against&h.mode.set() != 0 && l.visit(w, h.owner, o) {
			return true
		}
	}
	return false
}

func (l *LockTable) visit(w, blocker, o *Owner) bool {
	if blocker == o {
		o.via = w
		return true
	}
	if blocker.seen != l.search && blocker.waiting() {
		blocker.seen, blocker.via = l.search, w
		l.todo = append(l.todo, blocker)
	}
	return false
}

// explain makes the error for o, whose wait closes a cycle.
func (l *LockTable) explain(o *Owner) error {
	if !l.closes(o, true) {
		invariant.Broken("T6", "%v is in a cycle that the whole graph does not have", o)
	}
	d := &Deadlock{}
	blocker := o
	for {
		w := blocker.via
		d.Cycle = append(d.Cycle, edge(w, blocker))
		if w == o {
			break
		}
		blocker = w
	}
	for i, j := 0, len(d.Cycle)-1; i < j; i, j = i+1, j-1 {
		d.Cycle[i], d.Cycle[j] = d.Cycle[j], d.Cycle[i]
	}
	return d
}

// edge describes that w waits for blocker.
func edge(w, blocker *Owner) Wait {
	if w.target != nil {
		return Wait{Waiter: w.String(), XID: w.awaited, Blocker: blocker.String()}
	}
	e := Wait{Waiter: w.String(), Mode: w.mode, ID: w.lock.id, Blocker: blocker.String(), Queued: true}
	for h := w.lock.first; h != nil; h = h.lockNext {
		if h.owner == blocker && h.mode.Conflicts(w.mode) {
			e.Queued = false
		}
	}
	return e
}
