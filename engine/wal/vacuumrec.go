package wal

import (
	"fmt"

	"tornpage/engine/invariant"
	"tornpage/engine/page"
)

// HeapVacuum describes that the dead line pointers unused of p became unused:
// page.Page.Reclaim.
func HeapVacuum(m *MTR, id page.ID, p *page.Page, unused []uint16) {
	m.Reset(RmgrHeap2, InfoHeap2Vacuum, 0)
	m.SetMain([]byte{byte(len(unused)), byte(len(unused) >> 8)})
	m.Touch(0, id, p, Standard)
	for _, off := range unused {
		m.AddData(0, []byte{byte(off), byte(off >> 8)})
	}
}

// HeapVisible describes that the heap page has become all-visible: its flag
// AllVisible, and bits (VMAllVisible) of its block on the map page, are set.
// cutoffXID is the newest XID that this rests on, for replicas' read views. A
// map page whose LSN is 0 is new (InitVM): redo makes it.
//
// A page without line pointers in use must not be marked: see rule W8.
func HeapVisible(m *MTR, heapID page.ID, heapPage *page.Page, vmID page.ID, vmPage *page.Page, cutoffXID uint32, bits uint8) {
	if vmID != page.VMID(heapID.Rel, heapID.Block) || heapID.Rel.IsVM() {
		invariant.Broken("W6", "%v marks %v, whose bits lie on %v", vmID, heapID, page.VMID(heapID.Rel, heapID.Block))
	}
	if !hasItems(heapPage) {
		invariant.Broken("W8", "%v is empty and marked all-visible", heapID)
	}
	m.Reset(RmgrHeap2, InfoHeap2Visible, 0)
	var b [lenHeapVisible]byte
	le.PutUint32(b[:], cutoffXID)
	b[4] = bits
	m.SetMain(b[:])
	var flags TouchFlags
	if page.LSNOf(vmID, vmPage) == 0 {
		flags = WillInit
	}
	m.Touch(0, vmID, vmPage, flags)
	m.Touch(1, heapID, heapPage, Standard)
}

func hasItems(p *page.Page) bool {
	for off, last := uint16(1), p.MaxOffset(); off <= last; off++ {
		if p.ItemID(off).Flags() != page.Unused {
			return true
		}
	}
	return false
}

// HeapVisibleRec is the main data of Heap2/VISIBLE.
type HeapVisibleRec struct {
	Cutoff uint32 // the newest XID that it rests on
	Bits   uint8  // of the visibility map
}

// HeapVacuum decodes the offsets of Heap2/VACUUM, which are absent if there is
// an image.
func (r *Record) HeapVacuum() (unused OffsetList, err error) {
	if len(r.Main) != lenHeapVacuum {
		return nil, wrongLength(r, "main data", len(r.Main), lenHeapVacuum)
	}
	if len(r.Blocks) != 1 {
		return nil, fmt.Errorf("%s at %v: %d block references, want 1", OpName(r.Rmgr, r.Info), r.LSN, len(r.Blocks))
	}
	data := r.Blocks[0].Data
	if len(data) == 0 && r.Blocks[0].HasImage {
		return nil, nil
	}
	if n := 2 * int(le.Uint16(r.Main)); len(data) != n {
		return nil, wrongLength(r, "block data", len(data), n)
	}
	return OffsetList(data), nil
}

// HeapVisible decodes r's main data.
func (r *Record) HeapVisible() (h HeapVisibleRec, err error) {
	b := r.Main
	if len(b) != lenHeapVisible {
		return h, wrongLength(r, "main data", len(b), lenHeapVisible)
	}
	h = HeapVisibleRec{Cutoff: le.Uint32(b), Bits: b[4]}
	if valid := page.VMAllVisible | page.VMAllFrozen; h.Bits == 0 || h.Bits&^valid != 0 {
		return h, fmt.Errorf("%s at %v: bits %02x of the visibility map, want some of %02x",
			OpName(r.Rmgr, r.Info), r.LSN, h.Bits, valid)
	}
	return h, nil
}

// redoVacuum gives up dead line pointers as told.
func redoVacuum(r *Record, block int, p *page.Page) error {
	unused, err := r.HeapVacuum()
	if err != nil {
		return err
	}
	old := *p
	for i := range unused.Len() {
		off := unused.At(i)
		if p.ItemID(off) != page.MakeItemID(0, page.Dead, 0) {
			*p = old
			return redoError(r, block, "item %d of %d is not a dead line pointer without storage", off, p.MaxOffset())
		}
		p.SetItemID(off, 0)
	}
	p.TruncateLines()
	return nil
}

// redoVisible replays the half of the record that block is: slot 0 the map
// page, slot 1 the heap page.
func redoVisible(r *Record, block int, p *page.Page) error {
	h, err := r.HeapVisible()
	if err != nil {
		return err
	}
	vm, heap := r.Block(0), r.Block(1)
	if len(r.Blocks) != 2 || vm < 0 || heap < 0 {
		return redoError(r, block, "%d block references, want block 0 and block 1", len(r.Blocks))
	}
	id := r.Blocks[heap].ID
	if want := page.VMID(id.Rel, id.Block); r.Blocks[vm].ID != want || id.Rel.IsVM() {
		return redoError(r, block, "bits of %v on %v, want on %v", id, r.Blocks[vm].ID, want)
	}
	if block == heap {
		p.SetFlag(page.AllVisible, true)
		return nil
	}
	if p.IsZero() {
		page.InitVM(p)
	}
	page.VMSet(p, id.Block, page.VMGet(p, id.Block)|h.Bits)
	return nil
}
