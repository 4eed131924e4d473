package txn

import (
	"fmt"

	"tornpage/engine/host"
)

// Owner holds locks and waits for them: a transaction, or a task of its own
// such as vacuum. It waits for at most one thing at a time. Make it with
// LockTable.NewOwner; a transaction has one (Xact.Owner).
type Owner struct {
	id    uint64 // counts owners
	xid   uint32 // 0: none, or none yet
	name  string
	first *hold // oldest
	last  *hold
	held  int    // holds in the list
	seq   uint64 // of the next hold

	// While it waits: for lock in mode, or for the end of awaited, which is
	// target's.
	lock    *lock
	mode    Mode
	own     modes // in which it holds lock meanwhile
	awaited uint32
	target  *Owner
	prev    *Owner // in the queue it stands in
	next    *Owner
	slot    int  // in LockTable.parked
	woken   bool // granted, or the awaited XID has ended
	err     error
	conds   [lockKinds + 1]*host.Cond // by kind of lock; the last is for XIDs
	cond    *host.Cond                // the one it waits on

	enders queue // who waits for the end of one of its XIDs

	seen uint64 // the last search that met it
	via  *Owner // from where
}

// waiting reports whether o stands in a queue.
func (o *Owner) waiting() bool { return o.lock != nil || o.target != nil }

// Held is the number of locks that o holds, each mode of one counted.
func (o *Owner) Held() int { return o.held }

// String names the owner in messages: by its XID if it has one.
func (o *Owner) String() string {
	switch {
	case o.name != "":
		return o.name
	case o.xid != 0:
		return fmt.Sprintf("transaction %d", o.xid)
	}
	return fmt.Sprintf("owner %d", o.id)
}

// queue is owners in the order in which they are served.
type queue struct {
	first, last *Owner
}

// put adds o before another one; nil: at the end.
func (q *queue) put(o, before *Owner) {
	o.next = before
	if before == nil {
		o.prev, q.last = q.last, o
	} else {
		o.prev, before.prev = before.prev, o
	}
	if o.prev == nil {
		q.first = o
	} else {
		o.prev.next = o
	}
}

func (q *queue) remove(o *Owner) {
	if o.prev == nil {
		q.first = o.next
	} else {
		o.prev.next = o.next
	}
	if o.next == nil {
		q.last = o.prev
	} else {
		o.next.prev = o.prev
	}
	o.prev, o.next = nil, nil
}

// lock is a lock that somebody holds.
type lock struct {
	id      LockID
	sum     uint32
	next    *lock // in its chain of the index, or spare
	first   *hold // holders in order of arrival
	last    *hold
	granted [modeSlots]int32 // holds by mode
	modes   modes            // those that are granted
	queue   queue
}

func (k *lock) hash() uint32 { return k.sum }
func (k *lock) link() **lock { return &k.next }

// hold is one owner's hold of one lock in one mode.
type hold struct {
	lock  *lock
	owner *Owner
	sum   uint32
	mode  Mode
	count int32  // acquisitions without a release
	seq   uint64 // order of the owner's holds: savepoints cut there
	next  *hold  // in its chain of the index, or spare

	ownerPrev, ownerNext *hold
	lockPrev, lockNext   *hold
}

func (h *hold) hash() uint32 { return h.sum }
func (h *hold) link() **hold { return &h.next }

// holdSum is the hash under which all holds of o on k are found.
func holdSum(k *lock, o *Owner) uint32 { return uint32(host.Mix(uint64(k.sum)<<32 ^ o.id)) }

func (k *lock) addHold(h *hold) {
	h.lockPrev = k.last
	if k.last == nil {
		k.first = h
	} else {
		k.last.lockNext = h
	}
	k.last = h
	k.granted[h.mode]++
	k.modes |= h.mode.set()
}

func (k *lock) removeHold(h *hold) {
	if h.lockPrev == nil {
		k.first = h.lockNext
	} else {
		h.lockPrev.lockNext = h.lockNext
	}
	if h.lockNext == nil {
		k.last = h.lockPrev
	} else {
		h.lockNext.lockPrev = h.lockPrev
	}
	k.granted[h.mode]--
	if k.granted[h.mode] == 0 {
		k.modes &^= h.mode.set()
	}
}

// refuses reports whether others hold k in a mode that conflicts with mode;
// own are the modes in which the asking owner holds it.
func (k *lock) refuses(mode Mode, own modes) bool {
	against := k.modes & conflicts[mode]
	if against&^own != 0 {
		return true
	}
	for m := AccessShare; against != 0; m++ { // held by the owner: by others too?
		if against&m.set() != 0 {
			if k.granted[m] > 1 {
				return true
			}
			against &^= m.set()
		}
	}
	return false
}

func (o *Owner) addHold(h *hold) {
	h.seq = o.seq
	o.seq++
	h.ownerPrev = o.last
	if o.last == nil {
		o.first = h
	} else {
		o.last.ownerNext = h
	}
	o.last = h
	o.held++
}

func (o *Owner) removeHold(h *hold) {
	if h.ownerPrev == nil {
		o.first = h.ownerNext
	} else {
		h.ownerPrev.ownerNext = h.ownerNext
	}
	if h.ownerNext == nil {
		o.last = h.ownerPrev
	} else {
		h.ownerNext.ownerPrev = h.ownerPrev
	}
	o.held--
}
