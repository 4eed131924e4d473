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
	items []planItem // by line pointer; the first is none
	last  uint32     // the XID asked about last
	fate  Fate       // its fate

	touched byte // so that touch is not left out by the compiler
}

// planItem is what a plan needs of a line pointer, read once.
type planItem struct {
	xmin  uint32
	xmax  uint32 // as it is in the tuple, whatever it means
	ended uint32 // the XID that deleted or superseded the version, 0: none
	next  uint16 // where a redirect, or a version with a heap-only successor, leads to
	kind  itemKind
	state versionState
	hot   bool // next is set by a version
	done  bool // the plan changes this item
}

type itemKind uint8

const (
	itemOther    itemKind = iota // no tuple: unused, dead or damaged
	itemRedirect                 // leads to the first version of a chain
	itemRoot                     // a tuple to which an index leads
	itemHeapOnly                 // a tuple to which none does
)

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
	pl.last = 0
	if gone := pl.look(p, fates); !gone || len(pl.Ask) > 0 {
		return // most pages of a read that may prune: nothing goes
	}
	for off := range pl.items {
		// Any other chain has one version, which stays.
		if it := &pl.items[off]; it.kind == itemRedirect || it.kind == itemRoot && (it.hot || it.state.gone()) {
			pl.follow(uint16(off))
		}
	}
	// What an aborted update left is in no chain: its parent may have been
	// updated again by now.
	for off := range pl.items {
		it := &pl.items[off]
		// A dead version with a successor can only go with its chain, unless its
		// maker aborted: no chain leads to that one.
		if !it.done && it.state.gone() && (it.state == never || !it.hot) {
			pl.free(uint16(off))
		}
	}
}

// look reads all line pointers, then judges their versions. gone: at least one
// can go.
func (pl *Plan) look(p *page.Page, fates Fates) (gone bool) {
	pl.read(p)
	for off := range pl.items {
		if it := &pl.items[off]; it.kind >= itemRoot {
			pl.judge(it, fates)
			gone = gone || it.state.gone()
		}
	}
	return gone
}

// read reads all line pointers.
func (pl *Plan) read(p *page.Page) {
	last := int(p.MaxOffset())
	if cap(pl.items) <= last {
		pl.items = make([]planItem, last+1, max(last+1, page.MaxHeapTuples+1))
	}
	pl.items = pl.items[:last+1]
	pl.items[0] = planItem{}
	lines := p[page.HeaderSize : page.HeaderSize+page.ItemIDSize*last]
	pl.touched = touch(p, lines)
	for off := 1; len(lines) > 0; off++ {
		id := page.ItemID(le.Uint32(lines))
		lines = lines[page.ItemIDSize:]
		it := &pl.items[off]
		switch id.Flags() {
		case page.Normal:
			it.read(p.TupleOf(id))
		case page.Redirect:
			*it = planItem{kind: itemRedirect, next: uint16(id.Offset())}
		default:
			*it = planItem{}
		}
	}
}

// touch reads a byte of each header. The page is seldom in the processor's
// cache, and so short a loop has many of its lines on their way at once, where
// the work on one tuple after another would wait for each (measured: half the
// time of a plan).
func touch(p *page.Page, lines []byte) (sum byte) {
	for ; len(lines) >= page.ItemIDSize; lines = lines[page.ItemIDSize:] {
		sum |= p[page.ItemID(le.Uint32(lines)).Offset()&(page.Size-1)]
	}
	return sum
}

// read takes what is needed of t, which may be nil.
func (it *planItem) read(t page.Tuple) {
	if t == nil {
		*it = planItem{}
		return
	}
	*it = planItem{kind: itemRoot, xmin: t.Xmin(), xmax: t.Xmax(), ended: xmaxOf(t)}
	if frozen(t) {
		it.state = live
	}
	bits := t.Infomask2()
	if bits&page.HeapOnly != 0 {
		it.kind = itemHeapOnly
	}
	if bits&page.HotUpdated != 0 {
		it.hot, it.next = true, t.Ctid().Offset
	}
}

// judge sets the state of a version, or asks for a fate. A frozen one, whose
// maker does not matter, is live as yet.
func (pl *Plan) judge(it *planItem, fates Fates) {
	if it.state == absent {
		it.state = live
		switch pl.fateOf(it.xmin, fates) {
		case AskFate:
			pl.Ask = append(pl.Ask, it.xmin)
			return
		case Aborted:
			it.state = never
			return
		case Running:
			if !pl.Indexed { // PostgreSQL does not look ahead to an abort
				pl.prunable(it.xmin)
			}
			return
		}
	}
	if it.ended == 0 {
		return
	}
	switch pl.fateOf(it.ended, fates) {
	case AskFate:
		pl.Ask = append(pl.Ask, it.ended)
	case Running:
		pl.prunable(it.ended)
	case Recent:
		it.state = fading
		pl.prunable(it.ended)
	case Gone:
		it.state = dead
	}
}

// fateOf asks for a fate, once where tuples of one maker follow each other.
func (pl *Plan) fateOf(xid uint32, fates Fates) Fate {
	if xid != pl.last || xid == 0 {
		pl.last, pl.fate = xid, fates.Fate(xid)
	}
	return pl.fate
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
func (pl *Plan) follow(first uint16) {
	chain, lastDead := pl.chain[:0], -1
	off, prior := first, uint32(0)
	if pl.items[first].kind == itemRedirect {
		chain = append(chain, first)
		off = pl.items[first].next
	}
	for int(off) < len(pl.items) && len(chain) <= page.MaxItems { // a corrupt chain may be a circle
		it := &pl.items[off]
		// A version belongs to the chain only if the one before it was
		// superseded by the transaction that made it: line pointers are reused.
		if it.state == absent || it.done || prior != 0 && it.xmin != prior {
			break
		}
		chain = append(chain, off)
		if it.state.gone() {
			lastDead = len(chain) - 1
		} else if it.state == live {
			break
		}
		if !it.hot {
			break
		}
		off, prior = it.next, it.xmax
	}
	pl.chain = chain
	if lastDead >= 0 {
		pl.cut(chain, lastDead)
	}
}

// cut frees the chain up to and with lastDead.
func (pl *Plan) cut(chain []uint16, lastDead int) {
	first := chain[0]
	whole := lastDead == len(chain)-1
	for _, off := range chain[1 : lastDead+1] {
		pl.free(off)
	}
	switch {
	case whole && pl.Indexed:
		pl.removed(first)
		pl.Dead = append(pl.Dead, first)
		return
	case whole:
		pl.free(first)
		return
	}
	pl.removed(first)
	pl.Redirected = append(pl.Redirected, first, chain[lastDead+1])
}

func (pl *Plan) free(off uint16) {
	pl.removed(off)
	pl.Unused = append(pl.Unused, off)
}

// removed notes that the plan changes the item, and raises LatestRemoved by a
// version that goes.
func (pl *Plan) removed(off uint16) {
	it := &pl.items[off]
	it.done = true
	if it.state != absent {
		pl.Removed++
		pl.LatestRemoved = max(pl.LatestRemoved, it.xmin, it.ended)
	}
}
