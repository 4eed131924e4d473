package heap

import (
	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// update is one Update under way.
type update struct {
	h          *Heap
	x          Xact
	xid        uint32
	old        page.TID
	t          page.Tuple
	hotAllowed bool
	oldMapped  bool // the map page of the old version's page is needed
	to         page.TID
	hot        bool
}

// Update makes t, whose header it fills in, the newer version of the one at
// tid, whose row lock the caller holds. hotAllowed: no indexed column changes,
// so that a version on the same page needs no index entry; hot tells that it
// was made so.
//
// The order is PostgreSQL's (heap_update): the same page if there is room;
// otherwise a LOCK record says that the old version is spoken for, the search
// for a page is Insert's, and one record changes both pages. engine.ErrFull
// refuses the update; it may leave that lock, which means nothing.
func (h *Heap) Update(x Xact, tid page.TID, t page.Tuple, hotAllowed bool) (res Result, to page.TID, hot bool, err error) {
	if err := h.fitsPage(t); err != nil {
		return Invisible, to, false, err
	}
	xid, err := x.XID()
	if err != nil {
		return Invisible, to, false, err
	}
	o := h.take()
	defer h.give(o)
	u := update{h: h, x: x, xid: xid, old: tid, t: t, hotAllowed: hotAllowed}
	res, away, err := u.home(o)
	if away && err == nil {
		err = u.away(o)
	}
	if err != nil {
		return Invisible, page.TID{}, false, err
	}
	return res, u.to, u.hot, nil
}

// home makes the new version on the old one's page. away: there is no room; the
// old version is locked.
func (u *update) home(o *op) (res Result, away bool, err error) {
	h := u.h
	for {
		if err := h.pg.Admit(1, len(u.t)); err != nil {
			return Invisible, false, err
		}
		o.want(u.old.Block, u.oldMapped)
		if err := o.hold(); err != nil {
			return Invisible, false, err
		}
		res, done, err := u.homeHeld(o)
		o.drop()
		switch {
		case err != nil:
			return Invisible, false, err
		case done:
			return res, res == Done && u.to == page.TID{}, nil
		}
		if err := o.resolve(u.x); err != nil {
			return Invisible, false, err
		}
	}
}

func (u *update) homeHeld(o *op) (res Result, done bool, err error) {
	h, p := u.h, o.frames[0].Page()
	res, ask, err := h.judge(u.x, p, u.old)
	switch {
	case err != nil:
		return res, false, err
	case ask != 0:
		o.ask = append(o.ask, ask)
		return res, false, nil
	case res != Done:
		return res, true, nil
	case h.room(p) < page.RoundUp(len(u.t)):
		bits := page.Xmax{XID: u.xid, Infomask: page.XmaxLockOnly | page.XmaxExclusive}
		return Done, true, h.lock(o, u.old, bits)
	}
	if u.oldMapped, err = o.needsMap(0); u.oldMapped || err != nil {
		return res, false, err
	}
	return Done, true, u.apply(o, 0)
}

// away makes the new version on another page, or after all on the same one if
// others have made room there.
func (u *update) away(o *op) error {
	h := u.h
	pl, err := h.seek(len(u.t))
	if err != nil {
		return err
	}
	for {
		if err := h.pg.Admit(2, len(u.t)); err != nil {
			return err
		}
		if pl.block == u.old.Block {
			o.want(u.old.Block, u.oldMapped || pl.mapped)
		} else {
			o.wantTwo(u.old.Block, u.oldMapped, pl.block, pl.mapped)
			o.fresh = pl.extended
		}
		if err := o.hold(); err != nil {
			return err
		}
		done, err := u.awayHeld(o, &pl)
		o.drop()
		if done || err != nil {
			return err
		}
	}
}

func (u *update) awayHeld(o *op, pl *placement) (done bool, err error) {
	h := u.h
	old := o.frames[0].Page().Tuple(u.old.Offset)
	if old == nil || old.Xmax() != u.xid || !old.LockedOnly() {
		invariant.Broken("E2", "rel %d %v is not as XID %d left it, locked for its update (tuple %t)",
			h.rel, u.old, u.xid, old != nil)
	}
	at := o.n - 1 // the new version's page
	if free := h.room(o.frames[at].Page()); !pl.fits(free) {
		return false, h.advance(pl, free)
	}
	needs, err := o.needsMap(0)
	u.oldMapped = u.oldMapped || needs
	if err == nil && !needs && at > 0 {
		needs, err = o.needsMap(at)
		pl.mapped = needs
	}
	if needs || err != nil {
		return false, err
	}
	h.landed(pl)
	return true, u.apply(o, at)
}

// apply changes the held pages: the old version is on the first, the new one
// goes to page at.
func (u *update) apply(o *op, at int) error {
	h := u.h
	same := at == 0
	u.hot = same && u.hotAllowed
	heapOnly := uint16(0)
	if u.hot {
		heapOnly = page.HeapOnly
	}
	stamp(u.t, u.xid, page.Updated, heapOnly)
	oldF, newF := o.frames[0], o.frames[at]
	oldF.MarkDirty()
	flags := o.clearVisible(0, wal.AllVisibleCleared)
	if !same {
		newF.MarkDirty()
		flags |= o.clearVisible(at, wal.NewAllVisibleCleared)
		oldF.Page().SetFlag(page.PageFull, true) // a hint to prune it
	}
	u.to = h.put(newF, u.t)
	h.m.Charge(host.WorkTuple, 1)
	if !oldF.Page().SupersedeTuple(u.old.Offset, page.Xmax{XID: u.xid}, u.to, u.hot) {
		invariant.Broken("E2", "rel %d %v: no version to supersede", h.rel, u.old)
	}
	u.count(same)
	m := h.pg.MTR()
	defer h.pg.Done(m)
	wal.HeapUpdate(m, h.pg.Floor(), wal.UpdateArgs{XID: u.xid, Old: oldF.ID(), New: newF.ID(),
		OldPage: oldF.Page(), NewPage: newF.Page(), OldOff: u.old.Offset, NewOff: u.to.Offset,
		Hot: u.hot, Init: !same && onlyTuple(newF.Page(), u.to), Flags: flags})
	return o.append(m)
}

func (u *update) count(same bool) {
	s := &u.h.Stats
	s.Updated++
	switch {
	case u.hot:
		s.Hot++
		u.h.m.Mark("heap.hot-update")
	case !same:
		s.Moved++
		u.h.m.Mark("heap.cross-page-update")
	}
}

// resolve finds out what an attempt has asked for, without latches and pins.
func (o *op) resolve(x Xact) error {
	if len(o.ask) == 0 {
		return nil
	}
	o.h.m.Mark("heap.fate-asked")
	err := x.Resolve(o.ask...)
	o.ask = o.ask[:0]
	return err
}
