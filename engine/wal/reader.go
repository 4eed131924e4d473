package wal

import (
	"errors"
	"fmt"
	"io"
)

// Source reads the log bytes from at on into b. It is asked for whole pages
// within one segment. Fewer bytes than asked, with or without io.EOF, mean
// that the log's files end there; a missing file gives 0 and io.EOF. Any other
// error is passed on and does not end the log.
type Source func(b []byte, at LSN) (int, error)

// EndOfLog says where the log ends and why nothing after that is of it. It is
// the ordinary end of a Reader's work.
type EndOfLog struct {
	LSN     LSN    // the end of the last record: where the next will go
	At      LSN    // where the reason was found
	Segment string // At's file
	Offset  int64  // and offset
	Reason  string
}

// Error tells it in one line.
func (e *EndOfLog) Error() string {
	return fmt.Sprintf("log ends at %v: at %v (%s offset %d): %s", e.LSN, e.At, e.Segment, e.Offset, e.Reason)
}

// readBlock is how much is asked from the source at once, at most: 16 log
// pages, so that a call's cost is shared by hundreds of records.
const readBlock = 128 << 10

// Position is a place between two records.
type Position struct {
	End  LSN    // of the record before; where the next follows
	Prev LSN    // the LSN of the record before; 0: none
	CRC  uint32 // its CRC
}

// Reader streams records in order. It ends at the first place where no record
// of this log fits: a crash leaves any bytes there.
type Reader struct {
	layout    Layout
	src       Source
	pos       Position
	unchained bool
	rec       Record

	win    []byte // pages from winAt on
	winAt  LSN
	header LSN // the last page whose header was checked, and what it said
	found  pageHeader
	joined []byte // a record that crosses pages, put together
}

// NewReader reads what follows from.
func NewReader(l Layout, src Source, from Position) *Reader {
	return &Reader{layout: l, src: src, pos: from, header: ^LSN(0)}
}

// NewUnchainedReader reads a PostgreSQL server's log, whose CRCs do not chain,
// from a record that begins at or, at a page's start, after from. The first
// record's prev is not checked.
func NewUnchainedReader(l Layout, src Source, from LSN) *Reader {
	r := NewReader(l, src, Position{End: from})
	r.unchained = true
	return r
}

// Position is the place after the last record that Next returned.
func (r *Reader) Position() Position { return r.pos }

// Next returns the next record, valid until the next call. At the log's end
// the error is an *EndOfLog; calling again looks at the source again, so a
// growing log can be followed. Any other error is the source's.
func (r *Reader) Next() (*Record, error) {
	rec, err := r.next()
	if err != nil {
		r.win, r.header = r.win[:0], ^LSN(0)
	}
	return rec, err
}

func (r *Reader) next() (*Record, error) {
	at := r.pos.End
	if at%recordAlign != 0 {
		return nil, r.end(at, "position is no multiple of %d", recordAlign)
	}
	p, err := r.page(PageStart(at))
	if err != nil {
		return nil, err
	}
	start := r.layout.RecordStart(at)
	if start != at && r.found.rem != 0 {
		return nil, r.end(at, "%d bytes of an earlier record, want a record's beginning", r.found.rem)
	}
	p = p[min(int(start-PageStart(at)), len(p)):]
	n, err := r.length(p, start)
	if err != nil {
		return nil, err
	}
	_, end := r.layout.Next(at, n)
	b := p[:min(int(n), len(p))]
	if PageStart(start) != PageStart(start+LSN(n)-1) {
		if b, err = r.join(b, start, n); err != nil {
			return nil, err
		}
	} else if len(b) < int(n) {
		return nil, r.end(start, "record of %d bytes, the file ends after %d", n, len(b))
	}
	return r.accept(b, start, end)
}

// length checks a record's first fields, as far as they are on its first
// page, and returns its length.
func (r *Reader) length(p []byte, start LSN) (uint32, error) {
	if len(p) < 4 {
		return 0, r.end(start, "the file ends")
	}
	n := le.Uint32(p)
	switch {
	case n == 0:
		return 0, r.end(start, "length 0: nothing was written here")
	case n < RecordHeader || n > MaxRecord:
		return 0, r.end(start, "length %d, want %d to %d", n, RecordHeader, MaxRecord)
	case len(p) >= RecordHeader:
		if why := r.prevMismatch(p); why != "" {
			return 0, r.end(start, "%s", why)
		}
	}
	return n, nil
}

