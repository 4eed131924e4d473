package txn

import (
	"tornpage/engine/host"
	"tornpage/engine/invariant"
)

// Locks are the row locks of one table: one holder a key, others in order of
// arrival. A lock lives as long as somebody holds or wants it.
type Locks struct {
	m     host.Machine
	table map[int64]*keyLock
	locks *keyLock // spare
	waits *waiter  // spare
	Waits uint64   // times that somebody had to wait
}

type keyLock struct {
	first, last *waiter
	next        *keyLock
}

type waiter struct {
	cond    *host.Cond
	granted bool
	next    *waiter
}

// NewLocks makes an empty lock table.
func NewLocks(m host.Machine) *Locks {
	return &Locks{m: m, table: make(map[int64]*keyLock)}
}

// Lock blocks until the caller holds the lock of key.
func (l *Locks) Lock(key int64) {
	k, held := l.table[key]
	if !held {
		k = l.locks
		if k == nil {
			k = &keyLock{}
		} else {
			l.locks, k.next = k.next, nil
		}
		l.table[key] = k
		return
	}
	l.Waits++
	l.m.Mark("txn.lock-waited")
	w := l.waits
	if w == nil {
		w = &waiter{cond: l.m.NewCond(host.WaitTuple)}
	} else {
		l.waits, w.next = w.next, nil
	}
	if k.last == nil {
		k.first = w
	} else {
		k.last.next = w
	}
	k.last = w
	for !w.granted {
		w.cond.Wait()
	}
	w.granted = false
	w.next, l.waits = l.waits, w
}

// Unlock hands the lock of key to who has waited longest.
func (l *Locks) Unlock(key int64) {
	k, held := l.table[key]
	if !held {
		invariant.Broken("T5", "unlock of key %d, which nobody holds", key)
	}
	w := k.first
	if w == nil {
		delete(l.table, key)
		k.next, l.locks = l.locks, k
		return
	}
	k.first = w.next
	if k.first == nil {
		k.last = nil
	}
	w.next = nil
	w.granted = true
	w.cond.Signal()
}

// Held is the number of keys with a holder.
func (l *Locks) Held() int { return len(l.table) }
