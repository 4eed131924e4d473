package checkers

import (
	"cmp"
	"slices"
	"sort"

	"tornpage/engine/page"
)

const viewsCheck = "views"

// session is where read views must not go backwards.
type session struct {
	client int
	host   string
	boot   uint64
}

// cell is what one key holds at the LSN that the replay has reached.
type cell struct {
	val   uint64
	by    int32    // who wrote it
	lsn   page.LSN // its commit LSN; 0 for the initial state or if not known
	read  page.LSN // the last snapshot that saw it
	maybe int32    // an unknown write of several keys, seen at another key of it
}

// prefixes replays commits in LSN order and holds every snapshot against the
// state at its LSN.
type prefixes struct {
	order    []place
	cells    []cell
	floor    map[int32]page.LSN // unknown write: an LSN that it lies above
	shown    map[kv]bool        // values of unknown writes that a snapshot has shown
	sessions map[session]int32
}

// views checks each read that carries a snapshot LSN, on replicas and on the
// writer: it is the state after all commits at or below that LSN, in whole;
// it has reached the token the client sent; and, on a replica, it does not go
// backwards in a session nor lie above the durable point at the response.
func (c *Checker) views() Verdict {
	if v := c.sessions(); v.Result == Broken {
		return v
	}
	blind := int32(nobody)
	for _, i := range c.x.byCall {
		o := &c.x.h.Ops[i]
		if o.Outcome != Committed || o.Kind != View {
			continue
		}
		if len(c.x.h.Durable) == 0 {
			blind = i
			break
		}
		if at := c.x.durableAt(o.Return); o.Token > at {
			return broken(viewsCheck, []int64{o.ID}, "%s lies beyond the durable point, which was %v at event %d",
				c.describe(i), at, o.Return)
		}
	}
	if v := c.prefixes(); v.Result == Broken {
		return v
	}
	if blind != nobody {
		return undecided(viewsCheck, c.identities(blind),
			"no durable points were recorded to hold %s against", c.describe(blind))
	}
	return holds(viewsCheck)
}

// durableAt returns the writer's durable point at an event.
func (x *index) durableAt(e int64) page.LSN {
	d := x.h.Durable
	n := sort.Search(len(d), func(i int) bool { return d[i].Event > e })
	if n == 0 {
		return 0
	}
	return d[n-1].LSN
}

func (c *Checker) sessions() Verdict {
	p := &c.pre
	if p.sessions == nil {
		p.sessions = make(map[session]int32)
	}
	clear(p.sessions)
	for _, i := range c.x.byCall {
		o := &c.x.h.Ops[i]
		if o.Outcome != Committed || !o.Reads() {
			continue
		}
		if (o.Kind == View || o.Token != 0) && o.Token < o.AtLeast {
			return broken(viewsCheck, []int64{o.ID}, "%s came with token %v, which its snapshot has not reached",
				c.describe(i), o.AtLeast)
		}
		if o.Kind != View {
			continue
		}
		key := session{o.Client, o.Host, o.Boot}
		if last, ok := p.sessions[key]; ok && c.x.h.Ops[last].Token > o.Token {
			return broken(viewsCheck, c.identities(i, last), "%s goes back on %s/%d: %s came before it",
				c.describe(i), o.Host, o.Boot, c.describe(last))
		}
		p.sessions[key] = i
	}
	return holds(viewsCheck)
}

func (c *Checker) prefixes() Verdict {
	p := &c.pre
	p.order = p.order[:0]
	for i := range c.x.h.Ops {
		o := &c.x.h.Ops[i]
		at := place{i: int32(i), tie: o.Call}
		switch {
		case o.Writes() && c.x.lsnOf[i] != 0:
			at.lsn, at.class = c.x.lsnOf[i], classCommit
		case o.Reads() && o.Outcome == Committed && (o.Kind == View || o.Token != 0):
			at.lsn, at.class = o.Token, classRead
		default:
			continue
		}
		p.order = append(p.order, at)
	}
	slices.SortFunc(p.order, place.compare)
	p.cells = p.cells[:0]
	for _, v := range c.x.initial {
		p.cells = append(p.cells, cell{val: v, by: fromStart, maybe: nobody})
	}
	clear(p.floor)
	clear(p.shown)
	for _, at := range p.order {
		if at.class == classCommit {
			p.commit(c, at)
			continue
		}
		for n, k := range c.x.keysOf(at.i) {
			if v := p.read(c, at, n, k); v.Result == Broken {
				return v
			}
		}
	}
	return holds(viewsCheck)
}

func (p *prefixes) commit(c *Checker, at place) {
	for n, k := range c.x.keysOf(at.i) {
		p.cells[k] = cell{val: c.x.h.Ops[at.i].Values[n], by: at.i, lsn: at.lsn, maybe: nobody}
	}
}

