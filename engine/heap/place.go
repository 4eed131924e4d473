package heap

import (
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// emptyFree is the room of a page once it is made, in bytes.
const emptyFree = page.Size - page.HeaderSize - page.ItemIDSize

// nearlyEmpty is the free space of a page that counts as empty although a
// pruning left unused line pointers on it. Source: hio.c,
// nearlyEmptyFreeSpace.
const nearlyEmpty = page.MaxTupleSize - page.MaxHeapTuples/8*page.ItemIDSize

// room is the bytes that p has for one more tuple (PageGetHeapFreeSpace).
func (h *Heap) room(p *page.Page) int {
	if isNew(p) {
		return emptyFree
	}
	if int(p.MaxOffset()) >= h.lines && !hasUnused(p) {
		return 0
	}
	return p.Free()
}

// placement is the search for a page with room for a tuple, in the order of
// RelationGetBufferForTuple: the handle's block, the free-space map, the last
// block if the map knows none, then a new one.
type placement struct {
	size     int // bytes of the tuple, rounded up
	need     int // bytes wanted: more, for the fill factor
	block    uint32
	mapped   bool // its map page is needed
	reused   bool // the free-space map named it
	extended bool // it is new
}

// seek begins the search for a tuple of n bytes.
func (h *Heap) seek(n int) (pl placement, err error) {
	pl.size = page.RoundUp(n)
	pl.need = pl.size + h.slack
	if pl.need > nearlyEmpty {
		pl.need = max(pl.size, nearlyEmpty)
	}
	blocks, err := h.pg.Blocks(h.rel)
	switch {
	case err != nil:
		return pl, err
	case h.aimed && h.target < blocks:
		pl.block = h.target
	case h.find(&pl, blocks):
	case blocks > 0:
		pl.block = blocks - 1
	default:
		err = h.extend(&pl)
	}
	return pl, err
}

// find asks the free-space map.
func (h *Heap) find(pl *placement, blocks uint32) bool {
	for h.free != nil {
		b, ok := h.free.Find(pl.need)
		if !ok {
			break
		}
		if b < blocks {
			pl.block, pl.reused = b, true
			return true
		}
		h.free.Set(b, 0) // noted by somebody who had not heard of a cut
	}
	return false
}

// extend adds a block. It becomes the handle's at once, so that others who
// have found the old one full come here and add none of their own.
func (h *Heap) extend(pl *placement) error {
	id, err := h.pg.Extend(h.rel)
	if err != nil {
		return err
	}
	pl.block, pl.extended = id.Block, true
	h.target, h.aimed = id.Block, true
	h.Stats.Extended++
	h.m.Mark("heap.extended")
	return nil
}

// fits tells whether a page with so many free bytes will do. A new one will if
// the tuple fits at all.
func (pl *placement) fits(free int) bool {
	return free >= pl.need || pl.extended && free >= pl.size
}

// advance goes on to the next page, after one that has only so many bytes free.
func (h *Heap) advance(pl *placement, free int) error {
	tried := pl.block
	pl.mapped, pl.reused, pl.extended = false, false, false
	if h.free != nil {
		h.free.Set(tried, free)
	}
	blocks, err := h.pg.Blocks(h.rel)
	switch {
	case err != nil:
		return err
	case h.find(pl, blocks):
		return nil
	case h.aimed && h.target > tried && h.target < blocks: // somebody has extended meanwhile
		pl.block = h.target
		return nil
	}
	return h.extend(pl)
}

// Insert adds a row, whose header it fills in, and gives its place. The
// statement needs no lock: nobody can see the row. engine.ErrFull refuses it
// and leaves everything as it was.
func (h *Heap) Insert(x Xact, t page.Tuple) (page.TID, error) {
	if err := h.fitsPage(t); err != nil {
		return page.TID{}, err
	}
	xid, err := x.XID()
	if err != nil {
		return page.TID{}, err
	}
	stamp(t, xid, 0, 0)
	pl, err := h.seek(len(t))
	if err != nil {
		return page.TID{}, err
	}
	o := h.take()
	defer h.give(o)
	for {
		if err := h.pg.Admit(1, len(t)); err != nil {
			return page.TID{}, err
		}
		o.want(pl.block, pl.mapped)
		o.fresh = pl.extended
		if err := o.hold(); err != nil {
			return page.TID{}, err
		}
		tid, done, err := h.insertHere(o, &pl, xid, t)
		o.drop()
		if done || err != nil {
			return tid, err
		}
	}
}

// insertHere puts t on the held page, or says where to try next.
func (h *Heap) insertHere(o *op, pl *placement, xid uint32, t page.Tuple) (tid page.TID, done bool, err error) {
	f := o.frames[0]
	p := f.Page()
	if free := h.room(p); !pl.fits(free) {
		return tid, false, h.advance(pl, free)
	}
	if pl.mapped, err = o.needsMap(0); pl.mapped || err != nil {
		return tid, false, err
	}
	f.MarkDirty()
	flags := o.clearVisible(0, wal.AllVisibleCleared)
	tid = h.put(f, t)
	h.landed(pl)
	h.Stats.Inserted++
	m := h.pg.MTR()
	defer h.pg.Done(m)
	wal.HeapInsert(m, xid, f.ID(), p, tid.Offset, flags, onlyTuple(p, tid))
	return tid, true, o.append(m)
}

// landed notes that the search has ended at a page.
func (h *Heap) landed(pl *placement) {
	h.target, h.aimed = pl.block, true
	if pl.reused {
		h.m.Mark("heap.page-reused")
	}
}

// onlyTuple reports that the tuple just put at tid is alone on the page, which
// then need not be restored before it is changed: the record initialises it.
func onlyTuple(p *page.Page, tid page.TID) bool { return tid.Offset == 1 && p.MaxOffset() == 1 }
