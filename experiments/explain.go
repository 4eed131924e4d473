package experiments

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"tornpage/checkers"
	"tornpage/faults"
	"tornpage/sim"
	"tornpage/sim/trace"
)

// Measured is a Result with what only the trace tells.
type Measured struct {
	*Result
	Kills     uint64
	PowerOffs uint64
	Torn      uint64                 // pages that power-offs left as a mixture
	Kinds     map[faults.Kind]uint64 // of the plan: how often each really struck
	tail      []told                 // the last events that tell a story
	names     []string               // of processes
	machines  []string
	server    []bool // by process: what clients do with themselves is no part of a story
}

// told is an event of a story.
type told struct {
	trace.Event
	reason string // of an exit
	more   uint64 // boots after this one that ended for the same reason
}

// tailLength is how many telling events are kept, far above what is shown.
const tailLength = 64

// Measure is Run, with a look at every event. A panic outside of every process,
// in the world itself or in a scenario, is a failure of the run like others.
func Measure(p faults.Plan, opt Options) (m *Measured, err error) {
	m = &Measured{}
	also := opt.Trace
	var world *sim.World
	opt.Trace = func(w *sim.World, e *trace.Event) {
		world = w
		m.saw(w, e)
		if also != nil {
			also(w, e)
		}
	}
	defer func() {
		if v := recover(); v != nil {
			m.Result = fell(p, world, v)
		}
	}()
	r, err := Run(p, opt)
	if err != nil {
		return nil, err
	}
	m.Result = r
	for i := range r.Crashes {
		m.Torn += uint64(r.Crashes[i].Torn())
	}
	m.Kinds = kindsStruck(r)
	return m, nil
}

// fell is the result of a run whose world panicked.
func fell(p faults.Plan, w *sim.World, value any) *Result {
	f := &sim.Failure{Process: "the world", Task: "events", Value: value, Stack: string(debug.Stack())}
	r := &Result{Plan: p, Why: sim.Failed, Failure: f, History: &checkers.History{}}
	if w != nil {
		f.At, f.Event = w.Now(), w.Event()
		r.Hash, r.Events, r.Virtual, r.Marks = w.Hash(), w.Event(), w.Now(), w.Marks()
	}
	return r
}

// saw keeps what happens to servers and to machines with disks.
func (m *Measured) saw(w *sim.World, e *trace.Event) {
	switch e.Kind {
	case trace.Kill:
		m.Kills++
	case trace.PowerOff:
		m.PowerOffs++
	case trace.Boot, trace.Exit, trace.Panic:
	default:
		return
	}
	if m.names == nil {
		m.look(w)
	}
	if e.Who > 0 && !m.server[e.Who-1] || e.Kind == trace.PowerOff && len(w.Disks(m.machines[e.A])) == 0 {
		return
	}
	now := told{Event: *e}
	if e.Kind == trace.Exit {
		if reason := w.LastExit(m.names[e.Who-1]); reason != nil {
			now.reason = reason.Error()
		}
		if n := len(m.tail); n >= 2 && m.tail[n-1].Kind == trace.Boot && m.tail[n-2].Kind == trace.Exit &&
			m.tail[n-2].Who == e.Who && m.tail[n-2].reason == now.reason {
			m.tail = m.tail[:n-1] // it boots and ends for the same reason again and again
			m.tail[n-2].more++
			return
		}
	}
	if len(m.tail) == tailLength {
		m.tail = slices.Delete(m.tail, 0, 1)
	}
	m.tail = append(m.tail, now)
}

// look learns the names of a world.
func (m *Measured) look(w *sim.World) {
	m.names, m.machines = w.Processes(), w.Machines()
	for _, p := range m.names {
		m.server = append(m.server, p != auditName && !isClient(p))
	}
}

// isClient reports whether a process is a client of a workload: c1, c2, ...
func isClient(process string) bool {
	n, ok := strings.CutPrefix(process, "c")
	return ok && n != "" && strings.Trim(n, "0123456789") == ""
}

