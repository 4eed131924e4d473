package page

// ValidateIndex checks the form of an index page: special area, line pointers,
// tuples, the first downlink, the high key. The header must have passed
// Verify. Order of keys is the B-tree's to check.
func ValidateIndex(id ID, p *Page) error {
	o, ok := p.IndexOpaque()
	switch {
	case !ok:
		return badHeader(id, p, "special area at %d, an index page has it at %d", p.Special(), indexPos)
	case o.Flags&^validIndexFlags != 0:
		return badHeader(id, p, "index flags %04x, want none but %04x", o.Flags, validIndexFlags)
	case o.Has(IndexMetaPage) != (id.Block == 0):
		return badHeader(id, p, "index flags %04x: block 0 is the metapage, and no other", o.Flags)
	case o.Has(IndexMetaPage):
		if _, err := p.IndexMeta(); err != nil {
			return badHeader(id, p, "%v", err)
		}
		return nil
	case o.Has(IndexLeaf) != (o.Level == 0):
		return badHeader(id, p, "index flags %04x on level %d: leaves are level 0, and no other", o.Flags, o.Level)
	case o.Prev == id.Block || o.Next == id.Block:
		return badHeader(id, p, "siblings %d and %d: the page is its own", o.Prev, o.Next)
	case o.Has(IndexDeleted):
		return nil
	case o.Has(IndexHalfDead) && (o.Level != 0 || o.Next == 0 || p.MaxOffset() != 1):
		return badHeader(id, p, "half-dead on level %d with right sibling %d and %d items, want 0, some, 1",
			o.Level, o.Next, p.MaxOffset())
	case o.Has(IndexRoot) && (o.Next != 0 || o.Prev != 0):
		return badHeader(id, p, "a root with siblings %d and %d", o.Prev, o.Next)
	case o.Has(IndexIncomplete) && o.Next == 0:
		return badHeader(id, p, "an unfinished split without a right sibling")
	case o.Level > 0 && p.MaxOffset() < o.First():
		return badHeader(id, p, "%d items on level %d, want a downlink", p.MaxOffset(), o.Level)
	case o.Next != 0 && p.MaxOffset() == 0:
		return badHeader(id, p, "no high key, yet a right sibling %d", o.Next)
	}
	return validateIndexItems(id, p, o)
}

func validateIndexItems(id ID, p *Page, o IndexOpaque) error {
	var taken [Size / Align]bool
	for off := uint16(1); off <= p.MaxOffset(); off++ {
		item := p.ItemID(off)
		from, to := item.Offset(), item.Offset()+item.Len()
		if item.Flags() != Normal || from < p.Upper() || to > p.Special() || from%Align != 0 || item.Len()%Align != 0 {
			return badHeader(id, p, "item %d is bytes %d to %d with state %d, want within %d to %d, at multiples of %d, state %d",
				off, from, to, item.Flags(), p.Upper(), p.Special(), Align, Normal)
		}
		for at := from; at < to; at += Align {
			if taken[at/Align] {
				return badHeader(id, p, "item %d shares byte %d with an item before it", off, at)
			}
			taken[at/Align] = true
		}
		t := p.IndexTuple(off)
		if t == nil || RoundUp(t.Size()) != item.Len() {
			return badHeader(id, p, "item %d of %d bytes holds no index tuple of that size", off, item.Len())
		}
		if err := validateIndexTuple(id, p, o, off, t); err != nil {
			return err
		}
	}
	return nil
}

func validateIndexTuple(id ID, p *Page, o IndexOpaque, off uint16, t IndexTuple) error {
	pivot := o.Level > 0 || off < o.First()
	if t.Pivot() != pivot {
		return badHeader(id, p, "item %d on level %d: pivot %t, want %t", off, o.Level, t.Pivot(), pivot)
	}
	if !pivot {
		return nil
	}
	limit := MaxIndexTuple + pivotTIDSize
	infinite := t.Attrs() == 0
	wantInfinite := o.Level > 0 && off == o.First() || o.Has(IndexHalfDead)
	switch {
	case infinite != wantInfinite:
		return badHeader(id, p, "item %d on level %d has %d key attributes: the first downlink has none, and no other pivot", off, o.Level, t.Attrs())
	case t.Size() > limit:
		return badHeader(id, p, "pivot %d of %d bytes, at most %d", off, t.Size(), limit)
	case o.Level > 0 && off >= o.First() && (t.Block() == 0 || t.Block() == NoBlock):
		return badHeader(id, p, "downlink %d leads to block %d", off, t.Block())
	}
	return nil
}
