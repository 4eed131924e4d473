package txn

import (
	"errors"
	"fmt"

	"tornpage/engine/host"
	"tornpage/engine/invariant"
)

// Config bounds what one transaction may ask for. Every field is a dimension
// that seeds may vary.
type Config struct {
	LocksPerOwner int // locks that one owner may hold; 0: 1,048,576
	SubXIDs       int // XIDs that one transaction's live savepoints may have; 0: 16,384, at most 65,536
	Savepoints    int // savepoints inside each other; 0: 1,024
}

const (
	// defaultLocks takes some 200 MB when one owner uses it up.
	defaultLocks = 1 << 20
	// defaultSubs makes a commit record of 64 KiB, 4 bytes an XID.
	defaultSubs = 1 << 14
	// maxSubs keeps a commit record below wal.MaxRecord.
	maxSubs           = 1 << 16
	defaultSavepoints = 1 << 10
	// maxSpare locks and holds are kept for later; the rest of what a large
	// transaction used goes back to the heap.
	maxSpare = 1 << 14
)

func (c Config) withDefaults() Config {
	if c.LocksPerOwner <= 0 {
		c.LocksPerOwner = defaultLocks
	}
	if c.SubXIDs <= 0 {
		c.SubXIDs = defaultSubs
	}
	if c.Savepoints <= 0 {
		c.Savepoints = defaultSavepoints
	}
	c.SubXIDs = min(c.SubXIDs, maxSubs)
	return c
}

// Errors of locks.
var (
	ErrDeadlock = errors.New("deadlock")
	ErrTooMany  = errors.New("too many locks")
)

// LockTable is the locks of one boot, with their queues. Make it with
// NewLockTable.
type LockTable struct {
	m      host.Machine
	t      *Manager
	cfg    Config
	locks  index[lock, *lock]
	holds  index[hold, *hold]
	parked []*Owner // all that wait, in no order that means anything
	owners uint64   // made so far
	nobody Owner    // who XIDs without an owner belong to
	failed error

	spareLocks *lock
	spareHolds *hold
	spares     int // in both lists

	search uint64   // number of the last search of the graph
	todo   []*Owner // of the search

	Stats LockStats
}

// LockStats counts what went through a lock table.
type LockStats struct {
	Waits     uint64 // times that somebody had to wait, for a lock or an end
	Deadlocks uint64 // requests refused because of a cycle
	MostHeld  int    // locks held at once, at most
}

// NewLockTable makes the lock table of t's transactions.
func NewLockTable(m host.Machine, t *Manager, cfg Config) *LockTable {
	l := &LockTable{
		m: m, t: t, cfg: cfg.withDefaults(),
		locks: newIndex[lock, *lock](), holds: newIndex[hold, *hold](),
	}
	l.nobody.name = "a transaction without locks"
	t.locks = l
	return l
}

// NewOwner makes an owner that is no transaction; name stands for it in
// messages.
func (l *LockTable) NewOwner(name string) *Owner {
	o := &Owner{}
	l.begin(o)
	o.name = name
	return o
}

// begin makes o, which holds nothing, a new owner.
func (l *LockTable) begin(o *Owner) {
	l.owners++
	o.id, o.xid, o.seq, o.err = l.owners, 0, 0, nil
}

// Held is the number of locks that somebody holds.
func (l *LockTable) Held() int { return l.locks.n }

// Acquire blocks until o holds the lock in the mode, besides others in which it
// may hold it already. Requests are granted in order of arrival, but for two
// cases: one that conflicts with nobody before it does not wait for them, and
// one whose owner holds the lock goes before those that wait for that owner.
//
// ErrDeadlock: the wait would never end, because of a cycle that the error
// names. o holds what it held before; its transaction should be rolled back.
// ErrTooMany: o holds as many locks as it may.
func (l *LockTable) Acquire(o *Owner, id LockID, mode Mode) error {
	r := l.ask(o, id, mode)
	if r.granted || r.err != nil {
		return r.err
	}
	return l.wait(o, mode, r)
}

// TryAcquire is Acquire if that needs no waiting; otherwise it does nothing
// and gives false.
func (l *LockTable) TryAcquire(o *Owner, id LockID, mode Mode) (bool, error) {
	r := l.ask(o, id, mode)
	return r.granted, r.err
}

// request is what became of asking for a lock without waiting.
type request struct {
	granted bool
	err     error
	lock    *lock
	own     modes  // in which the owner holds lock
	before  *Owner // where to queue up; nil: at the end
}

func (l *LockTable) ask(o *Owner, id LockID, mode Mode) (r request) {
	if o.waiting() {
		invariant.Broken("T6", "%v asks for %v on %v while it waits", o, mode, id)
	}
	if id.Kind.modes()&mode.set() == 0 {
		invariant.Broken("T6", "%v asks for %v on %v, which is not locked in that mode", o, mode, id)
	}
	if r.err = l.failed; r.err != nil {
		return r
	}
	k := l.find(id)
	if k != nil {
		own, same := l.ownHolds(k, o, mode)
		if same != nil {
			same.count++
			r.granted = true
			return r
		}
		r.lock, r.own = k, own
	}
	if o.held >= l.cfg.LocksPerOwner {
		r.err = fmt.Errorf("%w: %v holds %d, which is the limit: commit more often, or raise LocksPerOwner",
			ErrTooMany, o, o.held)
		return r
	}
	if k == nil {
		k = l.makeLock(id)
	} else if !k.admits(mode, &r) {
		return r
	}
	l.grant(k, o, mode)
	r.granted = true
	return r
}

