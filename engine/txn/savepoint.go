package txn

import (
	"fmt"

	"tornpage/engine/invariant"
)

// Savepoint opens a savepoint inside the innermost one. Names may occur again:
// the innermost one of a name hides the others (as in PostgreSQL).
func (x *Xact) Savepoint(name string) error {
	x.open()
	if n := len(x.frames) - 1; n >= x.t.locks.cfg.Savepoints {
		return fmt.Errorf("%w: %d are open inside each other, which is the limit: release some, or raise Savepoints",
			ErrSavepoints, n)
	}
	x.frames = append(x.frames, frame{name: name, mark: x.owner.Mark()})
	return nil
}

// Savepoints is the number of open savepoints.
func (x *Xact) Savepoints() int { return len(x.frames) - 1 }

func (x *Xact) find(name string) (int, error) {
	for i := len(x.frames) - 1; i > 0; i-- {
		if x.frames[i].name == name {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%w: %q is not open in this transaction", ErrNoSavepoint, name)
}

// RollbackTo undoes everything since the savepoint, which stays open: its
// XIDs end as aborted at once, and the locks taken since are given up. The
// caller writes the abort record of the XIDs returned, if there are any: the
// first one, with the others as its subtransactions. They are valid until the
// next call.
func (x *Xact) RollbackTo(name string) (dead []uint32, err error) {
	x.open()
	i, err := x.find(name)
	if err != nil {
		return nil, err
	}
	f := &x.frames[i]
	x.dead = x.dead[:0]
	if f.xid != 0 { // otherwise nothing inside it has one either
		x.dead = append(x.dead, x.live[f.at:]...)
		x.live = x.live[:f.at]
		f.xid = 0
	}
	x.frames = x.frames[:i+1]
	x.t.abortAll(x.dead)
	x.t.locks.ReleaseTo(&x.owner, f.mark)
	if len(x.dead) > 0 {
		x.t.m.Mark("txn.rolled-back-to-savepoint")
	}
	return x.dead, nil
}

// Release closes the savepoint and all inside it. Their changes and locks
// become those of what is around it.
func (x *Xact) Release(name string) error {
	x.open()
	i, err := x.find(name)
	if err != nil {
		return err
	}
	x.frames = x.frames[:i]
	return nil
}

// Tree is the transaction's XID, 0 if it has written nothing, with those of
// its live subtransactions, ascending: what its commit or abort record names.
// They are valid until the next change.
func (x *Xact) Tree() (xid uint32, subs []uint32) {
	x.open()
	if len(x.live) == 0 {
		return 0, nil
	}
	return x.live[0], x.live[1:]
}

// End ends a transaction whose commit is published, or that took no XID: its
// snapshot and its locks are given back (rule T5), and it must not be used
// again.
func (x *Xact) End() {
	x.open()
	for _, xid := range x.live {
		if x.t.Running(xid) {
			invariant.Broken("T5", "%v ends while its XID %d runs", &x.owner, xid)
		}
	}
	x.close()
}

// Abort ends a transaction as aborted. Its abort record (of Tree) is in the
// log or never will be.
func (x *Xact) Abort() {
	x.open()
	x.t.abortAll(x.live)
	x.close()
}

func (x *Xact) close() {
	x.giveSnapshot()
	x.t.locks.ReleaseAll(&x.owner)
	x.state = xactIdle
	x.next, x.t.idle = x.t.idle, x
}

// Abandon gives up a transaction whose end nobody knows, because the boot has
// failed (Manager.Fail). Its XIDs run, and its locks are held, until the
// process ends, which is what keeps anybody from building on either outcome.
func (x *Xact) Abandon() {
	x.open()
	if x.t.failed == nil {
		invariant.Broken("T9", "%v is abandoned while the boot goes on", &x.owner)
	}
	x.giveSnapshot()
	x.state = xactIdle
}
