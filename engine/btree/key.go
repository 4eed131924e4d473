package btree

import (
	"math"

	"tornpage/engine/page"
)

// key is a place in the order of entries: a tuple's key, and a rank among equal
// ones. Entries have a rank by their TID; a pivot without TID is below them all.
type key struct {
	tuple []byte
	cmp   func(a, b []byte) int
	rank  uint64
	// prefix: cmp may look at the leading columns only, so that smaller entries
	// than a pivot may yet be equal to it.
	prefix bool
	inf    int8 // -1: below everything, 1: above everything
}

// Ranks. A bound below all rows of a key is above a pivot without TID: what
// that pivot separates to the left is smaller in its key.
const (
	rankPivot = 0
	rankLow   = 1
	rankFirst = 2
	rankHigh  = math.MaxUint64
)

func rankOf(id page.TID) uint64 { return rankFirst + uint64(id.Block)<<16 + uint64(id.Offset) }

// rankAt is the rank of a tuple on a page.
func rankAt(item page.IndexTuple) uint64 {
	if !item.Pivot() {
		return rankOf(item.TID())
	}
	if id, ok := item.PivotTID(); ok {
		return rankOf(id)
	}
	return rankPivot
}

// compare orders the key against a tuple that is not minus infinity.
func (k *key) compare(item page.IndexTuple) int {
	if k.inf != 0 {
		return int(k.inf)
	}
	if c := k.cmp(k.tuple, item); c != 0 {
		return c
	}
	switch k.rank {
	case rankLow:
		if !k.prefix && item.Pivot() && rankAt(item) == rankPivot {
			return 1
		}
		return -1
	case rankHigh:
		return 1
	}
	r := rankAt(item)
	switch {
	case k.rank < r:
		return -1
	case k.rank > r:
		return 1
	}
	return 0
}

// exactly is the place of one entry, or of a pivot.
func (t *Tree) exactly(tuple page.IndexTuple) key {
	return key{tuple: tuple, cmp: t.cfg.Compare, rank: rankAt(tuple)}
}

// search gives the offset of the first item at or above k on a page, at most
// one after the last; false for a damaged item. It sees the first downlink of
// an internal page as minus infinity.
func search(p *page.Page, q page.IndexOpaque, k *key) (uint16, bool) {
	lo, hi := q.First(), p.MaxOffset()+1
	if q.Level > 0 {
		lo++
	}
	for lo < hi {
		mid := lo + (hi-lo)/2
		item := p.IndexTuple(mid)
		if item == nil {
			return 0, false
		}
		if k.compare(item) > 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, true
}
