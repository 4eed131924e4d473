package checkers

import (
	"sort"

	"tornpage/engine/page"
	"tornpage/model"
)

// span is an operation as the sequential model sees it.
type span struct {
	begin, end int64
	kept       bool
	op         model.Op // Keys are key numbers of the whole history
}

// spans turns recorded operations into what the model must order: aborted ones
// and unknown reads fall away, unknown writes get the tightest interval that
// is still certain, replica views get the interval of their commit prefix.
type spans struct {
	x      *index
	of     []span
	queue  []int32
	blind  []bool // by key number: a failed CAS that told no value may have seen anything
	groups groups
}

// before stands for an event ahead of all recorded ones.
const before int64 = -1

func (s *spans) build(x *index) {
	s.x = x
	n := len(x.h.Ops)
	if cap(s.of) < n {
		s.of = make([]span, n)
	}
	s.of = s.of[:n]
	s.queue = s.queue[:0]
	s.blind = append(s.blind[:0], make([]bool, len(x.name))...)
	for i := range s.of {
		s.of[i] = s.first(int32(i))
	}
	s.observe()
	s.loose()
	s.groups.build(x, s.of)
}

// first is the interval that an operation has on its own.
func (s *spans) first(i int32) span {
	o := &s.x.h.Ops[i]
	p := span{begin: o.Call, end: o.Return}
	p.op.Keys = s.x.keysOf(i)
	switch {
	case o.Outcome == Aborted:
	case o.Outcome == Committed:
		p.kept = true
		s.committed(o, &p)
	case o.Writes(): // kept once a read proves that it happened
		p.end = Open
		s.write(o, &p)
	}
	return p
}

func (s *spans) committed(o *Op, p *span) {
	switch {
	case o.Kind == View:
		p.op.Verb, p.op.Values = model.Read, o.Results
		p.begin, p.end = s.x.prefix(o.Token)
	case o.Reads():
		p.op.Verb, p.op.Values = model.Read, o.Results
	case o.Kind == CAS && !o.OK:
		p.op.Verb, p.op.Values, p.op.Old = model.Keep, o.Results, o.Old
		// If the key may have held Old, something unseen may have replaced it.
		if k := p.op.Keys[0]; len(o.Results) == 0 && s.x.writerOf(k, o.Old) != nobody {
			s.blind[k] = true
		}
	default:
		s.write(o, p)
	}
}

func (s *spans) write(o *Op, p *span) {
	p.op.Verb, p.op.Values = model.Write, o.Values
	if o.Kind == CAS {
		p.op.Verb, p.op.Old = model.Swap, o.Old
	}
}

// observe keeps the unknown writes that somebody saw. Each ends at the
// earliest return that saw it, and at the latest when the writer's next boot
// opens: what that boot did not find must never come back.
func (s *spans) observe() {
	for i := range s.of {
		if s.of[i].kept {
			s.queue = append(s.queue, int32(i))
		}
	}
	for len(s.queue) > 0 {
		i := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		p := &s.of[i]
		for n, k := range p.op.Keys {
			switch {
			case p.op.Verb == model.Swap:
				s.seen(k, p.op.Old, p.end)
			case p.op.Verb != model.Write && len(p.op.Values) > 0:
				s.seen(k, p.op.Values[n], p.end)
			}
		}
	}
}

func (s *spans) seen(k int32, val uint64, by int64) {
	i := s.x.writerOf(k, val)
	if i < 0 || s.x.h.Ops[i].Outcome == Aborted || s.x.h.Ops[i].Outcome == Committed {
		return
	}
	p := &s.of[i]
	if !p.kept {
		p.end = s.x.nextBoot(i)
	} else if by >= p.end {
		return
	}
	p.kept = true
	// A read that returned before the write was called saw the future; the
	// interval stays sane and the model refuses the read.
	p.end = max(p.begin, min(p.end, by))
	s.queue = append(s.queue, i) // a swap saw the value before it
}

// loose keeps, without an end, the unseen unknown writes that a read may have
// seen without naming them: deletes, writes under a CAS that failed without
// telling why, and what such a write may itself have swapped.
func (s *spans) loose() {
	for i := range s.of {
		p := &s.of[i]
		if p.kept || p.op.Verb != model.Write && p.op.Verb != model.Swap {
			continue
		}
		for n, k := range p.op.Keys {
			if p.op.Values[n] == 0 || s.blind[k] {
				s.keepOpen(int32(i))
				break
			}
		}
	}
}

// keepOpen keeps an unknown write, and back along a chain of unknown swaps
// those that it may have built on.
func (s *spans) keepOpen(i int32) {
	for i >= 0 && !s.of[i].kept && s.x.h.Ops[i].Outcome != Aborted {
		p := &s.of[i]
		p.kept, p.end = true, Open
		if p.op.Verb != model.Swap {
			return
		}
		p.op.Verb = model.Try
		i = s.x.writerOf(p.op.Keys[0], p.op.Old)
	}
}

// prefix returns the interval in which the state was that of all commits at or
// below view: from when the last of them became visible until the next did.
func (x *index) prefix(view page.LSN) (begin, end int64) {
	if len(x.commits) == 0 {
		return before, Open
	}
	n := sort.Search(len(x.commits), func(i int) bool { return x.commits[i].LSN > view })
	begin, end = before, Open
	if n > 0 {
		begin = x.commits[n-1].Visible
	}
	if n < len(x.commits) {
		end = x.commits[n].Visible
	}
	// Commits that became visible out of LSN order are another check's
	// finding (watermarks); the interval stays sane.
	return begin, max(begin, end)
}

// groups joins keys that one transaction wrote, or one snapshot read, into
// groups; each group is checked on its own. Views are not joined: they are
// projected, and the views check holds them against the commit order whole.
type groups struct {
	parent []int32
}

func (g *groups) find(k int32) int32 {
	for g.parent[k] != k {
		g.parent[k] = g.parent[g.parent[k]]
		k = g.parent[k]
	}
	return k
}

func (g *groups) build(x *index, of []span) {
	g.parent = g.parent[:0]
	for k := range x.name {
		g.parent = append(g.parent, int32(k))
	}
	for i := range of {
		if !of[i].kept || x.h.Ops[i].Kind == View {
			continue
		}
		keys := of[i].op.Keys
		for _, k := range keys[1:] {
			a, b := g.find(keys[0]), g.find(k)
			g.parent[max(a, b)] = min(a, b)
		}
	}
}
