package experiments

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"tornpage/checkers"
	"tornpage/faults"
	"tornpage/sim"
	"tornpage/sim/draw"
	"tornpage/sim/trace"
)

// Step is the running hash of a run after an event.
type Step struct {
	Event uint64
	Hash  uint64
}

// Steps runs a plan and gives the running hash after every every-th event, and
// at the end of the run. every 0: at the end alone.
func Steps(p faults.Plan, every uint64) ([]Step, error) {
	var steps []Step
	opt := Options{}
	if every > 0 {
		opt.Trace = func(w *sim.World, e *trace.Event) {
			if e.N%every == 0 {
				steps = append(steps, Step{e.N, w.Hash()})
			}
		}
	}
	r, err := Run(p, opt)
	if err != nil {
		return nil, err
	}
	return append(steps, Step{r.Events, r.Hash}), nil
}

// Events runs a plan and gives a line for each event from one number to
// another, both included, with the running hash in front.
func Events(p faults.Plan, from, to uint64) ([]string, error) {
	var lines []string
	var names EventNames
	_, err := Run(p, Options{Trace: func(w *sim.World, e *trace.Event) {
		if from <= e.N && e.N <= to {
			lines = append(lines, fmt.Sprintf("%016x %s", w.Hash(), strings.TrimSuffix(names.Line(w, e), "\n")))
		}
	}})
	return lines, err
}

// EventNames prints events of one world, with the names of processes,
// machines and marks. The zero value is ready.
type EventNames struct {
	processes []string
	machines  []string
	marks     map[uint64]string
}

// Line is an event as one line.
func (n *EventNames) Line(w *sim.World, e *trace.Event) string {
	if n.marks == nil {
		n.processes, n.machines, n.marks = w.Processes(), w.Machines(), map[uint64]string{}
	}
	who := "world"
	if e.Who > 0 && int(e.Who) <= len(n.processes) {
		who = n.processes[e.Who-1]
	}
	switch e.Kind {
	case trace.Mark:
		return fmt.Sprintf("%d %v %s mark %s %d\n", e.N, time.Duration(e.At), who, n.mark(w, e.Data), e.A)
	case trace.PowerOff:
		if e.A < uint64(len(n.machines)) {
			return fmt.Sprintf("%d %v %s power-off %s\n", e.N, time.Duration(e.At), who, n.machines[e.A])
		}
	case trace.Send, trace.Deliver, trace.Drop, trace.Connect, trace.Break:
		if e.A < uint64(len(n.processes)) {
			return fmt.Sprintf("%d %v %s %v %s b=%d data=%016x\n",
				e.N, time.Duration(e.At), who, e.Kind, n.processes[e.A], e.B, e.Data)
		}
	}
	var b strings.Builder
	_ = e.Print(&b, func(uint32) string { return who }) // a Builder takes everything
	return b.String()
}

// mark is the name of a mark that the trace has as a number.
func (n *EventNames) mark(w *sim.World, key uint64) string {
	if n.marks[key] == "" {
		for name := range w.Marks() {
			n.marks[draw.Key(0, name)] = name
		}
	}
	return n.marks[key]
}

// Side is one of two programs, or of two builds of one, whose runs of the same
// plan must be equal.
type Side struct {
	Name   string
	Steps  func(every uint64) ([]Step, error)      // as Steps
	Events func(from, to uint64) ([]string, error) // as Events
}

// Difference is the first event in which two sides differ. An empty line means
// that the side has no such event.
type Difference struct {
	Event  uint64
	Lines  [2]string
	Before string // the last event that both have, "" if there is none
}

// stride is how many events lie between two hashes of the first search; a
// second run of each side then looks at no more events than that one by one.
const stride = 1024

