package oshost

import "tornpage/engine/host/coop"

// timer is a wake-up of a task, or a call of f.
type timer struct {
	at   int64  // nanoseconds of Now
	seq  uint64 // timers of one moment fire in the order in which they were set
	task *coop.Task
	gen  uint32
	f    func()
}

// timers is a binary heap. A wait that ended before its time-out leaves its
// timer behind; such stale ones are dropped when they fire, or all together
// when they could be most of the heap.
type timers struct {
	heap []timer
	seq  uint64
	full int // length at which stale timers are swept out
}

// minSweep keeps small heaps from being swept all the time.
const minSweep = 1024

func (h *timers) add(t timer) {
	if len(h.heap) >= max(h.full, minSweep) {
		h.sweep()
	}
	h.seq++
	t.seq = h.seq
	h.heap = append(h.heap, t)
	h.up(len(h.heap) - 1)
}

// next is the time of the earliest timer.
func (h *timers) next() (at int64, ok bool) {
	if len(h.heap) == 0 {
		return 0, false
	}
	return h.heap[0].at, true
}

// pop takes the earliest timer, which must exist.
func (h *timers) pop() timer {
	top := h.heap[0]
	last := len(h.heap) - 1
	h.heap[0] = h.heap[last]
	h.heap[last] = timer{}
	h.heap = h.heap[:last]
	h.down(0)
	return top
}

// sweep drops stale timers and lets the heap double before the next sweep.
func (h *timers) sweep() {
	kept := h.heap[:0]
	for _, t := range h.heap {
		if t.f != nil || t.task.Gen() == t.gen {
			kept = append(kept, t)
		}
	}
	clear(h.heap[len(kept):])
	h.heap = kept
	for i := len(h.heap)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	h.full = 2 * len(h.heap)
}

func (h *timers) less(i, j int) bool {
	a, b := &h.heap[i], &h.heap[j]
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}

func (h *timers) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(i, parent) {
			return
		}
		h.heap[i], h.heap[parent] = h.heap[parent], h.heap[i]
		i = parent
	}
}

func (h *timers) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h.heap) {
			return
		}
		if child+1 < len(h.heap) && h.less(child+1, child) {
			child++
		}
		if !h.less(child, i) {
			return
		}
		h.heap[i], h.heap[child] = h.heap[child], h.heap[i]
		i = child
	}
}
