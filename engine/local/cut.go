package local

import (
	"fmt"

	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// cut is a truncation that is in the log, and that the relation's file has not
// followed yet (rule L10). Two make one, of the fewer blocks: nothing is
// written behind a cut before the file has followed it.
type cut struct {
	blocks uint32  // the file is to end here
	lsn    wal.LSN // end of the record; 0: it is durable
}

// noteCut reads a truncation back that was just inserted.
func (s *Storage) noteCut(rec []byte, at wal.Position) {
	r, _, err := wal.Decode(rec, at.End, at.CRC)
	if err != nil {
		invariant.Broken("L2", "own record cannot be read: %v", err)
	}
	rel, blocks, ok, err := r.Truncate()
	if err != nil {
		invariant.Broken("L2", "own record cannot be read: %v", err)
	}
	if ok {
		s.cutOff(rel, blocks, s.ins.End)
	}
}

// cutOff has a relation end at block blocks from now on.
func (s *Storage) cutOff(rel page.Rel, blocks uint32, lsn wal.LSN) {
	if s.blocks[rel] > blocks {
		s.blocks[rel] = blocks
	}
	if c, ok := s.cuts[rel]; ok {
		blocks, lsn = min(blocks, c.blocks), max(lsn, c.lsn)
	}
	s.cuts[rel] = cut{blocks, lsn}
	s.stats.Cuts++
	s.m.Mark("local.cut")
}

// behindCut tells that what the file holds of the block was cut off.
func (s *Storage) behindCut(id page.ID) bool {
	c, ok := s.cuts[id.Rel]
	return ok && id.Block >= c.blocks
}

// follow has the file end where the log says, once that is durable. The latch
// keeps writes that began before out of what follows: they would land behind
// the new end and come back to life with it.
func (s *Storage) follow(r *relation) error {
	for {
		c, ok := s.cuts[r.rel]
		if !ok && !r.latch.Held() { // nor is somebody about it
			return nil
		}
		if err := s.durable.Wait(c.lsn); err != nil {
			return err
		}
		r.latch.Lock()
		if now, ok := s.cuts[r.rel]; ok && now == c {
			delete(s.cuts, r.rel)
			s.truncate(r, int64(c.blocks)*page.Size)
		}
		r.latch.Unlock()
	}
}

// truncate ends the file at size, if it is longer.
func (s *Storage) truncate(r *relation, size int64) {
	is, err := r.file.Size()
	if err == nil && is > size {
		r.unsafe = true
		err = r.file.Truncate(size)
		r.unsafe = true // as in writeBlock
		s.m.Mark("local.file-cut")
	}
	if err != nil {
		s.fail(fmt.Errorf("truncate %s to %d bytes: %w", r.name, size, err))
	}
}
