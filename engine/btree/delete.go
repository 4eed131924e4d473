package btree

import (
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// doomed is what is to be deleted, as it was seen.
type doomed struct {
	leaf   version
	prev   uint32 // the leaf's siblings
	next   uint32
	top    uint32  // the highest page of the subtree above the leaf, which leads to nothing else
	right  uint32  // top's right sibling: it inherits the key space
	parent version // top's parent
	off    uint16  // of its downlink to top
}

// deletePage deletes an empty leaf, and the internal pages that lead to nothing
// else, if that can be done now. It is no fault if not: the page stays empty
// and can take entries.
func (v *vacuumer) deletePage(o *op, block uint32) error {
	t := v.t
	for {
		d, ok, err := v.doom(o, block)
		if err != nil || !ok {
			return err
		}
		marked, err := v.halfDead(o, d)
		if err != nil {
			return err
		}
		if marked {
			return v.unlink(o, block)
		}
		t.m.Mark("btree.deletion-raced")
	}
}

// doom finds out whether and how an empty leaf can be deleted. Not deleted are
// the rightmost page of a level, a root, a page without a downlink of its own,
// and the last of several children: its key space could only go to a page
// under another parent.
func (v *vacuumer) doom(o *op, block uint32) (d doomed, ok bool, err error) {
	t := v.t
	f, q, err := t.visit(block, 0, shared)
	if err != nil {
		return d, false, err
	}
	d.leaf, d.prev, d.next = seen(f), q.Prev, q.Next
	d.top, d.right = block, q.Next
	ok = !q.Ignored() && !q.Has(page.IndexRoot|page.IndexIncomplete) && q.Next != 0 && f.Page().MaxOffset() < q.First()
	if ok {
		high := f.Page().IndexTuple(1)
		if high == nil {
			err = t.corrupt(f, "the high key is damaged")
		}
		o.tuple = append(o.tuple[:0], high...)
	}
	t.leave(f, shared)
	if !ok || err != nil {
		return d, false, err
	}
	// A half-dead right sibling has no downlink to move the key space to.
	if f, q, err = t.visit(d.next, 0, shared); err != nil {
		return d, false, err
	}
	t.leave(f, shared)
	if q.Ignored() {
		return d, false, nil
	}
	k := t.exactly(o.tuple)
	for level := uint32(1); level <= t.level; level++ {
		found, more, err := v.above(o, &d, &k, level)
		if err != nil || !more {
			return d, found, err
		}
	}
	return d, false, nil
}

// above looks for the downlink to d.top on a level. more: the page there leads
// to nothing else, and is the top now.
func (v *vacuumer) above(o *op, d *doomed, k *key, level uint32) (found, more bool, err error) {
	t := v.t
	f, q, err := t.descend(o, k, level, shared)
	if err != nil {
		return false, false, err
	}
	defer t.leave(f, shared)
	p := f.Page()
	off, ok := search(p, q, k)
	if !ok {
		return false, false, t.corrupt(f, "a downlink is damaged")
	}
	to, err := t.downlink(f, off-1)
	switch {
	case err != nil:
		return false, false, err
	case to != d.top:
		return false, false, nil // an unfinished split keeps the downlink from it
	case off <= p.MaxOffset():
		d.parent, d.off = seen(f), off-1
		next, err := t.downlink(f, off)
		return next == d.right, false, err
	case off-1 == q.First() && q.Next != 0 && !q.Has(page.IndexRoot|page.IndexIncomplete):
		d.top, d.right = f.ID().Block, q.Next
		return false, true, nil
	}
	return false, false, nil
}

// halfDead is the first step of a deletion: the downlink to the top of the
// subtree goes, the leaf says so. false: something has changed meanwhile.
func (v *vacuumer) halfDead(o *op, d doomed) (bool, error) {
	t := v.t
	if err := t.pg.Admit(1, page.Align); err != nil {
		return false, err
	}
	g, err := t.grab(o, d.leaf.block, d.parent.block)
	if err != nil {
		return false, err
	}
	defer g.drop()
	if !g.still(d.leaf) || !g.still(d.parent) {
		return false, nil
	}
	leaf, parent := g.page(d.leaf.block), g.page(d.parent.block)
	g.dirty()
	if !parent.Page.MoveDownlink(d.off) {
		return false, t.corrupt(g.frame(d.parent.block), "downlinks %d and the next are damaged", d.off)
	}
	top := d.top
	if top == d.leaf.block {
		top = page.NoBlock
	}
	leaf.Page.MakeHalfDead(d.prev, d.next, top)
	mtr := t.pg.MTR()
	defer t.pg.Done(mtr)
	wal.BtreeHalfDead(mtr, leaf, parent, d.off, d.prev, d.next, top)
	if _, err := t.pg.Append(mtr); err != nil {
		return false, err
	}
	t.m.Mark("btree.page-half-dead")
	return true, nil
}

// target is the next page of a subtree to be unlinked, as it was seen.
type target struct {
	leaf, page version
	leafLinks  page.IndexOpaque
	links      page.IndexOpaque
	below      uint32 // the target's only child; NoBlock if that is the leaf, or the target is
}

// unlink is the second step of a deletion: the pages of the subtree above a
// half-dead leaf are unlinked from their siblings, from the top down, and the
// leaf last.
func (v *vacuumer) unlink(o *op, leaf uint32) error {
	for {
		g, err := v.aim(leaf)
		if err != nil {
			return err
		}
		done, err := v.unlinkOne(o, g)
		if err != nil {
			return err
		}
		if done && g.page.block == leaf {
			return nil
		}
	}
}

// aim looks at the leaf and at the next target.
func (v *vacuumer) aim(leaf uint32) (g target, err error) {
	t := v.t
	f, q, err := t.visit(leaf, 0, shared)
	if err != nil {
		return g, err
	}
	g.leaf, g.leafLinks = seen(f), q
	high := f.Page().IndexTuple(1)
	if !q.Has(page.IndexHalfDead) || high == nil {
		err = t.corrupt(f, "flags %04x, want a half-dead leaf with one item", q.Flags)
	}
	g.page, g.links, g.below = g.leaf, q, page.NoBlock
	top := uint32(page.NoBlock)
	if high != nil {
		top = high.Block()
	}
	t.leave(f, shared)
	if err != nil || top == page.NoBlock {
		return g, err
	}
	return g, v.aimInternal(&g, top)
}

// aimInternal looks at a target above the leaf: it must have one child.
func (v *vacuumer) aimInternal(g *target, top uint32) error {
	t := v.t
	f, err := t.pg.Pool().Pin(t.id(top))
	if err != nil {
		return err
	}
	f.RLock()
	defer t.leave(f, shared)
	q, ok := f.Page().IndexOpaque()
	if !ok || q.Level == 0 || q.Ignored() || q.Next == 0 || f.Page().MaxOffset() != q.First() {
		return t.corrupt(f, "flags %04x, level %d, right sibling %d, %d items: it is above half-dead block %d, and has to have one child",
			q.Flags, q.Level, q.Next, f.Page().MaxOffset(), g.leaf.block)
	}
	g.page, g.links = seen(f), q
	if g.below, err = t.downlink(f, q.First()); g.below == g.leaf.block {
		g.below = page.NoBlock
	}
	return err
}

// unlinkOne unlinks one page. false: something has changed meanwhile.
func (v *vacuumer) unlinkOne(o *op, d target) (bool, error) {
	t := v.t
	if err := t.pg.Admit(2, page.Align); err != nil {
		return false, err
	}
	internal := d.leaf.block
	if d.page.block == d.leaf.block {
		internal = 0
	}
	g, err := t.grab(o, internal, d.links.Prev, d.page.block, d.links.Next)
	if err != nil {
		return false, err
	}
	defer g.drop()
	if !g.still(d.page) || internal != 0 && !g.still(d.leaf) {
		t.m.Mark("btree.deletion-raced")
		return false, nil
	}
	left, right := g.sibling(d.links.Prev), g.page(d.links.Next)
	if err := v.checkSiblings(g, d); err != nil {
		return false, err
	}
	var safe uint64
	if t.cfg.NextXID != nil {
		safe = t.cfg.NextXID()
	}
	g.dirty()
	t.unlinked(d.page.block)
	relink(left.Page, func(q *page.IndexOpaque) { q.Next = d.links.Next })
	relink(right.Page, func(q *page.IndexOpaque) { q.Prev = d.links.Prev })
	target := g.page(d.page.block)
	target.Page.MakeDeleted(d.links.Prev, d.links.Next, d.links.Level, safe)
	u := wal.BtreeUnlinkArgs{Target: target, Left: left, Right: right, Level: d.links.Level, SafeXID: safe, LeafTop: page.NoBlock}
	if internal != 0 {
		u.Leaf, u.LeafPrev, u.LeafNext, u.LeafTop = g.page(internal), d.leafLinks.Prev, d.leafLinks.Next, d.below
		u.Leaf.Page.MakeHalfDead(u.LeafPrev, u.LeafNext, u.LeafTop)
	}
	mtr := t.pg.MTR()
	defer t.pg.Done(mtr)
	wal.BtreeUnlink(mtr, u)
	if _, err := t.pg.Append(mtr); err != nil {
		return false, err
	}
	v.stats.Pages++
	t.m.Mark("btree.page-deleted")
	return true, nil
}

// checkSiblings looks whether both neighbours of the target lead to it.
func (v *vacuumer) checkSiblings(g *grip, d target) error {
	check := func(block uint32, link func(page.IndexOpaque) uint32) error {
		f := g.frame(block)
		q, ok := f.Page().IndexOpaque()
		if !ok || q.Has(page.IndexDeleted) || q.Level != d.links.Level || link(q) != d.page.block {
			return v.t.corrupt(f, "flags %04x, level %d, siblings %d and %d, beside block %d of level %d, which is to be unlinked",
				q.Flags, q.Level, q.Prev, q.Next, d.page.block, d.links.Level)
		}
		return nil
	}
	if err := check(d.links.Next, func(q page.IndexOpaque) uint32 { return q.Prev }); err != nil || d.links.Prev == 0 {
		return err
	}
	return check(d.links.Prev, func(q page.IndexOpaque) uint32 { return q.Next })
}

// relink changes a page's links, if there is a page.
func relink(p *page.Page, change func(*page.IndexOpaque)) {
	if p == nil {
		return
	}
	q, _ := p.IndexOpaque()
	change(&q)
	p.SetIndexOpaque(q)
}
