package checkers

import (
	"math/rand/v2"
	"slices"

	"tornpage/engine/page"
)

// shape is what kind of history a run of the perfect store makes.
type shape struct {
	clients, keys, ops int
	unknown            int // of 100 answers, how many are lost
	crash              int // of 1,000 events, how many crash the writer
	views, multi       bool
	tokens             bool
	deletes            bool
	noCAS              bool
}

// perfect is a store that runs operations one at a time, each at some event
// between its call and its return, for clients that overlap at will. What it
// records is right by construction.
type perfect struct {
	r      *rand.Rand
	s      shape
	h      *History
	event  int64
	boot   uint64
	lsn    page.LSN
	states [][]uint64 // after each commit; states[i] at lsns[i]
	lsns   []page.LSN
	open   []*Op // by worker; nil when idle
	ran    []bool
	client []int
	next   int
	id     int64
	value  uint64
	views  map[int]page.LSN // by client: the session's last view
}

func newPerfect(r *rand.Rand, s shape) *perfect {
	p := &perfect{r: r, s: s, h: &History{}, boot: 1, lsn: 0x28, open: make([]*Op, s.clients),
		ran: make([]bool, s.clients), views: make(map[int]page.LSN)}
	for w := range s.clients {
		p.client = append(p.client, w+1)
	}
	p.next = s.clients + 1
	p.states, p.lsns = [][]uint64{make([]uint64, s.keys)}, []page.LSN{p.lsn}
	p.h.Boots = append(p.h.Boots, Boot{Host: "w", Boot: 1, End: p.lsn})
	p.h.Durable = append(p.h.Durable, Point{0, p.lsn})
	return p
}

// perfectHistory runs the store until ops operations ended, then reads every
// key once.
func perfectHistory(r *rand.Rand, s shape) *History {
	p := newPerfect(r, s)
	for len(p.h.Ops) < s.ops {
		p.event++
		if r.IntN(1000) < s.crash {
			p.crash()
			continue
		}
		w := r.IntN(s.clients)
		switch {
		case p.open[w] == nil:
			p.call(w)
		case !p.ran[w] && r.IntN(100) < s.unknown:
			p.end(w, Unknown) // it never reached the store
		case !p.ran[w]:
			p.run(w)
		case r.IntN(100) < s.unknown:
			p.end(w, Unknown)
		default:
			p.end(w, Committed)
		}
	}
	p.crash()
	for k := range s.keys {
		p.event++
		p.id++
		p.open[0] = &Op{ID: p.id, Client: p.client[0], Kind: Get, Keys: []int64{int64(k)}, Call: p.event, Host: "w", Boot: p.boot}
		p.run(0)
		p.event++
		p.end(0, Committed)
	}
	return p.h
}

func (p *perfect) state() []uint64 { return p.states[len(p.states)-1] }

// crash ends the writer's boot: what has not run never will, and no open
// operation gets an answer.
func (p *perfect) crash() {
	for w := range p.open {
		if p.open[w] != nil {
			p.end(w, Unknown)
		}
	}
	p.event++
	p.boot++
	p.h.Boots = append(p.h.Boots, Boot{Host: "w", Boot: p.boot, OpenedAt: p.event, End: p.lsn})
	p.event++
}

