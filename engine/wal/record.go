package wal

import (
	"fmt"
	"slices"

	"tornpage/engine/page"
)

// LSN is a position in the log, in bytes.
type LSN = page.LSN

// Sizes of a record's parts in bytes (PostgreSQL's access/xlogrecord.h).
const (
	RecordHeader    = 24 // XLogRecord: total length, XID, prev, info, rmgr, CRC
	blockHeader     = 4  // block id, flags, data length
	imageHeader     = 5  // image length, hole offset, image flags
	relHeader       = 12 // tablespace, database, relation
	blockNumberSize = 4
	dataHeaderShort = 2 // id, length of one byte
	dataHeaderLong  = 5 // id, length of four bytes
	recordAlign     = 8 // MAXALIGN: records start at multiples

	// MaxRecord bounds a record's length, so that a length field of garbage
	// allocates little. MaxBlocks images and as much data again fit.
	MaxRecord = 1 << 20
)

const (
	offTotal, offXID, offPrev, offInfo, offRmgr, offCRC = 0, 4, 8, 16, 17, 20

	idDataShort = 255 // XLR_BLOCK_ID_DATA_SHORT
	idDataLong  = 254
	idOrigin    = 253 // replication origin, 2 bytes; read over
	idTopXID    = 252 // top-level XID, 4 bytes; read over
	maxBlockID  = 32  // XLR_MAX_BLOCK_ID

	forkMask  = 0x0F
	forkMain  = 0
	forkVM    = 2 // VISIBILITYMAP_FORKNUM
	hasImage  = 0x10
	hasData   = 0x20
	willInit  = 0x40
	sameRel   = 0x80
	imageHole = 0x01 // BKPIMAGE_HAS_HOLE
	imageUse  = 0x02 // BKPIMAGE_APPLY
)

// Tablespace and database that this engine writes into every block reference,
// to keep PostgreSQL's sizes: pg_default, and the first user database.
const (
	Tablespace = 1663
	Database   = 5
)

// Record is a decoded record. Main, Image and Data point into the bytes that
// were decoded and live as long as those; Clone makes an independent copy.
// Decoding into a Record again reuses its memory.
type Record struct {
	LSN    LSN    // its first byte
	End    LSN    // after its alignment padding: what its pages' LSN becomes
	Prev   LSN    // the LSN of the record before it; 0 for the first
	XID    uint32 // 0: none
	Rmgr   Rmgr
	Info   uint8
	Len    uint32 // bytes, without padding
	CRC    uint32 // chains into the next record
	Main   []byte
	Blocks []BlockRef
}

// BlockRef is a record's reference to one page.
type BlockRef struct {
	ID        page.ID // of the visibility map if Fork says so
	Slot      uint8   // its number within the record, what redo looks at
	Fork      uint8   // 0: main, 2: visibility map; this engine has no other
	Space, DB uint32
	Flags     uint8 // the fork_flags byte as read
	HasImage  bool
	WillInit  bool   // the page is built from nothing
	UseImage  bool   // restore the image on replay (always, in this engine)
	HoleOff   uint16 // the image lacks HoleLen bytes from HoleOff
	HoleLen   uint16
	Image     []byte
	Data      []byte // absent if there is an image, unless kept
}

// Op is the operation: Info without the four bits that are not the rmgr's.
func (r *Record) Op() uint8 { return r.Info & 0xF0 }

// Block is the index in Blocks of the reference with the given slot, -1 if
// the record has none.
func (r *Record) Block(slot uint8) int {
	for i := range r.Blocks {
		if r.Blocks[i].Slot == slot {
			return i
		}
	}
	return -1
}

// Clone is a copy that shares no memory with the decoded bytes.
func (r *Record) Clone() *Record {
	c := *r
	c.Main = slices.Clone(r.Main)
	c.Blocks = slices.Clone(r.Blocks)
	for i := range c.Blocks {
		c.Blocks[i].Image = slices.Clone(r.Blocks[i].Image)
		c.Blocks[i].Data = slices.Clone(r.Blocks[i].Data)
	}
	return &c
}

// String names the record as pg_waldump does: place, kind, XID, length, pages.
func (r *Record) String() string {
	s := fmt.Sprintf("%v %s xid %d len %d", r.LSN, OpName(r.Rmgr, r.Info), r.XID, r.Len)
	for i := range r.Blocks {
		s += ", " + r.Blocks[i].ID.String()
		if r.Blocks[i].HasImage {
			s += " with image"
		}
	}
	return s
}

// RestoreImage writes the full page into p, its hole zeroed.
func (b *BlockRef) RestoreImage(p *page.Page) error {
	off, hole := int(b.HoleOff), int(b.HoleLen)
	if !b.HasImage || len(b.Image)+hole != page.Size || off > len(b.Image) {
		return fmt.Errorf("%v: image of %d bytes with a hole of %d at %d does not make %d",
			b.ID, len(b.Image), hole, off, page.Size)
	}
	copy(p[:off], b.Image)
	clear(p[off : off+hole])
	copy(p[off+hole:], b.Image[off:])
	return nil
}