// admits reports whether a request needs no waiting, and sets r.before to
// where it would wait: before the first one that waits for r.own, which cannot
// go on earlier in any case (PostgreSQL's ProcSleep).
func (k *lock) admits(mode Mode, r *request) bool {
	ok := true
	w := k.queue.first
	for ; w != nil && conflicts[w.mode]&r.own == 0; w = w.next {
		ok = ok && !mode.Conflicts(w.mode)
	}
	r.before = w
	return ok && !k.refuses(mode, r.own)
}

func (l *LockTable) find(id LockID) *lock {
	for k := l.locks.chain(id.sum()); k != nil; k = k.next {
		if k.id == id {
			return k
		}
	}
	return nil
}

// ownHolds gives the modes in which o holds k, and the hold of one of them.
func (l *LockTable) ownHolds(k *lock, o *Owner, mode Mode) (own modes, same *hold) {
	for h := l.holds.chain(holdSum(k, o)); h != nil; h = h.next {
		if h.lock == k && h.owner == o {
			own |= h.mode.set()
			if h.mode == mode {
				same = h
			}
		}
	}
	return own, same
}

func (l *LockTable) makeLock(id LockID) *lock {
	k := l.spareLocks
	if k == nil {
		k = &lock{}
	} else {
		l.spareLocks, k.next = k.next, nil
		l.spares--
	}
	k.id, k.sum = id, id.sum()
	l.locks.add(k)
	l.Stats.MostHeld = max(l.Stats.MostHeld, l.locks.n)
	return k
}

func (l *LockTable) grant(k *lock, o *Owner, mode Mode) {
	if k.modes&conflicts[mode] != 0 {
		if own, _ := l.ownHolds(k, o, mode); k.refuses(mode, own) {
			invariant.Broken("T6", "%v is granted %v on %v, against who holds it", o, mode, k.id)
		}
	}
	h := l.spareHolds
	if h == nil {
		h = &hold{}
	} else {
		l.spareHolds, h.next = h.next, nil
		l.spares--
	}
	h.lock, h.owner, h.mode, h.count, h.sum = k, o, mode, 1, holdSum(k, o)
	l.holds.add(h)
	k.addHold(h)
	o.addHold(h)
}

// Wanted reports whether somebody waits for the lock.
func (l *LockTable) Wanted(id LockID) bool {
	k := l.find(id)
	return k != nil && k.queue.first != nil
}

// Holds reports whether o holds the lock in the mode, for assertions.
func (l *LockTable) Holds(o *Owner, id LockID, mode Mode) bool {
	k := l.find(id)
	if k == nil {
		return false
	}
	_, same := l.ownHolds(k, o, mode)
	return same != nil
}

// Release undoes one Acquire of the lock in the mode. The lock is free, as far
// as o is concerned, once each has been undone.
func (l *LockTable) Release(o *Owner, id LockID, mode Mode) {
	if o.waiting() {
		invariant.Broken("T6", "%v releases %v on %v while it waits", o, mode, id)
	}
	if k := l.find(id); k != nil {
		if _, h := l.ownHolds(k, o, mode); h != nil {
			if h.count--; h.count == 0 {
				l.drop(h)
			}
			return
		}
	}
	invariant.Broken("T5", "%v releases %v on %v, which it does not hold", o, mode, id)
}

// ReleaseAll gives up all locks of o, the last one first.
func (l *LockTable) ReleaseAll(o *Owner) { l.ReleaseTo(o, 0) }

// Mark is a moment of o's, for ReleaseTo.
func (o *Owner) Mark() uint64 { return o.seq }

// ReleaseTo gives up the locks that o did not hold at the mark, the last one
// first. A lock that it has acquired again since, it keeps.
func (l *LockTable) ReleaseTo(o *Owner, mark uint64) {
	if o.waiting() {
		invariant.Broken("T6", "%v gives up its locks while it waits", o)
	}
	for o.last != nil && o.last.seq >= mark {
		l.drop(o.last)
	}
}

// drop ends a hold, and grants what that makes possible.
func (l *LockTable) drop(h *hold) {
	k := h.lock
	l.holds.remove(h)
	k.removeHold(h)
	h.owner.removeHold(h)
	*h = hold{}
	if l.spares < maxSpare {
		h.next, l.spareHolds = l.spareHolds, h
		l.spares++
	}
	l.settle(k)
}

// settle grants k to those in its queue who need wait no longer, and forgets
// it if nobody holds it.
func (l *LockTable) settle(k *lock) {
	var refused modes // those that conflict with somebody who goes on waiting
	all := k.id.Kind.modes()
	for w := k.queue.first; w != nil && refused&all != all; {
		next := w.next
		if refused&w.mode.set() == 0 && !k.refuses(w.mode, w.own) {
			mode := w.mode
			l.leaveQueue(w)
			l.grant(k, w, mode)
			l.wake(w, nil)
		} else {
			refused |= conflicts[w.mode]
		}
		w = next
	}
	if k.first != nil {
		return
	}
	l.locks.remove(k)
	*k = lock{}
	if l.spares < maxSpare {
		k.next, l.spareLocks = l.spareLocks, k
		l.spares++
	}
}
