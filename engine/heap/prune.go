package heap

import "tornpage/engine/page"

// Fate is what became of a transaction, for pruning.
type Fate uint8

// The fates. AskFate: not at hand; find it out, without a latch, and start over.
const (
	Running Fate = iota // its end is not known to all, or has not come
	Aborted
	Recent // committed, but a present view may not see it
	Gone   // committed, and seen by every view, present and to come
	AskFate
)

// Fates tells what became of transactions.
type Fates interface {
	Fate(xid uint32) Fate
}

// Plan is what one pruning does to a page; its memory is used again.
type Plan struct {
	// Indexed says that an index may lead to the first line pointer of a chain:
	// one that is dead as a whole leaves it dead, for vacuum, and not unused.
	Indexed bool

	Redirected    []uint16 // pairs: from, to
	Dead          []uint16 // only if Indexed
	Unused        []uint16
	LatestRemoved uint32   // the largest XID that goes
	Prunable      uint32   // the smallest XID whose end may free more, 0: none
	Ask           []uint32 // not empty: the fates of these XIDs are needed first
	Removed       int      // versions that go

	chain []uint16
	done  [page.MaxItems + 1]bool // the plan changes this item
	state [page.MaxItems + 1]versionState
}

type versionState uint8

const (
	absent versionState = iota
	live                // nobody has superseded it for good
	fading              // superseded, but somebody may see it
	dead                // superseded for all
	never               // its maker aborted
)

func (s versionState) gone() bool { return s >= dead }

// Empty reports that there is nothing to prune.
func (pl *Plan) Empty() bool {
	return len(pl.Redirected) == 0 && len(pl.Dead) == 0 && len(pl.Unused) == 0
}

// Make plans the pruning of p. If Ask is not empty afterwards, the plan is.
func (pl *Plan) Make(p *page.Page, fates Fates) {
	pl.Redirected, pl.Dead, pl.Unused = pl.Redirected[:0], pl.Dead[:0], pl.Unused[:0]
	pl.LatestRemoved, pl.Prunable, pl.Removed, pl.Ask = 0, 0, 0, pl.Ask[:0]
	last := p.MaxOffset()
	for off := uint16(1); off <= last; off++ {
		pl.done[off], pl.state[off] = false, absent
		if t := p.Tuple(off); t != nil {
			pl.judge(off, t, fates)
		}
	}
	if len(pl.Ask) > 0 {
		return
	}
	for off := uint16(1); off <= last; off++ {
		id := p.ItemID(off)
		switch {
		case id.Flags() == page.Redirect:
			pl.follow(p, off)
		case pl.state[off] == absent:
		case p.Tuple(off).Infomask2()&page.HeapOnly == 0:
			pl.follow(p, off)
		}
	}
	// What an aborted update left is in no chain: its parent may have been
	// updated again by now.
	for off := uint16(1); off <= last; off++ {
		if pl.done[off] || !pl.state[off].gone() {
			continue
		}
		// A dead version with a successor can only go with its chain, unless its
		// maker aborted: no chain leads to that one.
		if pl.state[off] == never || p.Tuple(off).Infomask2()&page.HotUpdated == 0 {
			pl.free(p, off)
		}
	}
}

// judge sets the state of the version at off, or asks for a fate.
func (pl *Plan) judge(off uint16, t page.Tuple, fates Fates) {
	pl.state[off] = live
	switch xmin := t.Xmin(); fateOfXmin(t, fates) {
	case AskFate:
		pl.Ask = append(pl.Ask, xmin)
		return
	case Aborted:
		pl.state[off] = never
		return
	case Running:
		if !pl.Indexed { // PostgreSQL does not look ahead to an abort
			pl.prunable(xmin)
		}
		return
	}
	xmax := xmaxOf(t)
	if xmax == 0 {
		return
	}
	switch fates.Fate(xmax) {
	case AskFate:
		pl.Ask = append(pl.Ask, xmax)
	case Running:
		pl.prunable(xmax)
	case Recent:
		pl.state[off] = fading
		pl.prunable(xmax)
	case Gone:
		pl.state[off] = dead
	}
}

// fateOfXmin is the fate of t's maker, which a frozen version does not need.
func fateOfXmin(t page.Tuple, fates Fates) Fate {
	if frozen(t) {
		return Gone
	}
	return fates.Fate(t.Xmin())
}

func (pl *Plan) prunable(xid uint32) {
	if pl.Prunable == 0 || xid < pl.Prunable {
		pl.Prunable = xid
	}
}

// follow walks the chain from its first line pointer, as heap_prune_chain
// does, and drops it up to the last dead version.
func (pl *Plan) follow(p *page.Page, root uint16) {
	chain, lastDead := pl.chain[:0], -1
	off, prior := root, uint32(0)
	if id := p.ItemID(root); id.Flags() == page.Redirect {
		chain = append(chain, root)
		off = uint16(id.Offset())
	}
	for {
		t := p.Tuple(off)
		// A version belongs to the chain only if the one before it was
		// superseded by the transaction that made it: line pointers are reused.
		if t == nil || pl.done[off] || prior != 0 && t.Xmin() != prior || len(chain) > page.MaxItems {
			break
		}
		chain = append(chain, off)
		if pl.state[off].gone() {
			lastDead = len(chain) - 1
		} else if pl.state[off] == live {
			break
		}
		if t.Infomask2()&page.HotUpdated == 0 {
			break
		}
		off, prior = t.Ctid().Offset, t.Xmax()
	}
	pl.chain = chain
	if lastDead >= 0 {
		pl.cut(p, chain, lastDead)
	}
}

// cut frees the chain up to and with lastDead.
func (pl *Plan) cut(p *page.Page, chain []uint16, lastDead int) {
	root := chain[0]
	whole := lastDead == len(chain)-1
	for _, off := range chain[1 : lastDead+1] {
		pl.free(p, off)
	}
	switch {
	case whole && pl.Indexed:
		pl.removed(p, root)
		pl.done[root] = true
		pl.Dead = append(pl.Dead, root)
		return
	case whole:
		pl.free(p, root)
		return
	}
	pl.removed(p, root)
	pl.done[root] = true
	pl.Redirected = append(pl.Redirected, root, chain[lastDead+1])
}

func (pl *Plan) free(p *page.Page, off uint16) {
	pl.removed(p, off)
	pl.done[off] = true
	pl.Unused = append(pl.Unused, off)
}

// removed raises LatestRemoved by a version that goes.
func (pl *Plan) removed(p *page.Page, off uint16) {
	if t := p.Tuple(off); t != nil {
		pl.Removed++
		pl.LatestRemoved = max(pl.LatestRemoved, t.Xmin(), xmaxOf(t))
	}
}
