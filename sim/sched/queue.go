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

// A digit of a time has six bits, so that one word says which of a level's
// buckets are used; eleven digits hold every time.
const (
	digitBits = 6
	digits    = 1 << digitBits
	levels    = (63 + digitBits - 1) / digitBits
)

// Queue is a radix heap. The zero value is empty, at time 0.
type Queue struct {
	last    int64          // time of the ready set
	n       int            // items in all
	ready   []Item         // those of time last
	rows    uint16         // bit i: level i has an item
	used    [levels]uint64 // bit d: bucket d of the level is not empty
	buckets [levels * digits]uint32
	nodes   []node
	free    uint32
}

// node is an item in a bucket: a ring, in order of pushing, that the bucket
// holds by its last node plus one; 0 is none.
type node struct {
	at   int64
	ref  uint32
	gen  uint32
	next uint32
	kind uint8
}

// Now is the time of the ready set.
func (q *Queue) Now() int64 { return q.last }

// Len is the number of items.
func (q *Queue) Len() int { return q.n }

// Ready is the number of items at the time of the last Advance.
func (q *Queue) Ready() int { return len(q.ready) }

// Push adds an item. Its time must not lie before the queue's.
func (q *Queue) Push(it Item) {
	if it.At < q.last {
		invariant.Broken("Q1", "event of kind %d pushed at %d, before the queue's time %d", it.Kind, it.At, q.last)
	}
	q.n++
	if it.At == q.last {
		q.ready = append(q.ready, it)
		return
	}
	i := q.free
	if i == 0 {
		q.nodes = append(q.nodes, node{})
		i = uint32(len(q.nodes))
	} else {
		q.free = q.nodes[i-1].next
	}
	d := &q.nodes[i-1]
	d.at, d.ref, d.gen, d.kind = it.At, it.Ref, it.Gen, it.Kind
	q.put(i, d)
}

// put hangs node i at the end of its bucket: the level is that of the highest
// digit in which its time differs from the queue's, the bucket that digit.
func (q *Queue) put(i uint32, d *node) {
	level := uint(bits.Len64(uint64(d.at^q.last))-1) / digitBits
	digit := uint64(d.at) >> (level * digitBits) % digits
	b := &q.buckets[level*digits+uint(digit)]
	if tail := *b; tail == 0 {
		d.next = i
		q.used[level] |= 1 << digit
		q.rows |= 1 << level
	} else {
		t := &q.nodes[tail-1]
		d.next, t.next = t.next, i
	}
	*b = i
}

// Before reports that no item is due at or before t, without looking at any
// item: it may say no where the answer is yes.
func (q *Queue) Before(t int64) bool {
	if len(q.ready) > 0 {
		return false
	}
	if q.rows == 0 {
		return true
	}
	// Times in a bucket have its digit, and agree with last above it.
	level := uint(bits.TrailingZeros16(q.rows))
	shift := level * digitBits
	digit := int64(bits.TrailingZeros64(q.used[level]))
	return t < (q.last>>shift&^(digits-1)|digit)<<shift
}

// Advance makes the ready set that of the least time in the queue, and gives
// that time and the size of the set; 0 for an empty queue.
func (q *Queue) Advance() (at int64, ready int) {
	if len(q.ready) == 0 && q.rows != 0 {
		q.refill()
	}
	return q.last, len(q.ready)
}

// refill spreads the first bucket of the lowest level in use around its least
// time. Items of one time keep their order, as they are always in one bucket.
func (q *Queue) refill() {
	level := uint(bits.TrailingZeros16(q.rows))
	digit := uint(bits.TrailingZeros64(q.used[level]))
	if q.used[level] &= q.used[level] - 1; q.used[level] == 0 {
		q.rows &^= 1 << level
	}
	b := level*digits + digit
	tail := q.buckets[b]
	q.buckets[b] = 0
	end := &q.nodes[tail-1]
	first := end.next
	least := end.at
	if first == tail { // as most are, on the lower levels
		q.last = least
		q.ready = append(q.ready, Item{end.at, end.ref, end.gen, end.kind})
		end.next, q.free = q.free, tail
		return
	}
	for i := first; i != tail; {
		d := &q.nodes[i-1]
		least = min(least, d.at)
		i = d.next
	}
	q.last = least
	for i := first; ; {
		d := &q.nodes[i-1]
		next := d.next
		if d.at == least {
			q.ready = append(q.ready, Item{d.at, d.ref, d.gen, d.kind})
			d.next, q.free = q.free, i
		} else {
			q.put(i, d)
		}
		if i == tail {
			return
		}
		i = next
	}
}

// Take removes item i of the ready set.
func (q *Queue) Take(i int) Item {
	r := q.ready
	it := r[i]
	last := len(r) - 1
	r[i] = r[last]
	q.ready = r[:last]
	q.n--
	return it
}