func (r *Reader) prevMismatch(header []byte) string {
	prev := LSN(le.Uint64(header[offPrev:]))
	if prev == r.pos.Prev || r.unchained && r.pos.Prev == 0 {
		return ""
	}
	return fmt.Sprintf("prev %v, want %v: a stale record", prev, r.pos.Prev)
}

// join puts together a record that goes on over pages.
func (r *Reader) join(first []byte, start LSN, n uint32) ([]byte, error) {
	r.joined = append(r.joined[:0], first...)
	if room := PageSize - int(start%PageSize); len(first) < room {
		return nil, r.end(start, "record of %d bytes, the file ends after %d", n, len(first))
	}
	for at := PageStart(start) + PageSize; len(r.joined) < int(n); at += PageSize {
		p, err := r.page(at)
		if err != nil {
			return nil, err
		}
		left := int(n) - len(r.joined)
		if int64(r.found.rem) != int64(left) {
			return nil, r.end(at, "page continues a record by %d bytes, want %d of the one at %v", r.found.rem, left, start)
		}
		p = p[r.layout.Header(at):]
		if len(p) < min(left, PageSize-int(r.layout.Header(at))) {
			return nil, r.end(at, "record at %v needs %d bytes more, the file ends after %d", start, left, len(p))
		}
		r.joined = append(r.joined, p[:min(left, len(p))]...)
	}
	return r.joined, nil
}

func (r *Reader) accept(b []byte, start, end LSN) (*Record, error) {
	if why := r.prevMismatch(b); why != "" {
		return nil, r.end(start, "%s", why)
	}
	chain := r.pos.CRC
	if r.unchained {
		chain = 0
	}
	crc, err := r.rec.Decode(b, start, chain)
	if err != nil {
		return nil, r.end(start, "%v", err)
	}
	if r.rec.Rmgr == RmgrXLOG && r.rec.Op() == InfoSwitch && r.layout.Offset(end) != 0 {
		// The rest of the segment is left empty.
		end = r.layout.SegmentStart(r.layout.Segment(end) + 1)
	}
	r.rec.End = end
	r.pos = Position{End: end, Prev: start, CRC: crc}
	return &r.rec, nil
}

// page gives the bytes of the page at at, its header checked (into r.found).
// At the end of a file they may be fewer than PageSize, but hold the header.
func (r *Reader) page(at LSN) ([]byte, error) {
	if at < r.winAt || at >= r.winAt+LSN(len(r.win)) {
		if err := r.load(at); err != nil {
			return nil, err
		}
	}
	p := r.win[at-r.winAt:]
	p = p[:min(len(p), PageSize)]
	if r.header == at {
		return p, nil
	}
	if len(p) < int(r.layout.Header(at)) {
		return nil, r.end(at, "the file ends within a page header, after %d bytes", len(p))
	}
	h, why := r.layout.checkHeader(p, at)
	if why != "" {
		return nil, r.end(at, "%s", why)
	}
	r.header, r.found = at, h
	return p, nil
}

// load fills the window from at on, up to the segment's end.
func (r *Reader) load(at LSN) error {
	n := min(readBlock, r.layout.segSize()-uint64(r.layout.Offset(at)))
	if uint64(cap(r.win)) < n {
		r.win = make([]byte, n)
	}
	r.win = r.win[:n]
	r.winAt, r.header = at, ^LSN(0)
	got, err := r.src(r.win, at)
	r.win = r.win[:max(0, min(got, int(n)))]
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the log at %v (%s offset %d): %w", at,
			r.layout.SegmentName(r.layout.Segment(at)), r.layout.Offset(at), err)
	}
	if len(r.win) == 0 {
		return r.end(at, "the file ends, or is not there")
	}
	return nil
}

func (r *Reader) end(at LSN, format string, args ...any) error {
	return &EndOfLog{LSN: r.pos.End, At: at, Segment: r.layout.SegmentName(r.layout.Segment(at)),
		Offset: r.layout.Offset(at), Reason: fmt.Sprintf(format, args...)}
}
