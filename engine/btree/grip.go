package btree

import (
	"tornpage/engine/buffer"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// maxGrip is the most pages that one change touches: a page that is split, its
// new and its old right sibling, and the child whose split is completed; or a
// page that is unlinked, both siblings, and the half-dead leaf below.
const maxGrip = 4

// grip is a set of pages, pinned and latched exclusively.
type grip struct {
	t      *Tree
	frames [maxGrip]*buffer.Frame
	n      int
}

// metaBlock stands for the metapage where 0 means no page.
const metaBlock = page.NoBlock

// grab reserves, pins and latches pages in the order given, which is level by
// level upwards and left to right (rule X4); zeros stand for no page. The
// caller drops the grip.
func (t *Tree) grab(o *op, blocks ...uint32) (*grip, error) {
	g := &o.held
	if g.n != 0 {
		invariant.Broken("X4", "%d pages are held while others are asked for", g.n)
	}
	g.t = t
	var list [maxGrip]uint32
	n := 0
	for _, b := range blocks {
		switch b {
		case 0:
			continue
		case metaBlock:
			b = 0
		}
		for _, other := range list[:n] {
			if other == b {
				return nil, &page.Corrupt{ID: t.id(b), Reason: "index page: it is its own sibling, child or parent"}
			}
		}
		list[n] = b
		n++
	}
	pool := t.pg.Pool()
	pool.Reserve(n)
	for i, b := range list[:n] {
		f, err := pool.Pin(t.id(b))
		if err != nil {
			for _, have := range g.frames[:i] {
				pool.Unpin(have)
			}
			pool.Release(n)
			return nil, err
		}
		g.frames[i] = f
	}
	for _, f := range g.frames[:n] {
		f.Lock()
	}
	g.n = n
	return g, nil
}

// drop lets go of everything.
func (g *grip) drop() {
	pool := g.t.pg.Pool()
	for _, f := range g.frames[:g.n] {
		f.Unlock()
		pool.Unpin(f)
	}
	pool.Release(g.n)
	g.n = 0
}

// dirty marks all pages dirty, before they change.
func (g *grip) dirty() {
	for _, f := range g.frames[:g.n] {
		f.MarkDirty()
	}
}

func (g *grip) frame(block uint32) *buffer.Frame {
	for _, f := range g.frames[:g.n] {
		if f.ID().Block == block {
			return f
		}
	}
	invariant.Broken("X4", "rel %d block %d is not among the %d pages held", g.t.rel, block, g.n)
	return nil
}

// page is a held page as records want it.
func (g *grip) page(block uint32) wal.BtreePage {
	f := g.frame(block)
	return wal.BtreePage{ID: f.ID(), Page: f.Page()}
}

// sibling is page for a block that may be none.
func (g *grip) sibling(block uint32) wal.BtreePage {
	if block == 0 {
		return wal.BtreePage{}
	}
	return g.page(block)
}

// version is a page as it was when it was looked at: as long as its LSN is the
// same, so is all that was seen.
type version struct {
	block uint32
	lsn   page.LSN
}

func seen(f *buffer.Frame) version { return version{f.ID().Block, f.Page().LSN()} }

// still reports that the held page has not changed since it was seen.
func (g *grip) still(v version) bool { return g.frame(v.block).Page().LSN() == v.lsn }
