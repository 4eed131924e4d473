package checkers

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"tornpage/engine/page"
)

// Positions in PostgreSQL's page and tuple headers (bufpage.h, itemid.h,
// htup_details.h, nbtree.h). They are spelled out here rather than taken from
// engine/page, so that a wrong accessor there cannot hide behind itself.
const (
	atChecksum = 8
	atFlags    = 10
	atLower    = 12
	atUpper    = 14
	atSpecial  = 16
	atPrune    = 20
	atItems    = 24

	flagHints = 0x0003 // PD_HAS_FREE_LINES, PD_PAGE_FULL

	itemNormal, itemRedirect, itemDead = 1, 2, 3

	tupleHeader  = 23
	atInfomask   = 20
	xminBits     = 0x0300 // both set: frozen, which is logged and no hint
	xmaxHints    = 0x0C00
	atBTFlags    = 12 // in the special area
	btLeaf       = 0x0001
	btHasGarbage = 0x0040
	atBTCycle    = 14
	btSpecial    = 16
)

var le = binary.LittleEndian

// field is a named stretch of a header.
type field struct {
	at, width int
	name      string
}

var headerFields = []field{{0, 8, "LSN"}, {8, 2, "checksum"}, {10, 2, "flags"}, {12, 2, "lower"},
	{14, 2, "upper"}, {16, 2, "special"}, {18, 2, "version"}, {20, 4, "prune xid"}}

var tupleFields = []field{{0, 4, "xmin"}, {4, 4, "xmax"}, {8, 4, "cid"}, {12, 4, "ctid block"},
	{16, 2, "ctid offset"}, {18, 2, "infomask2"}, {20, 2, "infomask"}, {22, 1, "hoff"}}

var indexFields = []field{{0, 6, "heap tid"}, {6, 2, "info"}}

var btreeFields = []field{{0, 4, "left sibling"}, {4, 4, "right sibling"}, {8, 4, "level"}, {12, 2, "flags"},
	{14, 2, "cycle id"}}

// item is a decoded line pointer.
type item struct{ off, flags, length int }

func itemAt(p *page.Page, n int) item {
	v := le.Uint32(p[atItems+4*n:])
	return item{int(v & 0x7FFF), int(v >> 15 & 3), int(v >> 17)}
}

func items(p *page.Page) int { return (int(le.Uint16(p[atLower:])) - atItems) / 4 }

// layout decides how a page is to be read: as expected, by its special area,
// and raw if the header makes no sense.
func (o *Oracle) layout(id page.ID, p *page.Page) Layout {
	l := o.expected(id)
	lower, upper, special := le.Uint16(p[atLower:]), le.Uint16(p[atUpper:]), le.Uint16(p[atSpecial:])
	if lower < atItems || lower > upper || upper > special || special > page.Size {
		return Raw
	}
	if l != Standard {
		return l
	}
	if special < page.Size {
		return Index
	}
	return Heap
}

// compare masks what may differ and reports the first byte that still does.
func (o *Oracle) compare(id page.ID, at page.LSN, want, got *page.Page, c *chain, i int) Verdict {
	l := o.layout(id, want)
	w, g := *want, *got
	if l != Raw {
		o.mask(l, want, &w)
		o.mask(l, want, &g)
	}
	if w == g {
		return holds(pagesCheck)
	}
	first := 0
	for w[first] == g[first] {
		first++
	}
	f, name := locate(l, want, first)
	v := broken(pagesCheck, nil, "%v at %v: byte %d (%s): want %s, got %s", id, at, first, name,
		hex(want[f.at:f.at+f.width]), hex(got[f.at:f.at+f.width]))
	v.Details = sectorReport(&w, &g, got, c, i)
	return v
}

