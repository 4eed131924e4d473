package wal

import "tornpage/engine/page"

// redoBtree replays Btree records. Like redoHeap it shares only access to line
// pointers and fields with page's do-path operations.
func redoBtree(r *Record, block int, p *page.Page) error {
	slot := r.Blocks[block].Slot
	switch op := r.Op(); op {
	case InfoBtreeInsertLeaf, InfoBtreeInsertUpper, InfoBtreeInsertMeta:
		return redoBtreeInsert(r, block, p, slot)
	case InfoBtreeSplitL, InfoBtreeSplitR:
		return redoBtreeSplit(r, block, p, slot)
	case InfoBtreeNewRoot:
		return redoBtreeNewRoot(r, block, p, slot)
	case InfoBtreeVacuum, InfoBtreeDelete:
		return redoBtreeDelete(r, block, p)
	case InfoBtreeMarkHalfDead:
		return redoBtreeHalfDead(r, block, p, slot)
	case InfoBtreeUnlink, InfoBtreeUnlinkMeta:
		return redoBtreeUnlink(r, block, p, slot)
	}
	return redoError(r, block, "operation %02x is not replayed", r.Info)
}

// indexPage is p's special area; p must be an index page with items.
func indexPage(r *Record, block int, p *page.Page) (page.IndexOpaque, error) {
	o, ok := p.IndexOpaque()
	if !ok || o.Has(page.IndexDeleted|page.IndexMetaPage) {
		return o, redoError(r, block, "special area at %d, index flags %04x: no page with index tuples", p.Special(), o.Flags)
	}
	return o, nil
}

func badSlot(r *Record, block int) error {
	return redoError(r, block, "block %d has no part in it", r.Blocks[block].Slot)
}

// finishSplit clears the flag of a page whose sibling has a downlink now.
func finishSplit(r *Record, block int, p *page.Page) error {
	o, err := indexPage(r, block, p)
	if err != nil {
		return err
	}
	if !o.Has(page.IndexIncomplete) {
		return redoError(r, block, "index flags %04x: no split to finish", o.Flags)
	}
	o.Flags &^= page.IndexIncomplete
	p.SetIndexOpaque(o)
	return nil
}

func redoBtreeInsert(r *Record, block int, p *page.Page, slot uint8) error {
	off, err := r.BtreeInsert()
	if err != nil {
		return err
	}
	switch {
	case slot == 1 && r.Op() != InfoBtreeInsertLeaf:
		return finishSplit(r, block, p)
	case slot == 2 && r.Op() == InfoBtreeInsertMeta:
		return redoBtreeMeta(r, block, p)
	case slot != 0:
		return badSlot(r, block)
	}
	if _, err := indexPage(r, block, p); err != nil {
		return err
	}
	item := page.IndexTuple(r.Blocks[block].Data)
	if n := firstTuple(item); n == 0 || n != page.RoundUp(len(item)) {
		return redoError(r, block, "block data of %d bytes is no index tuple", len(item))
	}
	if !p.InsertItemAt(off, item) {
		return redoError(r, block, "no place for an index tuple of %d bytes at item %d: %d items, room %d",
			len(item), off, p.MaxOffset(), p.Free())
	}
	return nil
}

// firstTuple is the room that the tuple at the start of b takes on a page, 0
// if there is none. The padding of the last one may be missing.
func firstTuple(b []byte) int {
	if len(b) < page.IndexHeader {
		return 0
	}
	n := page.IndexTuple(b).Size()
	if n < page.IndexHeader || n > len(b) {
		return 0
	}
	return page.RoundUp(n)
}

// putItems fills the empty page p with items that lie in data as on the page
// they were taken from, the last one first.
func putItems(r *Record, block int, p *page.Page, data []byte) error {
	var at [page.MaxIndexItems]uint16
	n := 0
	for pos := 0; pos < len(data); n++ {
		size := firstTuple(data[pos:])
		if size == 0 || n == len(at) || size > len(data)-pos {
			return redoError(r, block, "block data has no index tuple at byte %d of %d", pos, len(data))
		}
		at[n] = uint16(pos)
		pos += size
	}
	end := len(data)
	for off := uint16(1); n > 0; off++ {
		n--
		item := data[at[n]:end]
		end = int(at[n])
		if !p.InsertItemAt(off, item[:page.IndexTuple(item).Size()]) {
			return redoError(r, block, "items of %d bytes do not fit on a page", len(data))
		}
	}
	return nil
}

