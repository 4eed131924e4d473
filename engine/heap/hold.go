package heap

import (
	"fmt"

	"tornpage/engine/buffer"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// op is the memory of one operation under way, used again. A change holds one
// or two heap pages and the map pages of those that are all-visible: at most
// four pins.
type op struct {
	h       *Heap
	next    *op // idle
	n       int // heap pages wanted
	blocks  [2]uint32
	mapped  [2]bool // with the map page
	fresh   bool    // the last one is new: nothing to read
	cleared [2]bool // its bit was cleared
	frames  [2]*buffer.Frame
	maps    [2]*buffer.Frame // of different pages, ascending
	nmaps   int
	ask     []uint32 // XIDs whose fate is needed
	prune   bool     // the page that was read is worth pruning
	plan    Plan
}

func (h *Heap) take() *op {
	o := h.idle
	if o == nil {
		return &op{h: h}
	}
	h.idle, o.next = o.next, nil
	return o
}

func (h *Heap) give(o *op) { o.next, h.idle = h.idle, o }

// want says which page hold is to give; mapped: with its map page.
func (o *op) want(block uint32, mapped bool) {
	o.n, o.fresh = 1, false
	o.blocks[0], o.mapped[0] = block, mapped
}

// wantTwo says so of two different pages.
func (o *op) wantTwo(a uint32, mappedA bool, b uint32, mappedB bool) {
	if a == b {
		invariant.Broken("E6", "block %d of rel %d is wanted twice", a, o.h.rel)
	}
	o.n, o.fresh = 2, false
	o.blocks, o.mapped = [2]uint32{a, b}, [2]bool{mappedA, mappedB}
}

// hold reserves, pins and then latches exclusively what is wanted: heap pages
// by block, then map pages, whose IDs are above all heap pages' (rule E6).
// drop lets go.
func (o *op) hold() error {
	var ids [2]page.ID
	o.nmaps = 0
	for i := range o.n {
		o.cleared[i] = false
		if !o.mapped[i] {
			continue
		}
		id := page.VMID(o.h.rel, o.blocks[i])
		if o.nmaps == 0 || ids[0] != id {
			ids[o.nmaps] = id
			o.nmaps++
		}
	}
	if o.nmaps == 2 && ids[1].Less(ids[0]) {
		ids[0], ids[1] = ids[1], ids[0]
	}
	if err := o.pin(&ids); err != nil {
		return err
	}
	if o.n == 2 && o.blocks[1] < o.blocks[0] {
		o.frames[1].Lock()
		o.frames[0].Lock()
	} else {
		for _, f := range o.frames[:o.n] {
			f.Lock()
		}
	}
	for _, f := range o.maps[:o.nmaps] {
		f.Lock()
	}
	return nil
}

// pin pins everything, or nothing.
func (o *op) pin(maps *[2]page.ID) error {
	pool := o.h.pg.Pool()
	total := o.n + o.nmaps
	if total > 1 { // buffer rule B7
		pool.Reserve(total)
	}
	var have [4]*buffer.Frame
	for i := range total {
		f, err := o.pinOne(i, maps)
		if err != nil {
			for _, f := range have[:i] {
				pool.Unpin(f)
			}
			if total > 1 {
				pool.Release(total)
			}
			return err
		}
		have[i] = f
	}
	copy(o.frames[:], have[:o.n])
	copy(o.maps[:], have[o.n:total])
	return nil
}

// pinOne pins the i-th page: heap pages come before map pages.
func (o *op) pinOne(i int, maps *[2]page.ID) (*buffer.Frame, error) {
	pool := o.h.pg.Pool()
	switch {
	case i >= o.n:
		return pool.Pin(maps[i-o.n])
	case o.fresh && i == o.n-1 && o.h.pg.Unmade(o.h.id(o.blocks[i])): // others may have met it meanwhile
		return pool.PinNew(o.h.id(o.blocks[i]))
	}
	return pool.Pin(o.h.id(o.blocks[i]))
}

// drop lets go of everything that hold gave.
func (o *op) drop() {
	pool := o.h.pg.Pool()
	for _, f := range o.maps[:o.nmaps] {
		f.Unlock()
		pool.Unpin(f)
	}
	for _, f := range o.frames[:o.n] {
		f.Unlock()
		pool.Unpin(f)
	}
	if total := o.n + o.nmaps; total > 1 {
		pool.Release(total)
	}
	o.frames, o.maps = [2]*buffer.Frame{}, [2]*buffer.Frame{}
}

// needsMap reports that held page i is all-visible and its map page is not
// held: it has to be, for a change.
func (o *op) needsMap(i int) (bool, error) {
	if o.frames[i].Page().Flags()&page.AllVisible == 0 {
		return false, nil
	}
	if !o.mapped[i] {
		return true, nil
	}
	f := o.mapFrame(i)
	if m := f.Page(); page.VMGet(m, o.blocks[i]) == 0 && m.IsZero() {
		return false, &Corrupt{ID: o.frames[i].ID(), Reason: fmt.Sprintf("the page is all-visible, and %v, which must say so too, does not exist", f.ID())}
	}
	return false, nil
}

// clearVisible makes held page i and its map forget that all is visible, and
// gives the record's flag for it, or 0 (rule E7).
func (o *op) clearVisible(i int, flag uint8) uint8 {
	p := o.frames[i].Page()
	if p.Flags()&page.AllVisible == 0 {
		return 0
	}
	p.SetFlag(page.AllVisible, false)
	f := o.mapFrame(i)
	f.MarkDirty()
	page.VMSet(f.Page(), o.blocks[i], 0)
	o.cleared[i] = true
	o.h.m.Mark("heap.vm-cleared")
	return flag
}

// mapFrame is the map page of held page i.
func (o *op) mapFrame(i int) *buffer.Frame {
	id := page.VMID(o.h.rel, o.blocks[i])
	for _, f := range o.maps[:o.nmaps] {
		if f.ID() == id {
			return f
		}
	}
	invariant.Broken("E7", "%v is all-visible, and changed without its map page %v", o.frames[i].ID(), id)
	return nil
}

// append finishes the record in m with the map pages that it changes by its
// flags, and appends it.
func (o *op) append(m *wal.MTR) error {
	slot := o.n
	for _, f := range o.maps[:o.nmaps] {
		for i := range o.n {
			if o.cleared[i] && page.VMID(o.h.rel, o.blocks[i]) == f.ID() {
				wal.ImplyVM(m, slot, f.ID(), f.Page())
				slot++
				break
			}
		}
	}
	_, err := o.h.pg.Append(m)
	return err
}
