package checkers

import (
	"cmp"
	"fmt"
	"slices"

	"tornpage/engine/page"
	"tornpage/model"
)

const durableCheck = "durable"

// finals are what the durability check keeps for each key.
type finals struct {
	last     []int32 // the latest acknowledged write, or nobody
	read     []int32 // the last read on the writer, or nobody
	byReturn []int32
}

// durable checks that every acknowledged commit is there after recovery: no
// boot opens with a log that ends below one, and the last read of each key
// shows the last of them or something newer. It also checks that an unknown
// write which a later boot did not show never comes back.
func (c *Checker) durable() Verdict {
	c.fin.build(c)
	if v := c.logEnds(); v.Result == Broken {
		return v
	}
	if v := c.resurrected(); v.Result == Broken {
		return v
	}
	open := holds(durableCheck)
	for k := range c.x.name {
		switch v := c.kept(int32(k)); v.Result {
		case Broken:
			return v
		case Undecided:
			if open.Result == Holds {
				open = v
			}
		}
	}
	return open
}

func (f *finals) build(c *Checker) {
	f.last, f.read = f.last[:0], f.read[:0]
	for range c.x.name {
		f.last, f.read = append(f.last, nobody), append(f.read, nobody)
	}
	f.byReturn = f.byReturn[:0]
	for _, i := range c.x.byCall {
		o := &c.x.h.Ops[i]
		if o.Outcome != Committed || o.Kind == View || o.Kind == CAS && !o.OK {
			continue
		}
		if o.Writes() {
			f.byReturn = append(f.byReturn, i)
		}
		for _, k := range c.x.keysOf(i) {
			switch {
			case o.Reads():
				f.read[k] = i
			case f.last[k] == nobody || c.after(i, f.last[k]):
				f.last[k] = i
			}
		}
	}
	slices.SortFunc(f.byReturn, func(a, b int32) int {
		return cmp.Compare(c.x.h.Ops[a].Return, c.x.h.Ops[b].Return)
	})
}

// after reports whether write a took effect behind write b, as far as LSNs or,
// without them, returns tell.
func (c *Checker) after(a, b int32) bool {
	if c.x.lsnOf[a] != 0 && c.x.lsnOf[b] != 0 {
		return c.x.lsnOf[a] > c.x.lsnOf[b]
	}
	return c.x.h.Ops[a].Return > c.x.h.Ops[b].Return
}

// logEnds holds the end of log of each opening boot against the commits
// acknowledged before it opened. An End of 0 was not recorded.
func (c *Checker) logEnds() Verdict {
	next, top := 0, int32(nobody)
	for _, b := range c.x.boots {
		for ; next < len(c.fin.byReturn); next++ {
			i := c.fin.byReturn[next]
			if c.x.h.Ops[i].Return >= b.OpenedAt {
				break
			}
			if top == nobody || c.x.lsnOf[i] > c.x.lsnOf[top] {
				top = i
			}
		}
		if top != nobody && b.End != 0 && b.End < c.x.lsnOf[top] {
			return broken(durableCheck, c.identities(top),
				"boot %s opened at event %d with a log that ends at %v, below %s, acknowledged before",
				hostBoot(b.Host, b.Boot), b.OpenedAt, b.End, c.describe(top))
		}
	}
	return holds(durableCheck)
}

// kept checks the last read of a key.
func (c *Checker) kept(k int32) Verdict {
	w, r := c.fin.last[k], c.fin.read[k]
	if w == nobody {
		return holds(durableCheck)
	}
	acked := c.x.h.Ops[w].Return
	if r == nobody || c.x.h.Ops[r].Call <= acked {
		if n := len(c.x.boots); n > 0 && c.x.boots[n-1].OpenedAt > acked {
			return undecided(durableCheck, c.identities(w), "key %d was never read on the writer after %s and the recovery at event %d",
				c.x.name[k], c.describe(w), c.x.boots[n-1].OpenedAt)
		}
		return holds(durableCheck)
	}
	if !c.recovered(acked, c.x.h.Ops[r].Return) {
		return holds(durableCheck) // a stale read without a crash is no loss: see linear
	}
	got := c.x.h.Ops[r].Results[slices.Index(c.x.keysOf(r), k)]
	want := c.x.h.Ops[w].Values[slices.Index(c.x.keysOf(w), k)]
	g := c.x.writerOf(k, got)
	if got == want || !c.certainlyBefore(g, w, k, got) {
		return holds(durableCheck)
	}
	v := broken(durableCheck, c.identities(w, r, g), "%s is gone: key %d held %s, and %s saw %s of %s",
		c.describe(w), c.x.name[k], value(want), c.describe(r), value(got), c.describe(g))
	v.Details = c.blame(w, k, want)
	return v
}

