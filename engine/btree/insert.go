package btree

import (
	"errors"
	"fmt"

	"tornpage/engine"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// Insert adds an entry: tuple's key, for the row at tid. tuple is a whole index
// tuple in PostgreSQL's layout whose TID does not matter; it stays the
// caller's. engine.ErrFull refuses the entry and leaves the index sound; every
// other error but ErrDuplicate has ended the boot or names a damaged page.
func (t *Tree) Insert(xid uint32, tuple []byte, tid page.TID) error {
	if n := len(tuple); n < page.IndexHeader || n > page.MaxIndexTuple || n != page.IndexTuple(tuple).Size() || page.IndexTuple(tuple).Pivot() {
		return fmt.Errorf("rel %d: index tuple of %d bytes: it has to say its length, and to have at least %d and at most %d: shorten the key",
			t.rel, n, page.IndexHeader, page.MaxIndexTuple)
	}
	o := t.begin(xid, true)
	defer t.end(o)
	o.tuple = append(o.tuple[:0], tuple...)
	page.IndexTuple(o.tuple).SetTID(tid)
	k := t.exactly(o.tuple)
	for {
		if err := t.pg.Admit(1, len(tuple)); err != nil {
			return err
		}
		j, err := t.insertLeaf(o, &k)
		if err != nil || j.fresh == 0 {
			return err
		}
		done, err := t.split(o, &j)
		if err != nil {
			return err
		}
		if !done {
			continue
		}
		// The entry is in. Without room in the log the split stays unfinished
		// until somebody meets it.
		err = t.finish(xid, j.page.block, 0, false)
		if errors.Is(err, engine.ErrFull) {
			t.m.Mark("btree.split-left")
			return nil
		}
		return err
	}
}

// insertLeaf puts the operation's tuple on its leaf, or says how that is to be
// split.
func (t *Tree) insertLeaf(o *op, k *key) (j job, err error) {
	f, q, err := t.descend(o, k, 0, exclusive)
	if err != nil {
		return j, err
	}
	defer t.leave(f, exclusive)
	p := f.Page()
	off, ok := search(p, q, k)
	if !ok {
		return j, t.corrupt(f, "an entry is damaged")
	}
	if off <= p.MaxOffset() {
		if there := p.IndexTuple(off); there == nil {
			return j, t.corrupt(f, "entry %d is damaged", off)
		} else if k.compare(there) == 0 {
			return j, fmt.Errorf("%v item %d, row %v: %w", f.ID(), off, page.IndexTuple(o.tuple).TID(), ErrDuplicate)
		}
	}
	if !t.fits(p, q, len(o.tuple)) {
		return job{fresh: 1, page: seen(f), next: q.Next, off: off, item: o.tuple}, nil
	}
	f.MarkDirty()
	if !p.InsertItemAt(off, o.tuple) {
		return j, t.corrupt(f, "no place for %d bytes at item %d of %d", len(o.tuple), off, p.MaxOffset())
	}
	mtr := t.pg.MTR()
	defer t.pg.Done(mtr)
	wal.BtreeInsert(mtr, o.xid, wal.BtreePage{ID: f.ID(), Page: p}, off, wal.BtreePage{})
	_, err = t.pg.Append(mtr)
	return j, err
}

// fits reports room for one more item of n bytes.
func (t *Tree) fits(p *page.Page, q page.IndexOpaque, n int) bool {
	if max := t.cfg.ItemsPerPage; max > 0 && count(p, q) >= max {
		return false
	}
	return p.Free() >= page.RoundUp(n)
}

// count is the number of a page's items without the high key.
func count(p *page.Page, q page.IndexOpaque) int { return int(p.MaxOffset()) + 1 - int(q.First()) }
