package txn

import (
	"tornpage/engine/host"
	"tornpage/engine/invariant"
)

// wait queues up o as r says, and blocks until it is granted the lock.
func (l *LockTable) wait(o *Owner, mode Mode, r request) error {
	o.lock, o.mode, o.own = r.lock, mode, r.own
	r.lock.queue.put(o, r.before)
	if err := l.check(o); err != nil {
		return err
	}
	if r.before != nil {
		l.m.Mark("txn.lock-upgrade-waited")
	}
	l.m.Mark("txn.lock-waited")
	return l.park(o, int(r.lock.id.Kind), r.lock.id.Kind.event())
}

// WaitEnd blocks until xid has ended: the transaction that took it, or the one
// that it is a subtransaction of, is published, or it was rolled back alone.
// What has ended already, and an XID that was never given out, are not waited
// for. Errors as Acquire.
func (l *LockTable) WaitEnd(o *Owner, xid uint32) error {
	if o.waiting() {
		invariant.Broken("T6", "%v asks for the end of %d while it waits", o, xid)
	}
	for l.t.Running(xid) {
		if l.failed != nil {
			return l.failed
		}
		o.target, o.awaited = l.t.window.owner(xid), xid
		if o.target == nil {
			o.target = &l.nobody
		}
		o.target.enders.put(o, nil)
		if err := l.check(o); err != nil {
			return err
		}
		l.m.Mark("txn.end-waited")
		if err := l.park(o, int(lockKinds), host.WaitTransaction); err != nil {
			return err
		}
	}
	return nil
}

// check refuses a wait that closes a cycle: o leaves its queue again.
func (l *LockTable) check(o *Owner) error {
	if !l.closes(o, false) {
		l.Stats.Waits++
		return nil
	}
	err := l.explain(o)
	l.unqueue(o)
	l.Stats.Deadlocks++
	l.m.Mark("txn.deadlock")
	return err
}

// park blocks until o is woken.
func (l *LockTable) park(o *Owner, kind int, ev host.WaitEvent) error {
	if o.conds[kind] == nil {
		o.conds[kind] = l.m.NewCond(ev)
	}
	o.cond = o.conds[kind]
	o.slot = len(l.parked)
	l.parked = append(l.parked, o)
	o.woken, o.err = false, nil
	for !o.woken {
		o.cond.Wait()
	}
	return o.err
}

// wake lets o, which has left its queue, go on.
func (l *LockTable) wake(o *Owner, err error) {
	last := l.parked[len(l.parked)-1]
	l.parked[o.slot], last.slot = last, o.slot
	l.parked = l.parked[:len(l.parked)-1]
	o.woken, o.err = true, err
	o.cond.Signal()
}

// unqueue takes o out of the queue that it stands in.
func (l *LockTable) unqueue(o *Owner) {
	if o.lock != nil {
		l.leaveQueue(o)
		return
	}
	o.target.enders.remove(o)
	o.target, o.awaited = nil, 0
}

func (l *LockTable) leaveQueue(o *Owner) {
	o.lock.queue.remove(o)
	o.lock, o.mode, o.own = nil, 0, 0
}

// ended wakes those who wait for an XID of target's that runs no more.
func (l *LockTable) ended(target *Owner) {
	if target == nil {
		target = &l.nobody
	}
	for w := target.enders.first; w != nil; {
		next := w.next
		if !l.t.Running(w.awaited) {
			l.unqueue(w)
			l.wake(w, nil)
		}
		w = next
	}
}

// Cancel ends what o waits for, if anything, with err. It reports whether o
// waited.
func (l *LockTable) Cancel(o *Owner, err error) bool {
	if !o.waiting() {
		return false
	}
	k := o.lock
	l.unqueue(o)
	l.wake(o, err)
	if k != nil {
		l.settle(k) // who stood behind o may go on
	}
	return true
}

// Fail ends every wait, present and to come, with err. Locks can still be
// given up.
func (l *LockTable) Fail(err error) {
	if l.failed == nil {
		l.failed = err
	}
	for len(l.parked) > 0 {
		o := l.parked[0]
		l.unqueue(o)
		l.wake(o, l.failed)
	}
}
