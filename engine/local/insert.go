package local

import (
	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// logBuffer is log that has not been taken by the writer yet, from the start
// of a log page on.
type logBuffer struct {
	start wal.LSN
	data  []byte
}

func (b *logBuffer) end() wal.LSN { return b.start + wal.LSN(len(b.data)) }

// Append inserts a built mini-transaction, see engine.Storage.
func (s *Storage) Append(m *wal.MTR, builtFor wal.LSN) (wal.LSN, error) {
	if s.closed || s.check.closing {
		return 0, engine.ErrStopped
	}
	return s.insert(m, builtFor)
}

// insert is Append for the storage's own records, too. The latch is held over
// all of it: each record's CRC starts from its predecessor's, so that records
// cannot be finished side by side as in PostgreSQL.
func (s *Storage) insert(m *wal.MTR, builtFor wal.LSN) (wal.LSN, error) {
	s.insertion.Lock()
	if floor := s.Floor(); floor != builtFor && m.Stale(floor) {
		s.insertion.Unlock()
		s.stats.FloorMoved++
		s.m.Mark("wal.floor-moved")
		return 0, engine.ErrFloorMoved
	}
	s.m.Pay() // images are decided; the redo point must not move from here on

	at := s.ins
	start, end := s.layout.Next(at.End, m.Len())
	rec, crc := m.Finish(at.Prev, at.CRC)
	s.ins = wal.Position{End: end, Prev: start, CRC: crc}
	s.m.Charge(host.WorkRecordBytes, (len(rec)+63)/64)
	s.m.Pay() // the LSN is assigned; nothing at or above it may be written yet

	s.copyIn(at.End, rec, end)
	m.Stamp(end)
	s.note(m, rec, at)
	s.insertion.Unlock()

	s.writer.Signal()
	if s.checkpointDue() {
		s.check.wake.Signal()
	}
	return end, nil
}

// copyIn puts the record into the buffer, which grows if it must: Append may
// not wait for the writer, Admit has.
func (s *Storage) copyIn(at wal.LSN, rec []byte, end wal.LSN) {
	if s.buf.end() != at {
		invariant.Broken("L2", "record for %v copied to %v", at, s.buf.end())
	}
	var got wal.LSN
	s.buf.data, got = s.layout.Append(s.buf.data, at, rec)
	if got != end || s.buf.end() != end {
		invariant.Broken("L2", "record for %v to %v ended at %v, the buffer at %v", at, end, got, s.buf.end())
	}
}

// note keeps what later boots and Size need to know of a record.
func (s *Storage) note(m *wal.MTR, rec []byte, at wal.Position) {
	for i := range m.Blocks() {
		id, p, _, image := m.Block(i)
		if p == nil {
			continue
		}
		s.grow(id)
		if image {
			s.stats.Images++
		}
	}
	if xid := m.XID(); xid >= s.nextXID {
		s.nextXID = xid + 1
	}
	if m.Rmgr() == wal.RmgrXLOG && m.Info() == wal.InfoNextXID {
		s.noteHorizon(rec, at)
	}
	if m.Rmgr() == wal.RmgrStorage {
		s.noteCut(rec, at)
	}
	if m == &s.check.mtr {
		s.check.record = s.ins.Prev
	}
	s.since++
	s.stats.Records++
	s.stats.RecordBytes += uint64(len(rec))
	s.gate.Spent(len(rec))
}

// noteHorizon reads a NEXTXID record back: they are rare.
func (s *Storage) noteHorizon(rec []byte, at wal.Position) {
	r, _, err := wal.Decode(rec, at.End, at.CRC)
	if err != nil {
		invariant.Broken("L2", "own record cannot be read: %v", err)
	}
	horizon, err := r.NextXID()
	if err != nil {
		invariant.Broken("L2", "own record cannot be read: %v", err)
	}
	s.nextXID = max(s.nextXID, horizon)
}

func (s *Storage) grow(id page.ID) {
	if id.Block >= s.blocks[id.Rel] {
		s.blocks[id.Rel] = id.Block + 1
	}
}
