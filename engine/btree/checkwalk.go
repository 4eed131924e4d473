package btree

import "tornpage/engine/page"

// walk is the check of one level, page by page from the left.
//
// Pages without downlink that are being deleted are passed over: their key
// space belongs to the next page already. Of all others, the high key equals
// the next downlink's key, unless the page has an unfinished split: then its
// right sibling has no downlink, and the high key is below the next one's.
type walk struct {
	c          *checker
	level      uint32
	want       []link // downlinks not yet met
	before     uint32 // the page to the left
	unfinished bool   // the last page that counts has an unfinished split
	above      []byte // its high key: everything from here on is above it
	below      []link
}

// page checks the page that was just read against its neighbours and parent.
func (w *walk) page(block uint32, q page.IndexOpaque) {
	c := w.c
	c.stats.Pages++
	if q.Prev != w.before {
		c.found(block, "left sibling %d, want %d", q.Prev, w.before)
	}
	w.before = block
	mine := len(w.want) > 0 && w.want[0].block == block
	if q.Has(page.IndexHalfDead) || c.doomed[block] {
		if q.Has(page.IndexHalfDead) {
			c.stats.HalfDead++
		}
		if mine {
			c.found(block, "it is being deleted, yet has a downlink")
			w.want = w.want[1:]
		}
		return
	}
	switch {
	case mine:
		if first := w.want[0].low == nil; first != (w.above == nil) {
			c.found(block, "lowest downlink %t, leftmost page %t", first, w.above == nil)
		}
		w.want = w.want[1:]
	case !w.unfinished:
		c.found(block, "it has no downlink, though its left sibling has no unfinished split")
	}
	if w.unfinished = q.Has(page.IndexIncomplete); w.unfinished {
		c.stats.Incomplete++
	}
	w.items(block, q)
	w.high(block, q)
}

// items checks that the items are above the left sibling's high key, and lists
// the downlinks.
func (w *walk) items(block uint32, q page.IndexOpaque) {
	c, off := w.c, q.First()
	if w.level > 0 {
		w.below = append(w.below, link{c.p.IndexTuple(off).Block(), w.above})
		off++
		for i := off; i <= c.p.MaxOffset(); i++ {
			it := c.p.IndexTuple(i)
			w.below = append(w.below, link{it.Block(), append([]byte(nil), it...)})
		}
	} else {
		c.stats.Entries += count(&c.p, q)
	}
	if off <= c.p.MaxOffset() && w.above != nil && w.order(c.p.IndexTuple(off), w.above) <= 0 {
		c.found(block, "item %d is not above the high key of the page to the left", off)
	}
}

// high holds the page's high key against the page to the left and the parent.
func (w *walk) high(block uint32, q page.IndexOpaque) {
	c := w.c
	if q.Next == 0 {
		return
	}
	high := c.p.IndexTuple(1)
	if w.above != nil && w.order(high, w.above) <= 0 {
		c.found(block, "its high key is not above that of the page to the left")
	}
	w.above = append([]byte(nil), high...)
	if len(w.want) == 0 || w.want[0].low == nil {
		return
	}
	d := w.order(high, w.want[0].low)
	if w.unfinished && d >= 0 || !w.unfinished && d != 0 {
		c.found(block, "its high key is %s the key of the next downlink, to block %d (unfinished split %t)",
			[...]string{"below", "equal to", "above"}[d+1], w.want[0].block, w.unfinished)
	}
}

func (w *walk) order(a, b page.IndexTuple) int {
	k := w.c.t.exactly(a)
	switch d := k.compare(b); {
	case d < 0:
		return -1
	case d > 0:
		return 1
	}
	return 0
}

// end looks for downlinks that lead to no page of the level.
func (w *walk) end() {
	for _, l := range w.want {
		w.c.found(l.block, "a downlink to level %d leads there, to a page that the level has not, or not in this order", w.level)
	}
}
