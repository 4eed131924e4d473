package checkers

import (
	"cmp"
	"math"
	"slices"

	"tornpage/engine/page"
	"tornpage/model"
)

// place is where the commit-LSN order puts an operation.
type place struct {
	lsn   page.LSN
	class uint8
	tie   int64 // begin of the interval
	i     int32
}

// Classes at one LSN: an unknown write that a swap saw goes just ahead of that
// swap, the commit itself next, an unknown write that a snapshot saw, then
// reads of the snapshot.
const (
	classAhead uint8 = iota
	classCommit
	classSeen
	classRead
)

// atEnd is the place of an unseen unknown write: behind everything it cannot
// hurt, which is what "it never happened" comes to.
const atEnd = page.LSN(math.MaxUint64)

// compare is spelled out: it is a quarter of the time of a check.
func (p place) compare(q place) int {
	switch {
	case p.lsn != q.lsn:
		return cmp.Compare(p.lsn, q.lsn)
	case p.class != q.class:
		return int(p.class) - int(q.class)
	case p.tie != q.tie:
		return cmp.Compare(p.tie, q.tie)
	}
	return int(p.i) - int(q.i)
}

// suspect is a key group that the witness did not clear.
type suspect struct {
	root int32 // the group's smallest key number
	at   int32 // the operation at which the commit order fails, or nobody
	why  why
	n    int    // illegal: at which of its keys
	want uint64 // illegal: what that key held
}

type why uint8

const (
	untried  why = iota
	illegal      // the answer is not what the commits ahead of it left
	late         // it ended before something ahead of it began
	unplaced     // a write whose LSN nobody knows
)

// witness tries the order of commit LSNs. If every answer is legal in that
// order and no operation stands behind one that began after it ended, then the
// order is a linearization and nothing has to be searched. The converse is not
// true: a group it does not clear is only suspect.
type witness struct {
	s      *spans
	places []place
	where  []place // by operation; class and LSN, for reads without a token
	byEnd  []int32
	state  model.State
	reach  []int64 // by group root: latest begin so far
	failed []bool
	found  []suspect
}

// suspects returns the groups that the commit order does not clear, in order
// of their first key number; all groups if the witness is off.
func (w *witness) suspects(s *spans, off bool) []suspect {
	x := s.x
	w.s = s
	w.found = w.found[:0]
	w.state = append(w.state[:0], x.initial...)
	w.reach = slices.Grow(w.reach[:0], len(x.name))[:len(x.name)]
	w.failed = append(w.failed[:0], make([]bool, len(x.name))...)
	for k := range w.reach {
		w.reach[k] = before
	}
	if off {
		for k := range x.name {
			if s.groups.find(int32(k)) == int32(k) {
				w.found = append(w.found, suspect{root: int32(k), at: nobody})
			}
		}
		return w.found
	}
	w.arrange()
	for _, p := range w.places {
		w.replay(p.i)
	}
	slices.SortFunc(w.found, func(a, b suspect) int { return cmp.Compare(a.root, b.root) })
	return w.found
}

// replay takes the next operation of the order. A view touches several groups;
// each sees its own keys of it.
func (w *witness) replay(i int32) {
	p := &w.s.of[i]
	for n, k := range p.op.Keys {
		root := w.s.groups.find(k)
		if w.failed[root] {
			continue
		}
		switch {
		case p.end < w.reach[root]:
			w.fail(suspect{root: root, at: i, why: late})
			continue
		case !w.legal(&p.op, n):
			w.fail(suspect{root: root, at: i, why: illegal, n: n, want: w.state[k]})
			continue
		}
		w.reach[root] = max(w.reach[root], p.begin)
	}
	model.Apply(w.state, &p.op)
}

// legal asks for one key of an operation; a multi-key operation is legal if it
// is legal at each.
func (w *witness) legal(op *model.Op, n int) bool {
	at := w.state[op.Keys[n]]
	switch op.Verb {
	case model.Read:
		return at == op.Values[n]
	case model.Swap:
		return at == op.Old
	case model.Keep:
		return at != op.Old && (len(op.Values) == 0 || at == op.Values[0])
	}
	return true
}

func (w *witness) fail(s suspect) {
	if !w.failed[s.root] {
		w.failed[s.root] = true
		w.found = append(w.found, s)
	}
}

