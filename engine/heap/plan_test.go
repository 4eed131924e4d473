package heap

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
)

// slowPlan is Plan without its short cuts: it reads the page wherever it needs
// something, asks for every fate, and walks every chain.
type slowPlan struct {
	Plan
	chain []uint16
	done  [page.MaxItems + 1]bool
	state [page.MaxItems + 1]versionState
}

func (pl *slowPlan) make(p *page.Page, fates Fates) {
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
func (pl *slowPlan) judge(off uint16, t page.Tuple, fates Fates) {
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

// follow walks the chain from its first line pointer, as heap_prune_chain
// does, and drops it up to the last dead version.
func (pl *slowPlan) follow(p *page.Page, root uint16) {
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
func (pl *slowPlan) cut(p *page.Page, chain []uint16, lastDead int) {
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

func (pl *slowPlan) free(p *page.Page, off uint16) {
	pl.removed(p, off)
	pl.done[off] = true
	pl.Unused = append(pl.Unused, off)
}

// removed raises LatestRemoved by a version that goes.
func (pl *slowPlan) removed(p *page.Page, off uint16) {
	if t := p.Tuple(off); t != nil {
		pl.Removed++
		pl.LatestRemoved = max(pl.LatestRemoved, t.Xmin(), xmaxOf(t))
	}
}

// drawTuples is a page of versions whose headers say anything: chains that
// fork, end or run in circles, and line pointers of all kinds.
func drawTuples(t *rapid.T) *page.Page {
	p := new(page.Page)
	p.Init(0)
	n := rapid.IntRange(0, 20).Draw(t, "items")
	xid := rapid.OneOf(rapid.Uint32Range(1, 8), rapid.Just(uint32(0)))
	off := rapid.Uint16Range(0, uint16(n+2))
	for range n {
		tup := page.NewTuple(nil, xid.Draw(t, "xmin"), 0, 1, make([]byte, rapid.IntRange(0, 40).Draw(t, "data")))
		at, ok := p.InsertTuple(0, 0, tup)
		require.True(t, ok)
		tup = p.Tuple(at)
		if before := p.Tuple(at - 1); before != nil && rapid.IntRange(0, 3).Draw(t, "follows") > 0 {
			before.SetXmax(rapid.SampledFrom([]uint32{tup.Xmin(), tup.Xmin(), tup.Xmin(), 9}).Draw(t, "link"))
			before.SetInfomask(0)
			before.SetInfomask2(before.Infomask2() | page.HotUpdated)
			before.SetCtid(page.TID{Offset: at})
			tup.SetInfomask2(page.HeapOnly)
		}
		if rapid.IntRange(0, 3).Draw(t, "ended") == 0 {
			tup.SetXmax(xid.Draw(t, "xmax"))
			tup.SetInfomask(rapid.SampledFrom([]uint16{0, 0, page.XmaxInvalid, page.XmaxLockOnly, page.XminFrozen}).Draw(t, "mask"))
			tup.SetInfomask2(rapid.SampledFrom([]uint16{0, page.HotUpdated, page.HotUpdated, page.HeapOnly, page.HotUpdated | page.HeapOnly}).Draw(t, "mask2"))
			tup.SetCtid(page.TID{Offset: off.Draw(t, "next")})
		}
	}
	for range rapid.IntRange(0, 4).Draw(t, "lines") {
		kind := rapid.SampledFrom([]page.ItemFlags{page.Unused, page.Normal, page.Redirect, page.Redirect, page.Dead}).Draw(t, "kind")
		p.SetItemID(off.Draw(t, "line"), page.MakeItemID(int(off.Draw(t, "target")), kind, rapid.IntRange(0, 50).Draw(t, "len")))
	}
	return p
}

// TestPlanAgainstSlowTwin: the short cuts change no plan. One Plan makes them
// all, so that what an earlier one left in it does not show.
func TestPlanAgainstSlowTwin(t *testing.T) {
	var fast Plan
	rapid.Check(t, func(t *rapid.T) {
		for range rapid.IntRange(1, 4).Draw(t, "pages") {
			p := drawTuples(t)
			w := newWorld(Geometry{})
			kinds := []Fate{Running, Aborted, Recent, Gone, Gone}
			if rapid.IntRange(0, 3).Draw(t, "some not at hand") == 0 {
				kinds = append(kinds, AskFate)
			}
			for xid := range uint32(10) {
				w.fate[xid] = rapid.SampledFrom(kinds).Draw(t, "fate")
			}
			fast.Indexed = rapid.Bool().Draw(t, "indexed")
			slow := slowPlan{Plan: Plan{Indexed: fast.Indexed}}
			fast.Make(p, w)
			slow.make(p, w)
			comparePlans(t, &slow.Plan, &fast)
		}
	})
}

func comparePlans(t require.TestingT, want, got *Plan) {
	require.Equal(t, append([]uint32{}, want.Ask...), append([]uint32{}, got.Ask...), "ask")
	require.Equal(t, want.Prunable, got.Prunable, "prunable")
	if len(want.Ask) > 0 {
		return
	}
	require.Equal(t, want.Empty(), got.Empty())
	for _, c := range [][2][]uint16{{want.Redirected, got.Redirected}, {want.Dead, got.Dead}, {want.Unused, got.Unused}} {
		require.Equal(t, append([]uint16{}, c[0]...), append([]uint16{}, c[1]...))
	}
	require.Equal(t, want.LatestRemoved, got.LatestRemoved, "latest removed")
	require.Equal(t, want.Removed, got.Removed, "removed")
}
