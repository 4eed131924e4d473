package vacuum

import (
	"slices"

	"tornpage/engine/page"
)

// deadList is the dead line pointers of one round, in order.
type deadList struct {
	tids  []page.TID
	pages uint32 // that they lie on
	last  uint32 // the block of the last answer, and where its TIDs are:
	from  int    // an index meets neighbours one after another
	to    int
}

func (d *deadList) reset() { d.tids, d.pages, d.from, d.to = d.tids[:0], 0, 0, 0 }

// add appends the offsets of a block that is above all others so far.
func (d *deadList) add(block uint32, offs []uint16) {
	for _, off := range offs {
		d.tids = append(d.tids, page.TID{Block: block, Offset: off})
	}
	d.pages++
}

// block is the TIDs on the block of the i-th TID, which is its first, as
// offsets appended to buf, and the index of the next block's first TID.
func (d *deadList) block(i int, buf []uint16) (offs []uint16, next int) {
	b := d.tids[i].Block
	for ; i < len(d.tids) && d.tids[i].Block == b; i++ {
		buf = append(buf, d.tids[i].Offset)
	}
	return buf, i
}

// has reports whether t is in the list (vac_tid_reaped).
func (d *deadList) has(t page.TID) bool {
	if d.from == d.to || d.last != t.Block {
		d.last = t.Block
		d.from, _ = slices.BinarySearchFunc(d.tids, page.TID{Block: t.Block}, compareTID)
		d.to = d.from
		for d.to < len(d.tids) && d.tids[d.to].Block == t.Block {
			d.to++
		}
		if d.from == d.to {
			return false
		}
	}
	_, ok := slices.BinarySearchFunc(d.tids[d.from:d.to], t, compareTID)
	return ok
}

func compareTID(a, b page.TID) int {
	switch {
	case a.Block < b.Block || a.Block == b.Block && a.Offset < b.Offset:
		return -1
	case a == b:
		return 0
	}
	return 1
}