// arrange puts every kept operation in its place.
func (w *witness) arrange() {
	w.places = w.places[:0]
	w.where = slices.Grow(w.where[:0], len(w.s.of))[:len(w.s.of)]
	hidden := false // kept writes whose LSN nobody told
	for i := range w.s.of {
		w.where[i] = place{}
		if p := &w.s.of[i]; p.kept {
			w.fromLSN(int32(i))
			hidden = hidden || w.where[i].lsn == 0 && p.op.Verb != model.Read && p.op.Verb != model.Keep
		}
	}
	if hidden {
		for i := range w.s.of {
			if w.s.of[i].kept {
				w.sighting(int32(i))
			}
		}
	}
	loose := false
	for i := range w.s.of {
		p := &w.s.of[i]
		switch {
		case !p.kept || w.where[i].lsn != 0:
		case p.op.Verb == model.Read || p.op.Verb == model.Keep:
			loose = true
		case p.end == Open:
			w.where[i].lsn = atEnd
		default:
			w.unplaced(int32(i))
		}
	}
	if loose {
		w.placeReads()
	}
	for i := range w.s.of {
		if w.s.of[i].kept {
			w.places = append(w.places, w.where[i])
		}
	}
	slices.SortFunc(w.places, place.compare)
}

// fromLSN places what carries an LSN itself.
func (w *witness) fromLSN(i int32) {
	p := &w.s.of[i]
	at := place{class: classCommit, tie: p.begin, i: i, lsn: w.s.x.lsnOf[i]}
	if p.op.Verb == model.Read || p.op.Verb == model.Keep {
		at.class, at.lsn = classRead, w.s.x.h.Ops[i].Token
	}
	w.where[i] = at
}

// sighting places an unknown write by the earliest that saw it.
func (w *witness) sighting(i int32) {
	p, at := &w.s.of[i], w.where[i]
	if at.lsn == 0 || p.op.Verb == model.Write || p.op.Verb == model.Try {
		return
	}
	for n, k := range p.op.Keys {
		var by int32
		class := classSeen
		switch {
		case p.op.Verb == model.Swap:
			by, class = w.s.x.writerOf(k, p.op.Old), classAhead
		case len(p.op.Values) == 0:
			continue
		default:
			by = w.s.x.writerOf(k, p.op.Values[n])
		}
		if by < 0 || w.s.x.lsnOf[by] != 0 || w.s.x.h.Ops[by].Outcome == Committed {
			continue
		}
		q := place{lsn: at.lsn, class: class, tie: w.s.of[by].begin, i: by}
		if w.where[by].lsn == 0 || q.compare(w.where[by]) < 0 {
			w.where[by] = q
		}
	}
}

// unplaced gives up on the groups of a write whose LSN nobody knows.
func (w *witness) unplaced(i int32) {
	for _, k := range w.s.of[i].op.Keys {
		w.fail(suspect{root: w.s.groups.find(k), at: i, why: unplaced})
	}
}

// placeReads places reads that came without a snapshot LSN: behind the writes
// they saw and behind all of their groups that had ended when they began.
func (w *witness) placeReads() {
	s := w.s
	w.byEnd = w.byEnd[:0]
	for i := range s.of {
		if s.of[i].kept {
			w.byEnd = append(w.byEnd, int32(i))
		}
	}
	slices.SortFunc(w.byEnd, func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.of[a].end, s.of[b].end), cmp.Compare(a, b))
	})
	ended := make([]page.LSN, len(s.x.name)) // by group root
	next := 0
	for _, i := range s.x.byCall {
		p := &s.of[i]
		if !p.kept || w.where[i].lsn != 0 || p.op.Verb != model.Read && p.op.Verb != model.Keep {
			continue
		}
		for ; next < len(w.byEnd) && s.of[w.byEnd[next]].end < p.begin; next++ {
			e := w.byEnd[next]
			for _, k := range s.of[e].op.Keys {
				root := s.groups.find(k)
				ended[root] = max(ended[root], w.where[e].lsn)
			}
		}
		lsn := page.LSN(0)
		for n, k := range p.op.Keys {
			lsn = max(lsn, ended[s.groups.find(k)])
			if len(p.op.Values) > 0 {
				if by := s.x.writerOf(k, p.op.Values[n]); by >= 0 {
					lsn = max(lsn, w.where[by].lsn)
				}
			}
		}
		w.where[i].lsn = lsn
	}
}
