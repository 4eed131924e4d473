package local

import (
	"fmt"

	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/local/lsnwait"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// Pages is the buffer pool as a checkpoint needs it.
type Pages interface {
	// Dirty appends every page that has a change which has not come back from
	// Evict yet, those that are being evicted at the moment included.
	Dirty(buf []page.ID) []page.ID
	// WriteBack blocks until what the page held at the call has gone through
	// Evict, by this call or another.
	WriteBack(id page.ID) error
}

// Stats counts what a storage did in this boot.
type Stats struct {
	Records      uint64 // appended
	RecordBytes  uint64 // their lengths, without padding and page headers
	Images       uint64 // full-page images in them
	Flushes      uint64 // writes of the log that were taken and synced
	LogBytes     uint64 // written to log segments, whole pages
	Syncs        uint64 // of files and directories, all classes
	Segments     uint64 // created
	Recycled     uint64 // segments used again
	Removed      uint64 // segments removed
	Checkpoints  uint64
	PagesWritten uint64
	PagesRead    uint64
	Held         uint64 // calls of Admit that had to wait
	Refused      uint64 // calls of Admit refused because a disk was full
	Cuts         uint64 // truncations of relations, those in recovery included
	FloorMoved   uint64 // Appends answered by ErrFloorMoved
	RedoRecords  uint64 // records that recovery read
	RedoPages    uint64 // page changes that it made, images included
	RedoImages   uint64 // images that it restored
}

// Storage is PostgreSQL's storage on one machine. It lives for one boot.
type Storage struct {
	m      host.Machine
	cfg    Config
	pages  Pages
	layout wal.Layout
	logs   host.Disk
	data   host.Disk

	// Insertion, see insert.go.
	insertion *host.Latch
	ins       wal.Position // where the next record goes
	redo      wal.LSN      // the redo point that decides images
	fpw       bool
	nextXID   uint32
	since     uint64 // records since redo
	buf       logBuffer
	spare     []byte
	gate      *lsnwait.Gate

	// The log writer, see writer.go and segment.go.
	writer   *host.Cond
	durable  *lsnwait.Point
	segment  openSegment
	segments map[uint64]bool // files of the log that exist
	logNames bool            // log file names changed since the last directory sync

	// Data files, see relation.go.
	names     *host.Latch
	rels      map[page.Rel]*relation
	blocks    map[page.Rel]uint32
	cuts      map[page.Rel]cut // that files have not followed, see cut.go
	dataNames bool             // data file names changed since the last directory sync
	freePages []*page.Page

	// Space, see space.go.
	logSpace    reserve
	dataSpace   reserve
	spaceWanted *host.Cond

	// Checkpoints, see checkpoint.go and fpw.go.
	control     wal.Control
	controlFile host.File
	slot        []byte
	check       checkpointer
	toggle      *host.Latch

	epoch  uint64
	closed bool
	stats  Stats
}

var _ engine.Storage = (*Storage)(nil)

// New makes the storage of one boot. Open recovers and starts its tasks; pages
// is asked for dirty pages by checkpoints, not before Open has returned.
func New(m host.Machine, cfg Config, pages Pages) *Storage {
	cfg.fill()
	s := &Storage{
		m: m, cfg: cfg, pages: pages,
		insertion: host.NewLatch(m, host.WaitWALInsert),
		writer:    m.NewCond(host.WaitWALWriter),
		durable:   lsnwait.New(m),
		segments:  map[uint64]bool{},
		names:     host.NewLatch(m, host.WaitName),
		rels:      map[page.Rel]*relation{},
		blocks:    map[page.Rel]uint32{},
		cuts:      map[page.Rel]cut{},
		check:     newCheckpointer(m),
		toggle:    host.NewLatch(m, host.WaitCheckpoint),
	}
	s.logSpace = newReserve(s, logReserveName, cfg.WALDisk, cfg.WALReserve)
	s.dataSpace = newReserve(s, dataReserveName, cfg.DataDisk, cfg.DataReserve)
	s.spaceWanted = m.NewCond(host.WaitSpace)
	s.gate = lsnwait.NewGate(m, cfg.WALBuffer, func() uint64 { return uint64(s.ins.End - s.durable.LSN()) })
	return s
}

// Stats are the counts so far.
func (s *Storage) Stats() Stats {
	st := s.stats
	st.Held = s.gate.Held
	return st
}

// Admit blocks while more than the log buffer is on its way to the disk, and
// refuses while a disk is full (rule L11).
func (s *Storage) Admit(bytes int) error {
	if s.Full() {
		return s.refused()
	}
	if err := s.gate.Admit(bytes); err != nil {
		return err
	}
	if s.Full() {
		return s.refused() // it may have waited
	}
	return nil
}

// Floor is the redo point, or 0 while full-page writes are off.
func (s *Storage) Floor() wal.LSN {
	if !s.fpw {
		return 0
	}
	return s.redo
}

// Durable is the end of the log that was synced.
func (s *Storage) Durable() wal.LSN { return s.durable.LSN() }

// WaitDurable blocks until the log is synced up to lsn.
func (s *Storage) WaitDurable(lsn wal.LSN) error { return s.durable.Wait(lsn) }

// ReadPage reads and verifies the current version. An older one is not kept:
// at must be 0, or at least the page's LSN.
func (s *Storage) ReadPage(id page.ID, _, at wal.LSN, p *page.Page) error {
	if err := s.readBlock(id, p); err != nil {
		return err
	}
	lsn := page.LSNOf(id, p)
	if lsn > s.Durable() {
		// Rule L4 keeps such a page from being written: the log lost its end.
		return fmt.Errorf("local: %s block %d has LSN %v, but the log is durable to %v only: the log was lost; restore both from a copy",
			relName(id.Rel), id.Block, lsn, s.Durable())
	}
	if at != 0 && lsn > at {
		return fmt.Errorf("local: %v as of %v: only the current version, of %v, is kept", id, at, lsn)
	}
	return nil
}

// Evict writes the page to its file, without syncing it. engine.ErrFull: there
// is no space; nothing is lost, and an attempt later may do.
func (s *Storage) Evict(id page.ID, p *page.Page) error {
	if lsn := page.LSNOf(id, p); lsn > s.Durable() {
		invariant.Broken("L4", "%v with LSN %v is written, the log is durable to %v", id, lsn, s.Durable())
	}
	return s.writeBlock(id, p)
}

// Size is the number of blocks of the relation, those that exist in the log
// and in the buffer pool only included, those that the log has cut off not.
func (s *Storage) Size(r page.Rel, at wal.LSN) (uint32, error) {
	if at != 0 && at < s.Durable() {
		return 0, fmt.Errorf("local: size of rel %d as of %v: only the current one is kept", r, at)
	}
	return s.blocks[r], nil
}

// fail ends the process: what is on disk is not known any more, and must be
// read again by a new boot (rule L5).
func (s *Storage) fail(err error) {
	s.m.Exit(fmt.Errorf("local: %w", err))
}
