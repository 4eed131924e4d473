package wal

import "tornpage/engine/page"

// redoHeap replays Heap records. It shares only line pointer and tuple field
// access with page's do-path operations.
func redoHeap(r *Record, block int, p *page.Page) error {
	switch r.Info & HeapOpMask {
	case InfoHeapInsert:
		return redoInsert(r, block, p)
	case InfoHeapDelete:
		return redoDelete(r, block, p)
	case InfoHeapUpdate:
		return redoUpdate(r, block, p, false)
	case InfoHeapHotUpdate:
		return redoUpdate(r, block, p, true)
	case InfoHeapLock:
		return redoLock(r, block, p)
	case InfoHeapInplace:
		return redoInplace(r, block, p)
	}
	return redoError(r, block, "operation %02x is not known", r.Info)
}

func redoHeap2(r *Record, block int, p *page.Page) error {
	switch r.Info & HeapOpMask {
	case InfoHeap2Prune:
		return redoPrune(r, block, p)
	case InfoHeap2Vacuum:
		return redoVacuum(r, block, p)
	case InfoHeap2Visible:
		return redoVisible(r, block, p)
	}
	return redoError(r, block, "operation %02x is not known", r.Info)
}

// newTuple is a tuple being put together from block data.
type newTuple struct {
	buf [page.MaxTupleSize]byte
	n   int
}

// begin reads the 5-byte header and returns the rest of the data.
func (n *newTuple) begin(data []byte, xmin, xmax uint32, at page.TID) (rest []byte, ok bool) {
	if len(data) < lenTupleHeader {
		return nil, false
	}
	t := page.Tuple(n.buf[:page.TupleHeader])
	t.SetXmin(xmin)
	t.SetXmax(xmax)
	t.SetInfomask2(le.Uint16(data[0:]))
	t.SetInfomask(le.Uint16(data[2:]))
	t.SetHoff(data[4])
	t.SetCtid(at)
	n.n = page.TupleHeader
	return data[lenTupleHeader:], true
}

func (n *newTuple) add(b []byte) bool {
	if len(b) > len(n.buf)-n.n {
		return false
	}
	n.n += copy(n.buf[n.n:], b)
	return true
}

// tuple is the finished tuple, nil if its header does not fit in it.
func (n *newTuple) tuple() page.Tuple {
	t := page.Tuple(n.buf[:n.n])
	if hoff := t.Hoff(); hoff < page.TupleHeader || hoff > len(t) {
		return nil
	}
	return t
}

func redoInsert(r *Record, block int, p *page.Page) error {
	rec, err := r.HeapInsert()
	if err != nil {
		return err
	}
	b := &r.Blocks[block]
	var n newTuple
	rest, ok := n.begin(b.Data, r.XID, 0, page.TID{Block: b.ID.Block, Offset: rec.Off})
	if !ok || !n.add(rest) || n.tuple() == nil {
		return redoError(r, block, "block data of %d bytes makes no tuple", len(b.Data))
	}
	if b.WillInit {
		p.Init(0)
	}
	if !p.AddItemAt(rec.Off, n.tuple()) {
		return redoError(r, block, "no place for a tuple of %d bytes at item %d: %d items, room %d",
			n.n, rec.Off, p.MaxOffset(), p.Free())
	}
	if rec.Flags&AllVisibleCleared != 0 {
		p.SetFlag(page.AllVisible, false)
	}
	return nil
}

// setXmax replaces the Xmax of t and the bits that go with it.
func setXmax(t page.Tuple, xmax uint32, bits uint8) {
	m := t.Infomask() &^ (page.XmaxBits | page.Moved)
	m2 := t.Infomask2() &^ page.KeysUpdated
	if bits&bitIsMulti != 0 {
		m |= page.XmaxIsMulti
	}
	if bits&bitLockOnly != 0 {
		m |= page.XmaxLockOnly
	}
	if bits&bitExclusive != 0 {
		m |= page.XmaxExclusive
	}
	if bits&bitKeyShare != 0 {
		m |= page.XmaxKeyShare
	}
	if bits&bitKeysUpdated != 0 {
		m2 |= page.KeysUpdated
	}
	t.SetInfomask(m)
	t.SetInfomask2(m2)
	t.SetXmax(xmax)
	t.SetCid(0)
}

func redoDelete(r *Record, block int, p *page.Page) error {
	rec, err := r.HeapDelete()
	if err != nil {
		return err
	}
	t := p.Tuple(rec.Off)
	if t == nil {
		return redoError(r, block, "no tuple at item %d of %d to delete", rec.Off, p.MaxOffset())
	}
	setXmax(t, rec.Xmax, rec.Infobits)
	t.SetInfomask2(t.Infomask2() &^ page.HotUpdated)
	t.SetCtid(page.TID{Block: r.Blocks[block].ID.Block, Offset: rec.Off})
	p.NotePrunable(r.XID)
	if rec.Flags&AllVisibleCleared != 0 {
		p.SetFlag(page.AllVisible, false)
	}
	return nil
}

func redoLock(r *Record, block int, p *page.Page) error {
	rec, err := r.HeapLock()
	if err != nil {
		return err
	}
	t := p.Tuple(rec.Off)
	if t == nil {
		return redoError(r, block, "no tuple at item %d of %d to lock", rec.Off, p.MaxOffset())
	}
	setXmax(t, rec.Xmax, rec.Infobits)
	if t.LockedOnly() {
		t.SetInfomask2(t.Infomask2() &^ page.HotUpdated)
		t.SetCtid(page.TID{Block: r.Blocks[block].ID.Block, Offset: rec.Off})
	}
	return nil
}

