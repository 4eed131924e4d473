package local

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"tornpage/engine"
	"tornpage/engine/buffer"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// redo repeats the changes in the log.
type redo struct {
	s      *Storage
	reader *wal.Reader
	pool   *buffer.Pool
	init   bool // the page that is pinned now is built from nothing
	refs   []wal.PageRef
	doubts map[page.Rel]doubt
}

// doubt is a change that could not be repeated, of the smallest block of its
// relation. That is harmless if the block is cut off later in the log: its page
// may be gone, or, dropped unwritten, be too old (PostgreSQL's table of invalid
// pages, access/transam/xlogutils.c).
type doubt struct {
	block uint32
	err   error
}

func newRedo(s *Storage) *redo {
	r := &redo{s: s, reader: wal.NewReader(s.layout, s.readLog, s.control.RedoPosition()), doubts: map[page.Rel]doubt{}}
	r.pool = buffer.New(s.m, buffer.Config{Frames: s.cfg.RedoPages})
	r.pool.Attach(r, 0)
	return r
}

// run reads the log to its end.
func (r *redo) run() error {
	s := r.s
	for {
		rec, err := r.reader.Next()
		var end *wal.EndOfLog
		if errors.As(err, &end) {
			return r.checkEnd(end)
		}
		if err != nil {
			return fmt.Errorf("local: %w", err)
		}
		s.stats.RedoRecords++
		s.m.Charge(host.WorkRecordBytes, int(rec.Len+63)/64)
		if err := r.horizon(rec); err != nil {
			return fmt.Errorf("local: %w", err)
		}
		r.refs = rec.Pages(r.refs[:0])
		for _, ref := range r.refs {
			if err := r.change(rec, ref); err != nil {
				return err
			}
		}
		if err := r.cut(rec); err != nil {
			return fmt.Errorf("local: %w", err)
		}
	}
}

// change repeats a record's change of one page, or notes that it cannot.
func (r *redo) change(rec *wal.Record, ref wal.PageRef) error {
	doubtful, err := r.page(rec, ref)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("local: redo of %s at %v: %w", wal.OpName(rec.Rmgr, rec.Info), rec.LSN, err)
	if !doubtful {
		return err
	}
	if d, ok := r.doubts[ref.ID.Rel]; !ok || ref.ID.Block < d.block {
		r.doubts[ref.ID.Rel] = doubt{ref.ID.Block, err}
	}
	return nil
}

// cut repeats a truncation, whatever the file's size: what was written behind
// it since will be again.
func (r *redo) cut(rec *wal.Record) error {
	if rec.Rmgr != wal.RmgrStorage {
		return nil
	}
	rel, blocks, ok, err := rec.Truncate()
	if err != nil || !ok {
		return err
	}
	r.s.cutOff(rel, blocks, 0)
	r.pool.Drop(rel, blocks)
	if d, ok := r.doubts[rel]; ok && d.block >= blocks {
		delete(r.doubts, rel)
		r.s.m.Mark("recovery.doubt-settled")
	}
	return nil
}

// checkEnd refuses a log that ends before what the control file knows of it, or
// that leaves a page without a change.
func (r *redo) checkEnd(end *wal.EndOfLog) error {
	if rels := slices.Sorted(maps.Keys(r.doubts)); len(rels) > 0 {
		return r.doubts[rels[0]].err
	}
	if c := r.s.control.Checkpoint; c != 0 && end.LSN <= c {
		return fmt.Errorf("local: the log from %v on should hold the checkpoint record at %v, but: %w; restore the log",
			r.s.control.Redo, c, end)
	}
	r.s.m.Logf("local: %v", end)
	return nil
}

// horizon keeps the next XID above all that the log tells of.
func (r *redo) horizon(rec *wal.Record) error {
	s := r.s
	if rec.XID >= s.nextXID {
		s.nextXID = rec.XID + 1
	}
	if rec.Rmgr != wal.RmgrXLOG {
		return nil
	}
	switch rec.Op() {
	case wal.InfoNextXID:
		next, err := rec.NextXID()
		s.nextXID = max(s.nextXID, next)
		return err
	case wal.InfoCheckpointOnline, wal.InfoCheckpointShutdown:
		c, err := rec.Checkpoint()
		s.nextXID = max(s.nextXID, c.NextXID)
		return err
	}
	return nil
}

// page repeats a record's change of one page. Images and pages that are built
// from nothing are not read first: what is on disk may be torn. An error is
// doubtful if a truncation later in the log would explain it.
func (r *redo) page(rec *wal.Record, ref wal.PageRef) (doubtful bool, err error) {
	s := r.s
	r.init = ref.Init
	f, err := r.pool.Pin(ref.ID)
	if err != nil {
		var torn *page.Corrupt
		return errors.As(err, &torn), err
	}
	defer r.pool.Unpin(f)
	if !ref.Init && f.Page().IsZero() {
		return true, fmt.Errorf("%w: %v in %s, and the record does not make it", engine.ErrNoPage, ref.ID, relName(ref.ID.Rel))
	}
	s.m.Charge(host.WorkRedo, 1)
	f.Lock()
	defer f.Unlock()
	changed, err := s.cfg.Redo.Apply(rec, ref.Block, f.Page())
	if err != nil {
		return true, err
	}
	s.grow(ref.ID)
	if changed || !s.cfg.TrustCache {
		f.MarkDirty()
	}
	if !changed {
		return false, nil
	}
	s.stats.RedoPages++
	if !ref.Implied() && rec.Blocks[ref.Block].HasImage {
		s.stats.RedoImages++
	}
	return false, nil
}

// The redo pool's store. All the log that was read is durable, so there is
// nothing to wait for; a status page may carry an LSN that redo has not
// reached yet.

// Durable is beyond every LSN.
func (r *redo) Durable() wal.LSN { return ^wal.LSN(0) }

// WaitDurable does not wait.
func (r *redo) WaitDurable(wal.LSN) error { return nil }

// ReadPage reads the page, unless it is about to be built from nothing: then
// anything does that is not older than what the pool remembers.
func (r *redo) ReadPage(id page.ID, changedBy, _ wal.LSN, p *page.Page) error {
	if r.init {
		*p = page.Page{}
		page.Stamp(id, p, changedBy)
		return nil
	}
	return r.s.readBlock(id, p)
}

// Evict writes the page. There is no going on without it: it waits for space.
func (r *redo) Evict(id page.ID, p *page.Page) error {
	err := r.s.writeBlock(id, p)
	if errors.Is(err, engine.ErrFull) {
		r.s.m.Mark("recovery.waits-for-space")
		r.s.m.Logf("local: recovery waits for space: %v", err)
	}
	for errors.Is(err, engine.ErrFull) {
		r.s.m.Sleep(r.s.cfg.SpaceRetry)
		err = r.s.writeBlock(id, p)
	}
	return err
}
