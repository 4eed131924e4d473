package local

import (
	"errors"
	"time"

	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// checkpointer is the state of the checkpoint task.
type checkpointer struct {
	wake     *host.Cond // a checkpoint is due, or wanted sooner
	done     *host.Cond
	asked    uint64 // requests so far
	answered uint64 // requests that a finished checkpoint began after
	closing  bool   // the next one is the last

	timed    time.Duration // CheckpointTime is counted from here
	begun    time.Duration // of the checkpoint before
	interval time.Duration // between the last two; 0: not known
	record   wal.LSN       // the last checkpoint record
	end      wal.LSN       // its end
	dirty    []page.ID
	mtr      wal.MTR
}

// kind is why a checkpoint is made.
type kind uint8

const (
	online    kind = iota
	shutdown       // the last of a boot
	recovered      // the first of a boot: ends recovery, and fences what was before
)

func newCheckpointer(m host.Machine) checkpointer {
	return checkpointer{wake: m.NewCond(host.WaitCheckpoint), done: m.NewCond(host.WaitCheckpoint)}
}

// Checkpoint blocks until a checkpoint that began after the call is done. It
// does nothing if nothing was logged since the last one.
func (s *Storage) Checkpoint() {
	c := &s.check
	c.asked++
	me := c.asked
	c.wake.Signal()
	for c.answered < me && !s.closed {
		c.done.Wait()
	}
}

// Close makes a shutdown checkpoint and ends the storage's tasks. Whoever
// appends, or waits for more to become durable, gets ErrStopped.
func (s *Storage) Close() {
	s.check.closing = true
	s.Checkpoint()
	s.closed = true
	s.check.done.Broadcast()
	s.durable.Stop(engine.ErrStopped)
	s.gate.Stop(engine.ErrStopped)
	s.writer.Signal()
	s.spaceWanted.Signal()
}

// runCheckpointer is the checkpoint task.
func (s *Storage) runCheckpointer() {
	c := &s.check
	for {
		for !s.checkpointDue() && !s.timeDue() {
			s.awaitCheckpoint()
		}
		asked, why := c.asked, online
		if c.closing {
			why = shutdown
		}
		now := s.m.Now()
		if c.begun > 0 {
			c.interval = now - c.begun
		}
		c.begun, c.timed = now, now
		if err := s.checkpoint(s.pages, why); err != nil {
			s.m.Logf("local: shut down without a checkpoint, the next boot recovers: %v", err)
		}
		s.refill()
		c.answered = asked
		c.done.Broadcast()
		if why == shutdown {
			return
		}
	}
}

// checkpointDue tells whether the checkpoint task has work.
func (s *Storage) checkpointDue() bool {
	if s.check.answered < s.check.asked {
		return true
	}
	return !s.idle() &&
		(s.cfg.CheckpointBytes > 0 && uint64(s.ins.End-s.redo) >= s.cfg.CheckpointBytes ||
			s.cfg.CheckpointRecords > 0 && s.since >= s.cfg.CheckpointRecords)
}

// awaitCheckpoint waits for a reason to look again.
func (s *Storage) awaitCheckpoint() {
	if s.cfg.CheckpointTime == 0 {
		s.check.wake.Wait()
		return
	}
	s.check.wake.WaitFor(int64(s.check.timed + s.cfg.CheckpointTime - s.m.Now()))
}

// timeDue tells whether it is time for a checkpoint. Where nothing was logged
// the time is counted from here on again, as in PostgreSQL.
func (s *Storage) timeDue() bool {
	c := &s.check
	if s.cfg.CheckpointTime == 0 || s.m.Now()-c.timed < s.cfg.CheckpointTime {
		return false
	}
	c.timed = s.m.Now()
	return !s.idle()
}

// idle tells that nothing was logged since the last redo point but the
// checkpoint record itself.
func (s *Storage) idle() bool { return s.since <= 1 && s.ins.End == s.check.end }

// checkpoint moves the point that recovery starts from (rule L6). A crash
// before the control file is written leaves the old point, whose log is still
// there. So does engine.ErrFull, which only a storage that closes gives up for.
func (s *Storage) checkpoint(pages Pages, why kind) error {
	s.insertion.Lock()
	if why == online && s.idle() {
		s.insertion.Unlock()
		return nil
	}
	redo := s.ins
	s.redo, s.since = redo.End, 0
	s.insertion.Unlock()
	s.m.Mark("checkpoint.begun")

	if err := s.writePages(pages); err != nil {
		return err
	}
	s.m.Mark("checkpoint.pages-written")
	s.syncRelations()
	s.logCheckpoint(redo.End, why)
	s.m.Mark("checkpoint.logged")
	c := s.control
	c.State, c.Epoch = wal.InProduction, s.epoch
	if why == shutdown {
		c.State = wal.ShutDown
	}
	c.Redo, c.RedoPrev, c.RedoCRC = redo.End, redo.Prev, redo.CRC
	c.Checkpoint, c.NextXID, c.FullPageWrites = s.check.record, s.nextXID, s.fpw
	c.Time = s.m.Wall().UnixMicro() - unixTo2000
	s.writeControl(c)
	s.removeSegments()
	s.stats.Checkpoints++
	s.m.Mark("checkpoint.done")
	return nil
}

// unixTo2000 is 2000-01-01 UTC in microseconds since 1970: PostgreSQL's
// timestamps count from there.
const unixTo2000 = 946_684_800_000_000

// writePages writes back every page that is dirty now, spread over time.
func (s *Storage) writePages(pages Pages) error {
	s.check.dirty = pages.Dirty(s.check.dirty[:0])
	all := uint64(len(s.check.dirty))
	for i, id := range s.check.dirty {
		if i > 0 {
			s.pace(uint64(i), all)
		}
		if err := s.writeBack(pages, id); err != nil {
			return err
		}
	}
	return nil
}

// writeBack writes one page, and waits for space if there is none for it.
func (s *Storage) writeBack(pages Pages, id page.ID) error {
	for {
		err := pages.WriteBack(id)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, engine.ErrFull):
			s.fail(err)
		case s.check.closing:
			return err
		}
		s.m.Mark("checkpoint.waits-for-space")
		s.m.Sleep(s.cfg.SpaceRetry)
	}
}

