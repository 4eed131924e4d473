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

// boot is one boot of a host. Boots, and hosts, are numbered as they come.
type boot struct {
	host   string
	boot   uint64
	number int // of the host
}

type slot struct {
	lsn  page.LSN
	part uint32
}

// series is what is remembered of one name.
type series struct {
	rules   []held
	latest  []seen // by number of the boot
	byHost  []seen // by number of the host
	highest seen
	records map[slot]Observation
}

// held is a rule, with the series of its names.
type held struct {
	Rule
	sa, sb *series // sb: of an order
}

// seen is an observation, if there was one.
type seen struct {
	Observation
	ok bool
}

func latestOf(s []seen, i int) *seen {
	if i < len(s) {
		return &s[i]
	}
	return &seen{}
}

func setLatest(s []seen, i int, o Observation) []seen {
	for i >= len(s) {
		s = append(s, seen{})
	}
	s[i] = seen{o, true}
	return s
}

// Watermarks holds a stream of observations against rules, as the run goes.
// Memory grows with hosts and boots and, under Same and Sole, with records.
type Watermarks struct {
	names   map[string]*series
	boots   []boot
	hosts   int
	recent  int // the boot that was observed last, most often the next too
	verdict Verdict
	seen    int
}

const watermarksCheck = "watermarks"

// NewWatermarks returns a checker of the given rules.
func NewWatermarks(rules ...Rule) *Watermarks {
	w := &Watermarks{names: make(map[string]*series), verdict: holds(watermarksCheck)}
	for _, r := range rules {
		h := held{Rule: r, sa: w.name(r.a)}
		if r.kind == order {
			h.sb = w.name(r.b)
		}
		h.sa.rules = append(h.sa.rules, h)
		if r.kind == same || r.kind == sole {
			h.sa.records = make(map[slot]Observation)
		}
		if r.kind == order && h.sb != h.sa && r.scope != Cluster {
			h.sb.rules = append(h.sb.rules, h)
		}
	}
	return w
}

func (w *Watermarks) name(n string) *series {
	s, ok := w.names[n]
	if !ok {
		s = &series{}
		w.names[n] = s
	}
	return s
}

// boot gives the number of a boot.
func (w *Watermarks) boot(host string, n uint64) int {
	is := func(b *boot) bool { return b.boot == n && b.host == host }
	if w.recent < len(w.boots) && is(&w.boots[w.recent]) {
		return w.recent
	}
	number := -1
	for i := len(w.boots) - 1; i >= 0; i-- {
		if is(&w.boots[i]) {
			w.recent = i
			return i
		}
		if w.boots[i].host == host {
			number = w.boots[i].number
		}
	}
	if number < 0 {
		number = w.hosts
		w.hosts++
	}
	w.boots = append(w.boots, boot{host, n, number})
	w.recent = len(w.boots) - 1
	return w.recent
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
	id := w.boot(o.Host, o.Boot)
	old, highest := *latestOf(s.latest, id), s.highest
	s.latest = setLatest(s.latest, id, o)
	s.byHost = setLatest(s.byHost, w.boots[id].number, o)
	if !highest.ok || o.LSN > highest.LSN {
		s.highest = seen{o, true}
	}
	for i := range s.rules {
		switch r := &s.rules[i]; r.kind {
		case monotone:
			if old.ok && o.LSN < old.LSN {
				w.breach(r.Rule, o, old.Observation)
			}
		case lasting:
			if highest.ok && o.LSN < highest.LSN {
				w.breach(r.Rule, o, highest.Observation)
			}
		case order:
			w.order(r, s, id, o)
		case same, sole:
			w.record(r.Rule, s, o)
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
func (w *Watermarks) order(r *held, s *series, id int, o Observation) {
	a, b := r.sa, r.sb
	if s == b && s != a {
		if r.scope == SameBoot {
			if low := latestOf(a.latest, id); low.ok {
				w.compare(r.Rule, low.Observation, o)
			}
		} else if a.highest.ok { // Least: nothing above it may have been given away
			w.compare(r.Rule, a.highest.Observation, o)
		}
		return
	}
	switch r.scope {
	case SameBoot:
		if high := latestOf(b.latest, id); high.ok {
			w.compare(r.Rule, o, high.Observation)
		}
	case Cluster:
		w.compare(r.Rule, o, b.highest.Observation)
	case Least:
		var least seen
		for _, v := range b.byHost {
			if v.ok && (!least.ok || v.LSN < least.LSN || v.LSN == least.LSN && v.Event < least.Event) {
				least = v
			}
		}
		if least.ok {
			w.compare(r.Rule, o, least.Observation)
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
