package page_test

import (
	"testing"

	"tornpage/engine/page"
)

// FuzzPage: rule P2, no bytes make any method panic.
func FuzzPage(f *testing.F) {
	good := heapPage(f, 5)
	page.Seal(heapID, good, true)
	f.Add(good[:], uint16(2), true)
	dead := heapPage(f, 5)
	_ = dead.Prune([]uint16{1, 2}, []uint16{3}, []uint16{5})
	f.Add(dead[:], uint16(1), false)
	var status page.Page
	page.InitStatus(&status)
	page.Seal(page.StatusID(1), &status, true)
	f.Add(status[:], uint16(1), false)
	page.InitVM(&status)
	page.Seal(page.VMID(1, 0), &status, true)
	f.Add(status[:], uint16(3), false)
	f.Add([]byte{}, uint16(0), false)
	f.Fuzz(func(t *testing.T, b []byte, off uint16, fixHeader bool) {
		var p page.Page
		copy(p[:], b)
		if fixHeader { // get past Verify to the items
			p[18], p[19] = 4, 0x20
			p.SetFlags(p.Flags() & 7)
		}
		_ = page.Verify(page.StatusID(1), &p, true)
		_ = page.Verify(page.VMID(1, 0), &p, true)
		headerOK := page.Verify(heapID, &p, false) == nil
		itemsOK := headerOK && page.ValidateItems(heapID, &p) == nil
		p.Hole()
		p.SpecialArea()
		for o := range p.MaxOffset() + 2 {
			tup := p.Tuple(o)
			if itemsOK && tup == nil && p.ItemID(o).Flags() == page.Normal {
				t.Fatalf("item %d passed ValidateItems and is no tuple", o)
			}
			if tup != nil {
				tup.Data()
				tup.SetCtid(tup.Ctid())
			}
		}
		if itemsOK {
			if err := p.Compact(); err != nil {
				t.Fatalf("a page that passed ValidateItems does not compact: %v", err)
			}
		}
		operate(&p, off)
	})
}

func operate(p *page.Page, off uint16) {
	x := page.Xmax{XID: 9, Infomask: page.XmaxLockOnly}
	p.DeleteTuple(1, off, x)
	p.LockTuple(1, off, x)
	p.SupersedeTuple(off, x, page.TID{Block: 1, Offset: off}, true)
	p.InsertTuple(1, 0, page.NewTuple(nil, 1, 1, 1, []byte("abc")))
	p.InsertTuple(1, off, page.NewTuple(nil, 1, 1, 1, []byte("abc")))
	p.InsertItemAt(off, []byte("abcdefgh"))
	p.DeleteItemAt(off)
	_ = p.Prune([]uint16{off, 1}, []uint16{2}, []uint16{3})
	_ = p.Reclaim([]uint16{1, off})
	page.VMSet(p, uint32(off), page.VMGet(p, 1))
	_ = p.Compact()
}
