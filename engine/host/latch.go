package host

import "tornpage/engine/invariant"

// Latch is a short lock, shared or exclusive, that may be held across switch
// points (Pay, I/O): what must hold across a switch is held by a latch. Waiters
// enter in order of arrival, so a stream of readers cannot starve a writer.
// Latches are not recursive, and die with their process.
type Latch struct {
	cond    *Cond
	readers int32
	writer  bool
	head    uint64 // ticket that may enter next
	tail    uint64 // next ticket
}

// NewLatch makes a latch whose waiters are accounted to ev.
func NewLatch(m Machine, ev WaitEvent) *Latch { return &Latch{cond: m.NewCond(ev)} }

// Lock blocks until the latch is held exclusively. It does not switch if the
// latch is free.
func (l *Latch) Lock() {
	if l.head == l.tail && !l.writer && l.readers == 0 {
		l.writer = true
		return
	}
	me := l.tail
	l.tail++
	for l.head != me || l.writer || l.readers > 0 {
		l.cond.Wait()
	}
	l.head++
	l.writer = true
}

// TryLock takes the latch if that needs no waiting.
func (l *Latch) TryLock() bool {
	if l.head != l.tail || l.writer || l.readers > 0 {
		return false
	}
	l.writer = true
	return true
}

// Unlock releases an exclusive hold.
func (l *Latch) Unlock() {
	if !l.writer {
		invariant.Broken("H-latch", "Unlock of a latch that is not held exclusively (%d readers)", l.readers)
	}
	l.writer = false
	l.wake()
}

// RLock blocks until the latch is held shared.
func (l *Latch) RLock() {
	if l.head == l.tail && !l.writer {
		l.readers++
		return
	}
	me := l.tail
	l.tail++
	for l.head != me || l.writer {
		l.cond.Wait()
	}
	l.head++
	l.readers++
	l.wake() // the next in line may be a reader too
}

// RUnlock releases a shared hold.
func (l *Latch) RUnlock() {
	if l.readers <= 0 {
		invariant.Broken("H-latch", "RUnlock of a latch with %d readers", l.readers)
	}
	l.readers--
	if l.readers == 0 {
		l.wake()
	}
}

// Held reports whether the latch is held exclusively, for assertions.
func (l *Latch) Held() bool { return l.writer }

func (l *Latch) wake() {
	if l.head != l.tail {
		l.cond.Broadcast()
	}
}
