package local

import (
	"tornpage/engine/invariant"
	"tornpage/engine/wal"
)

// runWriter is the log writer: the first record triggers a write, and the
// buffer fills until the write is taken. That is the whole of group commit;
// there is no timer.
func (s *Storage) runWriter() {
	for {
		for s.buf.end() == s.durable.LSN() && !s.closed {
			s.writer.Wait()
		}
		if s.closed {
			return
		}
		s.flush()
	}
}

// flush takes the buffer, writes and syncs it, and publishes its end. Inserts
// go on into a second buffer meanwhile, which begins with a copy of the last,
// partial log page: that page is written again by the next flush.
//
// Rejected: one ring, as PostgreSQL's. There a write in flight and an insert
// share the last page, which on a real machine is a data race.
func (s *Storage) flush() {
	b := s.take()
	for at, rest := b.start, b.data; len(rest) > 0; {
		n := min(len(rest), int(s.segmentEnd(at)-at))
		s.writeSegment(at, rest[:n])
		at, rest = at+wal.LSN(n), rest[n:]
	}
	s.syncSegment()
	s.syncLogNames()
	s.stats.Flushes++
	s.spare = b.data[:0]
	s.m.Mark("wal.flushed")
	s.durable.Advance(b.to)
	s.gate.Open()
}

// taken is log on its way to disk: whole log pages, the last one filled up
// with zeros from to on.
type taken struct {
	logBuffer
	to wal.LSN
}

// take exchanges the buffers. Crash: nothing of what is taken is durable yet.
func (s *Storage) take() taken {
	t := taken{logBuffer: s.buf, to: s.buf.end()}
	if t.to <= s.durable.LSN() {
		invariant.Broken("L2", "a write of the log to %v, which is durable to %v", t.to, s.durable.LSN())
	}
	last := wal.PageStart(t.to)
	s.buf = logBuffer{start: last, data: append(s.spare[:0], t.data[last-t.start:]...)}
	s.spare = nil
	if pad := int(-t.to & (wal.PageSize - 1)); pad > 0 {
		// Zeros over whatever a recycled segment holds there. Not needed, as
		// the chain tells stale records apart, but this is what PostgreSQL
		// writes, and whole pages are what a device is asked for.
		t.data = append(t.data, make([]byte, pad)...)
	}
	s.gate.Flush()
	return t
}

func (s *Storage) segmentEnd(at wal.LSN) wal.LSN {
	return s.layout.SegmentStart(s.layout.Segment(at) + 1)
}
