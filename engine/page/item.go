package page

import "errors"

// MaxItems is the number of line pointers that fit on a page.
const MaxItems = (Size - HeaderSize) / ItemIDSize

// ItemFlags is a line pointer's state.
type ItemFlags uint8

// States of a line pointer, with PostgreSQL's values.
const (
	Unused   ItemFlags = iota // free
	Normal                    // points at an item on this page
	Redirect                  // Offset is another line pointer's number (HOT)
	Dead                      // kept until no index points here; may lack storage
)

// ItemID is a line pointer: offset 15 bits, flags 2 bits, length 15 bits.
type ItemID uint32

// MakeItemID packs a line pointer.
func MakeItemID(offset int, f ItemFlags, length int) ItemID {
	return ItemID(uint32(offset)&0x7FFF | uint32(f)<<15 | uint32(length)<<17)
}

// Offset is the item's first byte, or the target of a Redirect.
func (i ItemID) Offset() int { return int(i & 0x7FFF) }

// Flags is the state.
func (i ItemID) Flags() ItemFlags { return ItemFlags(i >> 15 & 3) }

// Len is the item's length in bytes, 0 without storage.
func (i ItemID) Len() int { return int(i >> 17) }

// MaxOffset is the number of line pointers; offsets run from 1 to it.
func (p *Page) MaxOffset() uint16 {
	n := p.Lower()
	if n <= HeaderSize {
		return 0
	}
	return uint16(min((n-HeaderSize)/ItemIDSize, MaxItems))
}

func itemPos(off uint16) int { return HeaderSize + (int(off)-1)*ItemIDSize }

// ItemID is the line pointer off, zero (Unused) outside 1..MaxOffset.
func (p *Page) ItemID(off uint16) ItemID {
	if off == 0 || off > p.MaxOffset() {
		return 0
	}
	return ItemID(le.Uint32(p[itemPos(off):]))
}

// SetItemID overwrites line pointer off; false outside 1..MaxOffset.
func (p *Page) SetItemID(off uint16, id ItemID) bool {
	if off == 0 || off > p.MaxOffset() {
		return false
	}
	le.PutUint32(p[itemPos(off):], uint32(id))
	return true
}

// Item is the bytes of a Normal item, within the page; nil for anything else.
func (p *Page) Item(off uint16) []byte { return p.itemOf(p.ItemID(off)) }

func (p *Page) itemOf(id ItemID) []byte {
	if id.Flags() != Normal {
		return nil
	}
	from := id.Offset()
	to := from + id.Len()
	if from < HeaderSize || to > Size || id.Len() == 0 {
		return nil
	}
	return p[from:to:to]
}

// AddItem stores b at the lowest unused offset, or at a new one after the
// last. False: no room, and nothing changed (but the HasFreeLines hint).
func (p *Page) AddItem(b []byte) (uint16, bool) {
	if off := p.freeLine(); off != 0 {
		return off, p.AddItemAt(off, b)
	}
	off := p.MaxOffset() + 1
	return off, p.AddItemAt(off, b)
}

// freeLine finds the lowest unused offset, 0 if none; it trusts HasFreeLines
// for "there is one" only, and clears the flag where it was wrong.
func (p *Page) freeLine() uint16 {
	if p.Flags()&HasFreeLines == 0 {
		return 0
	}
	for off := uint16(1); off <= p.MaxOffset(); off++ {
		if p.ItemID(off) == 0 {
			return off
		}
	}
	p.SetFlag(HasFreeLines, false)
	return 0
}

// AddItemAt stores b at offset off, which must be unused or the first after
// the last. False: off does not fit, or no room; nothing changed.
func (p *Page) AddItemAt(off uint16, b []byte) bool {
	next := p.MaxOffset() + 1
	if off == 0 || off > next || off < next && p.ItemID(off).Flags() != Unused {
		return false
	}
	upper, ok := p.reserve(len(b), off == next)
	if !ok {
		return false
	}
	le.PutUint32(p[itemPos(off):], uint32(MakeItemID(upper, Normal, len(b))))
	copy(p[upper:], b)
	return true
}