func (p *perfect) call(w int) {
	p.id++
	o := &Op{ID: p.id, Client: p.client[w], Worker: w, Call: p.event, Host: "w", Boot: p.boot}
	n := 1
	switch roll := p.r.IntN(10); {
	case roll < 3:
		o.Kind = Put
	case roll < 5 && !p.s.noCAS:
		o.Kind = CAS
	case roll < 6 && p.s.multi && p.s.keys > 1:
		o.Kind, n = MultiPut, 2
	case roll < 7 && p.s.multi && p.s.keys > 1:
		o.Kind, n = MultiGet, 2
	case roll < 8 && p.s.views:
		o.Kind, n, o.Host = View, 1+p.r.IntN(min(3, p.s.keys)), "r"
	default:
		o.Kind = Get
	}
	first := p.r.IntN(p.s.keys)
	for i := range n { // pairs k, k+1 with k even, so that groups stay small
		k := first
		if o.Kind == MultiPut || o.Kind == MultiGet {
			k = min(first&^1, p.s.keys-2)
		}
		o.Keys = append(o.Keys, int64((k+i)%p.s.keys))
		if o.Writes() {
			p.value++
			o.Values = append(o.Values, p.value)
			if p.s.deletes && p.r.IntN(6) == 0 {
				o.Values[i] = 0
			}
		}
	}
	if o.Kind == CAS {
		o.Old = p.state()[o.Keys[0]]
		if p.r.IntN(3) == 0 {
			o.Old = p.value + 1<<20 // nobody ever writes it
		}
	}
	p.open[w], p.ran[w] = o, false
}

// run lets an operation take effect at this event.
func (p *perfect) run(w int) {
	o := p.open[w]
	p.ran[w] = true
	at := p.state()
	o.Token = p.lsn
	if o.Kind == View {
		i := p.r.IntN(len(p.states))
		for p.lsns[i] < p.views[o.Client] {
			i++
		}
		at, o.Token = p.states[i], p.lsns[i]
		p.views[o.Client] = o.Token
	}
	if o.Kind == CAS && at[o.Keys[0]] != o.Old {
		o.OK = false
		if p.r.IntN(2) == 0 {
			o.Results = []uint64{at[o.Keys[0]]}
		}
		return
	}
	if o.Reads() {
		for _, k := range o.Keys {
			o.Results = append(o.Results, at[k])
		}
		return
	}
	o.OK = o.Kind == CAS
	p.lsn += page.LSN(8 + 8*p.r.IntN(4))
	o.Token = p.lsn
	next := slices.Clone(at)
	for i, k := range o.Keys {
		next[k] = o.Values[i]
	}
	p.states, p.lsns = append(p.states, next), append(p.lsns, p.lsn)
	p.h.Durable = append(p.h.Durable, Point{p.event, p.lsn})
	c := Commit{LSN: p.lsn, Visible: p.event}
	if p.s.tokens {
		c.Op = o.ID
	}
	p.h.Commits = append(p.h.Commits, c)
}

func (p *perfect) end(w int, out Outcome) {
	o := p.open[w]
	o.Outcome, o.Return = out, p.event
	if out == Unknown {
		o.Token, o.Results, o.OK = 0, nil, false
		p.client[w] = p.next
		p.next++
	}
	if !p.s.tokens && o.Kind != View {
		o.Token = 0
	}
	p.h.Ops = append(p.h.Ops, *o)
	p.open[w] = nil
}

// worst is the history that was undecided after 20 s without tightening:
// one key, 8 clients, 400 operations, 17 unknown writes, one stale read
// (measured in design review). stale is false for its sound twin.
func worst(stale bool) *History {
	r := rand.New(rand.NewPCG(8127, 1))
	h := perfectHistory(r, shape{clients: 8, keys: 1, ops: 400, noCAS: true})
	open := 0
	for i := range h.Ops {
		o := &h.Ops[i]
		if o.Kind == Put && o.Outcome == Committed && i < 300 && open < 17 && !observed(h, o.Values[0]) {
			o.Outcome = Unknown
			o.Return = Open
			o.Client = 1000 + open
			o.Boot = 0
			open++
		}
	}
	h.Boots = nil
	if stale {
		var old uint64
		for i := range h.Ops {
			o := &h.Ops[i]
			if o.Kind != Get || o.Outcome != Committed {
				continue
			}
			if old == 0 {
				old = o.Results[0]
			}
			if i > 350 {
				o.Results[0] = old
				break
			}
		}
	}
	return h
}

func observed(h *History, val uint64) bool {
	return slices.ContainsFunc(h.Ops, func(o Op) bool {
		return o.Outcome == Committed && (slices.Contains(o.Results, val) || o.Kind == CAS && o.OK && o.Old == val)
	})
}
