package heap

import (
	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// Room is what a page lacks for a change.
type Room uint8

// The answers of HasRoom.
const (
	Fits  Room = iota
	Tight      // it fits, but pruning now would be cheap: there is something to prune
	Full       // it does not fit without pruning
)

// HasRoom tells whether a version with a value of n bytes fits on the page
// within the bounds of the geometry.
//
// Tight follows heap_page_prune_opt: less than a tenth of the page is free, and
// the page says that something was superseded.
func (g Geometry) HasRoom(p *page.Page, n int) Room {
	if isNew(p) {
		return Fits
	}
	free := p.Free()
	if free < page.RoundUp(page.TupleHoff+RowSize(n)) || int(p.MaxOffset()) >= g.Lines && !hasUnused(p) {
		return Full
	}
	if free < page.Size/10 && p.PruneXID() != 0 {
		return Tight
	}
	return Fits
}

func hasUnused(p *page.Page) bool {
	if p.Flags()&page.HasFreeLines == 0 {
		return false
	}
	for off, last := uint16(1), p.MaxOffset(); off <= last; off++ {
		if p.ItemID(off) == 0 {
			return true
		}
	}
	return false
}

// Change is one change of one row by a transaction: Value nil deletes.
type Change struct {
	XID   uint32
	Key   int64
	Value []byte
	Old   uint16 // the visible version, 0: none
}

// Apply makes the change on the page and describes it in m, which still has to
// be built. tuple is scratch memory, given back grown. The caller holds the
// exclusive latch, has marked the page dirty and knows that there is room.
func (c *Change) Apply(m *wal.MTR, floor wal.LSN, id page.ID, p *page.Page, tuple []byte) []byte {
	if c.Value == nil {
		c.remove(m, id, p)
		return tuple
	}
	fresh := isNew(p)
	if fresh {
		p.Init(0)
	}
	tuple = append(tuple[:0], make([]byte, page.TupleHoff)...)
	tuple = AppendRow(tuple, c.Key, c.Value)
	t := page.NewTuple(tuple[:0], c.XID, 0, rowAtts, tuple[page.TupleHoff:])
	t.SetInfomask(t.Infomask() | page.HasVarWidth)
	if c.Old != 0 {
		t.SetInfomask(t.Infomask() | page.Updated)
		t.SetInfomask2(t.Infomask2() | page.HeapOnly)
	}
	off, ok := p.InsertTuple(id.Block, 0, t)
	if !ok {
		invariant.Broken("E4", "%v: no room for %d bytes of key %d though HasRoom said so (free %d, %d items)",
			id, len(t), c.Key, p.Free(), p.MaxOffset())
	}
	if c.Old == 0 {
		wal.HeapInsert(m, c.XID, id, p, off, 0, fresh)
		return tuple
	}
	if !p.SupersedeTuple(c.Old, page.Xmax{XID: c.XID}, page.TID{Block: id.Block, Offset: off}, true) {
		invariant.Broken("E2", "%v item %d: no version of key %d to supersede", id, c.Old, c.Key)
	}
	wal.HeapUpdate(m, floor, wal.UpdateArgs{XID: c.XID, Old: id, New: id, OldPage: p, NewPage: p,
		OldOff: c.Old, NewOff: off, Hot: true})
	return tuple
}

func (c *Change) remove(m *wal.MTR, id page.ID, p *page.Page) {
	if !p.DeleteTuple(id.Block, c.Old, page.Xmax{XID: c.XID, Infomask2: page.KeysUpdated}) {
		invariant.Broken("E2", "%v item %d: no version of key %d to delete", id, c.Old, c.Key)
	}
	wal.HeapDelete(m, c.XID, id, p, c.Old, 0)
}

// isNew reports a page that nothing has initialised (PageIsNew).
func isNew(p *page.Page) bool { return p.Upper() == 0 }
