package heap

import (
	"tornpage/engine/buffer"
	"tornpage/engine/host"
	"tornpage/engine/page"
)

// Fetch gives the version that x sees in the HOT chain that begins at root,
// which is what an index entry leads to, copied into dst's memory. It may prune
// the page afterwards.
func (h *Heap) Fetch(x Xact, root page.TID, dst []byte) (row Row, found bool, err error) {
	o := h.take()
	defer h.give(o)
	f, err := h.read(root.Block)
	for ; f != nil && err == nil; f, err = h.read(root.Block) {
		p := f.Page()
		c := beginChain(p, root.Offset)
		off, t, ask := c.seen(x)
		h.m.Charge(host.WorkTuple, c.steps)
		if t == nil && ask == 0 {
			err = h.endOf(&c, root)
		}
		if c.steps > 1 {
			h.m.Mark("heap.chain-followed")
		}
		row = Row{TID: page.TID{Block: root.Block, Offset: off}, Root: root, Tuple: append(dst[:0], t...)}
		o.prune = ask == 0 && h.worthPruning(p, x)
		h.done(f)
		if err != nil {
			return Row{}, false, err
		}
		if ask == 0 {
			return row, t != nil, o.pruneIfWorth(x, root.Block)
		}
		o.ask = append(o.ask, ask)
		if err := o.resolve(x); err != nil {
			return Row{}, false, err
		}
	}
	return Row{}, false, err
}

// Latest follows the updates of the version at tid, which x's snapshot sees,
// over pages to the newest version whose maker has committed, or is x. found
// false: the row was deleted. Whoever locks it looks at it again afterwards:
// Update, Delete and Lock do.
func (h *Heap) Latest(x Xact, tid page.TID, dst []byte) (row Row, found bool, err error) {
	o := h.take()
	defer h.give(o)
	prior, steps, mark := uint32(0), 0, tid
	f, err := h.read(tid.Block)
	for ; f != nil && err == nil; f, err = h.read(tid.Block) {
		t := f.Page().Tuple(tid.Offset)
		h.m.Charge(host.WorkTuple, 1)
		if t == nil || prior != 0 && t.Xmin() != prior { // pruned and perhaps used again
			err = h.tupleOrNone(f.Page(), tid)
			h.done(f)
			return Row{}, false, err
		}
		next, ask := follow(x, t)
		if next == 0 && ask == 0 {
			row = Row{TID: tid, Root: h.rootOf(f.Page(), tid), Tuple: append(dst[:0], t...)}
		}
		to := t.Ctid()
		h.done(f)
		switch {
		case ask != 0:
			o.ask = append(o.ask, ask)
			if err := o.resolve(x); err != nil {
				return Row{}, false, err
			}
		case next == 0:
			return row, true, nil
		case to == tid:
			return Row{}, false, nil
		case to == mark: // after Brent: mark is the version at the last power of two
			return Row{}, false, h.corrupt(tid, "its newer versions lead in a circle to %v", to)
		default:
			tid, prior = to, next
		}
		if steps++; steps&(steps-1) == 0 {
			mark = tid
		}
	}
	return Row{}, false, err
}

// follow is the XID that ended t for good, 0 if it is the newest.
func follow(x Xact, t page.Tuple) (next, ask uint32) {
	xmax := xmaxOf(t)
	if xmax == 0 || x.Own(xmax) {
		return xmax, 0
	}
	switch x.Fate(xmax) {
	case AskFate:
		return 0, xmax
	case Running, Aborted:
		return 0, 0
	}
	return xmax, 0
}

// Dirty is what Alive found.
type Dirty struct {
	Row   Row
	Found bool
	Wait  uint32 // not 0: whether the row lives depends on how this XID ends
}

// Alive looks, without a snapshot, for a version in the chain at root that
// lives or may come to live: what decides whether a key is taken. The caller
// compares the row's key: root may lead to another row by now.
func (h *Heap) Alive(x Xact, root page.TID, dst []byte) (d Dirty, err error) {
	o := h.take()
	defer h.give(o)
	f, err := h.read(root.Block)
	for ; f != nil && err == nil; f, err = h.read(root.Block) {
		c := beginChain(f.Page(), root.Offset)
		off, t, wait, ask := c.alive(x)
		h.m.Charge(host.WorkTuple, c.steps)
		if t == nil && ask == 0 {
			err = h.endOf(&c, root)
		}
		if t != nil {
			d = Dirty{Found: true, Wait: wait,
				Row: Row{TID: page.TID{Block: root.Block, Offset: off}, Root: root, Tuple: append(dst[:0], t...)}}
		}
		h.done(f)
		if ask == 0 {
			return d, err
		}
		o.ask = append(o.ask, ask)
		if err := o.resolve(x); err != nil {
			return d, err
		}
	}
	return d, err
}

// read pins a block and latches it shared; done lets go. nil: the relation has
// no such block (any more).
func (h *Heap) read(block uint32) (*buffer.Frame, error) {
	n, err := h.pg.Blocks(h.rel)
	if err != nil || block >= n {
		return nil, err
	}
	f, err := h.pg.Pool().Pin(h.id(block))
	if err != nil {
		return nil, err
	}
	f.RLock()
	return f, nil
}

func (h *Heap) done(f *buffer.Frame) {
	f.RUnlock()
	h.pg.Pool().Unpin(f)
}

// tupleOrNone is the error of a line pointer that leads nowhere, nil if it is
// only not in use.
func (h *Heap) tupleOrNone(p *page.Page, at page.TID) error {
	id := p.ItemID(at.Offset)
	switch {
	case id.Flags() == page.Normal && p.Tuple(at.Offset) == nil:
		return h.corrupt(at, "the line pointer leads to no tuple: bytes %d to %d", id.Offset(), id.Offset()+id.Len())
	case id.Flags() == page.Redirect && p.Tuple(uint16(id.Offset())) == nil:
		return h.corrupt(at, "redirects to item %d, which is no tuple", id.Offset())
	}
	return nil
}

// endOf is the error of a chain that does not end as it should, nil if it does.
func (h *Heap) endOf(c *chain, root page.TID) error {
	if c.bad != 0 {
		root.Offset = c.bad
	}
	return h.tupleOrNone(c.p, root)
}

// rootOf is where the chain of the version at tid begins.
func (h *Heap) rootOf(p *page.Page, tid page.TID) page.TID {
	if t := p.Tuple(tid.Offset); t.Infomask2()&page.HeapOnly == 0 {
		return tid
	}
	for off, last := uint16(1), p.MaxOffset(); off <= last; off++ {
		id := p.ItemID(off)
		if id.Flags() == page.Normal {
			if t := p.Tuple(off); t == nil || t.Infomask2()&page.HeapOnly != 0 {
				continue
			}
		}
		for c := beginChain(p, off); ; {
			at, t := c.next()
			if t == nil {
				break
			}
			if at == tid.Offset {
				return page.TID{Block: tid.Block, Offset: off}
			}
		}
	}
	return tid
}
