package local

import (
	"errors"
	"fmt"
	"io"

	"tornpage/engine/host"
	"tornpage/engine/wal"
)

const (
	controlName = "control"
	controlNew  = "control.new" // until the first state is durable in it
)

// readControl gives the state that recovery starts from; ok is false if there
// is no control file, which is so until a first boot has made it.
func (s *Storage) readControl() (ok bool, err error) {
	f, err := s.data.Open(controlName, host.ClassControl, false)
	if errors.Is(err, host.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("local: open %s on disk %s: %w", controlName, s.cfg.DataDisk, err)
	}
	var b [wal.ControlSpacing + wal.ControlSlot]byte
	n, err := f.ReadAt(b[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("local: read %s on disk %s: %w", controlName, s.cfg.DataDisk, err)
	}
	clear(b[n:])
	c, _, err := wal.ChooseControl(b[:wal.ControlSlot], b[wal.ControlSpacing:])
	if err != nil {
		return false, fmt.Errorf("local: %s on disk %s: %w", controlName, s.cfg.DataDisk, err)
	}
	switch {
	case c.SegSize != s.cfg.SegmentSize:
		return false, fmt.Errorf("local: SegmentSize is %d, the log was made with %d; use that", s.cfg.SegmentSize, c.SegSize)
	case c.Checksums != s.cfg.Checksums:
		return false, fmt.Errorf("local: Checksums is %v, the pages were made with %v; use that", s.cfg.Checksums, c.Checksums)
	}
	s.control, s.controlFile = c, f
	// The name, and the state, may be in the operating system's cache only:
	// of a boot that was killed, or whose sync failed. Nothing may be built on
	// them before they are durable: the state goes into the other slot, too.
	if err := s.data.SyncDir(); err != nil {
		return false, fmt.Errorf("local: sync the directory of disk %s: %w", s.cfg.DataDisk, err)
	}
	s.writeControl(c)
	return true, nil
}

// createControl makes the control file appear with its first state in it, or
// not at all (rule L7).
func (s *Storage) createControl(c wal.Control) error {
	f, err := s.data.Open(controlNew, host.ClassControl, true)
	if err != nil {
		return fmt.Errorf("local: create %s on disk %s: %w", controlNew, s.cfg.DataDisk, err)
	}
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("local: truncate %s: %w", controlNew, err)
	}
	s.controlFile = f
	s.writeControl(c)
	if err := s.data.Rename(controlNew, controlName); err != nil {
		return fmt.Errorf("local: rename %s: %w", controlNew, err)
	}
	if err := s.data.SyncDir(); err != nil {
		return fmt.Errorf("local: sync the directory of disk %s: %w", s.cfg.DataDisk, err)
	}
	return nil
}

// writeControl makes c the state that recovery starts from. It goes into the
// slot that does not hold the present state, so that a torn write of it leaves
// that one.
func (s *Storage) writeControl(c wal.Control) {
	c.Seq = s.control.Seq + 1
	s.slot = c.Encode(s.slot[:0])
	at := wal.SlotOffset(c.Seq)
	_, err := s.controlFile.WriteAt(s.slot, at)
	for try := s.dataSpace.attempt(); try.until(err); {
		_, err = s.controlFile.WriteAt(s.slot, at)
	}
	if err != nil {
		s.fail(fmt.Errorf("write %s at byte %d: %w", controlName, at, err))
	}
	if err := s.controlFile.Sync(); err != nil {
		s.fail(fmt.Errorf("sync %s: %w", controlName, err))
	}
	s.stats.Syncs++
	s.control = c
	s.m.Mark("control.written")
}