// counters are the names under which the world counts what a kind of fault
// did. A kind that is not here acts as soon as its step does.
var counters = map[faults.Kind][]string{
	faults.KindCut:            {"net.held", "net.lost"},
	faults.KindDrop:           {"net.lost", "net.resent"},
	faults.KindDup:            {"net.doubled"},
	faults.KindReorder:        {"net.reordered"},
	faults.KindCorrupt:        {"net.corrupted", "net.resent"},
	faults.KindLostWrite:      {"disk.lost-write"},
	faults.KindLostSync:       {"disk.lost-sync"},
	faults.KindFailSync:       {"disk.fail-sync"},
	faults.KindEIORead:        {"disk.eio-read"},
	faults.KindEIOWrite:       {"disk.eio-write"},
	faults.KindFull:           {"disk.full"},
	faults.KindRot:            {"disk.rot"},
	faults.KindMisdirectRead:  {"disk.misdirect-read"},
	faults.KindMisdirectWrite: {"disk.misdirect-write"},
	faults.KindStall:          {"disk.stall"},
	faults.KindLose:           {"disk.lost"},
	faults.KindSlowDisk:       {"disk.slow"},
}

// kindsStruck counts for each kind of fault in the plan how often it struck: by
// the world's own counter, or by the steps that acted.
func kindsStruck(r *Result) map[faults.Kind]uint64 {
	out := map[faults.Kind]uint64{}
	for i, s := range r.Plan.Steps {
		for _, k := range s.Action.Kinds() {
			names, counted := counters[k]
			switch {
			case counted:
				out[k] = 0
				for _, n := range names {
					out[k] += r.Struck[n]
				}
			case slices.Contains(r.Unfired, i):
				out[k] += 0 // planned
			default:
				out[k]++
			}
		}
	}
	return out
}

// causes orders checks from what goes wrong first to what only shows it: a torn
// page may lose a commit, and a lost commit breaks the order of reads.
var causes = []string{"panic", "pages", "durable", "watermarks", "dirty", "views", "linear", "progress"}

func cause(check string) int {
	if i := slices.Index(causes, check); i >= 0 {
		return i
	}
	return len(causes)
}

// Checks are the run's verdicts, a panic and a run without an end among them,
// the worst first and of equally bad ones the one nearest to the cause.
func (m *Measured) Checks() []checkers.Verdict {
	vs := slices.Clone(m.Verdicts)
	if m.Failure != nil {
		vs = append(vs, checkers.Verdict{Check: "panic", Result: checkers.Broken, What: m.Failure.Error(),
			Details: ownFrames(m.Failure.Stack)})
	}
	if m.Why == sim.TooMany {
		vs = append(vs, checkers.Verdict{Check: "events", Result: checkers.Undecided,
			What: fmt.Sprintf("the run was ended after %d events; something in it goes on for ever", m.Events)})
	}
	badness := map[checkers.Result]int{checkers.Broken: 0, checkers.Undecided: 1, checkers.Holds: 2}
	slices.SortStableFunc(vs, func(a, b checkers.Verdict) int {
		return cmp.Or(cmp.Compare(badness[a.Result], badness[b.Result]), cmp.Compare(cause(a.Check), cause(b.Check)))
	})
	return vs
}

// Worst is the first of Checks.
func (m *Measured) Worst() checkers.Verdict { return m.Checks()[0] }

// ownFrames are the functions of this module on a stack, innermost first.
func ownFrames(stack string) (frames []string) {
	for _, l := range strings.Split(stack, "\n") {
		code := strings.HasPrefix(l, "tornpage/engine/") || strings.HasPrefix(l, "tornpage/sim")
		if code && !strings.Contains(l, "host/coop") && len(frames) < 3 {
			frames = append(frames, "in "+l[:strings.LastIndex(l, "(")])
		}
	}
	return frames
}

// Limits of an explanation. It is for somebody who has a minute.
const (
	MaxLines     = 15
	lineWidth    = 200 // bytes; longer lines are cut, the plan replays the rest
	maxDetails   = 3
	headAndTails = 5 // the verdict, the other checks, the story's title, replay, plan
)

