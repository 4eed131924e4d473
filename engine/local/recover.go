package local

import (
	"errors"
	"fmt"
	"io"

	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/wal"
)

// firstXID is the first XID that is used: PostgreSQL's FirstNormalTransactionId.
const firstXID = 3

// Open recovers: it reads the log from the redo point on, repeats every change
// that the data files lack, and ends with a checkpoint. Nothing is changed on
// disk that the next Open, should this one crash anywhere, would not repeat. On
// a full disk it uses the reserves, and once those are gone waits for space.
func (s *Storage) Open() (engine.State, error) {
	if err := s.cfg.validate(); err != nil {
		return engine.State{}, err
	}
	s.layout.SegSize = s.cfg.SegmentSize
	s.logs, s.data = s.m.Disk(s.cfg.WALDisk), s.m.Disk(s.cfg.DataDisk)
	s.fpw = s.cfg.FullPageWrites
	ok, err := s.readControl()
	if err != nil {
		return engine.State{}, err
	}
	if !ok {
		if err := s.initialise(); err != nil {
			return engine.State{}, err
		}
	}
	s.layout = s.control.Layout()
	clean := s.control.State == wal.ShutDown || s.control.Checkpoint == 0
	if err := errors.Join(s.logSpace.open(), s.dataSpace.open()); err != nil {
		return engine.State{}, err
	}
	if err := s.openFiles(); err != nil {
		return engine.State{}, err
	}
	st, err := s.recover(clean)
	if err != nil {
		s.m.Mark("recovery.refused")
	}
	return st, err
}

// initialise makes the storage of a first boot. What counts is the control
// file: it comes last, whole or not at all, and without it nothing else may be
// there.
func (s *Storage) initialise() error {
	names, err := s.data.List()
	if err != nil {
		return fmt.Errorf("local: list disk %s: %w", s.cfg.DataDisk, err)
	}
	for _, name := range names {
		if _, ok := relOf(name); ok {
			return fmt.Errorf("local: disk %s has %s but no %s file; restore that from a copy", s.cfg.DataDisk, name, controlName)
		}
	}
	if err := s.listSegments(); err != nil {
		return err
	}
	if len(s.segments) > 0 {
		return fmt.Errorf("local: disk %s has a log of %d segments but disk %s has no %s file; attach the disk that belongs to it, or remove the log",
			s.cfg.WALDisk, len(s.segments), s.cfg.DataDisk, controlName)
	}
	id := s.m.Rand("local.system", 0)
	s.m.Mark("control.initialised")
	return s.createControl(wal.Control{
		SystemID: id.Uint64() | 1, // 0 would match any log
		State:    wal.InProduction, Redo: s.layout.First(), NextXID: firstXID,
		FullPageWrites: s.fpw, Checksums: s.cfg.Checksums, SegSize: s.cfg.SegmentSize,
	})
}

// openFiles finds the files of the log and of the relations, and makes the log
// durable. After a kill both may be in the operating system's cache only: the
// log must be durable before pages are made from it, the pages before the redo
// point moves (rules L4, L6).
func (s *Storage) openFiles() error {
	if err := s.listSegments(); err != nil {
		return err
	}
	block := make([]byte, min(rewriteBlock, int(s.layout.SegSize)))
	at := wal.PageStart(s.control.Redo)
	for seg := s.layout.Segment(at); s.segments[seg]; seg++ {
		f, err := s.logs.Open(s.layout.SegmentName(seg), host.ClassWAL, false)
		if err != nil {
			return fmt.Errorf("local: open log segment %s: %w", s.layout.SegmentName(seg), err)
		}
		s.segment = openSegment{number: seg, file: f}
		if !s.cfg.TrustCache {
			if err := rewrite(f, s.layout.Offset(at), block); err != nil {
				return fmt.Errorf("local: write log segment %s again: %w", s.layout.SegmentName(seg), err)
			}
		}
		s.leaveSegment()
		at = s.layout.SegmentStart(seg + 1)
	}
	s.logNames = true
	s.syncLogNames()
	return s.openRelations()
}

// rewriteBlock is how much log is written again at once: wal.Reader's unit.
const rewriteBlock = 128 << 10

// rewrite writes a file's bytes from off on again, so that the next sync
// stores them whatever became of the last one.
func rewrite(f host.File, off int64, block []byte) error {
	for {
		n, err := f.ReadAt(block, off)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if n == 0 {
			return nil
		}
		if _, err := f.WriteAt(block[:n], off); err != nil {
			return err
		}
		off += int64(n)
	}
}

// recover is Open once the control state is known.
func (s *Storage) recover(clean bool) (engine.State, error) {
	s.nextXID = s.control.NextXID
	s.epoch = s.control.Epoch + 1
	if !clean {
		s.m.Mark("recovery.begun")
	}
	r := newRedo(s)
	if err := r.run(); err != nil {
		return engine.State{}, err
	}
	if err := s.resume(r.reader.Position()); err != nil {
		return engine.State{}, err
	}
	s.m.Mark("recovery.redone")
	st := engine.State{Survived: s.durable.LSN(), Epoch: s.epoch, Records: s.stats.RedoRecords, Images: s.stats.RedoImages}
	if !clean {
		st.Redo = s.control.Redo
	}
	s.m.Go("log writer", s.runWriter)
	if err := s.checkpoint(r.pool, recovered); err != nil {
		return engine.State{}, err
	}
	s.check.timed = s.m.Now()
	s.m.Go("checkpointer", s.runCheckpointer)
	s.refill()
	if s.logSpace.want > 0 || s.dataSpace.want > 0 {
		s.m.Go("space", s.runSpace)
	}
	st.End, st.NextXID = s.durable.LSN(), s.nextXID
	if !clean {
		s.m.Mark("recovery.done")
	}
	s.m.Logf("local: open: epoch %d, log ends at %v, redo from %v over %d records, %d images, next XID %d",
		st.Epoch, st.End, st.Redo, st.Records, st.Images, st.NextXID)
	return st, nil
}

// resume makes the log go on at its end: the last log page, up to there, is
// put into the buffer again. What lies behind it on disk stays and cannot fit,
// since the first record that follows is a checkpoint's with this redo point
// in it, from which all CRCs chain on (rule L1).
func (s *Storage) resume(pos wal.Position) error {
	start := wal.PageStart(pos.End)
	tail := make([]byte, pos.End-start)
	if n, err := s.readLog(tail, start); len(tail) > 0 && n < len(tail) {
		return fmt.Errorf("local: read the log's last page at %v again: %d bytes of %d: %w", start, n, len(tail), err)
	}
	s.leaveSegment()
	s.ins = pos
	s.buf = logBuffer{start: start, data: tail}
	s.durable.Advance(pos.End)
	return nil
}
