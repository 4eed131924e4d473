package buffer

import (
	"math/bits"

	"tornpage/engine/invariant"
	"tornpage/engine/page"
)

// frameIndex leads from pages to their frames: a hash table of fixed size with
// linear probing. Not a Go map: every pin looks something up, and a map hashes
// and allocates in ways of its own.
type frameIndex struct {
	cells []indexCell // a power of two, at least half of them empty
	shift uint8       // 64 less the bits of a position
	n     int
}

type indexCell struct {
	id   page.ID
	slot int32 // of the frame, plus one; 0: empty
}

// indexGolden is 2^64 divided by the golden ratio (Knuth, volume 3, 6.4): it
// spreads neighbouring blocks.
const indexGolden = 0x9e3779b97f4a7c15

func newFrameIndex(frames int) frameIndex {
	width := bits.Len(uint(2*frames - 1))
	return frameIndex{cells: make([]indexCell, 1<<width), shift: uint8(64 - width)}
}

func (x *frameIndex) home(id page.ID) int {
	return int((uint64(id.Rel)<<32 | uint64(id.Block)) * indexGolden >> x.shift)
}

// find gives the cell of id, or the empty one where it would be.
func (x *frameIndex) find(id page.ID) int {
	i := x.home(id)
	for x.cells[i].slot != 0 && x.cells[i].id != id {
		i = (i + 1) & (len(x.cells) - 1)
	}
	return i
}

// get gives the frame of id.
func (x *frameIndex) get(id page.ID) (slot int32, ok bool) {
	slot = x.cells[x.find(id)].slot
	return slot - 1, slot != 0
}

// put sets the frame of id.
func (x *frameIndex) put(id page.ID, slot int32) {
	c := &x.cells[x.find(id)]
	if c.slot == 0 {
		x.n++
		if 2*x.n > len(x.cells) {
			invariant.Broken("B1", "%d pages in the index of a pool with room for %d", x.n, len(x.cells)/2)
		}
	}
	*c = indexCell{id: id, slot: slot + 1}
}

// remove forgets id, which may not be there. Cells behind it that could not be
// at their home move up, so that no search ends too early.
func (x *frameIndex) remove(id page.ID) {
	mask := len(x.cells) - 1
	hole := x.find(id)
	if x.cells[hole].slot == 0 {
		return
	}
	x.n--
	for i := (hole + 1) & mask; x.cells[i].slot != 0; i = (i + 1) & mask {
		// It may move if its home is not between the hole and it.
		if (i-x.home(x.cells[i].id))&mask >= (i-hole)&mask {
			x.cells[hole] = x.cells[i]
			hole = i
		}
	}
	x.cells[hole] = indexCell{}
}