func redoBtreeSplit(r *Record, block int, p *page.Page, slot uint8) error {
	rec, err := r.BtreeSplit()
	if err != nil {
		return err
	}
	left, right := r.Block(0), r.Block(1)
	if left < 0 || right < 0 {
		return redoError(r, block, "%d block references, want blocks 0 and 1", len(r.Blocks))
	}
	leaf := uint16(0)
	if rec.Level == 0 {
		leaf = page.IndexLeaf
	}
	switch slot {
	case 0:
		return redoSplitLeft(r, block, p, rec, page.IndexOpaque{Next: r.Blocks[right].ID.Block,
			Level: rec.Level, Flags: leaf | page.IndexIncomplete})
	case 1:
		o := page.IndexOpaque{Prev: r.Blocks[left].ID.Block, Level: rec.Level, Flags: leaf}
		if next := r.Block(2); next >= 0 {
			o.Next = r.Blocks[next].ID.Block
		}
		p.InitIndex(o)
		return putItems(r, block, p, r.Blocks[block].Data)
	case 2:
		o, err := indexPage(r, block, p)
		if err != nil {
			return err
		}
		o.Prev = r.Blocks[right].ID.Block
		p.SetIndexOpaque(o)
		return nil
	case 3:
		return finishSplit(r, block, p)
	}
	return badSlot(r, block)
}

// redoSplitLeft makes the left page from what it was: its new high key, the
// items below FirstRight, and the new item if that is on the left.
func redoSplitLeft(r *Record, block int, p *page.Page, rec BtreeSplitRec, o page.IndexOpaque) error {
	old, err := indexPage(r, block, p)
	if err != nil {
		return err
	}
	data := r.Blocks[block].Data
	var item []byte
	if r.Op() == InfoBtreeSplitL {
		n := firstTuple(data)
		if n == 0 || n > len(data) {
			return redoError(r, block, "block data of %d bytes has no new item", len(data))
		}
		item, data = data[:page.IndexTuple(data).Size()], data[n:]
	}
	if n := firstTuple(data); n == 0 || n != page.RoundUp(len(data)) {
		return redoError(r, block, "%d bytes of block data are no high key", len(data))
	}
	o.Prev = old.Prev
	var left page.Page
	left.SetLSN(p.LSN())
	left.InitIndex(o)
	next := uint16(1)
	add := func(b []byte) bool {
		next++
		return left.InsertItemAt(next-1, b)
	}
	ok := add(data[:page.IndexTuple(data).Size()])
	for off := old.First(); ok && off < rec.FirstRight; off++ {
		if item != nil && off == rec.NewOff {
			ok = add(item)
		}
		ok = ok && add(p.IndexTuple(off))
	}
	if item != nil && rec.NewOff == rec.FirstRight {
		ok = ok && add(item)
	}
	if !ok {
		return redoError(r, block, "items below %d of %d, with the new one at %d, make no left page",
			rec.FirstRight, p.MaxOffset(), rec.NewOff)
	}
	*p = left
	return nil
}

func redoBtreeNewRoot(r *Record, block int, p *page.Page, slot uint8) error {
	_, level, err := r.BtreeNewRoot()
	if err != nil {
		return err
	}
	switch slot {
	case 0:
		o := page.IndexOpaque{Level: level, Flags: page.IndexRoot}
		if level == 0 {
			o.Flags |= page.IndexLeaf
		}
		p.InitIndex(o)
		return putItems(r, block, p, r.Blocks[block].Data)
	case 1:
		return finishSplit(r, block, p)
	case 2:
		return redoBtreeMeta(r, block, p)
	}
	return badSlot(r, block)
}

