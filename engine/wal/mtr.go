package wal

import (
	"hash/crc32"

	"tornpage/engine/invariant"
	"tornpage/engine/page"
)

// MaxBlocks is the number of pages that one mini-transaction may touch. A
// B-tree split that takes its parent along needs five: both halves, the right
// neighbour, the parent, and the child whose split it completes.
const MaxBlocks = 8

// TouchFlags say how a mini-transaction treats one page.
type TouchFlags uint8

// Flags of Touch.
const (
	WillInit   TouchFlags = 1 << iota // redo builds the page from nothing: never an image
	Standard                          // the page has lower and upper: its hole may be left out
	NoImage                           // never an image
	ForceImage                        // always an image, whatever the floor
	KeepData                          // block data stays even with an image
	Implied                           // stamped, not referenced: see Record.Pages and ImplyVM
)

// MTR is a mini-transaction: it builds the one record that describes a change
// of several pages, which recovery replays wholly or not at all.
//
// Use: change the pages (their LSN stays), Reset, SetMain, Touch, AddData,
// Build; storage then calls Stale, Len, Finish, Stamp. Build may be called
// again with another floor. The pages must not change between Build and
// Stamp. An MTR is reused; warm, it does not allocate.
type MTR struct {
	rmgr  Rmgr
	info  uint8
	xid   uint32
	main  []byte
	slots [MaxBlocks]slot
	top   int // slots in use are below
	buf   []byte
	body  uint32 // CRC of what follows the header
	built bool
}

type slot struct {
	used  bool
	image bool
	flags TouchFlags
	id    page.ID
	p     *page.Page
	lsn   LSN // the page's, as Build saw it
	data  []byte
}

// Reset begins a record. xid 0: no transaction.
func (m *MTR) Reset(rmgr Rmgr, info uint8, xid uint32) {
	m.rmgr, m.info, m.xid = rmgr, info, xid
	m.main = m.main[:0]
	for i := range m.slots[:m.top] {
		m.slots[i] = slot{data: m.slots[i].data[:0]}
	}
	m.top, m.built = 0, false
}

// Rmgr, Info and XID are what Reset was given.
func (m *MTR) Rmgr() Rmgr { return m.rmgr }

// Info is the operation.
func (m *MTR) Info() uint8 { return m.info }

// XID is the transaction, 0 if none.
func (m *MTR) XID() uint32 { return m.xid }

// SetMain sets the main data to a copy of b.
func (m *MTR) SetMain(b []byte) { m.main = append(m.main[:0], b...) }

// Touch declares that the record changes page id, whose memory is p, under
// the given slot number.
func (m *MTR) Touch(slot int, id page.ID, p *page.Page, flags TouchFlags) {
	if slot < 0 || slot >= MaxBlocks || m.slots[slot].used {
		invariant.Broken("W5", "touch of %v as slot %d, which is taken or not below %d", id, slot, MaxBlocks)
	}
	if p == nil {
		invariant.Broken("W5", "touch of %v as slot %d without a page", id, slot)
	}
	s := &m.slots[slot]
	s.used, s.flags, s.id, s.p = true, flags, id, p
	m.top = max(m.top, slot+1)
	m.built = false
}

// AddData appends a copy of b to a touched slot's data.
func (m *MTR) AddData(slot int, b []byte) {
	s := &m.slots[slot]
	if !s.used || s.flags&Implied != 0 || len(s.data)+len(b) > 0xFFFF {
		invariant.Broken("W5", "data of %d bytes for slot %d: not touched, implied, or more than 65535 in all", len(b), slot)
	}
	s.data = append(s.data, b...)
	m.built = false
}

// Blocks is the number of slots to ask Block about.
func (m *MTR) Blocks() int { return m.top }

// Block tells what slot i touches; p is nil for a slot that is not used.
// image: the built record holds the page's image.
func (m *MTR) Block(i int) (id page.ID, p *page.Page, flags TouchFlags, image bool) {
	s := &m.slots[i]
	return s.id, s.p, s.flags, s.image
}

// wantsImage decides for one slot. Pages of parts need none (page rule P3).
func (s *slot) wantsImage(lsn, floor LSN) bool {
	switch {
	case !s.used || s.flags&(WillInit|NoImage|Implied) != 0 || s.id.Rel.HasParts():
		return false
	case s.flags&ForceImage != 0:
		return true
	}
	return NeedsImage(lsn, floor)
}

