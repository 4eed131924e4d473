package btree

import (
	"tornpage/engine/buffer"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// Stats is what a vacuum did.
type Stats struct {
	Leaves    int // leaves looked at
	Entries   int // entries that stay
	Deleted   int // entries removed
	Pages     int // pages unlinked, whole subtrees counted page by page
	Completed int // unfinished splits and deletions found and finished
	Free      int // pages that can be made anew, now or once older operations have ended
}

// Vacuum removes the entries of dead rows, unlinks the pages that this leaves
// empty, and finishes what crashes left unfinished. dead must not block, and
// must say the same of a row throughout. One vacuum runs at a time; others
// wait. engine.ErrFull ends it early and leaves the index sound.
func (t *Tree) Vacuum(dead func(page.TID) bool) (s Stats, err error) {
	t.vacuum.Lock()
	defer t.vacuum.Unlock()
	v := vacuumer{t: t, dead: dead, stats: &s, anew: t.anew}
	if err := v.scan(); err != nil {
		return s, err
	}
	block, err := v.leftmost()
	for err == nil && block != 0 {
		block, err = v.leaf(block)
	}
	s.Free = len(t.free)
	return s, err
}

type vacuumer struct {
	t     *Tree
	dead  func(page.TID) bool
	stats *Stats
	anew  uint64 // the tree's, when the vacuum began
}

// scan looks once a boot for pages that were free before it, and for internal
// pages with unfinished splits, before this boot has deleted a page.
func (v *vacuumer) scan() error {
	t := v.t
	if err := t.open(); err != nil {
		return err
	}
	for ; t.scanned < t.found; t.scanned++ {
		if err := v.look(t.scanned); err != nil {
			return err
		}
	}
	return nil
}

// look is scan for one page.
func (v *vacuumer) look(block uint32) error {
	t := v.t
	t.m.Pay()
	f, err := t.pg.Pool().Pin(t.id(block))
	if err != nil {
		return err
	}
	f.RLock()
	q, ok := f.Page().IndexOpaque()
	zero := f.Page().IsZero()
	if !ok && !zero {
		err = t.corrupt(f, "special area at %d", f.Page().Special())
	}
	t.leave(f, shared)
	switch {
	case err != nil:
		return err
	case zero || q.Has(page.IndexDeleted):
		t.giveBack(block)
	case q.Has(page.IndexIncomplete):
		v.stats.Completed++
		return t.finish(0, block, q.Level, true)
	}
	return nil
}

// leftmost is the first leaf. Half-dead ones may lie to the left of the lowest
// downlink's.
func (v *vacuumer) leftmost() (uint32, error) {
	t := v.t
	o := t.begin(0, false)
	defer t.end(o)
	f, q, err := t.descend(o, &key{inf: -1}, 0, shared)
	for steps := uint32(0); ; steps++ {
		if err != nil {
			return 0, err
		}
		block := f.ID().Block
		if t.lost(steps) {
			err = t.corrupt(f, "left links run in a circle: %d leaves", steps)
		}
		t.leave(f, shared)
		if err != nil || q.Prev == 0 {
			return block, err
		}
		f, q, err = t.visit(q.Prev, 0, shared)
	}
}

// leaf does one leaf and gives the next one. Splits move entries to the right
// only, and nobody else deletes pages: the walk meets every entry.
func (v *vacuumer) leaf(block uint32) (next uint32, err error) {
	t := v.t
	o := t.begin(0, false)
	defer t.end(o)
	v.stats.Leaves++
	f, q, err := t.visit(block, 0, shared)
	if err != nil {
		return 0, err
	}
	if err = v.collect(o, f, q); err == nil && v.lost() {
		err = t.corrupt(f, "right links run in a circle: %d leaves", v.stats.Leaves)
	}
	entries := count(f.Page(), q)
	t.leave(f, shared)
	switch {
	case err != nil:
		return 0, err
	case q.Has(page.IndexDeleted):
		return q.Next, nil
	case q.Has(page.IndexHalfDead):
		t.m.Mark("btree.half-dead-completed")
		v.stats.Completed++
		return q.Next, v.unlink(o, block)
	case q.Has(page.IndexIncomplete):
		v.stats.Completed++
		if err := t.finish(0, block, 0, true); err != nil {
			return 0, err
		}
	}
	if len(o.offs) > 0 {
		if q, entries, err = v.remove(o, block); err != nil {
			return 0, err
		}
	}
	v.stats.Entries += entries
	if entries == 0 && q.Next != 0 && !q.Has(page.IndexRoot) {
		return q.Next, v.deletePage(o, block)
	}
	return q.Next, nil
}

// lost reports more leaves than there are pages, not counting those that went
// behind the walk and came again ahead of it.
func (v *vacuumer) lost() bool {
	again := v.t.anew - v.anew
	return uint64(v.stats.Leaves) > again && v.t.lost(uint32(uint64(v.stats.Leaves)-again))
}

// collect lists the offsets of dead entries.
func (v *vacuumer) collect(o *op, f *buffer.Frame, q page.IndexOpaque) error {
	o.offs = o.offs[:0]
	if q.Ignored() {
		return nil
	}
	for off := q.First(); off <= f.Page().MaxOffset(); off++ {
		it := f.Page().IndexTuple(off)
		if it == nil {
			return v.t.corrupt(f, "entry %d of %d is damaged", off, f.Page().MaxOffset())
		}
		if v.dead(it.TID()) {
			o.offs = append(o.offs, off)
		}
	}
	return nil
}

// remove removes a leaf's dead entries, in one record.
func (v *vacuumer) remove(o *op, block uint32) (q page.IndexOpaque, entries int, err error) {
	t := v.t
	if err := t.pg.Admit(1, 2*len(o.offs)); err != nil {
		return q, 0, err
	}
	f, q, err := t.visit(block, 0, exclusive)
	if err != nil {
		return q, 0, err
	}
	defer t.leave(f, exclusive)
	if err := v.collect(o, f, q); err != nil {
		return q, 0, err
	}
	p := f.Page()
	v.stats.Deleted += len(o.offs)
	if len(o.offs) > 0 {
		f.MarkDirty()
		if !p.DeleteIndexItems(o.offs) {
			return q, 0, t.corrupt(f, "its items overlap")
		}
		mtr := t.pg.MTR()
		defer t.pg.Done(mtr)
		wal.BtreeVacuum(mtr, wal.BtreePage{ID: f.ID(), Page: p}, o.offs)
		if _, err := t.pg.Append(mtr); err != nil {
			return q, 0, err
		}
	}
	return q, count(p, q), nil
}
