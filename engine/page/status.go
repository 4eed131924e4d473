package page

import (
	"fmt"
	"hash/crc32"
)

// StatusRel is the relation whose pages hold transaction status. PostgreSQL
// has no file number 1: below 16384 belongs to the system, 1 is unused there.
const StatusRel Rel = 1

// A status page is 16 parts of one sector each. A part is CRC-32C (4 bytes,
// of the 508 after it), magic (2), part number (1), zero (1), then XIDs of 2
// bits. The first 8 bytes of part 0's XIDs are the page LSN instead: inside
// one sector an LSN is never a mixture of two.
const (
	StatusParts    = 16
	partSize       = Size / StatusParts // 512: the smallest atomic sector
	partHeader     = 8
	partXIDs       = (partSize - partHeader) * 4
	lsnXIDs        = 8 * 4 // those whose place the LSN takes
	statusMagic    = 0x5854
	offStatusMagic = 4
	offStatusPart  = 6

	// StatusXIDs is the number of XIDs on a status page: 32,224.
	StatusXIDs = StatusParts*partXIDs - lsnXIDs
)

// XactStatus is a transaction's status, with the values of PostgreSQL's CLOG.
type XactStatus uint8

// InProgress also means crashed: whoever knows that nothing runs reads it as
// aborted.
const (
	InProgress XactStatus = iota
	Committed
	Aborted
)

// String names the status.
func (s XactStatus) String() string {
	switch s {
	case InProgress:
		return "in progress"
	case Committed:
		return "committed"
	case Aborted:
		return "aborted"
	}
	return "unknown status"
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// StatusBlock is the block of StatusRel that holds xid.
func StatusBlock(xid uint32) uint32 { return xid / StatusXIDs }

// StatusID is the page that holds xid.
func StatusID(xid uint32) ID { return ID{Rel: StatusRel, Block: StatusBlock(xid)} }

// statusPos is the byte and the bit shift of xid on its page.
func statusPos(xid uint32) (at int, shift uint) {
	n := int(xid%StatusXIDs) + lsnXIDs
	part, i := n/partXIDs, n%partXIDs
	return part*partSize + partHeader + i/4, uint(i%4) * 2
}

// InitStatus makes p an empty status page: all in progress.
func InitStatus(p *Page) {
	*p = Page{}
	for i := range StatusParts {
		b := p[i*partSize:]
		le.PutUint16(b[offStatusMagic:], statusMagic)
		b[offStatusPart] = byte(i)
	}
}

// Status reads xid's status from its page.
func Status(p *Page, xid uint32) XactStatus {
	at, shift := statusPos(xid)
	return XactStatus(p[at] >> shift & 3)
}

// SetStatus sets xid's status on its page. Setting it again is harmless.
func SetStatus(p *Page, xid uint32, s XactStatus) {
	at, shift := statusPos(xid)
	p[at] = p[at]&^(3<<shift) | byte(s&3)<<shift
}

// LSNOf is the LSN of a page of either layout.
func LSNOf(id ID, p *Page) LSN {
	if id.Rel == StatusRel {
		return LSN(le.Uint64(p[partHeader:]))
	}
	return p.LSN()
}

// Stamp sets the LSN of a page of either layout. A status page's LSN serves
// the WAL rule (do not write before the log is durable up to it) and nothing
// else: after a torn write it can be new while other parts are old, so redo
// must set statuses unconditionally.
func Stamp(id ID, p *Page, l LSN) {
	if id.Rel == StatusRel {
		le.PutUint64(p[partHeader:], uint64(l))
		return
	}
	p.SetLSN(l)
}

func sealStatus(p *Page) {
	for i := range StatusParts {
		b := p[i*partSize : (i+1)*partSize]
		le.PutUint32(b, crc32.Checksum(b[4:], castagnoli))
	}
}

func verifyStatus(id ID, p *Page) error {
	if p.IsZero() {
		return fmt.Errorf("%v: %w", id, ErrNew)
	}
	for i := range StatusParts {
		b := p[i*partSize : (i+1)*partSize]
		want, got := crc32.Checksum(b[4:], castagnoli), le.Uint32(b)
		if want != got {
			return &Corrupt{ID: id, LSN: LSNOf(id, p), Want: want, Got: got,
				Reason: fmt.Sprintf("status part %d of %d: checksum %08x, want %08x", i, StatusParts, got, want)}
		}
		if m, n := le.Uint16(b[offStatusMagic:]), int(b[offStatusPart]); m != statusMagic || n != i {
			return &Corrupt{ID: id, LSN: LSNOf(id, p),
				Reason: fmt.Sprintf("status part %d: magic %04x part %d, want %04x part %d", i, m, n, statusMagic, i)}
		}
	}
	return nil
}