// Explain says in at most MaxLines lines what broke: the check and operation in
// words, the last events before it, and how to see it again. file is where the
// plan is. It is empty for a run that is green.
func (m *Measured) Explain(file string) []string {
	vs := m.Checks()
	v := vs[0]
	if v.Green() {
		return nil
	}
	lines := []string{fmt.Sprintf("%s seed %d: %s %v: %s", m.Plan.Scenario, m.Plan.Seed, v.Check, v.Result, v.What)}
	for _, d := range v.Details[:min(maxDetails, len(v.Details))] {
		lines = append(lines, "  "+d)
	}
	var also []string
	for _, o := range vs[1:] {
		if !o.Green() {
			also = append(also, o.Check+" "+o.Result.String())
		}
	}
	if len(also) > 0 {
		lines = append(lines, "  also: "+strings.Join(also, ", "))
	}
	story := m.story(v, MaxLines-headAndTails-len(lines)+2)
	if len(story) > 0 {
		lines = append(lines, "  what happened, by event:")
		lines = append(lines, story...)
	}
	lines = append(lines,
		"  replay: tornpage replay "+file,
		fmt.Sprintf("  plan:   %s (%d steps), hash %016x", file, len(m.Plan.Steps), m.Hash))
	for i, l := range lines {
		l = strings.Join(strings.FieldsFunc(l, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
		if len(l) > lineWidth {
			l = strings.ToValidUTF8(l[:lineWidth-3], "") + "..."
		}
		lines[i] = l
	}
	return lines
}

// moment is an event of a story.
type moment struct {
	event int64
	at    time.Duration
	text  string
	guilt bool // of the operations that show the breach
}

// story is up to n telling events in order: the operations that show the
// breach, and the latest of what happened to processes and machines.
func (m *Measured) story(v checkers.Verdict, n int) []string {
	var all []moment
	until := int64(0)
	for _, id := range v.Ops[:min(len(v.Ops), n/2)] {
		for i := range m.History.Ops {
			if o := &m.History.Ops[i]; o.ID == id {
				all = append(all, moment{o.Call, o.Start, opText(o), true})
				until = max(until, o.Call)
			}
		}
	}
	world := m.world()
	if until > 0 {
		world = slices.DeleteFunc(world, func(w moment) bool { return w.event > until })
	}
	room := max(0, n-len(all))
	all = append(all, world[max(0, len(world)-room):]...)
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.event, b.event) })
	var lines []string
	for _, e := range all {
		pointer := "  "
		if e.guilt {
			pointer = "> "
		}
		lines = append(lines, fmt.Sprintf("  %s%8d %12v  %s", pointer, e.event, e.at.Round(time.Microsecond), e.text))
	}
	return lines
}

// world is what happened to processes and machines, in order of events.
func (m *Measured) world() (all []moment) {
	for _, e := range m.tail {
		who := ""
		if e.Who > 0 {
			who = m.names[e.Who-1]
		}
		at := time.Duration(e.At)
		text := ""
		switch e.Kind {
		case trace.Kill:
			text = fmt.Sprintf("%s (boot %d) is killed", who, e.A)
		case trace.PowerOff:
			text = m.machines[e.A] + " loses power" + m.losses(m.machines[e.A], at)
		case trace.Boot:
			text = fmt.Sprintf("%s boots (boot %d)", who, e.A)
		case trace.Exit:
			text = fmt.Sprintf("%s (boot %d) ends itself", who, e.A)
			if e.more > 0 {
				text += fmt.Sprintf(", and so do the next %d", e.more)
			}
			if e.reason != "" {
				text += ": " + e.reason
			}
		case trace.Panic:
			text = fmt.Sprintf("%s (boot %d) panics", who, e.A)
		}
		all = append(all, moment{int64(e.N), at, text, false})
	}
	return all
}

// losses says what a power-off did to a machine's disks.
func (m *Measured) losses(machine string, at time.Duration) string {
	old, torn, where := 0, 0, ""
	for i := range m.Crashes {
		c := &m.Crashes[i]
		if c.Machine != machine || c.At != at {
			continue
		}
		for _, f := range c.Files {
			old += f.Old + f.Between
			torn += len(f.Torn)
			if len(f.Torn) > 0 && where == "" {
				where = fmt.Sprintf(", first page %d of %s/%s", f.Torn[0], c.Disk, f.Name)
			}
		}
	}
	switch {
	case torn > 0:
		return fmt.Sprintf(": %d sectors go back, %d pages torn%s", old, torn, where)
	case old > 0:
		return fmt.Sprintf(": %d sectors go back", old)
	}
	return ""
}

// opText is an operation in words.
func opText(o *checkers.Op) string {
	var b strings.Builder
	fmt.Fprintf(&b, "client %d calls %v", o.Client, o.Kind)
	for i, k := range o.Keys {
		fmt.Fprintf(&b, " k%d", k)
		if o.Writes() && i < len(o.Values) {
			fmt.Fprintf(&b, "=%d", o.Values[i])
		}
	}
	fmt.Fprintf(&b, " (op %d): %v", o.ID, o.Outcome)
	if o.Return != checkers.Open {
		fmt.Fprintf(&b, " at event %d", o.Return)
	}
	if len(o.Results) > 0 && o.Reads() {
		fmt.Fprintf(&b, ", saw %v", o.Results)
	}
	if o.Token != 0 {
		fmt.Fprintf(&b, ", LSN %v", o.Token)
	}
	return b.String()
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
