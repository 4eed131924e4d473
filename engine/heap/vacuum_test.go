package heap

import (
	"slices"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// vacuum is a small one, for what the heap has to live with: line pointers that
// are given up and used again, and all-visible pages.
func (c *client) vacuum() {
	if c.vacuuming {
		return
	}
	c.vacuuming = true
	defer func() { c.vacuuming = false }()
	n, err := c.pg.Blocks(sceneRel)
	c.must(err)
	for b := range n {
		if !c.vacuumBlock(b, c.pruneFor) {
			continue
		}
		if len(c.dead) > 0 {
			// Index entries go first; nobody adds one meanwhile, since a dead line
			// pointer is not used again.
			for key, list := range c.index {
				c.index[key] = slices.DeleteFunc(list, func(t page.TID) bool { return t.Block == b && slices.Contains(c.dead, t.Offset) })
			}
			c.m.Sleep(0)
			c.vacuumBlock(b, c.giveUp)
		}
		c.vacuumBlock(b, c.markVisible)
	}
	c.vacuums++
}

// vacuumBlock has step change a held block. False: refused or not at hand.
func (c *client) vacuumBlock(b uint32, step func(o *op, m *wal.MTR) (changed, ok bool)) bool {
	o := c.h.take()
	defer c.h.give(o)
	if !c.done(c.pg.Admit(2, 1000)) {
		return false
	}
	o.want(b, true)
	c.must(o.hold())
	defer o.drop()
	if isNew(o.frames[0].Page()) {
		return false
	}
	m := c.pg.MTR()
	defer c.pg.Done(m)
	o.frames[0].MarkDirty()
	changed, ok := step(o, m)
	if changed {
		_, err := c.pg.Append(m)
		c.must(err)
	}
	c.free.Set(b, c.h.room(o.frames[0].Page()))
	return ok
}

func (c *client) pruneFor(o *op, m *wal.MTR) (changed, ok bool) {
	p := o.frames[0].Page()
	o.plan.Indexed = true
	o.plan.Make(p, c.x)
	if len(o.plan.Ask) > 0 {
		for _, xid := range o.plan.Ask {
			c.x.known[xid] = true
		}
		return false, false
	}
	if changed = !o.plan.Empty(); changed {
		c.must(p.Prune(o.plan.Redirected, o.plan.Dead, o.plan.Unused))
		wal.HeapPrune(m, o.frames[0].ID(), p, o.plan.LatestRemoved, o.plan.Redirected, o.plan.Dead, o.plan.Unused)
	}
	c.dead = c.dead[:0]
	for off := uint16(1); off <= p.MaxOffset(); off++ {
		if p.ItemID(off).Flags() == page.Dead {
			c.dead = append(c.dead, off)
		}
	}
	return changed, true
}

func (c *client) giveUp(o *op, m *wal.MTR) (changed, ok bool) {
	c.must(o.frames[0].Page().Reclaim(c.dead))
	wal.HeapVacuum(m, o.frames[0].ID(), o.frames[0].Page(), c.dead)
	return true, true
}

func (c *client) markVisible(o *op, m *wal.MTR) (changed, ok bool) {
	p := o.frames[0].Page()
	rows := false
	for off := uint16(1); off <= p.MaxOffset(); off++ {
		if p.ItemID(off).Flags() == page.Dead {
			return false, true
		}
		if t := p.Tuple(off); t != nil {
			rows = true
			if xmax := xmaxOf(t); c.x.Fate(t.Xmin()) != Gone || xmax != 0 && c.x.Fate(xmax) != Aborted {
				return false, true
			}
		}
	}
	if !rows || p.Flags()&page.AllVisible != 0 {
		return false, true
	}
	vm := o.maps[0]
	vm.MarkDirty()
	if vm.Page().IsZero() {
		page.InitVM(vm.Page())
	}
	p.SetFlag(page.AllVisible, true)
	page.VMSet(vm.Page(), o.blocks[0], page.VMAllVisible)
	wal.HeapVisible(m, o.frames[0].ID(), p, vm.ID(), vm.Page(), 0, page.VMAllVisible)
	c.mapped++
	return true, true
}
