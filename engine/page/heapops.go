package page

import "fmt"

// The operations of the heap on one page, as the access method performs them.
// Each changes bytes only; latches, log and LSN are the caller's.

// InsertTuple stores t and makes its Ctid point at itself. off 0: the page
// chooses; otherwise as AddItemAt. False: no room, or t is no tuple.
func (p *Page) InsertTuple(block uint32, off uint16, t Tuple) (uint16, bool) {
	ok := t.sane()
	if !ok {
		return 0, false
	}
	if off == 0 {
		off, ok = p.AddItem(t)
	} else {
		ok = p.AddItemAt(off, t)
	}
	if !ok {
		return 0, false
	}
	p.Tuple(off).SetCtid(TID{Block: block, Offset: off})
	return off, true
}

// Xmax describes a new Xmax: who, by which command, and the bits that say
// what it means (of XmaxBits, and KeysUpdated).
type Xmax struct {
	XID       uint32
	Cid       uint32
	Infomask  uint16
	Infomask2 uint16
}

func (t Tuple) putXmax(x Xmax) {
	t.SetInfomask(t.Infomask()&^(XmaxBits|Moved) | x.Infomask&XmaxBits)
	t.SetInfomask2(t.Infomask2()&^KeysUpdated | x.Infomask2&KeysUpdated)
	t.SetXmax(x.XID)
	t.SetCid(x.Cid)
}

// DeleteTuple marks the tuple at off deleted. False: there is none.
func (p *Page) DeleteTuple(block uint32, off uint16, x Xmax) bool {
	t := p.Tuple(off)
	if t == nil {
		return false
	}
	t.putXmax(x)
	t.SetInfomask2(t.Infomask2() &^ HotUpdated)
	t.SetCtid(TID{Block: block, Offset: off})
	p.NotePrunable(x.XID)
	return true
}

// SupersedeTuple marks the tuple at off as updated by the version at next.
// hot: next is on this page and heap-only. False: there is no such tuple.
func (p *Page) SupersedeTuple(off uint16, x Xmax, next TID, hot bool) bool {
	t := p.Tuple(off)
	if t == nil {
		return false
	}
	t.putXmax(x)
	t.SetInfomask2(t.Infomask2() &^ HotUpdated)
	if hot {
		t.SetInfomask2(t.Infomask2() | HotUpdated)
	}
	t.SetCtid(next)
	p.NotePrunable(x.XID)
	return true
}

// LockTuple puts a locking Xmax on the tuple at off. False: there is none.
func (p *Page) LockTuple(block uint32, off uint16, x Xmax) bool {
	t := p.Tuple(off)
	if t == nil {
		return false
	}
	t.putXmax(x)
	if t.LockedOnly() {
		// A row that is only locked has no newer version any more.
		t.SetInfomask2(t.Infomask2() &^ HotUpdated)
		t.SetCtid(TID{Block: block, Offset: off})
	}
	return true
}

// Prune turns line pointers into redirects (pairs from, to), dead and unused
// ones and compacts the page. An error leaves the page as it was. PruneXID
// and PageFull are the caller's: they are hints and not logged.
func (p *Page) Prune(redirected, dead, unused []uint16) error {
	if len(redirected)%2 != 0 {
		return fmt.Errorf("prune: %d redirect offsets, want pairs", len(redirected))
	}
	old := *p
	ok := true
	for i := 0; i < len(redirected); i += 2 {
		from, to := redirected[i], redirected[i+1]
		ok = ok && p.ItemID(from) != 0 && p.ItemID(to) != 0 &&
			p.SetItemID(from, MakeItemID(int(to), Redirect, 0))
	}
	for _, off := range dead {
		ok = ok && p.ItemID(off) != 0 && p.SetItemID(off, MakeItemID(0, Dead, 0))
	}
	for _, off := range unused {
		ok = ok && p.ItemID(off) != 0 && p.SetItemID(off, 0)
	}
	if !ok {
		*p = old
		return fmt.Errorf("prune: an offset of redirected %v, dead %v, unused %v is not in use; the page has %d",
			redirected, dead, unused, p.MaxOffset())
	}
	return p.compact(&old)
}

// Reclaim makes dead line pointers unused and drops unused ones at the end of
// the array, as lazy_vacuum_heap_page does: no index leads there any more. An
// error leaves the page as it was.
func (p *Page) Reclaim(dead []uint16) error {
	for i, off := range dead {
		if id := p.ItemID(off); id.Flags() != Dead || id.Len() != 0 {
			for _, undo := range dead[:i] {
				p.SetItemID(undo, MakeItemID(0, Dead, 0))
			}
			return fmt.Errorf("reclaim: item %d of %d is not a dead line pointer without storage (or is named twice)",
				off, p.MaxOffset())
		}
		p.SetItemID(off, 0)
	}
	p.TruncateLines()
	return nil
}
