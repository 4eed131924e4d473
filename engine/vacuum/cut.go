package vacuum

import (
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// askEvery is after how many blocks of the tail a look is taken at who waits
// for the lock (count_nondeletable_pages): each stop costs a record.
const askEvery = 32

// worthCutting decides whether to go for the table lock and look at the tail
// again (should_attempt_truncation).
func (v *Vacuum) worthCutting() bool {
	if v.cfg.NoTruncate || v.table.Lock.Try == nil {
		return false
	}
	empty := v.stats.Blocks - v.nonempty
	return empty > 0 && (empty >= v.cfg.TruncateBlocks || empty >= v.stats.Blocks/v.cfg.TruncateFraction)
}

// cut takes the empty tail off the table (lazy_truncate_heap). Whoever waits
// for the lock meanwhile gets it after what was found empty so far is cut.
func (v *Vacuum) cut() error {
	for left := v.stats.Blocks; left > v.nonempty; {
		if !v.lock() {
			v.m.Mark("vacuum.cut-refused")
			return v.pg.Failed()
		}
		to, wanted, err := v.cutLocked(left)
		v.table.Lock.Unlock()
		if err != nil || !wanted {
			return err
		}
		v.m.Mark("vacuum.cut-interrupted")
		left = to
	}
	return nil
}

// lock tries to get the table lock for a while.
func (v *Vacuum) lock() bool {
	for try := range v.cfg.LockTries {
		if try > 0 {
			v.m.Sleep(v.cfg.LockWait)
		}
		if v.table.Lock.Try() {
			return true
		}
		if v.pg.Failed() != nil {
			return false
		}
	}
	return false
}

// cutLocked cuts the tail of the table, which has had so many blocks. wanted:
// others wait for the lock, and blocks before to have not been looked at.
func (v *Vacuum) cutLocked(blocks uint32) (to uint32, wanted bool, err error) {
	now, err := v.pg.Blocks(v.table.Rel)
	if err != nil || now != blocks { // it has grown: its tail is in use
		return now, false, err
	}
	for to = blocks; to > v.nonempty; to-- {
		if n := blocks - to; n > 0 && n%askEvery == 0 && v.wanted() {
			wanted = true
			break
		}
		empty, err := v.empty(to - 1)
		if err != nil {
			return to, false, err
		}
		if !empty {
			break
		}
		v.m.Pay() // and no rest: others wait for the table
	}
	if to == blocks {
		return to, false, nil
	}
	return to, wanted, v.cutTo(blocks, to)
}

func (v *Vacuum) wanted() bool { return v.table.Lock.Wanted != nil && v.table.Lock.Wanted() }

// empty looks at a block again, under the table lock (count_nondeletable_pages).
// Any line pointer in use counts, a dead one too: an index may lead there.
func (v *Vacuum) empty(b uint32) (bool, error) {
	pool := v.pg.Pool()
	f, err := pool.Pin(page.ID{Rel: v.table.Rel, Block: b})
	if err != nil {
		return false, err
	}
	defer pool.Unpin(f)
	f.RLock()
	defer f.RUnlock()
	p := f.Page()
	if p.Upper() == 0 {
		return true, nil
	}
	for off, last := uint16(1), p.MaxOffset(); off <= last; off++ {
		if p.ItemID(off).Flags() != page.Unused {
			return false, nil
		}
	}
	return true, nil
}

// cutTo logs the cut, then forgets the blocks from n on: a frame that was
// dropped before its changes were written must be one that redo cuts too.
func (v *Vacuum) cutTo(blocks, n uint32) error {
	if err := v.pg.Admit(0, recordData); err != nil {
		return err
	}
	m := v.pg.MTR()
	defer v.pg.Done(m)
	wal.Truncate(m, v.table.Rel, n)
	if _, err := v.pg.Append(m); err != nil {
		return err
	}
	v.m.Mark("vacuum.cut-logged")
	v.pg.Pool().Drop(v.table.Rel, n)
	v.pg.Truncated(v.table.Rel, n)
	v.table.Free.Truncate(n)
	v.stats.Truncated += blocks - n
	v.m.Mark("vacuum.cut")
	return nil
}
