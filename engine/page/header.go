package page

import "encoding/binary"

// Sizes in bytes.
const (
	Size       = 8192 // PostgreSQL's BLCKSZ
	HeaderSize = 24   // SizeOfPageHeaderData
	ItemIDSize = 4    // one line pointer
	Align      = 8    // MAXALIGN: items and special areas start at multiples
)

// layoutVersion is pd_pagesize_version: page size with PG_PAGE_LAYOUT_VERSION
// 4 in the low byte.
const layoutVersion = Size | 4

// Positions of PageHeaderData's fields.
const (
	offLSN      = 0 // two uint32, high half first
	offChecksum = 8
	offFlags    = 10
	offLower    = 12
	offUpper    = 14
	offSpecial  = 16
	offVersion  = 18
	offPrune    = 20
)

// Flags of the page header (pd_flags).
const (
	HasFreeLines uint16 = 1 << iota // an unused line pointer may exist (hint)
	PageFull                        // an update found no room (hint)
	AllVisible                      // every tuple is visible to everyone

	validFlags = HasFreeLines | PageFull | AllVisible
)

// Page is one page. Its methods read and write the standard layout; a page of
// parts has functions of its own.
type Page [Size]byte

var le = binary.LittleEndian

// RoundUp rounds n up to the alignment of items.
func RoundUp(n int) int { return (n + Align - 1) &^ (Align - 1) }

// Init makes p an empty page with a special area of the given bytes, rounded
// up to the alignment.
func (p *Page) Init(special int) {
	*p = Page{}
	s := uint16(Size - RoundUp(special))
	p.SetLower(HeaderSize)
	p.SetUpper(s)
	le.PutUint16(p[offSpecial:], s)
	le.PutUint16(p[offVersion:], layoutVersion)
}

// LSN is the end of the last record that changed the page (rule P4).
func (p *Page) LSN() LSN {
	return LSN(le.Uint32(p[offLSN:]))<<32 | LSN(le.Uint32(p[offLSN+4:]))
}

// SetLSN sets the page's LSN.
func (p *Page) SetLSN(l LSN) {
	le.PutUint32(p[offLSN:], uint32(l>>32))
	le.PutUint32(p[offLSN+4:], uint32(l))
}

// Checksum is the stored checksum; Seal sets it.
func (p *Page) Checksum() uint16 { return le.Uint16(p[offChecksum:]) }

// Flags are HasFreeLines, PageFull, AllVisible.
func (p *Page) Flags() uint16 { return le.Uint16(p[offFlags:]) }

// SetFlags sets all flags.
func (p *Page) SetFlags(f uint16) { le.PutUint16(p[offFlags:], f) }

// SetFlag sets or clears the given flags.
func (p *Page) SetFlag(f uint16, on bool) {
	if on {
		p.SetFlags(p.Flags() | f)
		return
	}
	p.SetFlags(p.Flags() &^ f)
}

// Lower is the byte after the last line pointer.
func (p *Page) Lower() int { return int(le.Uint16(p[offLower:])) }

// SetLower sets the end of the line pointers.
func (p *Page) SetLower(n uint16) { le.PutUint16(p[offLower:], n) }

// Upper is the first byte of the lowest item.
func (p *Page) Upper() int { return int(le.Uint16(p[offUpper:])) }

// SetUpper sets the start of the items.
func (p *Page) SetUpper(n uint16) { le.PutUint16(p[offUpper:], n) }

// Special is the first byte of the special area; Size if there is none.
func (p *Page) Special() int { return int(le.Uint16(p[offSpecial:])) }

// SpecialArea is the access method's area, nil if none or the header is bad.
func (p *Page) SpecialArea() []byte {
	s := p.Special()
	if s < HeaderSize || s >= Size {
		return nil
	}
	return p[s:]
}

// PruneXID is the oldest XID whose removal could free space, 0 if none (hint).
func (p *Page) PruneXID() uint32 { return le.Uint32(p[offPrune:]) }

// SetPruneXID sets the hint.
func (p *Page) SetPruneXID(xid uint32) { le.PutUint32(p[offPrune:], xid) }

// NotePrunable lowers PruneXID to xid, as PageSetPrunable does.
func (p *Page) NotePrunable(xid uint32) {
	if old := p.PruneXID(); old == 0 || int32(xid-old) < 0 {
		p.SetPruneXID(xid)
	}
}

// IsZero reports a page of zero bytes: one that was never written.
func (p *Page) IsZero() bool { return *p == Page{} }

// Hole is the unused middle of a page with a sane header: its first byte and
// its length, 0 if there is none. An image may leave it out.
func (p *Page) Hole() (off, length int) {
	lower, upper := p.Lower(), p.Upper()
	if lower < HeaderSize || upper <= lower || upper > Size {
		return 0, 0
	}
	return lower, upper - lower
}

// Free is the room for one more item, its line pointer accounted for.
func (p *Page) Free() int {
	if _, n := p.Hole(); n > ItemIDSize {
		return n - ItemIDSize
	}
	return 0
}
