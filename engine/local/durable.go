package local

import (
	"container/heap"

	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/wal"
)

// waiter is a task that waits for the log to be durable up to lsn. Each has a
// condition of its own: advancing wakes those whose time has come, in the
// order of their LSNs, and no herd.
type waiter struct {
	lsn  wal.LSN
	seq  uint64 // order of arrival, for equal LSNs
	cond *host.Cond
}

// waiters is a heap, smallest LSN first.
type waiters []*waiter

func (h waiters) Len() int { return len(h) }
func (h waiters) Less(i, j int) bool {
	return h[i].lsn < h[j].lsn || h[i].lsn == h[j].lsn && h[i].seq < h[j].seq
}
func (h waiters) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push is for package heap.
func (h *waiters) Push(x any) { *h = append(*h, x.(*waiter)) }

// Pop is for package heap.
func (h *waiters) Pop() any {
	old := *h
	w := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return w
}

func push(h *waiters, w *waiter) { heap.Push(h, w) }

func pop(h *waiters) *waiter { return heap.Pop(h).(*waiter) }

// durability is the durable point and who waits for it.
type durability struct {
	m       host.Machine
	lsn     wal.LSN
	queue   waiters
	free    []*waiter
	arrived uint64
	stopped bool
}

// wait blocks until the durable point has reached lsn.
func (d *durability) wait(lsn wal.LSN) error {
	if d.lsn >= lsn {
		return nil
	}
	if d.stopped {
		return engine.ErrStopped
	}
	w := d.take()
	d.arrived++
	w.lsn, w.seq = lsn, d.arrived
	push(&d.queue, w)
	for d.lsn < lsn && !d.stopped {
		w.cond.Wait()
	}
	d.free = append(d.free, w)
	if d.lsn < lsn {
		return engine.ErrStopped
	}
	return nil
}

func (d *durability) take() *waiter {
	if n := len(d.free); n > 0 {
		w := d.free[n-1]
		d.free = d.free[:n-1]
		return w
	}
	return &waiter{cond: d.m.NewCond(host.WaitDurable)}
}

// advance publishes to as durable. What is waiting for it trusts nothing else.
func (d *durability) advance(to wal.LSN) {
	if to < d.lsn {
		invariant.Broken("L3", "the durable point retreats from %v to %v", d.lsn, to)
	}
	d.lsn = to
	for len(d.queue) > 0 && d.queue[0].lsn <= to {
		pop(&d.queue).cond.Signal()
	}
}

// stop ends all waiting: nothing more will become durable.
func (d *durability) stop() {
	d.stopped = true
	for len(d.queue) > 0 {
		pop(&d.queue).cond.Signal()
	}
}
