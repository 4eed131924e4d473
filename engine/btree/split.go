package btree

import (
	"tornpage/engine/buffer"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// job is a split to be made, as seen by somebody who then let go of all pages.
type job struct {
	page  version
	level uint32
	next  uint32  // its right sibling
	off   uint16  // where the new item belongs
	item  []byte  // the new item
	child version // on internal pages: the page whose split the item completes
	fresh uint32  // 0: there is nothing to do; the block of the new page, once there is one
}

// split makes the split, which puts the new item on one of the two pages, in
// one record. false: something has changed meanwhile.
func (t *Tree) split(o *op, j *job) (done bool, err error) {
	if j.fresh, err = t.take(); err != nil {
		return false, err
	}
	defer func() {
		if !done {
			t.giveBack(j.fresh)
		}
	}()
	if err := t.pg.Admit(3, page.Size); err != nil {
		return false, err
	}
	g, err := t.grab(o, j.child.block, j.page.block, j.fresh, j.next)
	if err != nil {
		return false, err
	}
	defer g.drop()
	if !g.still(j.page) || j.child.block != 0 && !g.still(j.child) {
		t.m.Mark("btree.split-raced")
		return false, nil
	}
	if err := t.checkJob(g, j); err != nil {
		return false, err
	}
	return t.divide(o, g, j)
}

// checkJob looks whether links agree before they are changed.
func (t *Tree) checkJob(g *grip, j *job) error {
	f := g.frame(j.page.block)
	if j.next != 0 {
		n := g.frame(j.next)
		if q, ok := n.Page().IndexOpaque(); !ok || q.Prev != j.page.block || q.Level != j.level {
			return t.corrupt(n, "left sibling %d, level %d, want %d and %d", q.Prev, q.Level, j.page.block, j.level)
		}
	}
	if j.child.block != 0 {
		return t.checkDownlink(f, j.off-1, j.child.block)
	}
	return nil
}

// divide does the work on the latched pages.
func (t *Tree) divide(o *op, g *grip, j *job) (bool, error) {
	f := g.frame(j.page.block)
	q, _ := f.Page().IndexOpaque()
	if err := t.gather(o, f, q, j); err != nil {
		return false, err
	}
	at := int(j.off - q.First())
	s := t.chooseSplit(o.items, q, f.Page())
	if s == 0 {
		return false, t.corrupt(f, "%d items and one of %d bytes do not fit on two pages", len(o.items)-1, len(j.item))
	}
	if o.left == nil {
		o.left, o.right = new(page.Page), new(page.Page)
	}
	if !t.halves(o, f, q, j, s) {
		return false, t.corrupt(f, "its %d items do not fit on two pages", len(o.items))
	}
	left, right := g.page(j.page.block), g.page(j.fresh)
	g.dirty()
	lsn := left.Page.LSN()
	*left.Page, *right.Page = *o.left, *o.right
	left.Page.SetLSN(lsn)
	if j.next != 0 {
		n := g.page(j.next).Page
		nq, _ := n.IndexOpaque()
		nq.Prev = j.fresh
		n.SetIndexOpaque(nq)
	}
	child := g.sibling(j.child.block)
	if child.Page != nil {
		child.Page.SetIndexFlags(page.IndexIncomplete, false)
	}
	args := wal.BtreeSplitArgs{XID: o.xid, Left: left, Right: right, Next: g.sibling(j.next), Child: child, Level: j.level,
		FirstRight: q.First() + uint16(s), NewOff: j.off, New: j.item, NewLeft: at < s}
	if args.NewLeft {
		args.FirstRight--
	}
	mtr := t.pg.MTR()
	defer t.pg.Done(mtr)
	wal.BtreeSplit(mtr, args)
	if _, err := t.pg.Append(mtr); err != nil {
		return true, err
	}
	t.m.Mark("btree.split")
	return true, nil
}

// gather lists the page's items with the new one in its place.
func (t *Tree) gather(o *op, f *buffer.Frame, q page.IndexOpaque, j *job) error {
	o.items = o.items[:0]
	last := f.Page().MaxOffset()
	if j.off < q.First() || j.off > last+1 {
		invariant.Broken("X5", "a new item at %d of %v, which has items %d to %d", j.off, f.ID(), q.First(), last)
	}
	for off := q.First(); off <= last+1; off++ {
		if off == j.off {
			o.items = append(o.items, j.item)
		}
		if off > last {
			break
		}
		it := f.Page().IndexTuple(off)
		if it == nil {
			return t.corrupt(f, "item %d of %d is damaged", off, last)
		}
		o.items = append(o.items, it)
	}
	return nil
}

// halves builds both pages in scratch memory: items below s on the left.
func (t *Tree) halves(o *op, f *buffer.Frame, q page.IndexOpaque, j *job, s int) bool {
	kind := q.Flags & page.IndexLeaf
	first := page.IndexTuple(o.items[s])
	var high, oldHigh []byte
	if q.Level == 0 {
		o.tuple2 = t.separator(o.tuple2[:0], o.items[s-1], first)
		high = o.tuple2
	} else {
		o.tuple2 = append(o.tuple2[:0], first...)
		high = o.tuple2
		o.infinity = page.MinusInfinity(first.Block())
		o.items[s] = o.infinity[:]
	}
	if q.Next != 0 {
		if oldHigh = f.Page().IndexTuple(1); oldHigh == nil {
			return false
		}
	}
	return o.left.BuildIndex(page.IndexOpaque{Prev: q.Prev, Next: j.fresh, Level: q.Level, Flags: kind | page.IndexIncomplete},
		high, o.items[:s]) &&
		o.right.BuildIndex(page.IndexOpaque{Prev: j.page.block, Next: q.Next, Level: q.Level, Flags: kind}, oldHigh, o.items[s:])
}

// separator appends the high key between two neighbours of a leaf: the right
// one's key, and the left one's row if only rows tell them apart.
func (t *Tree) separator(dst []byte, left, right page.IndexTuple) []byte {
	if t.cfg.Compare(left, right) != 0 {
		return page.AppendPivot(dst, right, t.cfg.Attrs, nil)
	}
	last := left.TID()
	return page.AppendPivot(dst, right, t.cfg.Attrs, &last)
}

// Source: PostgreSQL 15 nbtsplitloc.c.
const (
	fillInternal  = 70 // BTREE_NONLEAF_FILLFACTOR, on the rightmost page of a level
	nearby        = 4  // positions to either side that are tried for keys that differ
	separatorRoom = 8  // a leaf's new high key may get a TID
)

// chooseSplit gives the number of items that stay on the left, 0 if there is
// no way: even halves of bytes, or on the rightmost page of a level, where
// rising keys arrive, the left one as full as its fill factor. Close to that it
// prefers neighbours whose keys differ, so that the high key needs no TID.
func (t *Tree) chooseSplit(items [][]byte, q page.IndexOpaque, p *page.Page) int {
	c := chooser{items: items, leaf: q.Level == 0, leftRoom: page.IndexRoom, rightRoom: page.IndexRoom, limit: len(items), fill: 50}
	if t.cfg.ItemsPerPage > 0 {
		c.limit = t.cfg.ItemsPerPage
	}
	if q.Next != 0 {
		c.rightRoom -= placeOf(p.IndexTuple(1))
	} else if c.fill = fillInternal; c.leaf {
		c.fill = t.cfg.Fill
	}
	best := c.best()
	if best == 0 || !c.leaf || t.cfg.Compare(items[best-1], items[best]) != 0 {
		return best
	}
	for d := 1; d <= nearby; d++ {
		for _, s := range [...]int{best - d, best + d} {
			if s > 0 && s < len(items) && c.legal(s) && t.cfg.Compare(items[s-1], items[s]) != 0 {
				return s
			}
		}
	}
	return best
}

// placeOf is the room that an item takes on a page, line pointer included.
func placeOf(item []byte) int { return page.RoundUp(len(item)) + page.ItemIDSize }

type chooser struct {
	items               [][]byte
	leaf                bool
	leftRoom, rightRoom int
	limit               int
	fill                int // percent of the free space that is to be on the right
}

// best is the legal split whose free space is shared closest to fill.
func (c *chooser) best() (best int) {
	total := 0
	for _, it := range c.items {
		total += placeOf(it)
	}
	bestDelta, left := 0, 0
	for s := 1; s < len(c.items); s++ {
		left += placeOf(c.items[s-1])
		l, r := c.free(s, left, total-left)
		if l < 0 || r < 0 || !c.counts(s) {
			continue
		}
		delta := c.fill*l - (100-c.fill)*r
		if delta < 0 {
			delta = -delta
		}
		if best == 0 || delta < bestDelta {
			best, bestDelta = s, delta
		}
	}
	return best
}

// free is what both pages have left.
func (c *chooser) free(s, left, right int) (l, r int) {
	first := placeOf(c.items[s])
	l, r = c.leftRoom-left-first, c.rightRoom-right
	if c.leaf {
		l -= separatorRoom
	} else {
		r += first - page.IndexHeader - page.ItemIDSize // the first downlink loses its key
	}
	return l, r
}

func (c *chooser) counts(s int) bool { return s <= c.limit && len(c.items)-s <= c.limit }

func (c *chooser) legal(s int) bool {
	left, right := 0, 0
	for i, it := range c.items {
		if i < s {
			left += placeOf(it)
		} else {
			right += placeOf(it)
		}
	}
	l, r := c.free(s, left, right)
	return l >= 0 && r >= 0 && c.counts(s)
}
