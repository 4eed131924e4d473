package checkers

import (
	"cmp"
	"slices"

	"tornpage/model"
)

// zone is the stay of one value at one key (Gibbons and Korach, 1997). Values
// are unique, so everything that wrote or saw the value belongs to it. If the
// first end lies before the last begin, the value certainly was there from one
// to the other, and nothing else may have been; else the whole stay fits into
// the moment between the last begin and the first end.
type zone struct {
	val                 uint64
	firstEnd, lastBegin int64
	ends, begins        int32 // the operations with these stamps
	by                  int32 // who wrote the value
}

func (z *zone) lo() int64 { return min(z.firstEnd, z.lastBegin) }
func (z *zone) hi() int64 { return max(z.firstEnd, z.lastBegin) }

// forward reports whether the value certainly was there throughout lo..hi.
func (z *zone) forward() bool { return z.firstEnd < z.lastBegin }

// zones refutes histories by single keys: two stays that exclude each other,
// or a value read before it was written. What it finds is a proof and has an
// explanation; that it finds nothing proves nothing, since a group's other
// keys and its swaps are not looked at together.
type zones struct {
	byVal map[uint64]int
	list  []zone
	skip0 bool // the key is deleted at times: 0 has no single stay
}

func (z *zones) refute(c *Checker, root int32) Verdict {
	for k := root; k < int32(len(c.x.name)); k++ {
		if c.s.groups.find(k) != root {
			continue
		}
		if v := z.key(c, k); v.Result == Broken {
			return v
		}
	}
	return holds("linear")
}

func (z *zones) key(c *Checker, k int32) Verdict {
	z.gather(c, k)
	for i := range z.list {
		a := &z.list[i]
		if a.by >= 0 && c.s.of[a.by].kept && a.firstEnd < c.s.of[a.by].begin {
			return broken("linear", c.identities(a.ends, a.by),
				"%s saw %d at key %d before %s was called", c.describe(a.ends), a.val, c.x.name[k], c.describe(a.by))
		}
	}
	slices.SortFunc(z.list, func(a, b zone) int {
		return cmp.Or(cmp.Compare(a.lo(), b.lo()), cmp.Compare(a.hi(), b.hi()), cmp.Compare(a.val, b.val))
	})
	// In order of lo, only the forward zone that reaches furthest can exclude
	// the next one; closed intervals let two touch at one event.
	var far *zone
	for i := range z.list {
		b := &z.list[i]
		if far != nil && b.lo() < far.hi() && (b.forward() || b.hi() < far.hi() && b.lo() > far.lo()) {
			return z.explain(c, k, far, b)
		}
		if b.forward() && (far == nil || b.hi() > far.hi()) {
			far = b
		}
	}
	return holds("linear")
}

// gather builds the zones of a key from the tightened history.
func (z *zones) gather(c *Checker, k int32) {
	if z.byVal == nil {
		z.byVal = make(map[uint64]int)
	}
	clear(z.byVal)
	z.list = z.list[:0]
	z.skip0 = false
	z.byVal[c.x.initial[k]] = 0
	z.list = append(z.list, zone{val: c.x.initial[k], firstEnd: before, lastBegin: before,
		ends: fromStart, begins: fromStart, by: fromStart})
	for _, i := range c.x.byCall {
		p := &c.s.of[i]
		n := slices.Index(p.op.Keys, k)
		if !p.kept || n < 0 {
			continue
		}
		if p.op.Verb == model.Try { // nobody saw its value, unless it is 0
			z.skip0 = z.skip0 || p.op.Values[n] == 0
			continue
		}
		if p.op.Verb == model.Swap {
			z.add(c, k, i, p.op.Old)
		}
		if n < len(p.op.Values) {
			if p.op.Values[n] == 0 && (p.op.Verb == model.Write || p.op.Verb == model.Swap) {
				z.skip0 = true
			}
			z.add(c, k, i, p.op.Values[n])
		}
	}
	if z.skip0 {
		z.list = slices.DeleteFunc(z.list, func(a zone) bool { return a.val == 0 })
	}
}

func (z *zones) add(c *Checker, k, i int32, val uint64) {
	p := &c.s.of[i]
	at, ok := z.byVal[val]
	if !ok {
		z.byVal[val] = len(z.list)
		z.list = append(z.list, zone{val: val, firstEnd: p.end, lastBegin: p.begin, ends: i, begins: i,
			by: c.x.writerOf(k, val)})
		return
	}
	a := &z.list[at]
	if p.end < a.firstEnd {
		a.firstEnd, a.ends = p.end, i
	}
	if p.begin > a.lastBegin {
		a.lastBegin, a.begins = p.begin, i
	}
}

// explain says which of two stays is the stale one: the later begin is the
// operation that came too late for what it saw.
func (z *zones) explain(c *Checker, k int32, a, b *zone) Verdict {
	old, now := a, b
	if b.lastBegin > a.lastBegin {
		old, now = b, a
	}
	v := broken("linear", c.identities(old.begins, now.by, old.by, now.ends, old.ends),
		"%s saw %s at key %d, want %s of %s",
		c.describe(old.begins), value(old.val), c.x.name[k], value(now.val), c.describe(now.by))
	if old.begins == old.by {
		v.What = c.describe(old.begins) + " took effect at two times"
	}
	for _, s := range []*zone{old, now} {
		v.Details = append(v.Details, c.stay(k, s))
	}
	return v
}

func (c *Checker) stay(k int32, z *zone) string {
	s := "key " + numeral(c.x.name[k]) + " held " + value(z.val)
	if z.forward() {
		from := " from the start"
		if z.firstEnd != before {
			from = " from event " + numeral(z.firstEnd) + " at the latest, when " + c.returned(z.ends)
		}
		s += from + ", until event " + numeral(z.lastBegin) + " at least, when " + c.called(z.begins)
		return s
	}
	return s + " at some moment from event " + numeral(z.lastBegin) + ", when " + c.called(z.begins) +
		", to event " + numeral(z.firstEnd) + ", when " + c.returned(z.ends)
}

func (c *Checker) called(i int32) string {
	if i == fromStart {
		return "the run began"
	}
	if c.s.of[i].begin != c.x.h.Ops[i].Call {
		return "its prefix became visible to the writer (op " + numeral(c.x.h.Ops[i].ID) + ")"
	}
	return "op " + numeral(c.x.h.Ops[i].ID) + " was called"
}

func (c *Checker) returned(i int32) string {
	if i == fromStart {
		return "the run began"
	}
	o := &c.x.h.Ops[i]
	switch {
	case o.Kind == View:
		return "the next commit became visible (op " + numeral(o.ID) + ")"
	case c.s.of[i].end != o.Return:
		return "op " + numeral(o.ID) + " had to be over (first seen, or the next boot opened)"
	}
	return "op " + numeral(o.ID) + " returned"
}
