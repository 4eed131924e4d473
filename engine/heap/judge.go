package heap

import (
	"tornpage/engine/buffer"
	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
)

// put stores t on the latched page, which has room for it.
func (h *Heap) put(f *buffer.Frame, t page.Tuple) page.TID {
	p := f.Page()
	if isNew(p) {
		p.Init(0)
	}
	h.m.Charge(host.WorkTuple, 1)
	off, ok := p.InsertTuple(f.ID().Block, 0, t)
	if !ok {
		invariant.Broken("E5", "%v: no room for %d bytes (free %d, %d items of %d), though it was chosen for them",
			f.ID(), len(t), p.Free(), p.MaxOffset(), h.lines)
	}
	return page.TID{Block: f.ID().Block, Offset: off}
}

// judge tells whether x, which holds the row lock of the version at tid, may
// change it (HeapTupleSatisfiesUpdate). ask not 0: that XID's fate is needed.
func (h *Heap) judge(x Xact, p *page.Page, tid page.TID) (res Result, ask uint32, err error) {
	t := p.Tuple(tid.Offset)
	if t == nil {
		if p.ItemID(tid.Offset).Flags() == page.Normal {
			err = h.corrupt(tid, "no tuple")
		}
		return Invisible, 0, err
	}
	h.m.Charge(host.WorkTuple, 1)
	if xmin := t.Xmin(); !x.Own(xmin) {
		switch fateOfXmin(t, x) {
		case AskFate:
			return Invisible, xmin, nil
		case Running, Aborted:
			return Invisible, 0, nil
		}
	}
	xmax := xmaxOf(t)
	if xmax == 0 {
		return Done, 0, nil
	}
	if x.Own(xmax) {
		return SelfModified, 0, nil
	}
	switch x.Fate(xmax) {
	case AskFate:
		return Invisible, xmax, nil
	case Aborted:
		return Done, 0, nil
	case Running:
		invariant.Broken("E2", "rel %d %v was changed by XID %d, which runs, while another transaction has its row lock",
			h.rel, tid, xmax)
	}
	if t.Ctid() == tid {
		return Deleted, 0, nil
	}
	return Updated, 0, nil
}
