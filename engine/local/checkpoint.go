package local

import (
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
}

// runCheckpointer is the checkpoint task.
func (s *Storage) runCheckpointer() {
	c := &s.check
	for {
		for !s.checkpointDue() {
			c.wake.Wait()
		}
		asked, why := c.asked, online
		if c.closing {
			why = shutdown
		}
		now := s.m.Now()
		if c.begun > 0 {
			c.interval = now - c.begun
		}
		c.begun = now
		s.checkpoint(s.pages, why)
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

// idle tells that nothing was logged since the last redo point but the
// checkpoint record itself.
func (s *Storage) idle() bool { return s.since <= 1 && s.ins.End == s.check.end }

// checkpoint moves the point that recovery starts from (rule L6). A crash
// before the control file is written leaves the old point, whose log is still
// there.
func (s *Storage) checkpoint(pages Pages, why kind) {
	s.insertion.Lock()
	if why == online && s.idle() {
		s.insertion.Unlock()
		return
	}
	redo := s.ins
	s.redo, s.since = redo.End, 0
	s.insertion.Unlock()
	s.m.Mark("checkpoint.begun")

	s.writePages(pages)
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
}

// unixTo2000 is 2000-01-01 UTC in microseconds since 1970: PostgreSQL's
// timestamps count from there.
const unixTo2000 = 946_684_800_000_000

// writePages writes back every page that is dirty now, spread over time.
func (s *Storage) writePages(pages Pages) {
	s.check.dirty = pages.Dirty(s.check.dirty[:0])
	all := uint64(len(s.check.dirty))
	for i, id := range s.check.dirty {
		if i > 0 {
			s.pace(uint64(i), all)
		}
		if err := pages.WriteBack(id); err != nil {
			s.fail(err)
		}
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
