package checkers

import (
	"fmt"

	"tornpage/engine/page"
)

// Observation is a named number that some host reported at some event: a
// watermark, the position of a record, an epoch.
type Observation struct {
	Event int64
	Host  string
	Boot  uint64
	Name  string   // "durable", "view", "collected"
	LSN   page.LSN // or an epoch, a term
	Part  uint32   // Same and Sole: the part of the record at LSN
	Value uint64   // Same: what must not differ, for example a checksum
}

// Scope says which observations of the second name an order is held against.
type Scope uint8

// The scopes of an order.
const (
	SameBoot Scope = iota // the latest of the same host and boot; none yet: no breach
	Cluster               // the highest of any host so far; none yet counts as 0
	Least                 // the lowest of the latest of each host; none: no breach
)

// Rule is a declared law of watermarks. Rules are made by Monotone, Lasting,
// Order, Same and Sole.
type Rule struct {
	kind  ruleKind
	a, b  string
	less  bool // strictly
	scope Scope
}

type ruleKind uint8

const (
	monotone ruleKind = iota
	lasting
	order
	same
	sole
)

// Monotone: within one boot of a host, name never retreats.
func Monotone(name string) Rule { return Rule{kind: monotone, a: name} }

// Lasting: name never retreats on any host, across boots and hosts.
func Lasting(name string) Rule { return Rule{kind: lasting, a: name} }

// Order: a op b, op being "<=" or "<". It is tested when a or, within SameBoot or
// Least, b is observed. Any other op panics: rules are code.
func Order(a, op, b string, scope Scope) Rule {
	if op != "<=" && op != "<" {
		panic(fmt.Sprintf("checkers.Order(%q, %q, %q): want <= or <", a, op, b))
	}
	return Rule{kind: order, a: a, b: b, less: op == "<", scope: scope}
}

// Same: observations of name with one (LSN, Part) have one Value: there is one
// record per (LSN, part), however many hosts store it.
func Same(name string) Rule { return Rule{kind: same, a: name} }

// Sole: observations of name with one (LSN, Part) come from one boot of one
// host: there is one writer per epoch.
func Sole(name string) Rule { return Rule{kind: sole, a: name} }

func (r Rule) String() string {
	switch r.kind {
	case monotone:
		return r.a + " never retreats within a boot"
	case lasting:
		return r.a + " never retreats"
	case same:
		return "one " + r.a + " per (LSN, part)"
	case sole:
		return "one host per " + r.a
	}
	op := " <= "
	if r.less {
		op = " < "
	}
	return r.a + op + r.b + [...]string{"", " anywhere", " of each host"}[r.scope]
}

type boot struct {
	host string
	boot uint64
}

type slot struct {
	lsn  page.LSN
	part uint32
}

// series is what is remembered of one name.
type series struct {
	rules   []Rule
	latest  map[boot]Observation
	byHost  map[string]Observation
	highest Observation
	any     bool
	records map[slot]Observation
}

// Watermarks holds a stream of observations against rules, as the run goes.
// Memory grows with hosts and boots and, under Same and Sole, with records.
type Watermarks struct {
	names   map[string]*series
	verdict Verdict
	seen    int
}

const watermarksCheck = "watermarks"

// NewWatermarks returns a checker of the given rules.
func NewWatermarks(rules ...Rule) *Watermarks {
	w := &Watermarks{names: make(map[string]*series), verdict: holds(watermarksCheck)}
	for _, r := range rules {
		w.name(r.a).rules = append(w.name(r.a).rules, r)
		if r.kind == same || r.kind == sole {
			w.name(r.a).records = make(map[slot]Observation)
		}
		if r.kind == order && w.name(r.b) != w.name(r.a) && r.scope != Cluster {
			w.name(r.b).rules = append(w.name(r.b).rules, r)
		}
	}
	return w
}

func (w *Watermarks) name(n string) *series {
	s, ok := w.names[n]
	if !ok {
		s = &series{latest: make(map[boot]Observation), byHost: make(map[string]Observation)}
		w.names[n] = s
	}
	return s
}

// Verdict is Broken from the first breach on; Undecided if nothing that a rule
// names was ever observed.
func (w *Watermarks) Verdict() Verdict {
	if w.verdict.Result == Holds && w.seen == 0 {
		return undecided(watermarksCheck, nil, "nothing that a rule names was observed")
	}
	return w.verdict
}

// Observe takes the next observation, in order of events. It returns false
// once a rule is broken; only the first breach is kept.
func (w *Watermarks) Observe(o Observation) bool {
	s, ok := w.names[o.Name]
	if !ok || w.verdict.Result == Broken {
		return w.verdict.Result != Broken
	}
	w.seen++
	id := boot{o.Host, o.Boot}
	old, again := s.latest[id]
	highest, any := s.highest, s.any
	s.latest[id], s.byHost[o.Host] = o, o
	if !s.any || o.LSN > s.highest.LSN {
		s.highest, s.any = o, true
	}
	for _, r := range s.rules {
		switch r.kind {
		case monotone:
			if again && o.LSN < old.LSN {
				w.breach(r, o, old)
			}
		case lasting:
			if any && o.LSN < highest.LSN {
				w.breach(r, o, highest)
			}
		case order:
			w.order(r, o)
		case same, sole:
			w.record(r, s, o)
		}
	}
	return w.verdict.Result != Broken
}

func (w *Watermarks) record(r Rule, s *series, o Observation) {
	at := slot{o.LSN, o.Part}
	first, ok := s.records[at]
	if !ok {
		s.records[at] = o
		return
	}
	if r.kind == same && first.Value != o.Value || r.kind == sole && (first.Host != o.Host || first.Boot != o.Boot) {
		w.breach(r, o, first)
	}
}

// order tests the rule from the side that was observed.
func (w *Watermarks) order(r Rule, o Observation) {
	a, b := w.names[r.a], w.names[r.b]
	id := boot{o.Host, o.Boot}
	if o.Name == r.b && o.Name != r.a {
		if r.scope == SameBoot {
			if low, ok := a.latest[id]; ok {
				w.compare(r, low, o)
			}
		} else if a.any { // Least: nothing above it may have been given away
			w.compare(r, a.highest, o)
		}
		return
	}
	switch r.scope {
	case SameBoot:
		if high, ok := b.latest[id]; ok {
			w.compare(r, o, high)
		}
	case Cluster:
		w.compare(r, o, b.highest)
	case Least:
		least, any := Observation{}, false
		for _, v := range b.byHost { // a minimum, ties by event: order is not seen
			if !any || v.LSN < least.LSN || v.LSN == least.LSN && v.Event < least.Event {
				least, any = v, true
			}
		}
		if any {
			w.compare(r, o, least)
		}
	}
}

func (w *Watermarks) compare(r Rule, low, high Observation) {
	if low.LSN > high.LSN || r.less && low.LSN == high.LSN {
		w.breach(r, low, high)
	}
}

func (w *Watermarks) breach(r Rule, o, other Observation) {
	if w.verdict.Result == Broken {
		return
	}
	second := other.text()
	if other.Name == "" {
		second = "no " + r.b + " yet"
	}
	w.verdict = broken(watermarksCheck, nil, "%v: %s, against %s", r, o.text(), second)
	if r.kind == same {
		w.verdict.Details = []string{fmt.Sprintf("part %d: value %x, and first %x", o.Part, o.Value, other.Value)}
	}
}

func (o Observation) text() string {
	return fmt.Sprintf("%s %v on %s at event %d", o.Name, o.LSN, hostBoot(o.Host, o.Boot), o.Event)
}
