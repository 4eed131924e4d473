package sched

import (
	"math/bits"

	"tornpage/engine/invariant"
)

// Item is one pending event: what to do (Kind, with Ref and Gen as the world
// likes) at a time in nanoseconds.
type Item struct {
	At   int64
	Ref  uint32
	Gen  uint32
	Kind uint8
}

// Queue is a radix heap. The zero value is empty, at time 0.
type Queue struct {
	last    int64      // time of the ready set
	used    uint64     // bit i: bucket i+1 is not empty
	n       int        // items in all
	buckets [65][]Item // bucket i: times whose highest bit different from last is i-1
}

// Now is the time of the ready set.
func (q *Queue) Now() int64 { return q.last }

// Len is the number of items.
func (q *Queue) Len() int { return q.n }

// Ready is the number of items at the time of the last Advance or Pop.
func (q *Queue) Ready() int { return len(q.buckets[0]) }

// Push adds an item. Its time must not lie before the queue's.
func (q *Queue) Push(it Item) {
	if it.At < q.last {
		invariant.Broken("Q1", "event of kind %d pushed at %d, before the queue's time %d", it.Kind, it.At, q.last)
	}
	q.n++
	b := bits.Len64(uint64(it.At ^ q.last))
	q.buckets[b] = append(q.buckets[b], it)
	if b > 0 {
		q.used |= 1 << (b - 1)
	}
}

// Before reports that no item is due at or before t, without looking at any
// item: it may say no where the answer is yes.
func (q *Queue) Before(t int64) bool {
	if len(q.buckets[0]) > 0 {
		return false
	}
	if q.used == 0 {
		return true
	}
	// Times in bucket b have bit b-1 set, as last has not, and agree with
	// last above it.
	b := bits.TrailingZeros64(q.used)
	return t < (q.last>>b|1)<<b
}

// Advance makes the ready set that of the least time in the queue, and gives
// that time and the size of the set; 0 for an empty queue.
func (q *Queue) Advance() (at int64, ready int) {
	if len(q.buckets[0]) == 0 && q.used != 0 {
		q.refill()
	}
	return q.last, len(q.buckets[0])
}

// refill spreads the lowest non-empty bucket around its least time.
func (q *Queue) refill() {
	b := bits.TrailingZeros64(q.used) + 1
	from := q.buckets[b]
	least := from[0].At
	for i := 1; i < len(from); i++ {
		least = min(least, from[i].At)
	}
	q.last = least
	q.used &^= 1 << (b - 1)
	for _, it := range from {
		to := bits.Len64(uint64(it.At ^ least))
		q.buckets[to] = append(q.buckets[to], it)
		if to > 0 {
			q.used |= 1 << (to - 1)
		}
	}
	q.buckets[b] = from[:0]
}

// Take removes item i of the ready set.
func (q *Queue) Take(i int) Item {
	r := q.buckets[0]
	it := r[i]
	last := len(r) - 1
	r[i] = r[last]
	q.buckets[0] = r[:last]
	q.n--
	return it
}

// Peek is item i of the ready set.
func (q *Queue) Peek(i int) Item { return q.buckets[0][i] }
