package heap

import (
	"fmt"

	"tornpage/engine/page"
)

// Horizon tells what became of transactions, for all snapshots.
type Horizon interface {
	Fates
	Resolve(xids ...uint32) error
}

// checker is one Check under way.
type checker struct {
	h      *Heap
	x      Horizon
	next   uint32
	report func(error)
	p      page.Page // a copy of the block in work
	block  uint32
	onMap  bool // the visibility map has the block's bit
	ask    []uint32
	roots  [page.MaxItems + 1]uint16
}

// Check looks at every page of a table that nobody changes meanwhile, and
// reports what breaks a rule of the page's layout, of its HOT chains (E8) or of
// the visibility map (E7). next is the XID to be given out next. An error says
// that the check could not be made.
func (h *Heap) Check(x Horizon, next uint32, report func(error)) error {
	c := &checker{h: h, x: x, next: next, report: report}
	n, err := h.pg.Blocks(h.rel)
	for b := uint32(0); err == nil && b < n; b++ {
		if err = c.load(b); err == nil && !isNew(&c.p) {
			err = c.check()
		}
		h.m.Pay()
	}
	return err
}

// load copies a block, and looks it up on the map.
func (c *checker) load(block uint32) error {
	c.block = block
	pool := c.h.pg.Pool()
	f, err := pool.Pin(c.h.id(block))
	if err != nil {
		return err
	}
	f.RLock()
	c.p = *f.Page()
	c.h.done(f)
	if f, err = pool.Pin(page.VMID(c.h.rel, block)); err != nil {
		return err
	}
	f.RLock()
	c.onMap = page.VMGet(f.Page(), block)&page.VMAllVisible != 0
	c.h.done(f)
	return nil
}

func (c *checker) found(off uint16, format string, args ...any) {
	c.report(c.h.corrupt(page.TID{Block: c.block, Offset: off}, format, args...))
}

// check looks at the page in c.p, once all fates that matter are at hand.
func (c *checker) check() error {
	if err := page.ValidateItems(c.h.id(c.block), &c.p); err != nil {
		c.report(err)
		return nil
	}
	for {
		c.ask = c.ask[:0]
		c.eachTuple(func(_ uint16, t page.Tuple) {
			c.known(t.Xmin(), frozen(t))
			c.known(xmaxOf(t), xmaxOf(t) == 0)
		})
		if len(c.ask) == 0 {
			break
		}
		if err := c.x.Resolve(c.ask...); err != nil {
			return err
		}
	}
	c.eachTuple(c.xids)
	c.chains()
	c.visibility()
	return nil
}

func (c *checker) eachTuple(f func(off uint16, t page.Tuple)) {
	for off, last := uint16(1), c.p.MaxOffset(); off <= last; off++ {
		if t := c.p.Tuple(off); t != nil {
			f(off, t)
		}
	}
}

// known asks for a fate if it is not at hand.
func (c *checker) known(xid uint32, exempt bool) {
	if !exempt && xid < c.next && c.x.Fate(xid) == AskFate {
		c.ask = append(c.ask, xid)
	}
}

// fate is that of an XID which was given out; others count as aborted, and
// were reported.
func (c *checker) fate(xid uint32) Fate {
	if xid >= c.next {
		return Aborted
	}
	return c.x.Fate(xid)
}

func (c *checker) xids(off uint16, t page.Tuple) {
	if x := t.Xmin(); !frozen(t) && (x == 0 || x >= c.next) {
		c.found(off, "was made by XID %d, want 1 to %d", x, c.next-1)
	}
	if x := xmaxOf(t); x >= c.next {
		c.found(off, "was ended by XID %d, want below %d", x, c.next)
	}
}

// chains walks every HOT chain from its root.
func (c *checker) chains() {
	last := c.p.MaxOffset()
	clear(c.roots[:])
	for off := uint16(1); off <= last; off++ {
		id := c.p.ItemID(off)
		if id.Flags() == page.Redirect {
			to := uint16(id.Offset())
			if c.p.Tuple(to).Infomask2()&page.HeapOnly == 0 {
				c.found(off, "redirects to item %d, which is no heap-only tuple", to)
				continue
			}
		} else if t := c.p.Tuple(off); t == nil || t.Infomask2()&page.HeapOnly != 0 {
			continue
		}
		c.chain(off)
	}
	c.eachTuple(func(off uint16, t page.Tuple) {
		if t.Infomask2()&page.HeapOnly != 0 && c.roots[off] == 0 && (frozen(t) || c.fate(t.Xmin()) != Aborted) {
			c.found(off, "is heap-only, made by XID %d, which did not abort, and in no chain", t.Xmin())
		}
	})
}

// chain walks one chain: its versions belong to no other, and one that a
// transaction has superseded for good has a successor.
func (c *checker) chain(root uint16) {
	ch := beginChain(&c.p, root)
	before, must := uint16(0), false
	for {
		off, t := ch.next()
		switch {
		case t == nil && must:
			c.found(before, "was updated by XID %d, which committed, and its chain ends here", c.p.Tuple(before).Xmax())
			return
		case t == nil:
			return
		case c.roots[off] != 0:
			c.found(off, "is in the chains of items %d and %d", c.roots[off], root)
			return
		case before != 0 && t.Infomask2()&page.HeapOnly == 0:
			c.found(off, "follows item %d in its chain and is not heap-only", before)
		}
		c.roots[off] = root
		before, must = off, false
		if t.Infomask2()&page.HotUpdated == 0 {
			continue
		}
		if t.Ctid().Block != c.block {
			c.found(off, "has its heap-only successor on block %d", t.Ctid().Block)
			return
		}
		if f := c.fate(t.Xmax()); xmaxOf(t) != 0 && (f == Gone || f == Recent) {
			must = true
		}
	}
}

// visibility: the map's bit implies the page's flag, and that implies that
// nothing on the page was ended or is younger than some snapshot.
func (c *checker) visibility() {
	flag := c.p.Flags()&page.AllVisible != 0
	if c.onMap && !flag {
		c.found(0, "is all-visible on the map and not on the page")
	}
	if !flag {
		return
	}
	for off, last := uint16(1), c.p.MaxOffset(); off <= last; off++ {
		if c.p.ItemID(off).Flags() == page.Dead {
			c.found(off, "is dead on an all-visible page")
		}
	}
	c.eachTuple(func(off uint16, t page.Tuple) {
		if why := c.hidden(t); why != "" {
			c.found(off, "is on an all-visible page and %s", why)
		}
	})
}

// hidden says why some snapshot may not see t.
func (c *checker) hidden(t page.Tuple) string {
	if xmin := t.Xmin(); !frozen(t) && c.fate(xmin) != Gone {
		return fmt.Sprintf("not every snapshot sees its maker, XID %d", xmin)
	}
	if xmax := xmaxOf(t); xmax != 0 && c.fate(xmax) != Aborted {
		return fmt.Sprintf("XID %d has ended it", xmax)
	}
	return ""
}
