package sim

// slab keeps values that events name by number, and uses freed ones again.
type slab[T any] struct {
	items []T
	idle  []uint32
}

func (s *slab[T]) take() uint32 {
	if n := len(s.idle); n > 0 {
		i := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return i
	}
	var zero T
	s.items = append(s.items, zero)
	return uint32(len(s.items) - 1)
}

// at points to a value until the next take.
func (s *slab[T]) at(i uint32) *T { return &s.items[i] }

func (s *slab[T]) free(i uint32) { s.idle = append(s.idle, i) }

// fifo is a queue that allocates only while it grows.
type fifo[T any] struct {
	items []T
	head  int
}

func (q *fifo[T]) len() int { return len(q.items) - q.head }

func (q *fifo[T]) push(v T) {
	if q.head > 0 && len(q.items) == cap(q.items) {
		n := copy(q.items, q.items[q.head:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, v)
}

func (q *fifo[T]) pop() T {
	v := q.items[q.head]
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return v
}
