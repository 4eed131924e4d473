// Package lsnwait is what tasks wait for at a log: its durable point (Point),
// and room before its end (Gate).
//
// # Promises
//
//	N1  The point only grows.
//	N2  Advancing wakes exactly those whose LSN has been reached, in the order
//	    of their LSNs, and of their arrival where those are equal.
//	N3  After Stop nobody waits any more, and the point stands still.
//	N4  A gate lets callers in in the order of their arrival.
//
// # Not promised
//
//   - That tasks woken together run in the order in which they were woken: on
//     several cores the machine decides.
package lsnwait

import (
	"container/heap"

	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/wal"
)

// waiter is a task that waits for the point to reach lsn. Each has a condition
// of its own, so that there is no herd.
type waiter struct {
	lsn  wal.LSN
	seq  uint64 // order of arrival
	cond *host.Cond
}

// queue is a heap, smallest LSN first.
type queue []*waiter

func (h queue) Len() int { return len(h) }
func (h queue) Less(i, j int) bool {
	return h[i].lsn < h[j].lsn || h[i].lsn == h[j].lsn && h[i].seq < h[j].seq
}
func (h queue) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push is for package heap.
func (h *queue) Push(x any) { *h = append(*h, x.(*waiter)) }

// Pop is for package heap.
func (h *queue) Pop() any {
	old := *h
	w := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return w
}

func push(h *queue, w *waiter) { heap.Push(h, w) }

func pop(h *queue) *waiter { return heap.Pop(h).(*waiter) }

// Point is a durable point. Make it with New.
type Point struct {
	m       host.Machine
	lsn     wal.LSN
	queue   queue
	free    []*waiter
	arrived uint64
	stopped error
}

// New makes a point at 0.
func New(m host.Machine) *Point { return &Point{m: m} }

// LSN is where the point is.
func (d *Point) LSN() wal.LSN { return d.lsn }

// Err is what Stop was given, nil before.
func (d *Point) Err() error { return d.stopped }

// Wait blocks until the point has reached lsn, or gives the error of Stop.
func (d *Point) Wait(lsn wal.LSN) error {
	if d.lsn >= lsn {
		return nil
	}
	if d.stopped != nil {
		return d.stopped
	}
	w := d.take()
	d.arrived++
	w.lsn, w.seq = lsn, d.arrived
	push(&d.queue, w)
	for d.lsn < lsn && d.stopped == nil {
		w.cond.Wait()
	}
	d.free = append(d.free, w)
	if d.lsn < lsn {
		return d.stopped
	}
	return nil
}

func (d *Point) take() *waiter {
	if n := len(d.free); n > 0 {
		w := d.free[n-1]
		d.free = d.free[:n-1]
		return w
	}
	return &waiter{cond: d.m.NewCond(host.WaitDurable)}
}

// Advance publishes to as durable. Who waits trusts nothing else: a retreat
// would mean that something acknowledged can be lost.
func (d *Point) Advance(to wal.LSN) {
	if d.stopped != nil {
		return
	}
	if to < d.lsn {
		invariant.Broken("N1", "the durable point retreats from %v to %v", d.lsn, to)
	}
	d.lsn = to
	for len(d.queue) > 0 && d.queue[0].lsn <= to {
		pop(&d.queue).cond.Signal()
	}
}

// Stop ends all waiting with err: nothing more will become durable.
func (d *Point) Stop(err error) {
	if d.stopped != nil {
		return
	}
	d.stopped = err
	for len(d.queue) > 0 {
		pop(&d.queue).cond.Signal()
	}
}
