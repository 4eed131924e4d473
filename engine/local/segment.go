package local

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"tornpage/engine/host"
	"tornpage/engine/wal"
)

// openSegment is the segment that the log writer, or recovery, is in.
type openSegment struct {
	number uint64
	file   host.File // nil: none
	synced bool
}

// segmentOf is the number of a log segment's file name.
func segmentOf(l wal.Layout, name string) (uint64, bool) {
	if len(name) != 24 {
		return 0, false
	}
	high, err1 := strconv.ParseUint(name[8:16], 16, 32)
	low, err2 := strconv.ParseUint(name[16:], 16, 32)
	seg := high*l.Segment(1<<32) + low
	return seg, err1 == nil && err2 == nil && l.SegmentName(seg) == name
}

// listSegments finds the files of the log.
func (s *Storage) listSegments() error {
	names, err := s.logs.List()
	if err != nil {
		return fmt.Errorf("local: list disk %s: %w", s.cfg.WALDisk, err)
	}
	for _, name := range names {
		if seg, ok := segmentOf(s.layout, name); ok {
			s.segments[seg] = true
		}
	}
	return nil
}

// writeSegment writes log that lies within one segment.
func (s *Storage) writeSegment(at wal.LSN, b []byte) {
	seg := s.layout.Segment(at)
	if s.segment.file == nil || s.segment.number != seg {
		s.enterSegment(seg)
	}
	_, err := s.segment.file.WriteAt(b, s.layout.Offset(at))
	for try := s.logSpace.attempt(); try.until(err); {
		_, err = s.segment.file.WriteAt(b, s.layout.Offset(at))
	}
	if err != nil {
		s.fail(fmt.Errorf("write log segment %s at byte %d, LSN %v: %w; nothing above %v was acknowledged",
			s.layout.SegmentName(seg), s.layout.Offset(at), at, err, s.durable.LSN()))
	}
	s.segment.synced = false
	s.stats.LogBytes += uint64(len(b))
}

// enterSegment leaves the present segment, synced, and opens seg: its file as
// left behind by an earlier boot, or an old segment under a new name, or a new
// file. All three may hold anything behind the log's end (rule L1).
func (s *Storage) enterSegment(seg uint64) {
	s.leaveSegment()
	name := s.layout.SegmentName(seg)
	mark := ""
	if !s.segments[seg] {
		mark = "wal.segment-created"
		if old, ok := s.oldestSegment(); ok {
			mark = "wal.segment-recycled"
			s.recycleSegment(old, seg)
		}
	}
	f, err := s.logs.Open(name, host.ClassWAL, true)
	for try := s.logSpace.attempt(); try.until(err); {
		f, err = s.logs.Open(name, host.ClassWAL, true)
	}
	if err != nil {
		s.fail(fmt.Errorf("open log segment %s on disk %s: %w; nothing above %v was acknowledged",
			name, s.cfg.WALDisk, err, s.durable.LSN()))
	}
	s.segments[seg] = true
	s.segment = openSegment{number: seg, file: f, synced: true}
	if mark == "" {
		return
	}
	s.logNames = true
	if mark == "wal.segment-created" {
		s.stats.Segments++
	}
	s.m.Mark(mark)
}

func (s *Storage) recycleSegment(old, seg uint64) {
	delete(s.segments, old) // before the call, so that a checkpoint does not remove it
	if err := s.logs.Rename(s.layout.SegmentName(old), s.layout.SegmentName(seg)); err != nil {
		s.fail(fmt.Errorf("rename log segment %s to %s: %w", s.layout.SegmentName(old), s.layout.SegmentName(seg), err))
	}
	s.stats.Recycled++
}

// oldestSegment is the oldest segment that recovery does not need.
func (s *Storage) oldestSegment() (uint64, bool) {
	if len(s.segments) == 0 {
		return 0, false
	}
	old := slices.Sorted(maps.Keys(s.segments))[0]
	return old, old < s.layout.Segment(s.control.Redo)
}

func (s *Storage) leaveSegment() {
	if s.segment.file == nil {
		return
	}
	s.syncSegment()
	if err := s.segment.file.Close(); err != nil {
		s.fail(fmt.Errorf("close log segment %s: %w", s.layout.SegmentName(s.segment.number), err))
	}
	s.segment = openSegment{}
}

func (s *Storage) syncSegment() {
	if s.segment.file == nil || s.segment.synced {
		return
	}
	if err := s.segment.file.Sync(); err != nil {
		s.fail(fmt.Errorf("sync log segment %s: %w; nothing above %v was acknowledged",
			s.layout.SegmentName(s.segment.number), err, s.durable.LSN()))
	}
	s.segment.synced = true
	s.stats.Syncs++
}

// syncLogNames makes new names durable, before any byte in such a segment
// counts as durable (rule L3).
func (s *Storage) syncLogNames() {
	if !s.logNames {
		return
	}
	s.logNames = false
	if err := s.logs.SyncDir(); err != nil {
		s.fail(fmt.Errorf("sync the directory of disk %s: %w", s.cfg.WALDisk, err))
	}
	s.stats.Syncs++
}

// removeSegments drops the segments below the control file's redo point, but
// for those that are kept to be recycled. No directory sync: a name that comes
// back after power-off is below the redo point still.
func (s *Storage) removeSegments() {
	for {
		all := slices.Sorted(maps.Keys(s.segments))
		below, _ := slices.BinarySearch(all, s.layout.Segment(s.control.Redo))
		if below <= s.cfg.SegmentsKept {
			return
		}
		old := all[0]
		delete(s.segments, old) // before the call, so that the writer does not recycle it
		if err := s.logs.Remove(s.layout.SegmentName(old)); err != nil {
			s.fail(fmt.Errorf("remove log segment %s: %w", s.layout.SegmentName(old), err))
		}
		s.stats.Removed++
		s.m.Mark("wal.segment-removed")
	}
}

// readLog is the log as recovery reads it.
func (s *Storage) readLog(b []byte, at wal.LSN) (int, error) {
	seg := s.layout.Segment(at)
	if s.segment.file == nil || s.segment.number != seg {
		s.leaveSegment()
		f, err := s.logs.Open(s.layout.SegmentName(seg), host.ClassWAL, false)
		if errors.Is(err, host.ErrNotExist) {
			return 0, io.EOF
		}
		if err != nil {
			return 0, err
		}
		s.segment = openSegment{number: seg, file: f, synced: true}
	}
	n, err := s.segment.file.ReadAt(b, s.layout.Offset(at))
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}
