package wal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"tornpage/engine/page"
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// DecodeError says where in a record's bytes what is wrong.
type DecodeError struct {
	LSN    LSN
	Byte   int // from the record's start
	Reason string
}

// Error names place and values.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("record at %v, byte %d: %s", e.LSN, e.Byte, e.Reason)
}

// Decode decodes one record; see Record.Decode, which reuses memory.
func Decode(b []byte, at LSN, prevCRC uint32) (Record, uint32, error) {
	var r Record
	crc, err := r.Decode(b, at, prevCRC)
	return r, crc, err
}

// Decode reads the one record that b holds exactly (padding excluded), checks
// every length, flag and the CRC, which chains from prevCRC, and returns the
// record's own. prevCRC 0 is PostgreSQL's unchained CRC. r points into b. End
// is set for a record that crosses no log page; Reader knows the true one.
// After an error r's contents mean nothing. No allocation when r is warm.
func (r *Record) Decode(b []byte, at LSN, prevCRC uint32) (crc uint32, err error) {
	blocks := r.Blocks[:0]
	*r = Record{LSN: at, Blocks: blocks}
	d := decoder{r: r, b: b}
	if len(b) < RecordHeader {
		return 0, d.fail(0, "%d bytes, a record header has %d", len(b), RecordHeader)
	}
	r.Len = le.Uint32(b[offTotal:])
	r.XID = le.Uint32(b[offXID:])
	r.Prev = LSN(le.Uint64(b[offPrev:]))
	r.Info = b[offInfo]
	r.Rmgr = Rmgr(b[offRmgr])
	r.CRC = le.Uint32(b[offCRC:])
	r.End = at + LSN(alignRecord(r.Len))
	switch {
	case int64(r.Len) != int64(len(b)) || r.Len > MaxRecord:
		return 0, d.fail(offTotal, "length %d, have %d bytes, at most %d", r.Len, len(b), MaxRecord)
	case r.Rmgr >= Rmgrs:
		return 0, d.fail(offRmgr, "resource manager %d, want below %d", r.Rmgr, Rmgrs)
	}
	if want := chainCRC(crc32.Update(0, castagnoli, b[RecordHeader:]), prevCRC, b); want != r.CRC {
		return 0, d.fail(offCRC, "CRC %08x, want %08x after a record with CRC %08x", r.CRC, want, prevCRC)
	}
	if err := d.headers(); err != nil {
		return 0, err
	}
	d.payload()
	return r.CRC, nil
}

// chainCRC is a record's CRC from its body's. As in PostgreSQL the body comes
// first and the header last, so that the body's part can be computed before
// the record's place is known; the CRC of the record before it enters in
// between. For fixed bytes the result differs whenever prevCRC differs.
func chainCRC(body, prevCRC uint32, header []byte) uint32 {
	return crc32.Update(body^prevCRC, castagnoli, header[:offCRC])
}

func alignRecord(n uint32) uint32 { return (n + recordAlign - 1) &^ (recordAlign - 1) }

// decoder walks the headers, then hands out the payload in their order.
type decoder struct {
	r         *Record
	b         []byte
	pos       int
	announced int // bytes that the headers announced
	main      int
	rel       bool // a relation has been named, SAME_REL may refer to it
}

func (d *decoder) fail(at int, format string, args ...any) error {
	return &DecodeError{LSN: d.r.LSN, Byte: at, Reason: fmt.Sprintf(format, args...)}
}

// take returns the next n header bytes; nil if they are not there.
func (d *decoder) take(n int) []byte {
	if len(d.b)-d.pos < n {
		return nil
	}
	s := d.b[d.pos : d.pos+n]
	d.pos += n
	return s
}

// headers reads block and data headers until what remains is the payload that
// they announced.
func (d *decoder) headers() error {
	d.pos = RecordHeader
	for len(d.b)-d.pos > d.announced {
		at := d.pos
		switch id := d.b[at]; {
		case id == idDataShort || id == idDataLong:
			if err := d.dataHeader(id); err != nil {
				return err
			}
			// PostgreSQL writes the main data's header last.
			if len(d.b)-d.pos != d.announced {
				return d.fail(at, "%d bytes follow the headers, which announce %d", len(d.b)-d.pos, d.announced)
			}
			return nil
		case id == idOrigin && d.take(3) != nil, id == idTopXID && d.take(5) != nil:
		case id <= maxBlockID:
			if err := d.blockHeader(); err != nil {
				return err
			}
		default:
			return d.fail(at, "block id %d, want 0 to %d or a data header", id, maxBlockID)
		}
	}
	if len(d.b)-d.pos != d.announced {
		return d.fail(d.pos, "%d bytes follow the headers, which announce %d", len(d.b)-d.pos, d.announced)
	}
	return nil
}

