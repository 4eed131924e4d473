package heap

import (
	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// Delete deletes the version at tid, whose row lock the caller holds.
func (h *Heap) Delete(x Xact, tid page.TID) (Result, error) { return h.mark(x, tid, true) }

// Lock puts a mark on the version at tid, whose row lock the caller holds,
// that says so on the page: what SELECT FOR UPDATE writes. It protects nothing
// by itself.
func (h *Heap) Lock(x Xact, tid page.TID) (Result, error) { return h.mark(x, tid, false) }

// mark deletes or locks.
func (h *Heap) mark(x Xact, tid page.TID, deletes bool) (Result, error) {
	xid, err := x.XID()
	if err != nil {
		return Invisible, err
	}
	o := h.take()
	defer h.give(o)
	mapped := false
	for {
		if err := h.pg.Admit(1, 0); err != nil {
			return Invisible, err
		}
		o.want(tid.Block, mapped)
		if err := o.hold(); err != nil {
			return Invisible, err
		}
		res, ask, err := h.judge(x, o.frames[0].Page(), tid)
		again := ask != 0
		switch {
		case err != nil || res != Done && !again:
		case again:
			o.ask = append(o.ask, ask)
		case !deletes:
			err = h.lockForUpdate(o, x, xid, tid)
		default:
			if mapped, err = o.needsMap(0); mapped || err != nil {
				again = true
				break
			}
			err = h.deleteHere(o, xid, tid)
		}
		o.drop()
		if err != nil {
			return Invisible, err
		}
		if !again {
			return res, nil
		}
		if err := o.resolve(x); err != nil {
			return Invisible, err
		}
	}
}

func (h *Heap) deleteHere(o *op, xid uint32, tid page.TID) error {
	f := o.frames[0]
	f.MarkDirty()
	flags := o.clearVisible(0, wal.AllVisibleCleared)
	if !f.Page().DeleteTuple(tid.Block, tid.Offset, page.Xmax{XID: xid, Infomask2: page.KeysUpdated}) {
		invariant.Broken("E2", "rel %d %v: no version to delete", h.rel, tid)
	}
	h.Stats.Deleted++
	m := h.pg.MTR()
	defer h.pg.Done(m)
	wal.HeapDelete(m, xid, f.ID(), f.Page(), tid.Offset, flags)
	return o.append(m)
}

// lockForUpdate locks unless the transaction has done so already.
func (h *Heap) lockForUpdate(o *op, x Xact, xid uint32, tid page.TID) error {
	const exclusive = page.XmaxLockOnly | page.XmaxExclusive
	t := o.frames[0].Page().Tuple(tid.Offset)
	if t.Infomask()&exclusive == exclusive && t.Infomask2()&page.KeysUpdated != 0 && x.Own(t.Xmax()) {
		return nil
	}
	return h.lock(o, tid, page.Xmax{XID: xid, Infomask: exclusive, Infomask2: page.KeysUpdated})
}

// lock puts a locking Xmax on the version at tid of the held page. All that
// is visible stays so: the map keeps its bit.
func (h *Heap) lock(o *op, tid page.TID, bits page.Xmax) error {
	f := o.frames[0]
	f.MarkDirty()
	h.m.Charge(host.WorkTuple, 1)
	if !f.Page().LockTuple(tid.Block, tid.Offset, bits) {
		invariant.Broken("E2", "rel %d %v: no version to lock", h.rel, tid)
	}
	h.Stats.Locked++
	m := h.pg.MTR()
	defer h.pg.Done(m)
	wal.HeapLock(m, bits.XID, f.ID(), f.Page(), tid.Offset)
	return o.append(m)
}