// redoBtreeMeta makes the metapage.
func redoBtreeMeta(r *Record, block int, p *page.Page) error {
	b := r.Blocks[block].Data
	if len(b) != lenBtreeMeta {
		return redoError(r, block, "metapage data of %d bytes, want %d", len(b), lenBtreeMeta)
	}
	p.InitIndexMeta(page.IndexMeta{Version: le.Uint32(b), Root: le.Uint32(b[4:]), Level: le.Uint32(b[8:]),
		FastRoot: le.Uint32(b[12:]), FastLevel: le.Uint32(b[16:]), CleanupPages: le.Uint32(b[20:]), AllEqualImage: b[24] != 0})
	return nil
}

func redoBtreeDelete(r *Record, block int, p *page.Page) error {
	offs, _, err := r.BtreeDeleted()
	if err != nil {
		return err
	}
	if _, err := indexPage(r, block, p); err != nil {
		return err
	}
	return deleteItems(r, block, p, offs)
}

// deleteItems removes the items at offs, which rise.
func deleteItems(r *Record, block int, p *page.Page, offs OffsetList) error {
	old := *p
	last := p.MaxOffset() + 1
	for i := offs.Len() - 1; i >= 0; i-- {
		off := offs.At(i)
		if off >= last || !p.DeleteItemAt(off) {
			*p = old
			return redoError(r, block, "item %d of %d cannot be deleted, or not in this order", off, p.MaxOffset())
		}
		last = off
	}
	if err := p.Compact(); err != nil {
		*p = old
		return redoError(r, block, "%v", err)
	}
	return nil
}

// halfDead makes a leaf whose only item leads to the top of what is deleted.
func halfDead(p *page.Page, prev, next, top uint32) {
	p.InitIndex(page.IndexOpaque{Prev: prev, Next: next, Flags: page.IndexLeaf | page.IndexHalfDead})
	t := page.MinusInfinity(top)
	p.InsertItemAt(1, t[:])
}

func redoBtreeHalfDead(r *Record, block int, p *page.Page, slot uint8) error {
	rec, err := r.BtreeHalfDead()
	if err != nil {
		return err
	}
	switch slot {
	case 0:
		halfDead(p, rec.Prev, rec.Next, rec.Top)
		return nil
	case 1:
		if _, err := indexPage(r, block, p); err != nil {
			return err
		}
		off := rec.ParentOff
		t, next := p.IndexTuple(off), p.IndexTuple(off+1)
		if t == nil || next == nil {
			return redoError(r, block, "no downlinks at items %d and the next, of %d", off, p.MaxOffset())
		}
		was, to := t.Block(), next.Block()
		var list [2]byte
		le.PutUint16(list[:], off+1)
		t.SetBlock(to)
		if err := deleteItems(r, block, p, list[:]); err != nil {
			p.IndexTuple(off).SetBlock(was)
			return err
		}
		return nil
	}
	return badSlot(r, block)
}

// redoDeleted makes a deleted page: only its links and the XID are left.
func redoDeleted(p *page.Page, rec BtreeUnlinkRec) {
	flags := page.IndexDeleted | page.IndexHasFullXID
	if rec.Level == 0 {
		flags |= page.IndexLeaf
	}
	p.InitIndex(page.IndexOpaque{Prev: rec.Left, Next: rec.Right, Level: rec.Level, Flags: flags})
	end := le.AppendUint64(p[:page.HeaderSize], rec.SafeXID)
	p.SetLower(uint16(len(end)))
}

func redoBtreeUnlink(r *Record, block int, p *page.Page, slot uint8) error {
	rec, err := r.BtreeUnlink()
	if err != nil {
		return err
	}
	switch {
	case slot == 0:
		redoDeleted(p, rec)
		return nil
	case slot == 3:
		halfDead(p, rec.LeafPrev, rec.LeafNext, rec.LeafTop)
		return nil
	case slot == 4 && r.Op() == InfoBtreeUnlinkMeta:
		return redoBtreeMeta(r, block, p)
	case slot > 3:
		return badSlot(r, block)
	}
	o, err := indexPage(r, block, p)
	if err != nil {
		return err
	}
	if slot == 1 {
		o.Next = rec.Right
	} else {
		o.Prev = rec.Left
	}
	p.SetIndexOpaque(o)
	return nil
}
