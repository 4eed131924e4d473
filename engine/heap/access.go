package heap

import (
	"errors"

	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// worthPruning tells whether a page that was looked at should be pruned
// (heap_page_prune_opt): it says that something can go, that is so for every
// snapshot, and there is less room than the fill factor asks for, or a tenth
// of the page, or an update has found none.
func (h *Heap) worthPruning(p *page.Page, fates Fates) bool {
	xid := p.PruneXID()
	if xid == 0 || p.Flags()&page.PageFull == 0 && h.room(p) >= h.minFree {
		return false
	}
	switch fates.Fate(xid) {
	case Running, Recent:
		return false
	}
	return true
}

// pruneIfWorth prunes the block if the one that read it wished so. The wish
// was noted under a shared latch; now the page is looked at again. A disk that
// is full keeps nobody from reading.
func (o *op) pruneIfWorth(x Xact, block uint32) error {
	for o.prune {
		o.prune = false
		err := o.h.pg.Admit(1, 2*page.MaxHeapTuples)
		if errors.Is(err, engine.ErrFull) {
			o.h.m.Mark("heap.prune-refused")
			return nil
		}
		if err != nil {
			return err
		}
		o.want(block, false)
		if err := o.hold(); err != nil {
			return err
		}
		err = o.pruneHeld(x)
		o.drop()
		if err != nil {
			return err
		}
		if len(o.ask) > 0 {
			o.prune = true
			if err := o.resolve(x); err != nil {
				return err
			}
		}
	}
	return nil
}

// pruneHeld prunes the held page, or notes the fates that it needs first.
func (o *op) pruneHeld(x Xact) error {
	h, f, plan := o.h, o.frames[0], &o.plan
	p := f.Page()
	if isNew(p) || !h.worthPruning(p, x) {
		return nil
	}
	plan.Indexed = true
	plan.Make(p, x)
	h.m.Charge(host.WorkPrune, 1)
	switch {
	case len(plan.Ask) > 0:
		o.ask = append(o.ask, plan.Ask...)
		return nil
	case plan.Empty():
		// Hints, not logged: do not come again before that XID has ended.
		p.SetPruneXID(plan.Prunable)
		p.SetFlag(page.PageFull, false)
		return nil
	}
	f.MarkDirty()
	if err := p.Prune(plan.Redirected, plan.Dead, plan.Unused); err != nil {
		return &Corrupt{ID: f.ID(), Reason: err.Error()}
	}
	p.SetPruneXID(plan.Prunable)
	p.SetFlag(page.PageFull, false)
	h.Stats.Pruned++
	h.Stats.Removed += uint64(plan.Removed)
	h.m.Mark("heap.pruned-on-read")
	if len(plan.Redirected) > 0 {
		h.m.Mark("heap.redirected")
	}
	if len(plan.Dead) > 0 {
		h.m.Mark("heap.line-dead")
	}
	m := h.pg.MTR()
	defer h.pg.Done(m)
	wal.HeapPrune(m, f.ID(), p, plan.LatestRemoved, plan.Redirected, plan.Dead, plan.Unused)
	return o.append(m)
}
