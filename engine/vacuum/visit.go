package vacuum

import (
	"fmt"

	"tornpage/engine/buffer"
	"tornpage/engine/heap"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// recordData bounds the data of a record of this package in bytes, for Admit:
// a prune with a redirect, two offsets, for every tuple that fits on a page.
const recordData = 4 * page.MaxHeapTuples

// pins is what a visit holds at once: the heap page and its map page.
const pins = 2

// visit does what there is to do on one block, record by record, and leaves
// what it saw last in v.sight. First it gives up the line pointers in v.giveUp
// if there are any; otherwise it prunes. Each record has a hold of the latches
// of its own (pager rule P1).
func (v *Vacuum) visit(block uint32) error {
	second := len(v.giveUp) > 0
	for {
		if err := v.pg.Admit(pins, recordData); err != nil {
			return err
		}
		v.xids = v.xids[:0]
		again, err := v.hold(block, second)
		if err != nil || !again {
			return err
		}
		if len(v.xids) > 0 {
			v.m.Mark("vacuum.fate-asked")
			if err := v.h.Resolve(v.xids...); err != nil {
				return err
			}
		}
		if err := v.pg.Failed(); err != nil {
			return err
		}
	}
}

// hold pins and latches the block for one step.
func (v *Vacuum) hold(block uint32, second bool) (again bool, err error) {
	pool := v.pg.Pool()
	pool.Reserve(pins)
	defer pool.Release(pins)
	reads := pool.Stats().Reads
	vf, err := pool.Pin(page.VMID(v.table.Rel, block))
	if err != nil {
		return false, err
	}
	defer pool.Unpin(vf)
	f, err := pool.Pin(page.ID{Rel: v.table.Rel, Block: block})
	if err != nil {
		return false, err
	}
	defer pool.Unpin(f)
	v.balance += v.cfg.CostHit
	if pool.Stats().Reads != reads { // ours, or somebody else's: an estimate
		v.balance += v.cfg.CostMiss - v.cfg.CostHit
	}
	f.Lock()
	defer f.Unlock()
	v.m.Charge(host.WorkPrune, 1)
	return v.step(f, vf, second)
}

// step makes one change of the page, or none. again: it did, or needs the
// fates of v.xids first.
func (v *Vacuum) step(f, vf *buffer.Frame, second bool) (again bool, err error) {
	p := f.Page()
	if p.Upper() == 0 { // pager rule P6: its maker died or has not come yet
		v.sight.forget()
		v.sight.free = emptyFree
		v.stats.New++
		v.m.Mark("vacuum.new-page")
		return false, nil
	}
	if len(v.giveUp) > 0 {
		return true, v.reclaim(f)
	}
	if !second {
		if did, err := v.prune(f); did || err != nil {
			return true, err
		}
	}
	v.sight.look(p, v.h, v.table.Lines)
	if len(v.sight.ask) > 0 {
		v.xids = append(v.xids, v.sight.ask...)
		return true, nil
	}
	if len(v.indexes) == 0 && len(v.sight.dead) > 0 { // no entry can lead there
		v.stats.Dead += uint64(len(v.sight.dead))
		v.giveUp = append(v.giveUp, v.sight.dead...)
		return true, v.reclaim(f)
	}
	if v.sight.allVisible {
		return false, v.markVisible(f, vf)
	}
	return false, v.bitsAgree(f, vf)
}

// emptyFree is the room of a page once it is made (an initialised one's Free).
const emptyFree = page.Size - page.HeaderSize - page.ItemIDSize

// prune prunes the latched page. did: it changed the page, or needs fates.
func (v *Vacuum) prune(f *buffer.Frame) (did bool, err error) {
	id, p, plan := f.ID(), f.Page(), &v.plan
	plan.Indexed = len(v.indexes) > 0
	plan.Make(p, v.h)
	if len(plan.Ask) > 0 {
		v.xids = append(v.xids, plan.Ask...)
		return true, nil
	}
	if plan.Empty() {
		return false, nil
	}
	f.MarkDirty()
	if err := p.Prune(plan.Redirected, plan.Dead, plan.Unused); err != nil {
		return true, &heap.Corrupt{ID: id, Reason: err.Error()}
	}
	p.SetPruneXID(plan.Prunable)
	m := v.pg.MTR()
	defer v.pg.Done(m)
	wal.HeapPrune(m, id, p, plan.LatestRemoved, plan.Redirected, plan.Dead, plan.Unused)
	v.stats.Pruned++
	v.balance += v.cfg.CostDirty
	v.m.Mark("vacuum.pruned")
	_, err = v.pg.Append(m)
	return true, err
}

// reclaim makes the line pointers in v.giveUp unused: no index entry leads to
// them (rule V1).
func (v *Vacuum) reclaim(f *buffer.Frame) error {
	id, p := f.ID(), f.Page()
	for _, off := range v.giveUp {
		if p.ItemID(off).Flags() != page.Dead {
			return &heap.Corrupt{ID: id, Off: off, Reason: "was a dead line pointer, and only this vacuum may give it up, yet it is none any more"}
		}
	}
	f.MarkDirty()
	if err := p.Reclaim(v.giveUp); err != nil {
		return &heap.Corrupt{ID: id, Reason: err.Error()}
	}
	m := v.pg.MTR()
	defer v.pg.Done(m)
	wal.HeapVacuum(m, id, p, v.giveUp)
	v.stats.Reclaimed += uint64(len(v.giveUp))
	v.giveUp = v.giveUp[:0]
	v.balance += v.cfg.CostDirty
	v.m.Mark("vacuum.reclaimed")
	_, err := v.pg.Append(m)
	return err
}

// markVisible sets the page's flag and its bit on the map, if they are not set
// (rule V3).
func (v *Vacuum) markVisible(f, vf *buffer.Frame) error {
	vf.Lock()
	defer vf.Unlock()
	id, p, vm := f.ID(), f.Page(), vf.Page()
	bits := page.VMGet(vm, id.Block)
	if p.Flags()&page.AllVisible != 0 && bits&page.VMAllVisible != 0 {
		return nil
	}
	f.MarkDirty()
	vf.MarkDirty()
	if vm.IsZero() {
		page.InitVM(vm)
	}
	p.SetFlag(page.AllVisible, true)
	page.VMSet(vm, id.Block, bits|page.VMAllVisible)
	m := v.pg.MTR()
	defer v.pg.Done(m)
	wal.HeapVisible(m, id, p, vf.ID(), vm, v.sight.cutoff, page.VMAllVisible)
	v.stats.Visible++
	v.balance += v.cfg.CostDirty
	v.m.Mark("vacuum.visible")
	_, err := v.pg.Append(m)
	return err
}

// bitsAgree refuses a page that the map, or its own flag, calls all-visible
// though it is not: later vacuums would pass over it.
func (v *Vacuum) bitsAgree(f, vf *buffer.Frame) error {
	vf.RLock()
	bit := page.VMGet(vf.Page(), f.ID().Block)&page.VMAllVisible != 0
	vf.RUnlock()
	flag := f.Page().Flags()&page.AllVisible != 0
	if !bit && !flag {
		return nil
	}
	return &heap.Corrupt{ID: f.ID(), Reason: fmt.Sprintf(
		"not all-visible (%d dead line pointers, %d dead rows), yet its flag says %t and the visibility map %t",
		len(v.sight.dead), v.sight.recent, flag, bit)}
}
