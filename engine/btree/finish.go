package btree

import (
	"tornpage/engine/buffer"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// finish completes the split of a page: its right sibling gets a downlink. It
// is called by who split the page, and by whoever meets one whose maker died or
// was refused (met), on the way to a change. Others may do so at the same time.
// engine.ErrFull leaves the split unfinished.
func (t *Tree) finish(xid, block, level uint32, met bool) error {
	o := t.begin(xid, true)
	defer t.end(o)
	for {
		f, q, err := t.visit(block, level, shared)
		if err != nil {
			return err
		}
		if !q.Has(page.IndexIncomplete) {
			t.leave(f, shared)
			return nil
		}
		child := seen(f)
		high := f.Page().IndexTuple(1)
		if high == nil {
			err = t.corrupt(f, "the high key is damaged")
		} else {
			o.tuple = append(o.tuple[:0], high...)
			page.IndexTuple(o.tuple).SetBlock(q.Next)
		}
		t.leave(f, shared)
		if err != nil {
			return err
		}
		var done bool
		parent := uint32(0)
		if t.root == block {
			done, err = t.newRoot(o, child, level)
		} else {
			done, parent, err = t.insertParent(o, child, level)
		}
		if err != nil {
			return err
		}
		if !done {
			continue
		}
		if met {
			t.m.Mark("btree.split-completed")
		}
		if parent == 0 {
			return nil
		}
		block, level, met = parent, level+1, false // it was split for this
	}
}

// newRoot puts a root above the one that was split. The operation's tuple is
// the downlink of its right half.
func (t *Tree) newRoot(o *op, child version, level uint32) (bool, error) {
	fresh, err := t.take()
	if err != nil {
		return false, err
	}
	done := false
	defer func() {
		if !done {
			t.giveBack(fresh)
		}
	}()
	if err := t.pg.Admit(1, len(o.tuple)); err != nil {
		return false, err
	}
	g, err := t.grab(o, child.block, fresh, metaBlock)
	if err != nil {
		return false, err
	}
	defer g.drop()
	if !g.still(child) {
		return false, nil
	}
	root, old, meta := g.page(fresh), g.page(child.block), g.page(0)
	v, err := meta.Page.IndexMeta()
	if err != nil || v.Root != child.block || v.Level != level || level+1 >= maxLevels {
		return false, t.corrupt(g.frame(0), "root %d on level %d, want %d on %d, below %d: %v",
			v.Root, v.Level, child.block, level, maxLevels, err)
	}
	g.dirty()
	o.infinity = page.MinusInfinity(child.block)
	o.items = append(o.items[:0], o.infinity[:], o.tuple)
	if !root.Page.BuildIndex(page.IndexOpaque{Level: level + 1, Flags: page.IndexRoot}, nil, o.items) {
		return false, t.corrupt(g.frame(fresh), "no room for two downlinks")
	}
	old.Page.SetIndexFlags(page.IndexIncomplete, false)
	v.Root, v.Level, v.FastRoot, v.FastLevel = fresh, level+1, fresh, level+1
	meta.Page.InitIndexMeta(v)
	mtr := t.pg.MTR()
	defer t.pg.Done(mtr)
	wal.BtreeNewRoot(mtr, o.xid, root, old, meta, level+1)
	done = true
	if _, err := t.pg.Append(mtr); err != nil {
		return true, err
	}
	t.root, t.level = fresh, level+1
	t.m.Mark("btree.root-split")
	return true, nil
}

// insertParent inserts the operation's tuple, the downlink of child's right
// sibling, behind child's own. split: the parent, if it had to be split.
func (t *Tree) insertParent(o *op, child version, level uint32) (done bool, split uint32, err error) {
	if err := t.pg.Admit(2, len(o.tuple)); err != nil {
		return false, 0, err
	}
	k := t.exactly(o.tuple)
	f, q, err := t.descend(o, &k, level+1, shared)
	if err != nil {
		return false, 0, err
	}
	off, ok := search(f.Page(), q, &k)
	if !ok {
		err = t.corrupt(f, "a downlink is damaged")
	}
	j := job{page: seen(f), level: level + 1, next: q.Next, off: off, item: o.tuple, child: child}
	fits := t.fits(f.Page(), q, len(o.tuple))
	t.leave(f, shared)
	if err != nil {
		return false, 0, err
	}
	if !fits {
		done, err := t.split(o, &j)
		return done, j.page.block, err
	}
	done, err = t.addDownlink(o, &j)
	return done, 0, err
}

// addDownlink is insertParent on a parent with room.
func (t *Tree) addDownlink(o *op, j *job) (bool, error) {
	g, err := t.grab(o, j.child.block, j.page.block)
	if err != nil {
		return false, err
	}
	defer g.drop()
	if !g.still(j.page) || !g.still(j.child) {
		t.m.Mark("btree.split-raced")
		return false, nil
	}
	f := g.frame(j.page.block)
	if err := t.checkDownlink(f, j.off-1, j.child.block); err != nil {
		return false, err
	}
	g.dirty()
	child := g.page(j.child.block)
	if !f.Page().InsertItemAt(j.off, o.tuple) {
		return false, t.corrupt(f, "no place for %d bytes at item %d of %d", len(o.tuple), j.off, f.Page().MaxOffset())
	}
	child.Page.SetIndexFlags(page.IndexIncomplete, false)
	mtr := t.pg.MTR()
	defer t.pg.Done(mtr)
	wal.BtreeInsert(mtr, o.xid, g.page(j.page.block), j.off, child)
	_, err = t.pg.Append(mtr)
	return true, err
}

// checkDownlink looks whether the item at off leads to child.
func (t *Tree) checkDownlink(f *buffer.Frame, off uint16, child uint32) error {
	got, err := t.downlink(f, off)
	if err == nil && got != child {
		err = t.corrupt(f, "item %d leads to block %d, want block %d, whose split is to be completed", off, got, child)
	}
	return err
}
