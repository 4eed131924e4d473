package computetest

import (
	"tornpage/engine"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// Instant is a storage that costs next to nothing, to measure what is above it:
// what is appended is durable, and nothing is ever read. End must not be 0.
type Instant struct {
	End wal.LSN
	crc uint32
}

var _ engine.Storage = (*Instant)(nil)

// Open finds nothing.
func (s *Instant) Open() (engine.State, error) { return engine.State{End: s.End}, nil }

// Admit always has room.
func (s *Instant) Admit(int) error { return nil }

// Floor asks for no images.
func (s *Instant) Floor() wal.LSN { return 0 }

// Durable is the end of the log.
func (s *Instant) Durable() wal.LSN { return s.End }

// WaitDurable does not wait.
func (s *Instant) WaitDurable(wal.LSN) error { return nil }

// Evict forgets the page.
func (s *Instant) Evict(page.ID, *page.Page) error { return nil }

// ReadPage has none.
func (s *Instant) ReadPage(page.ID, wal.LSN, wal.LSN, *page.Page) error { return engine.ErrNoPage }

// Size is always 0.
func (s *Instant) Size(page.Rel, wal.LSN) (uint32, error) { return 0, nil }

// Append finishes the record and stamps the pages.
func (s *Instant) Append(m *wal.MTR, _ wal.LSN) (wal.LSN, error) {
	b, crc := m.Finish(s.End, s.crc)
	s.crc = crc
	s.End += wal.LSN(page.RoundUp(len(b)))
	m.Stamp(s.End)
	return s.End, nil
}
