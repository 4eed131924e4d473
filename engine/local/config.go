package local

import (
	"fmt"
	"time"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// Config is every size and interval of the storage. A zero means the default
// named at the field; where zero has a meaning of its own, that is said.
type Config struct {
	// WALBuffer is how much log, in bytes, may wait in memory to be written
	// before Admit holds callers back. Default 16 MiB (the most that
	// PostgreSQL's wal_buffers=-1 takes); at least one log page.
	WALBuffer int
	// SegmentSize is the size of a log segment file in bytes, a power of two
	// from 16 KiB to 1 GiB. Default 16 MiB (wal_segment_size). Fixed by the
	// first boot.
	SegmentSize uint32
	// SegmentsKept is how many segments below the redo point a checkpoint
	// keeps, to be renamed and used again instead of creating new ones. 0: none.
	SegmentsKept int

	// CheckpointBytes and CheckpointRecords start a checkpoint once so much
	// log was written since the last redo point, whichever comes first.
	// 0: no such limit (max_wal_size is 1 GiB in PostgreSQL).
	CheckpointBytes   uint64
	CheckpointRecords uint64
	// CheckpointTarget spreads a checkpoint's page writes over so many percent
	// of the time between checkpoints (checkpoint_completion_target times
	// 100). 0: no spreading. Default() has 90.
	CheckpointTarget uint64

	// CheckpointTime starts a checkpoint once so much time has passed since the
	// last one was begun, or looked for, if anything was logged. 0: no such
	// limit. Default() has 5 minutes (checkpoint_timeout).
	CheckpointTime time.Duration

	// WALReserve and DataReserve are the sizes in bytes of a file on the log's
	// and on the data disk that is given up when the disk is full (rule L11).
	// 0: none, and a full disk ends the process. See Reserve for how large.
	WALReserve, DataReserve int64
	// SpaceRetry is how often space is looked for while a disk is full.
	// Default 1 s.
	SpaceRetry time.Duration

	// FullPageWrites: the first change of a page after the redo point logs the
	// whole page. Storage.SetFullPageWrites changes it while running.
	FullPageWrites bool
	// Checksums: pages are sealed as they are written and verified as they are
	// read. Fixed by the first boot.
	Checksums bool

	// RedoPages is the number of pages that recovery keeps in memory. Default
	// 1,024; at least 2.
	RedoPages int
	// TrustCache: recovery takes what it reads for what is on the disk, as
	// PostgreSQL does. After a failed sync that is wrong: the operating system
	// shows bytes that it will not write any more (Rebello et al., ATC 2020).
	// Otherwise recovery writes again what it relies on: the log from the redo
	// point on, and every page that it names.
	TrustCache bool
	// Redo replays records. Default wal.StandardRedo().
	Redo *wal.Redo

	// WALDisk and DataDisk name the disks of the log and of everything else.
	// Default "wal" and "data"; they may be the same.
	WALDisk, DataDisk string
}

// Default is PostgreSQL 15's configuration, with checksums on.
func Default() Config {
	return Config{
		WALBuffer: 16 << 20, SegmentSize: wal.DefaultSegment, SegmentsKept: 5,
		CheckpointBytes: 1 << 30, CheckpointTime: 5 * time.Minute, CheckpointTarget: 90,
		FullPageWrites: true, Checksums: true,
		RedoPages: 1024, WALDisk: "wal", DataDisk: "data",
	}
}

// Reserve sets the sizes of the reserves to what may be on its way to the disks
// when one is found to be full, with a pool of so many pages: for the log, one
// buffer that is being written, one that is filled meanwhile (Admit lets no
// more in than that, save for one record each of those who were let in
// together), the segment that they enter and a checkpoint's record; for the
// data, that every page in memory is a new one.
func (c *Config) Reserve(pages int) {
	f := *c
	f.fill()
	c.WALReserve = 2*int64(f.WALBuffer) + int64(f.SegmentSize) + reserveSlack
	c.DataReserve = int64(pages)*page.Size + reserveSlack
}

// reserveSlack is for what is small: names, the control file, whole pages.
const reserveSlack = 64 << 10

// fill puts the defaults in.
func (c *Config) fill() {
	if c.WALBuffer == 0 {
		c.WALBuffer = 16 << 20
	}
	if c.SegmentSize == 0 {
		c.SegmentSize = wal.DefaultSegment
	}
	if c.RedoPages == 0 {
		c.RedoPages = 1024
	}
	if c.Redo == nil {
		redo := wal.StandardRedo()
		c.Redo = &redo
	}
	if c.SpaceRetry == 0 {
		c.SpaceRetry = spaceRetry
	}
	if c.WALDisk == "" {
		c.WALDisk = "wal"
	}
	if c.DataDisk == "" {
		c.DataDisk = "data"
	}
}

// validate says what is wrong with a filled Config.
func (c *Config) validate() error {
	switch {
	case c.WALBuffer < wal.PageSize:
		return fmt.Errorf("local: WALBuffer is %d bytes, want at least %d", c.WALBuffer, wal.PageSize)
	case c.SegmentsKept < 0:
		return fmt.Errorf("local: SegmentsKept is %d, want 0 or more", c.SegmentsKept)
	case c.CheckpointTarget > 100:
		return fmt.Errorf("local: CheckpointTarget is %d percent, want 0 to 100", c.CheckpointTarget)
	case c.CheckpointTime < 0:
		return fmt.Errorf("local: CheckpointTime is %v, want 0 or more", c.CheckpointTime)
	case c.WALReserve < 0 || c.DataReserve < 0:
		return fmt.Errorf("local: WALReserve is %d bytes and DataReserve %d, want 0 or more", c.WALReserve, c.DataReserve)
	case c.SpaceRetry < 0:
		return fmt.Errorf("local: SpaceRetry is %v, want 0 or more", c.SpaceRetry)
	case c.RedoPages < 2:
		return fmt.Errorf("local: RedoPages is %d, want at least 2", c.RedoPages)
	}
	if err := (wal.Layout{SegSize: c.SegmentSize}).Validate(); err != nil {
		return fmt.Errorf("local: SegmentSize: %w", err)
	}
	return nil
}
