package wal

import "fmt"

// The log is a sequence of pages of 8 KiB in segment files. Sizes in bytes,
// as in PostgreSQL 15 (access/xlog_internal.h).
const (
	PageSize       = 8192 // XLOG_BLCKSZ
	ShortHeader    = 24   // SizeOfXLogShortPHD
	LongHeader     = 40   // SizeOfXLogLongPHD: first page of a segment
	DefaultSegment = 16 << 20
	Timeline       = 1 // this engine has one timeline

	pageMagic = 0xD110 // XLOG_PAGE_MAGIC of PostgreSQL 15

	contRecord = 0x0001 // XLP_FIRST_IS_CONTRECORD: a record continues here
	longPage   = 0x0002 // XLP_LONG_HEADER

	offMagic, offPageInfo, offTimeline, offPageAddr, offRemLen = 0, 2, 4, 8, 16
	offSysID, offSegSize, offPageSize                          = 24, 32, 36
)

// Layout maps between LSNs and segment files and encodes records into log
// bytes. A plain value.
type Layout struct {
	SegSize  uint32 // bytes, a power of two, at least 2 pages; 0: DefaultSegment
	SystemID uint64 // in the first page of every segment: whose log it is
}

// Validate refuses a segment size that the layout cannot have.
func (l Layout) Validate() error {
	n := l.segSize()
	if n < 2*PageSize || n&(n-1) != 0 || n > 1<<30 {
		return fmt.Errorf("segment size %d, want a power of two from %d to %d", n, 2*PageSize, 1<<30)
	}
	return nil
}

func (l Layout) segSize() uint64 {
	if l.SegSize == 0 {
		return DefaultSegment
	}
	return uint64(l.SegSize)
}

// First is where a new log begins: segment 1, so that LSN 0 means none.
func (l Layout) First() LSN { return LSN(l.segSize()) }

// Segment is the number of the segment that holds the byte at lsn.
func (l Layout) Segment(lsn LSN) uint64 { return uint64(lsn) / l.segSize() }

// SegmentStart is a segment's first byte.
func (l Layout) SegmentStart(seg uint64) LSN { return LSN(seg * l.segSize()) }

// Offset is the byte's offset in its segment's file.
func (l Layout) Offset(lsn LSN) int64 { return int64(uint64(lsn) % l.segSize()) }

// SegmentName is PostgreSQL's file name: timeline and number, 24 hex digits.
func (l Layout) SegmentName(seg uint64) string {
	per := uint64(1<<32) / l.segSize()
	return fmt.Sprintf("%08X%08X%08X", Timeline, seg/per, seg%per)
}

// PageStart is the start of the log page that holds the byte at lsn.
func PageStart(lsn LSN) LSN { return lsn &^ (PageSize - 1) }

// Header is the size of the page header at a page's start.
func (l Layout) Header(pageStart LSN) uint32 {
	if l.Offset(pageStart) == 0 {
		return LongHeader
	}
	return ShortHeader
}

// RecordStart is where a record begins that follows a record's end at: the
// same place, or past the page header if at begins a page.
func (l Layout) RecordStart(at LSN) LSN {
	if at%PageSize == 0 {
		return at + LSN(l.Header(at))
	}
	return at
}

// Next gives start and end of a record of n bytes (without padding) that
// follows the end at, a multiple of 8. An end that meets a page's end does
// not step over the next page's header, as in PostgreSQL.
func (l Layout) Next(at LSN, n uint32) (start, end LSN) {
	start = l.RecordStart(at)
	end = start
	left := alignRecord(n)
	for {
		room := uint32(PageSize - end%PageSize)
		if left <= room {
			return start, end + LSN(left)
		}
		left -= room
		end += LSN(room)
		end += LSN(l.Header(end))
	}
}

// Append appends to dst the log bytes that a record occupies after the end
// at: page headers where pages begin, the record, zeros up to the multiple
// of 8. The appended bytes belong at at; end is the record's end.
func (l Layout) Append(dst []byte, at LSN, rec []byte) (out []byte, end LSN) {
	if at%PageSize == 0 {
		dst = l.appendHeader(dst, at, 0)
		at += LSN(l.Header(at))
	}
	for {
		room := int(PageSize - at%PageSize)
		if len(rec) <= room {
			break
		}
		dst = append(dst, rec[:room]...)
		rec = rec[room:]
		at += LSN(room)
		dst = l.appendHeader(dst, at, uint32(len(rec)))
		at += LSN(l.Header(at))
	}
	dst = append(dst, rec...)
	pad := int(alignRecord(uint32(len(rec)))) - len(rec)
	dst = append(dst, make([]byte, pad)...)
	return dst, at + LSN(len(rec)+pad)
}

// appendHeader appends the header of the page at at, where rem bytes of a
// record continue (0: none).
func (l Layout) appendHeader(dst []byte, at LSN, rem uint32) []byte {
	info := uint16(0)
	if rem > 0 {
		info |= contRecord
	}
	long := l.Header(at) == LongHeader
	if long {
		info |= longPage
	}
	dst = le.AppendUint16(dst, pageMagic)
	dst = le.AppendUint16(dst, info)
	dst = le.AppendUint32(dst, Timeline)
	dst = le.AppendUint64(dst, uint64(at))
	dst = le.AppendUint32(dst, rem)
	dst = le.AppendUint32(dst, 0)
	if long {
		dst = le.AppendUint64(dst, l.SystemID)
		dst = le.AppendUint32(dst, uint32(l.segSize()))
		dst = le.AppendUint32(dst, PageSize)
	}
	return dst
}

// pageHeader is a page header as read.
type pageHeader struct {
	info uint16
	rem  uint32
}

// checkHeader reads the header of the page at at from b, at least
// Header(at) bytes. why is empty if it is in order.
func (l Layout) checkHeader(b []byte, at LSN) (h pageHeader, why string) {
	h = pageHeader{info: le.Uint16(b[offPageInfo:]), rem: le.Uint32(b[offRemLen:])}
	long := l.Header(at) == LongHeader
	switch magic, addr := le.Uint16(b[offMagic:]), LSN(le.Uint64(b[offPageAddr:])); {
	case magic == 0 && addr == 0:
		return h, "page header of zeros: nothing was written here"
	case magic != pageMagic:
		return h, fmt.Sprintf("page magic %04X, want %04X", magic, pageMagic)
	case addr != at:
		return h, fmt.Sprintf("page says it is %v, want %v: a recycled segment's stale page", addr, at)
	case (h.info&longPage != 0) != long:
		return h, fmt.Sprintf("page flags %04X, long header wanted: %v", h.info, long)
	case (h.info&contRecord != 0) != (h.rem != 0):
		return h, fmt.Sprintf("page flags %04X with %d bytes of a continued record", h.info, h.rem)
	}
	if !long {
		return h, ""
	}
	switch id, seg, size := le.Uint64(b[offSysID:]), le.Uint32(b[offSegSize:]), le.Uint32(b[offPageSize:]); {
	case l.SystemID != 0 && id != l.SystemID:
		return h, fmt.Sprintf("segment of system %d, want %d", id, l.SystemID)
	case uint64(seg) != l.segSize() || size != PageSize:
		return h, fmt.Sprintf("segment size %d, page size %d, want %d and %d", seg, size, l.segSize(), PageSize)
	}
	return h, ""
}
