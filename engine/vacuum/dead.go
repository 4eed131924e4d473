package vacuum

import (
	"slices"

	"tornpage/engine/page"
)

// deadList is the dead line pointers of one round, in order: block << 16 |
// offset.
type deadList struct {
	tids  []uint64
	pages uint32 // that they lie on
}

func (d *deadList) reset() { d.tids, d.pages = d.tids[:0], 0 }

// add appends the offsets of a block that is above all others so far.
func (d *deadList) add(block uint32, offs []uint16) {
	for _, off := range offs {
		d.tids = append(d.tids, pack(block, off))
	}
	d.pages++
}

// block gives the block of the i-th TID, which is its first, its offsets
// appended to buf, and the index of the next block's first TID.
func (d *deadList) block(i int, buf []uint16) (block uint32, offs []uint16, next int) {
	block = uint32(d.tids[i] >> 16)
	for ; i < len(d.tids) && uint32(d.tids[i]>>16) == block; i++ {
		buf = append(buf, uint16(d.tids[i]))
	}
	return block, buf, i
}

// has reports whether t is in the list (vac_tid_reaped). Most entries of a
// table of which little is dead lie outside.
func (d *deadList) has(t page.TID) bool {
	x, n := pack(t.Block, t.Offset), len(d.tids)
	if n == 0 || x < d.tids[0] || x > d.tids[n-1] {
		return false
	}
	_, ok := slices.BinarySearch(d.tids, x)
	return ok
}

func pack(block uint32, off uint16) uint64 { return uint64(block)<<16 | uint64(off) }