// read holds one key of a snapshot against the replay.
func (p *prefixes) read(c *Checker, at place, n int, k int32) Verdict {
	o, now := &c.x.h.Ops[at.i], &p.cells[k]
	if got := o.Results[n]; got != now.val {
		by := c.x.writerOf(k, got)
		if by == fromStart && got == 0 && c.looseDelete(k) {
			return holds(viewsCheck)
		}
		if !p.hidden(c, by) || p.shown[kv{int64(k), got}] || now.read == at.lsn && at.lsn != 0 {
			return p.wrong(c, at, n, k)
		}
		p.sight(c, by, k, at.lsn)
	} else if u := now.maybe; u != nobody && p.floor[u] >= now.lsn && (now.lsn != 0 || now.by == fromStart) &&
		(got != 0 || !c.looseDelete(k)) {
		// The write that this snapshot shows elsewhere lies above what this
		// key holds, yet the key does not show it.
		return broken(viewsCheck, c.identities(at.i, u, now.by), "%s saw %s in part: key %d still holds %s of %s",
			c.describe(at.i), c.describe(u), c.x.name[k], value(now.val), c.describe(now.by))
	}
	p.cells[k].read = at.lsn
	p.cells[k].maybe = nobody
	return holds(viewsCheck)
}

// hidden reports whether operation i is a write whose commit LSN nobody knows.
func (p *prefixes) hidden(c *Checker, i int32) bool {
	return i >= 0 && c.x.lsnOf[i] == 0 && c.x.h.Ops[i].Outcome != Aborted
}

// sight places a hidden write at the first snapshot that shows it. Its LSN
// lies above the commit it replaces; its other keys may hold it or, if it lies
// below them, what they hold now.
func (p *prefixes) sight(c *Checker, u, k int32, at page.LSN) {
	if p.floor == nil {
		p.floor, p.shown = make(map[int32]page.LSN), make(map[kv]bool)
	}
	p.shown[kv{int64(k), c.x.h.Ops[u].Values[slices.Index(c.x.keysOf(u), k)]}] = true
	p.floor[u] = max(p.floor[u], p.cells[k].lsn)
	for n, other := range c.x.keysOf(u) {
		switch cl := &p.cells[other]; {
		case other == k:
			*cl = cell{val: c.x.h.Ops[u].Values[n], by: u, read: at, maybe: nobody}
		case cl.by != u && cl.val != c.x.h.Ops[u].Values[n]:
			cl.maybe = u
		}
	}
}

// looseDelete reports whether a delete of a key has no known place among the
// commits.
func (c *Checker) looseDelete(k int32) bool {
	for i := range c.x.h.Ops {
		if o := &c.x.h.Ops[i]; o.Writes() && c.pre.hidden(c, int32(i)) {
			if n := slices.Index(c.x.keysOf(int32(i)), k); n >= 0 && o.Values[n] == 0 {
				return true
			}
		}
	}
	return false
}

// wrong puts into words how a snapshot differs from its prefix.
func (p *prefixes) wrong(c *Checker, at place, n int, k int32) Verdict {
	o, now := &c.x.h.Ops[at.i], p.cells[k]
	got := o.Results[n]
	by := c.x.writerOf(k, got)
	ids := c.identities(at.i, now.by, by)
	if by >= 0 && c.x.lsnOf[by] > at.lsn {
		return broken(viewsCheck, ids, "%s saw %s at key %d, of %s, which lies above its snapshot; want %s of %s",
			c.describe(at.i), value(got), c.x.name[k], c.describe(by), value(now.val), c.describe(now.by))
	}
	v := broken(viewsCheck, ids, "%s saw %s at key %d, of %s; the prefix of commits up to %v has %s of %s",
		c.describe(at.i), value(got), c.x.name[k], c.describe(by), at.lsn, value(now.val), c.describe(now.by))
	for m, other := range c.x.keysOf(at.i) {
		for _, whole := range [...]int32{now.by, by} {
			if m != n && whole >= 0 && c.x.writerOf(other, o.Results[m]) == whole {
				v.Details = append(v.Details, "in part: "+c.describe(whole)+" shows at key "+
					numeral(c.x.name[other])+" but not at key "+numeral(c.x.name[k]))
				if whole == by {
					v.Details[len(v.Details)-1] = "in part: key " + numeral(c.x.name[k]) + " shows " +
						c.describe(by) + " where key " + numeral(c.x.name[other]) + " does too"
				}
			}
		}
	}
	slices.Sort(v.Details)
	v.Details = slices.CompactFunc(v.Details, func(a, b string) bool { return cmp.Compare(a, b) == 0 })
	return v
}
