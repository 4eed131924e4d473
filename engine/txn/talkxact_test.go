package txn

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"tornpage/engine/heap"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// doXact runs a line about transactions. It reports false for other lines.
func (k *talk) doXact(f []string) bool {
	switch f[0] {
	case "open": // open NAME [LEVEL]
		k.openXact(f)
		return true
	case "burn": // burn N: so many XIDs abort
		for range num(f[1]) {
			xid, err := k.t.Begin()
			if err != nil {
				k.say("%v", err)
				break
			}
			k.t.Aborted(xid)
		}
		return true
	case "horizon":
		k.say("%+v", k.t.Horizon())
		return true
	case "sleep":
		k.m.Sleep(time.Duration(num(f[1])) * time.Microsecond)
		return true
	case "fail":
		k.t.Fail(errors.New("storage stopped"))
		return true
	}
	if len(f) < 2 {
		return false
	}
	x := k.xacts[f[1]]
	if x == nil {
		return false
	}
	switch f[0] {
	case "xid":
		xid, err := x.XID()
		k.say("%s: XID %d, %v", f[1], xid, err)
	case "tree":
		xid, subs := x.Tree()
		k.say("%s: XID %d with %v", f[1], xid, subs)
	case "savepoint":
		k.gripe(x.Savepoint(f[2]))
	case "rollback":
		dead, err := x.RollbackTo(f[2])
		k.gripe(err)
		k.say("%s: %v ended, %d savepoints open", f[1], dead, x.Savepoints())
	case "release":
		k.gripe(x.Release(f[2]))
	case "statement":
		x.Statement()
		k.say("%s at %v: as of %d", f[1], x.Level(), x.Snapshot().LSN)
	case "end-statement":
		x.EndStatement()
	case "looks":
		for _, xid := range f[2:] {
			k.say("%s sees %s: %t", f[1], xid, k.xactSees(x, uint32(num(xid))))
		}
	case "finish": // finish NAME at LSN
		k.finish(f[1], x, wal.LSN(num(f[3])))
	case "end":
		x.End()
	case "undo":
		x.Abort()
		k.say("%s has aborted", f[1])
	case "abandon":
		x.Abandon()
		k.say("%s is abandoned", f[1])
	default:
		return false
	}
	return true
}

func (k *talk) gripe(err error) {
	if err != nil {
		k.say("%v", err)
	}
}

func (k *talk) openXact(f []string) {
	level := ReadCommitted
	if len(f) > 2 {
		level = map[string]Level{"repeatable": RepeatableRead, "serializable": Serializable}[f[2]]
	}
	x, err := k.t.Start(level)
	if err != nil {
		k.say("%v", err)
		return
	}
	k.xacts[f[1]] = x
}

// finish commits: its record is taken to be at the LSN.
func (k *talk) finish(name string, x *Xact, lsn wal.LSN) {
	xid, subs := x.Tree()
	k.q.Lock()
	c := k.q.Enter(xid, lsn, subs...)
	k.q.Unlock()
	if err := k.q.Wait(c); err != nil {
		k.say("%s: outcome unknown: %v", name, err)
		k.t.Fail(err)
		x.Abandon()
		return
	}
	x.End()
	k.say("%s has committed", name)
}

func (k *talk) xactSees(x *Xact, xid uint32) bool {
	for {
		switch x.Sees(xid) {
		case heap.Yes:
			return true
		case heap.No:
			return false
		}
		if err := x.Resolve(xid); err != nil {
			panic(err)
		}
	}
}

// who is the owner of a name: a transaction's, or that of a task of its own.
func (k *talk) who(name string) *Owner {
	if x := k.xacts[name]; x != nil {
		return x.Owner()
	}
	if k.tasks[name] == nil {
		k.tasks[name] = k.table.NewOwner(name)
	}
	return k.tasks[name]
}

// lockID reads "row:BLOCK,OFFSET", "table:REL" or "key:HASH".
func lockID(s string) LockID {
	kind, rest, _ := strings.Cut(s, ":")
	switch kind {
	case "row":
		var tid page.TID
		if _, err := fmt.Sscanf(rest, "%d,%d", &tid.Block, &tid.Offset); err != nil {
			panic(err)
		}
		return RowLock(16384, tid)
	case "table":
		return TableLock(page.Rel(num(rest)))
	case "key":
		return KeyLock(16385, uint64(num(rest))<<16)
	}
	panic("unknown lock " + s)
}

func mode(s string) Mode {
	for m := AccessShare; int(m) < modeSlots; m++ {
		if m.String() == s {
			return m
		}
	}
	panic("unknown mode " + s)
}

// doLock runs a line about the lock table. It reports false for other lines.
func (k *talk) doLock(f []string) bool {
	switch f[0] {
	case "acquire": // acquire NAME LOCK MODE
		if err := k.table.Acquire(k.who(f[1]), lockID(f[2]), mode(f[3])); err != nil {
			k.say("%s: %v", f[1], err)
			break
		}
		k.say("%s has %s on %v", f[1], f[3], lockID(f[2]))
	case "try":
		ok, err := k.table.TryAcquire(k.who(f[1]), lockID(f[2]), mode(f[3]))
		k.say("%s tries %s on %v: %t, %v", f[1], f[3], lockID(f[2]), ok, err)
	case "give-up": // give-up NAME [LOCK MODE]
		if len(f) == 2 {
			k.table.ReleaseAll(k.who(f[1]))
		} else {
			k.table.Release(k.who(f[1]), lockID(f[2]), mode(f[3]))
		}
	case "holds":
		k.say("%s holds %s on %v: %t; %d locks in all", f[1], f[3], lockID(f[2]),
			k.table.Holds(k.who(f[1]), lockID(f[2]), mode(f[3])), k.who(f[1]).Held())
	case "wait-end": // wait-end NAME XID
		if err := k.table.WaitEnd(k.who(f[1]), uint32(num(f[2]))); err != nil {
			k.say("%s: %v", f[1], err)
			break
		}
		k.say("%s: %s has ended", f[1], f[2])
	case "cancel":
		k.say("%s waited: %t", f[1], k.table.Cancel(k.who(f[1]), errors.New("canceled by the user")))
	case "locks":
		k.say("%d locks held, %d wait, %d waits, %d deadlocks", k.table.Held(), len(k.table.parked),
			k.table.Stats.Waits, k.table.Stats.Deadlocks)
	default:
		return false
	}
	return true
}