func redoInplace(r *Record, block int, p *page.Page) error {
	off, err := r.HeapInplace()
	if err != nil {
		return err
	}
	t, data := p.Tuple(off), r.Blocks[block].Data
	if t == nil || len(t.Data()) != len(data) {
		return redoError(r, block, "no tuple with %d bytes of data at item %d of %d", len(data), off, p.MaxOffset())
	}
	copy(t.Data(), data)
	return nil
}

// redoUpdate replays the old version's half, the new version's half, or both,
// according to the block's slot and to whether there is another.
func redoUpdate(r *Record, block int, p *page.Page, hot bool) error {
	rec, err := r.HeapUpdate()
	if err != nil {
		return err
	}
	first := r.Block(0)
	if first < 0 || len(r.Blocks) > 2 {
		return redoError(r, block, "%d block references, want block 0 and at most block 1", len(r.Blocks))
	}
	next := page.TID{Block: r.Blocks[first].ID.Block, Offset: rec.NewOff}
	hasNew := block == first
	hasOld := !hasNew || len(r.Blocks) == 1
	var old page.Tuple
	if hasOld {
		if old = p.Tuple(rec.OldOff); old == nil {
			return redoError(r, block, "no tuple at item %d of %d to update", rec.OldOff, p.MaxOffset())
		}
	}
	if hasNew {
		if err := redoNewVersion(r, block, p, rec, old, next); err != nil {
			return err
		}
	}
	if hasOld {
		setXmax(old, rec.OldXmax, rec.OldInfobits)
		m2 := old.Infomask2() &^ page.HotUpdated
		if hot {
			m2 |= page.HotUpdated
		}
		old.SetInfomask2(m2)
		old.SetCtid(next)
		p.NotePrunable(r.XID)
		if rec.Flags&AllVisibleCleared != 0 {
			p.SetFlag(page.AllVisible, false)
		}
	}
	return nil
}

// redoNewVersion adds the new version; old is nil if it is on another page,
// and then lends no prefix or suffix.
func redoNewVersion(r *Record, block int, p *page.Page, rec HeapUpdateRec, old page.Tuple, at page.TID) error {
	b := &r.Blocks[block]
	var n newTuple
	if !n.assemble(b.Data, r.XID, rec, old, at) {
		return redoError(r, block, "block data of %d bytes and the old version's %d make no tuple", len(b.Data), len(old))
	}
	if b.WillInit {
		p.Init(0)
	}
	if !p.AddItemAt(rec.NewOff, n.tuple()) {
		return redoError(r, block, "no place for a tuple of %d bytes at item %d: %d items, room %d",
			n.n, rec.NewOff, p.MaxOffset(), p.Free())
	}
	if rec.Flags&NewAllVisibleCleared != 0 {
		p.SetFlag(page.AllVisible, false)
	}
	return nil
}

// assemble joins header, null bitmap or padding, the old version's prefix,
// what changed, and the old version's suffix.
func (n *newTuple) assemble(data []byte, xid uint32, rec HeapUpdateRec, old page.Tuple, at page.TID) bool {
	var shared [2]int // prefix, suffix
	for i, flag := range [...]uint8{prefixFromOld, suffixFromOld} {
		if rec.Flags&flag == 0 {
			continue
		}
		if len(data) < 2 {
			return false
		}
		shared[i], data = int(le.Uint16(data)), data[2:]
	}
	var lent []byte
	if old != nil {
		lent = old.Data()
	}
	prefix, suffix := shared[0], shared[1]
	if prefix > len(lent) || suffix > len(lent) {
		return false
	}
	rest, ok := n.begin(data, xid, rec.NewXmax, at)
	if !ok {
		return false
	}
	head := int(data[4]) - page.TupleHeader // bitmap and padding up to hoff
	if head < 0 || head > len(rest) {
		return false
	}
	return n.add(rest[:head]) && n.add(lent[:prefix]) && n.add(rest[head:]) &&
		n.add(lent[len(lent)-suffix:]) && n.tuple() != nil
}

// redoPrune sets line pointers as told and compacts.
func redoPrune(r *Record, block int, p *page.Page) error {
	rec, err := r.HeapPrune()
	if err != nil {
		return err
	}
	old := *p
	set := func(off uint16, id page.ItemID) bool { return p.ItemID(off) != 0 && p.SetItemID(off, id) }
	ok := true
	for i := 0; i+1 < rec.Redirected.Len(); i += 2 {
		to := rec.Redirected.At(i + 1)
		ok = ok && p.ItemID(to) != 0 && set(rec.Redirected.At(i), page.MakeItemID(int(to), page.Redirect, 0))
	}
	for i := range rec.Dead.Len() {
		ok = ok && set(rec.Dead.At(i), page.MakeItemID(0, page.Dead, 0))
	}
	for i := range rec.Unused.Len() {
		ok = ok && set(rec.Unused.At(i), 0)
	}
	if !ok {
		*p = old
		return redoError(r, block, "an item to prune is not among the page's %d or not in use", p.MaxOffset())
	}
	if err := p.Compact(); err != nil {
		*p = old
		return redoError(r, block, "%v", err)
	}
	return nil
}