// FirstDifference finds the first event in which a and b differ, with two runs
// of each; nil if they do not differ.
func FirstDifference(a, b Side) (*Difference, error) {
	as, err := a.Steps(stride)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	bs, err := b.Steps(stride)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name, err)
	}
	// The hash takes all events before into account: once it differs, it stays
	// different, and so bisection finds the first step that differs.
	n := min(len(as), len(bs))
	i := sort.Search(n, func(i int) bool { return as[i] != bs[i] })
	if i == n && len(as) == len(bs) {
		return nil, nil
	}
	from := uint64(1)
	if i > 0 {
		from = as[i-1].Event
	}
	return firstLine(a, b, from, from+stride+1)
}

// firstLine compares events one by one. The one before is the last equal one.
func firstLine(a, b Side, from, to uint64) (*Difference, error) {
	al, err := a.Events(from, to)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name, err)
	}
	bl, err := b.Events(from, to)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name, err)
	}
	d := &Difference{Event: from}
	for i := range max(len(al), len(bl)) {
		d.Lines = [2]string{lineAt(al, i), lineAt(bl, i)}
		if d.Lines[0] != d.Lines[1] {
			return d, nil
		}
		d.Before = d.Lines[0]
		d.Event++
	}
	return nil, fmt.Errorf("%s and %s gave other hashes a moment ago than now; one of them is not even equal to itself", a.Name, b.Name)
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// The comment lines by which a plan says what its run gave.
const (
	expectLine = "expect: "
	hashLine   = "hash: "
)

// Expected is what a plan's comment says of its run.
type Expected struct {
	Check  string // "" for a run in which every check holds
	Result string
	Hash   string // 16 hexadecimal digits; "" if not said
}

// String is the expectation in words: "durable broken", or "holds".
func (e Expected) String() string { return strings.TrimSpace(e.Check + " " + e.Result) }

// ExpectedOf reads a plan's expectation; false if it has none.
func ExpectedOf(p faults.Plan) (e Expected, ok bool, err error) {
	for _, c := range p.Comment {
		if h, is := strings.CutPrefix(c, hashLine); is {
			e.Hash = h
		}
		text, is := strings.CutPrefix(c, expectLine)
		if !is {
			continue
		}
		ok = true
		words := strings.Fields(text)
		switch {
		case len(words) == 1 && words[0] == checkers.Holds.String():
			e.Result = words[0]
		case len(words) == 2 && (words[1] == checkers.Broken.String() || words[1] == checkers.Undecided.String()):
			e.Check, e.Result = words[0], words[1]
		default:
			return e, false, fmt.Errorf("comment %q: want \"expect: CHECK broken\", \"expect: CHECK undecided\" or \"expect: holds\"", c)
		}
	}
	return e, ok, nil
}

// Expecting is the run's plan, with comments that say what it gave.
func (m *Measured) Expecting() faults.Plan {
	p := m.Plan
	p.Comment = slices.DeleteFunc(slices.Clone(p.Comment), func(c string) bool {
		return strings.HasPrefix(c, expectLine) || strings.HasPrefix(c, hashLine)
	})
	v := m.Worst()
	text := v.Result.String()
	if !v.Green() {
		text = v.Check + " " + text
	}
	p.Comment = append(p.Comment, expectLine+text, fmt.Sprintf("%s%016x", hashLine, m.Hash))
	return p
}

// Answer is what a replay says of an expectation.
type Answer string

// The answers.
const (
	Reproduced Answer = "REPRODUCED" // what the plan says happened again
	Fixed      Answer = "FIXED"      // it says that something breaks, and every check holds
	Different  Answer = "DIFFERENT"  // something else breaks
)

// Judge compares a run with what its plan says.
func (e Expected) Judge(m *Measured) Answer {
	vs := m.Checks()
	green := vs[0].Green()
	for _, v := range vs {
		if e.Check == v.Check && e.Result == v.Result.String() {
			return Reproduced
		}
	}
	switch {
	case e.Check == "" && green:
		return Reproduced
	case green:
		return Fixed
	}
	return Different
}
