package page

import (
	"fmt"
	"hash/crc32"
)

// A page of parts is 16 parts of one sector each. A part is CRC-32C (4 bytes,
// of the 508 after it), magic (2), part number (1), zero (1), then entries of
// 2 bits. The first 8 bytes of part 0's entries are the page LSN instead:
// inside one sector an LSN is never a mixture of two.
const (
	Parts         = 16
	partSize      = Size / Parts // 512: the smallest atomic sector
	partHeader    = 8
	partEntries   = (partSize - partHeader) * 4
	lsnEntries    = 8 * 4 // those whose place the LSN takes
	offPartMagic  = 4
	offPartNumber = 6

	// PartEntries is the number of entries on a page of parts: 32,224.
	PartEntries = Parts*partEntries - lsnEntries
)

// Magics of the two kinds of pages of parts: "TX" and "VM".
const (
	statusMagic = 0x5854
	vmMagic     = 0x4D56
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// partsOf names the kind and gives its magic.
func partsOf(r Rel) (kind string, magic uint16) {
	if r.IsVM() {
		return "visibility map", vmMagic
	}
	return "status", statusMagic
}

// initParts makes p an empty page of parts: all entries 0.
func initParts(p *Page, magic uint16) {
	*p = Page{}
	for i := range Parts {
		b := p[i*partSize:]
		le.PutUint16(b[offPartMagic:], magic)
		b[offPartNumber] = byte(i)
	}
}

// entryPos is the byte and the bit shift of entry n of a relation.
func entryPos(n uint32) (at int, shift uint) {
	i := int(n%PartEntries) + lsnEntries
	return i/partEntries*partSize + partHeader + i%partEntries/4, uint(i%4) * 2
}

func entry(p *Page, n uint32) uint8 {
	at, shift := entryPos(n)
	return p[at] >> shift & 3
}

func setEntry(p *Page, n uint32, v uint8) {
	at, shift := entryPos(n)
	p[at] = p[at]&^(3<<shift) | v&3<<shift
}

// LSNOf is the LSN of a page of either layout.
func LSNOf(id ID, p *Page) LSN {
	if id.Rel.HasParts() {
		return LSN(le.Uint64(p[partHeader:]))
	}
	return p.LSN()
}

// Stamp sets the LSN of a page of either layout. The LSN of a page of parts
// serves the WAL rule (do not write before the log is durable up to it) and
// nothing else: after a torn write it can be new while other parts are old, so
// redo must set entries unconditionally.
func Stamp(id ID, p *Page, l LSN) {
	if id.Rel.HasParts() {
		le.PutUint64(p[partHeader:], uint64(l))
		return
	}
	p.SetLSN(l)
}

func sealParts(p *Page) {
	for i := range Parts {
		b := p[i*partSize : (i+1)*partSize]
		le.PutUint32(b, crc32.Checksum(b[4:], castagnoli))
	}
}

func verifyParts(id ID, p *Page) error {
	if p.IsZero() {
		return fmt.Errorf("%v: %w", id, ErrNew)
	}
	kind, magic := partsOf(id.Rel)
	for i := range Parts {
		b := p[i*partSize : (i+1)*partSize]
		want, got := crc32.Checksum(b[4:], castagnoli), le.Uint32(b)
		if want != got {
			return &Corrupt{ID: id, LSN: LSNOf(id, p), Want: want, Got: got,
				Reason: fmt.Sprintf("%s part %d of %d: checksum %08x, want %08x", kind, i, Parts, got, want)}
		}
		if m, n := le.Uint16(b[offPartMagic:]), int(b[offPartNumber]); m != magic || n != i {
			return &Corrupt{ID: id, LSN: LSNOf(id, p),
				Reason: fmt.Sprintf("%s part %d: magic %04x part %d, want %04x part %d", kind, i, m, n, magic, i)}
		}
	}
	return nil
}
