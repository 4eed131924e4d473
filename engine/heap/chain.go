package heap

import (
	"tornpage/engine/page"
)

// chain walks a HOT chain on one page, from its first line pointer
// (heap_hot_search_buffer). next gives one version after another.
type chain struct {
	p     *page.Page
	off   uint16
	prior uint32 // Xmax of the version before
	steps int    // versions given
	first bool   // off is where the chain begins
	bad   uint16 // a line pointer in the chain that claims to have a tuple and has none
}

func beginChain(p *page.Page, root uint16) chain {
	c := chain{p: p, off: root, first: true}
	if id := p.ItemID(root); id.Flags() == page.Redirect {
		c.off, c.first = uint16(id.Offset()), false
	}
	return c
}

// next gives the next version and its offset, nil at the end. What a line
// pointer holds that was used again is no part of the chain: its Xmin is not
// the Xmax that led there. Nor is a heap-only version at the beginning: the
// index entry that led there is out of date.
func (c *chain) next() (off uint16, t page.Tuple) {
	if c.off == 0 || c.steps >= page.MaxItems { // a corrupt chain may be a circle
		return 0, nil
	}
	t = c.p.Tuple(c.off)
	if t == nil && c.p.ItemID(c.off).Flags() == page.Normal {
		c.bad = c.off
	}
	if t == nil || c.first && t.Infomask2()&page.HeapOnly != 0 || c.prior != 0 && t.Xmin() != c.prior {
		return 0, nil
	}
	off = c.off
	c.steps++
	c.first = false
	c.off, c.prior = 0, t.Xmax()
	if t.Infomask2()&page.HotUpdated != 0 {
		c.off = t.Ctid().Offset
	}
	return off, t
}

// seen searches the chain for the version that v sees. ask not 0: the fate of
// that XID decides. A version's maker is the one that ended the version before
// (next compares), so whoever was seen to end that one is not asked about
// again: a long chain costs one question a version.
func (c *chain) seen(v View) (off uint16, t page.Tuple, ask uint32) {
	known := false // that the version was made
	for {
		off, t := c.next()
		if t == nil {
			return 0, nil, 0
		}
		if !known {
			switch verdict, xid := made(t, v); verdict {
			case Ask:
				return 0, nil, xid
			case No:
				continue
			}
		}
		switch verdict, xid := ended(t, v); verdict {
		case No:
			return off, t, 0
		case Ask:
			return 0, nil, xid
		}
		known = true
	}
}

// alive searches the chain for a version that is live, or may become so
// (HeapTupleSatisfiesDirty). wait not 0: that XID runs, and its end decides.
func (c *chain) alive(x Xact) (off uint16, t page.Tuple, wait, ask uint32) {
	for {
		off, t := c.next()
		if t == nil {
			return 0, nil, 0, 0
		}
		if xmin := t.Xmin(); !x.Own(xmin) {
			switch fateOfXmin(t, x) {
			case AskFate:
				return 0, nil, 0, xmin
			case Running:
				return off, t, xmin, 0
			case Aborted:
				continue
			}
		}
		xmax := xmaxOf(t)
		if xmax == 0 {
			return off, t, 0, 0
		}
		if x.Own(xmax) {
			continue
		}
		switch x.Fate(xmax) {
		case AskFate:
			return 0, nil, 0, xmax
		case Running:
			return off, t, xmax, 0
		case Aborted:
			return off, t, 0, 0
		}
	}
}