// mask clears in p what a storage may return differently. What is where is
// read from want alone: a page that says otherwise differs in its header.
func (o *Oracle) mask(l Layout, want, p *page.Page) {
	clear(p[atChecksum : atChecksum+2])
	clear(p[le.Uint16(want[atLower:]):le.Uint16(want[atUpper:])])
	if !o.masking.Hints {
		return
	}
	le.PutUint16(p[atFlags:], le.Uint16(p[atFlags:])&^flagHints)
	clear(p[atPrune : atPrune+4])
	leaf := isLeaf(l, want)
	for n := range items(want) {
		it := itemAt(want, n)
		switch {
		case leaf && (it.flags == itemNormal || it.flags == itemDead):
			at := atItems + 4*n
			if now := itemAt(p, n).flags; now == itemNormal || now == itemDead {
				le.PutUint32(p[at:], le.Uint32(p[at:])&^(3<<15))
			}
		case l == Heap && it.flags == itemNormal && it.length >= tupleHeader && it.off+it.length <= page.Size:
			hints := uint16(xminBits | xmaxHints)
			if le.Uint16(want[it.off+atInfomask:])&xminBits == xminBits {
				hints = xmaxHints
			}
			at := it.off + atInfomask
			le.PutUint16(p[at:], le.Uint16(p[at:])&^hints)
		}
	}
	if s := int(le.Uint16(want[atSpecial:])); l == Index && s+btSpecial <= page.Size {
		le.PutUint16(p[s+atBTFlags:], le.Uint16(p[s+atBTFlags:])&^btHasGarbage)
		clear(p[s+atBTCycle : s+atBTCycle+2])
	}
}

// isLeaf reports a leaf of a B-tree: only there are dead line pointers a hint
// (btree_mask). On the metapage there are no line pointers at all.
func isLeaf(l Layout, p *page.Page) bool {
	s := int(le.Uint16(p[atSpecial:]))
	return l == Index && s+btSpecial <= page.Size && le.Uint16(p[s+atBTFlags:])&btLeaf != 0
}

// locate names the field that byte at of a page belongs to.
func locate(l Layout, p *page.Page, at int) (field, string) {
	lone := field{at: at, width: 1}
	if l == Raw {
		return lone, "raw"
	}
	if at < atItems {
		f, name := in(headerFields, 0, at)
		return f, "page " + name
	}
	if lower := int(le.Uint16(p[atLower:])); at < lower {
		n := (at - atItems) / 4
		return field{at: atItems + 4*n, width: 4}, fmt.Sprintf("line pointer %d", n+1)
	}
	if s := int(le.Uint16(p[atSpecial:])); at >= s {
		f, name := in(btreeFields, s, at)
		return f, "special area, " + name
	}
	for n := range items(p) {
		it := itemAt(p, n)
		if it.flags == itemRedirect || at < it.off || at >= it.off+it.length {
			continue
		}
		fields := tupleFields
		if l == Index {
			fields = indexFields
		}
		f, name := in(fields, it.off, at)
		f.width = min(f.width, it.off+it.length-f.at, page.Size-f.at)
		return f, fmt.Sprintf("tuple %d, %s", n+1, name)
	}
	return lone, "between tuples"
}

// in names the field at a position of a structure that begins at base.
func in(fields []field, base, at int) (field, string) {
	for _, f := range fields {
		if at < base+f.at+f.width {
			return field{at: base + f.at, width: min(f.width, page.Size-base-f.at)}, f.name
		}
	}
	return field{at: at, width: 1}, fmt.Sprintf("data byte %d", at-base)
}

// hex prints a field as the number it is: little-endian, most significant
// digit first. The two halves of a page LSN are each little-endian.
func hex(b []byte) string {
	if len(b) == 8 {
		return (page.LSN(le.Uint32(b))<<32 | page.LSN(le.Uint32(b[4:]))).String()
	}
	var s strings.Builder
	for i := len(b) - 1; i >= 0; i-- {
		fmt.Fprintf(&s, "%02x", b[i])
	}
	return s.String()
}

// sectorReport lists the sectors that differ from version i and, where they hold
// what an older version held, says so: that is a torn page, or one change that
// was lost.
func sectorReport(w, g, got *page.Page, c *chain, i int) []string {
	var differ []int
	sector := func(p *page.Page, s int) *[sectorSize]byte { return (*[sectorSize]byte)(p[s*sectorSize:]) }
	for s := range sectors {
		if *sector(w, s) != *sector(g, s) {
			differ = append(differ, s)
		}
	}
	lines := []string{fmt.Sprintf("512-byte sectors that differ: %v", differ)}
	var p page.Page
	for last := c.content(i, &p); i > 0; i-- {
		last = c.undo(i, last, &p)
		older := &c.versions[i-1]
		if older.cut {
			continue
		}
		old := !slices.ContainsFunc(differ, func(s int) bool { return *sector(&p, s) != *sector(got, s) })
		if old && samePage(&p, got, false) {
			return append(lines, fmt.Sprintf("the page is whole, but it is the older version at %v", older.lsn))
		}
		if old {
			return append(lines, fmt.Sprintf("these sectors are those of the older version at %v: the page is torn", older.lsn))
		}
	}
	return lines
}