// InsertItemAt stores b at off and moves the line pointers from off on up by
// one: how an index keeps its items sorted. False: nothing changed.
func (p *Page) InsertItemAt(off uint16, b []byte) bool {
	next := p.MaxOffset() + 1
	if off == 0 || off > next {
		return false
	}
	upper, ok := p.reserve(len(b), true)
	if !ok {
		return false
	}
	copy(p[itemPos(off)+ItemIDSize:itemPos(next)+ItemIDSize], p[itemPos(off):itemPos(next)])
	le.PutUint32(p[itemPos(off):], uint32(MakeItemID(upper, Normal, len(b))))
	copy(p[upper:], b)
	return true
}

// reserve takes room for n bytes, and for a line pointer if grow, and zeroes
// the padding behind the item, so that pages with equal contents are equal.
func (p *Page) reserve(n int, grow bool) (upper int, ok bool) {
	lower := p.Lower()
	if grow {
		lower += ItemIDSize
	}
	upper = p.Upper() - RoundUp(n)
	if n == 0 || p.Lower() < HeaderSize || p.Upper() > Size || lower > upper || upper%Align != 0 {
		return 0, false
	}
	clear(p[upper+n : upper+RoundUp(n)])
	p.SetLower(uint16(lower))
	p.SetUpper(uint16(upper))
	return upper, true
}

// DeleteItemAt removes line pointer off and moves the later ones down by one;
// Compact reclaims the item's bytes. False outside 1..MaxOffset.
func (p *Page) DeleteItemAt(off uint16) bool {
	last := p.MaxOffset()
	if off == 0 || off > last {
		return false
	}
	copy(p[itemPos(off):itemPos(last)], p[itemPos(off)+ItemIDSize:itemPos(last)+ItemIDSize])
	clear(p[itemPos(last) : itemPos(last)+ItemIDSize])
	p.SetLower(uint16(itemPos(last)))
	return true
}

var errItems = errors.New("items overlap or leave the page; restore the page")

// Compact moves all items to the end of the page in line pointer order, drops
// unused line pointers at the end of the array (PostgreSQL 15 does), zeroes
// the hole and sets HasFreeLines. An error leaves the page as it was.
func (p *Page) Compact() error {
	old := *p
	return p.compact(&old)
}

// compact is Compact with a copy of the page, whose line pointers may be
// different. An error makes the page equal to it.
func (p *Page) compact(old *Page) error {
	last := p.MaxOffset()
	for last > 0 && p.ItemID(last).Flags() == Unused {
		last--
	}
	special := p.Special()
	lower := itemPos(last + 1)
	if special > Size || special < lower || special%Align != 0 {
		*p = *old
		return errItems
	}
	upper, unused := special, false
	for at := HeaderSize; at < lower; at += ItemIDSize {
		id := ItemID(le.Uint32(p[at:]))
		size := id.Len()
		switch {
		case id.Flags() == Unused:
			unused = true
		case size > 0: // Normal, or Dead with storage
			from := id.Offset()
			upper -= RoundUp(size)
			if upper < lower || from < lower || from+size > special {
				*p = *old
				return errItems
			}
			if from == upper { // it stays
				clear(p[upper+size : upper+RoundUp(size)])
				continue
			}
			le.PutUint64(p[upper+RoundUp(size)-Align:], 0) // padding
			copy(p[upper:upper+size], old[from:from+size])
			le.PutUint32(p[at:], uint32(MakeItemID(upper, id.Flags(), size)))
		}
	}
	clear(p[lower:upper])
	p.SetLower(uint16(lower))
	p.SetUpper(uint16(upper))
	p.SetFlag(HasFreeLines, unused)
	return nil
}

// TruncateLines drops unused line pointers at the end of the array, but for
// the first, and sets HasFreeLines if others are unused
// (PageTruncateLinePointerArray of PostgreSQL 15). Items stay where they are.
func (p *Page) TruncateLines() {
	last := p.MaxOffset()
	for last > 1 && p.ItemID(last).Flags() == Unused {
		last--
	}
	if from, to := itemPos(last+1), itemPos(p.MaxOffset()+1); from < to {
		clear(p[from:to])
		p.SetLower(uint16(from))
	}
	unused := false
	for off := uint16(1); off <= last && !unused; off++ {
		unused = p.ItemID(off).Flags() == Unused
	}
	p.SetFlag(HasFreeLines, unused)
}
