package sched

// Heap is a binary heap on (time, order of pushing): the plain twin of Queue.
type Heap struct {
	items []seqItem
	seq   uint64
}

type seqItem struct {
	Item
	seq uint64
}

func (a *seqItem) less(b *seqItem) bool {
	return a.At < b.At || a.At == b.At && a.seq < b.seq
}

// Len is the number of items.
func (h *Heap) Len() int { return len(h.items) }

// Push adds an item.
func (h *Heap) Push(it Item) {
	h.seq++
	h.items = append(h.items, seqItem{it, h.seq})
	s := h.items
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if !s[i].less(&s[up]) {
			return
		}
		s[i], s[up] = s[up], s[i]
		i = up
	}
}

// Pop removes the item of the least time, the oldest of several.
func (h *Heap) Pop() (Item, bool) {
	s := h.items
	if len(s) == 0 {
		return Item{}, false
	}
	top, last := s[0], len(s)-1
	s[0] = s[last]
	s = s[:last]
	h.items = s
	for i := 0; ; {
		kid := 2*i + 1
		if kid >= len(s) {
			break
		}
		if kid+1 < len(s) && s[kid+1].less(&s[kid]) {
			kid++
		}
		if !s[kid].less(&s[i]) {
			break
		}
		s[i], s[kid] = s[kid], s[i]
		i = kid
	}
	return top.Item, true
}