// logCheckpoint appends the checkpoint record and waits until it is durable.
func (s *Storage) logCheckpoint(redo wal.LSN, why kind) {
	m := &s.check.mtr
	wal.CheckpointRecord(m, wal.Checkpoint{
		Redo: redo, FullPageWrites: s.fpw, NextXID: s.nextXID, Time: s.m.Wall().Unix(),
	}, why != online)
	s.check.end = s.appendOwn(m)
}

// appendOwn appends a record without pages and waits until it is durable.
func (s *Storage) appendOwn(m *wal.MTR) wal.LSN {
	m.Build(0)
	end, err := s.insert(m, 0) // it has no pages: never ErrFloorMoved
	if err == nil {
		err = s.durable.Wait(end)
	}
	if err != nil {
		s.fail(err)
	}
	return end
}

// pace spaces the page writes of a checkpoint: each after the first waits its
// share of the target's part of the interval between checkpoints. Nobody
// waits if a checkpoint is wanted now, or if log comes in so fast that the
// next one will be due before this one's writes would end.
func (s *Storage) pace(done, all uint64) {
	c := &s.check
	if c.interval == 0 || s.cfg.CheckpointTarget == 0 || c.asked > c.answered || s.behind(done, all) {
		return
	}
	share := c.interval * time.Duration(s.cfg.CheckpointTarget) / 100 / time.Duration(all)
	until := s.m.Now() + share
	for left := share; left > 0 && c.asked == c.answered; left = until - s.m.Now() {
		c.wake.WaitFor(int64(left))
	}
}

// behind tells whether a larger part of the log until the next checkpoint has
// been used than the pages written allow.
func (s *Storage) behind(done, all uint64) bool {
	bytes := uint64(s.ins.End - s.redo)
	return s.cfg.CheckpointBytes > 0 && bytes*100*all > done*s.cfg.CheckpointBytes*s.cfg.CheckpointTarget ||
		s.cfg.CheckpointRecords > 0 && s.since*100*all > done*s.cfg.CheckpointRecords*s.cfg.CheckpointTarget
}