// Build decides images for the given floor, copies them, and lays out all
// but prev and the CRC.
func (m *MTR) Build(floor LSN) {
	b := append(m.buf[:0], make([]byte, RecordHeader)...)
	b = m.appendHeaders(b, floor)
	for i := range m.slots[:m.top] {
		s := &m.slots[i]
		if !s.used || s.flags&Implied != 0 {
			continue
		}
		if s.image {
			b, _, _ = appendImage(b, s.p, s.flags&Standard != 0)
		}
		if s.keepsData() {
			b = append(b, s.data...)
		}
	}
	b = append(b, m.main...)
	if len(b) > MaxRecord {
		invariant.Broken("W5", "%s of %d bytes, at most %d", OpName(m.rmgr, m.info), len(b), MaxRecord)
	}
	le.PutUint32(b[offTotal:], uint32(len(b)))
	le.PutUint32(b[offXID:], m.xid)
	b[offInfo], b[offRmgr] = m.info, byte(m.rmgr)
	m.body = crc32.Update(0, castagnoli, b[RecordHeader:])
	m.buf, m.built = b, true
}

// keepsData: with an image the data is redundant and left out.
func (s *slot) keepsData() bool { return !s.image || s.flags&KeepData != 0 }

func (m *MTR) appendHeaders(b []byte, floor LSN) []byte {
	var last *slot
	for i := range m.slots[:m.top] {
		s := &m.slots[i]
		if !s.used {
			continue
		}
		s.lsn = page.LSNOf(s.id, s.p)
		s.image = s.wantsImage(s.lsn, floor)
		if s.flags&Implied != 0 {
			continue
		}
		b = s.appendHeader(b, i, last)
		last = s
	}
	switch n := len(m.main); {
	case n > 255:
		b = append(b, idDataLong)
		b = le.AppendUint32(b, uint32(n))
	case n > 0:
		b = append(b, idDataShort, byte(n))
	}
	return b
}

func (s *slot) appendHeader(b []byte, id int, last *slot) []byte {
	var flags uint8
	n := 0
	if s.flags&WillInit != 0 {
		flags |= willInit
	}
	if len(s.data) > 0 && s.keepsData() {
		flags |= hasData
		n = len(s.data)
	}
	if s.image {
		flags |= hasImage
	}
	if s.id.Rel.IsVM() {
		flags |= forkVM
	}
	same := last != nil && last.id.Rel.Main() == s.id.Rel.Main()
	if same {
		flags |= sameRel
	}
	b = append(b, byte(id), flags)
	b = le.AppendUint16(b, uint16(n))
	if s.image {
		off, hole, bits := 0, 0, uint8(imageUse)
		if s.flags&Standard != 0 {
			off, hole = s.p.Hole()
		}
		if hole > 0 {
			bits |= imageHole
		}
		b = le.AppendUint16(b, uint16(page.Size-hole))
		b = le.AppendUint16(b, uint16(off))
		b = append(b, bits)
	}
	if !same {
		b = le.AppendUint32(b, Tablespace)
		b = le.AppendUint32(b, Database)
		b = le.AppendUint32(b, uint32(s.id.Rel.Main()))
	}
	return le.AppendUint32(b, s.id.Block)
}

// Len is the built record's length in bytes, without padding.
func (m *MTR) Len() uint32 {
	m.mustBeBuilt()
	return uint32(len(m.buf))
}

// Stale reports that under this floor a page without an image would need one:
// the record must be built again.
func (m *MTR) Stale(floor LSN) bool {
	m.mustBeBuilt()
	for i := range m.slots[:m.top] {
		if s := &m.slots[i]; !s.image && s.wantsImage(s.lsn, floor) {
			return true
		}
	}
	return false
}

// Finish puts in the place of the record before it (LSN and CRC; 0 and 0 for
// the first) and returns the record's bytes, which live until the next Build,
// and its CRC. It is cheap: the body's checksum was computed by Build.
func (m *MTR) Finish(prev LSN, prevCRC uint32) (b []byte, crc uint32) {
	m.mustBeBuilt()
	le.PutUint64(m.buf[offPrev:], uint64(prev))
	crc = chainCRC(m.body, prevCRC, m.buf)
	le.PutUint32(m.buf[offCRC:], crc)
	return m.buf, crc
}

// Stamp sets the LSN of every touched page, implied ones included, to the
// record's end.
func (m *MTR) Stamp(end LSN) {
	for i := range m.slots[:m.top] {
		if s := &m.slots[i]; s.used {
			page.Stamp(s.id, s.p, end)
		}
	}
}

func (m *MTR) mustBeBuilt() {
	if !m.built {
		invariant.Broken("W5", "%s used before Build", OpName(m.rmgr, m.info))
	}
}