// recovered reports whether a writer's boot opened between two events.
func (c *Checker) recovered(from, to int64) bool {
	return slices.ContainsFunc(c.x.boots, func(b Boot) bool { return b.OpenedAt >= from && b.OpenedAt <= to })
}

// certainlyBefore reports whether what a read saw is older than write w.
func (c *Checker) certainlyBefore(g, w, k int32, got uint64) bool {
	switch {
	case g == nobody: // the dirty check's finding, and still not w
		return true
	case g == fromStart:
		return got != 0 || !c.deleted(k, w)
	case c.x.lsnOf[g] != 0 && c.x.lsnOf[w] != 0:
		return c.x.lsnOf[g] < c.x.lsnOf[w]
	}
	return c.s.of[g].end < c.s.of[w].begin
}

// deleted reports whether some delete of a key may lie behind write w.
func (c *Checker) deleted(k, w int32) bool {
	for i := range c.s.of {
		p := &c.s.of[i]
		if !p.kept || p.op.Verb == model.Read || p.op.Verb == model.Keep || p.end < c.s.of[w].begin {
			continue
		}
		if n := slices.Index(p.op.Keys, k); n >= 0 && p.op.Values[n] == 0 {
			return true
		}
	}
	return false
}

// blame says who saw a lost write last, who missed it first, and which boots
// opened in between.
func (c *Checker) blame(w, k int32, want uint64) []string {
	var lines []string
	acked := c.x.h.Ops[w].Return
	seen, missed := int32(nobody), int32(nobody)
	for _, i := range c.x.byCall {
		o := &c.x.h.Ops[i]
		n := slices.Index(c.x.keysOf(i), k)
		if n < 0 || o.Outcome != Committed || o.Kind != Get && o.Kind != MultiGet {
			continue
		}
		switch {
		case o.Results[n] == want:
			seen, missed = i, nobody
		case missed == nobody && o.Call > acked:
			missed = i
		}
	}
	from, to := acked, Open
	if seen != nobody {
		lines = append(lines, "last seen by "+c.describe(seen))
		from = max(from, c.x.h.Ops[seen].Call)
	}
	if missed != nobody {
		lines = append(lines, "first missed by "+c.describe(missed))
		to = c.x.h.Ops[missed].Return
	}
	for _, b := range c.x.boots {
		if b.OpenedAt >= from && b.OpenedAt <= to {
			lines = append(lines, c.suspectBoot(b, c.x.lsnOf[w]))
		}
	}
	return lines
}

func (c *Checker) suspectBoot(b Boot, lsn page.LSN) string {
	side := "above"
	if b.End < lsn {
		side = "below"
	}
	return fmt.Sprintf("boot %s opened in between, at event %d, with a log that ends at %v, %s it",
		hostBoot(b.Host, b.Boot), b.OpenedAt, b.End, side)
}

// resurrected looks for unknown writes that a boot after theirs did not show
// and that were seen later all the same.
func (c *Checker) resurrected() Verdict {
	for i := range c.s.of {
		o := &c.x.h.Ops[i]
		if !c.s.of[i].kept || o.Outcome == Committed || !o.Writes() {
			continue
		}
		opened := c.x.nextBoot(int32(i))
		if opened == Open {
			continue
		}
		for n, k := range c.x.keysOf(int32(i)) {
			if o.Values[n] == 0 {
				continue
			}
			if v := c.cameBack(int32(i), k, o.Values[n], opened); v.Result == Broken {
				return v
			}
		}
	}
	return holds(durableCheck)
}

func (c *Checker) cameBack(u, k int32, val uint64, opened int64) Verdict {
	missed := int32(nobody)
	later, _ := slices.BinarySearchFunc(c.x.byCall, opened+1, func(i int32, e int64) int {
		return cmp.Compare(c.x.h.Ops[i].Call, e)
	})
	for _, i := range c.x.byCall[later:] {
		o := &c.x.h.Ops[i]
		if o.Outcome != Committed || o.Kind != Get && o.Kind != MultiGet {
			continue
		}
		n := slices.Index(c.x.keysOf(i), k)
		if n < 0 {
			continue
		}
		if o.Results[n] != val {
			if missed == nobody || o.Return < c.x.h.Ops[missed].Return {
				missed = i
			}
			continue
		}
		if missed != nobody && c.x.h.Ops[missed].Return < o.Call {
			return broken(durableCheck, c.identities(i, u, missed),
				"%s saw %s at key %d: %s came back, which %s had not shown after the boot at event %d",
				c.describe(i), value(val), c.x.name[k], c.describe(u), c.describe(missed), opened)
		}
	}
	return holds(durableCheck)
}
