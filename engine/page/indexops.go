package page

// The operations of a B-tree on one page, as the access method performs them.
// Each changes bytes only; latches, log and LSN are the caller's.

// BuildIndex makes p an index page with a high key (nil: it is its level's
// rightmost) and items, in this order. It keeps the LSN. None of them may lie
// on p. False: they do not fit, and p holds a part.
func (p *Page) BuildIndex(o IndexOpaque, high []byte, items [][]byte) bool {
	p.InitIndex(o)
	off := uint16(1)
	if high != nil {
		if !p.InsertItemAt(off, high) {
			return false
		}
		off++
	}
	for _, it := range items {
		if !p.InsertItemAt(off, it) {
			return false
		}
		off++
	}
	return true
}

// SetIndexFlags sets or clears flags of an index page.
func (p *Page) SetIndexFlags(flags uint16, on bool) {
	o, _ := p.IndexOpaque()
	o.Flags &^= flags
	if on {
		o.Flags |= flags
	}
	p.SetIndexOpaque(o)
}

// DeleteIndexItems removes the items at offs, which are in order, and closes
// the gaps. False: an offset is not there or the items are damaged, and
// nothing changed.
func (p *Page) DeleteIndexItems(offs []uint16) bool {
	old := *p
	next, at, last := uint16(1), 0, p.MaxOffset()
	for off := uint16(1); off <= last; off++ {
		if at < len(offs) && offs[at] == off {
			at++
			continue
		}
		p.SetItemID(next, old.ItemID(off))
		next++
	}
	if at == len(offs) {
		clear(p[itemPos(next):itemPos(last+1)])
		p.SetLower(uint16(itemPos(next)))
		if p.Compact() == nil {
			return true
		}
	}
	*p = old
	return false
}

// MakeHalfDead makes p a leaf without entries between prev and next, which
// has no downlink. top is the highest page of the subtree that is deleted with
// it, NoBlock if that is the leaf itself.
func (p *Page) MakeHalfDead(prev, next, top uint32) {
	high := MinusInfinity(top)
	p.InitIndex(IndexOpaque{Prev: prev, Next: next, Flags: IndexHalfDead | IndexLeaf})
	p.InsertItemAt(1, high[:])
}

// MoveDownlink gives the key space of the downlink at off, whose page is being
// deleted, to the next downlink's page: the item at off leads there, and the
// next one goes. False: there are no two such items, and nothing changed.
func (p *Page) MoveDownlink(off uint16) bool {
	t, next := p.IndexTuple(off), p.IndexTuple(off+1)
	if t == nil || next == nil {
		return false
	}
	old := t.Block()
	t.SetBlock(next.Block())
	if p.DeleteIndexItems([]uint16{off + 1}) {
		return true
	}
	t.SetBlock(old)
	return false
}

// MakeDeleted makes p a page that was unlinked between prev and next of its
// level.
func (p *Page) MakeDeleted(prev, next, level uint32, safeXID uint64) {
	o := IndexOpaque{Prev: prev, Next: next, Level: level, Flags: IndexDeleted | IndexHasFullXID}
	if level == 0 {
		o.Flags |= IndexLeaf
	}
	p.InitIndex(o)
	le.PutUint64(p[HeaderSize:], safeXID)
	p.SetLower(HeaderSize + indexDeletedSize)
}