func (d *decoder) dataHeader(id byte) error {
	at, n := d.pos, dataHeaderShort
	if id == idDataLong {
		n = dataHeaderLong
	}
	h := d.take(n)
	if h == nil {
		return d.fail(at, "data header cut off by the record's end")
	}
	if id == idDataShort {
		d.main = int(h[1])
	} else if v := le.Uint32(h[1:]); v > MaxRecord {
		return d.fail(at, "main data of %d bytes, at most %d", v, MaxRecord)
	} else {
		d.main = int(v)
	}
	d.announced += d.main
	return nil
}

func (d *decoder) blockHeader() error {
	at := d.pos
	h := d.take(blockHeader)
	if h == nil {
		return d.fail(at, "block header cut off by the record's end")
	}
	n := len(d.r.Blocks)
	if n > 0 && d.r.Blocks[n-1].Slot >= h[0] {
		return d.fail(at, "block id %d after %d", h[0], d.r.Blocks[n-1].Slot)
	}
	ref := BlockRef{Slot: h[0], Flags: h[1], Fork: h[1] & forkMask,
		HasImage: h[1]&hasImage != 0, WillInit: h[1]&willInit != 0}
	data := int(le.Uint16(h[2:]))
	if (data > 0) != (h[1]&hasData != 0) {
		return d.fail(at, "data length %d, data flag %v", data, h[1]&hasData != 0)
	}
	image := 0
	if ref.HasImage {
		var err error
		if image, err = d.imageHeader(&ref); err != nil {
			return err
		}
	}
	if h[1]&sameRel == 0 {
		rel := d.take(relHeader)
		if rel == nil {
			return d.fail(d.pos, "relation cut off by the record's end")
		}
		ref.Space, ref.DB, ref.ID.Rel = le.Uint32(rel), le.Uint32(rel[4:]), page.Rel(le.Uint32(rel[8:]))
		if ref.ID.Rel.IsVM() {
			return d.fail(d.pos-4, "relation %d, want below %d", uint32(ref.ID.Rel), uint32(1)<<31)
		}
		d.rel = true
	} else if n == 0 || !d.rel {
		return d.fail(at, "block %d is of the same relation as none before it", h[0])
	} else {
		last := &d.r.Blocks[n-1]
		ref.Space, ref.DB, ref.ID.Rel = last.Space, last.DB, last.ID.Rel.Main()
	}
	if ref.Fork == forkVM {
		ref.ID.Rel = ref.ID.Rel.VM()
	}
	num := d.take(blockNumberSize)
	if num == nil {
		return d.fail(d.pos, "block number cut off by the record's end")
	}
	ref.ID.Block = le.Uint32(num)
	d.announced += image + data
	// Until payload hands them out, the lengths are kept as lengths of b.
	if image+data > len(d.b) {
		return d.fail(at, "block %d announces %d bytes, the record has %d", h[0], image+data, len(d.b))
	}
	ref.Image, ref.Data = d.b[:image], d.b[:data]
	d.r.Blocks = append(d.r.Blocks, ref)
	return nil
}

func (d *decoder) imageHeader(ref *BlockRef) (length int, err error) {
	at := d.pos
	h := d.take(imageHeader)
	if h == nil {
		return 0, d.fail(at, "image header cut off by the record's end")
	}
	length = int(le.Uint16(h))
	ref.HoleOff = le.Uint16(h[2:])
	flags := h[4]
	ref.UseImage = flags&imageUse != 0
	hole := flags&imageHole != 0
	switch {
	case flags&^(imageHole|imageUse) != 0:
		return 0, d.fail(at, "image flags %02x: compressed images are not read", flags)
	case length == 0 || length > page.Size || hole == (length == page.Size):
		return 0, d.fail(at, "image of %d bytes, hole flag %v", length, hole)
	case hole && (ref.HoleOff == 0 || int(ref.HoleOff) > length) || !hole && ref.HoleOff != 0:
		return 0, d.fail(at, "hole at %d of an image of %d bytes, hole flag %v", ref.HoleOff, length, hole)
	}
	ref.HoleLen = uint16(page.Size - length)
	return length, nil
}

// payload hands out what the headers announced: each block's image and data,
// then the main data. headers has checked that the sum fits exactly.
func (d *decoder) payload() {
	for i := range d.r.Blocks {
		ref := &d.r.Blocks[i]
		ref.Image = d.slice(len(ref.Image))
		ref.Data = d.slice(len(ref.Data))
	}
	d.r.Main = d.slice(d.main)
}

func (d *decoder) slice(n int) []byte {
	if n == 0 {
		return nil
	}
	s := d.b[d.pos : d.pos+n : d.pos+n]
	d.pos += n
	return s
}
