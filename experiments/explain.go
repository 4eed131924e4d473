package experiments

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tornpage/checkers"
	"tornpage/faults"
	"tornpage/sim"
	"tornpage/sim/trace"
)

// told is an event of a story.
type told struct {
	trace.Event
	reason string // of an exit; what a fault is
	more   uint64 // boots after this one that ended for the same reason
}

// tailLength is how many telling events are kept, far above what is shown.
const tailLength = 64

// saw keeps what happens to servers and to machines with disks.
func (m *Measured) saw(w *sim.World, e *trace.Event) {
	switch e.Kind {
	case trace.Kill:
		m.Kills++
	case trace.PowerOff:
		m.PowerOffs++
	case trace.Boot, trace.Exit, trace.Panic, trace.Fault:
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
	switch e.Kind {
	case trace.Fault:
		if now.reason = diskFault(m.plan, time.Duration(e.At)); now.reason == "" {
			return
		}
	case trace.Exit:
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

// diskFault says which faults of disks a plan begins or ends at a time. The
// trace has numbers only; steps that wait for a mark are not found.
func diskFault(p faults.Plan, at time.Duration) string {
	var texts []string
	for _, s := range p.Steps {
		switch s.Action.(type) {
		case faults.Disk, faults.FailSync, faults.Rot, faults.Lose:
		default:
			continue
		}
		switch {
		case s.Trigger.Kind != faults.AtTime:
		case s.Trigger.Time == at:
			texts = append(texts, "fault: "+s.Action.String())
		case s.For != 0 && s.Trigger.Time+s.For == at:
			texts = append(texts, "over: "+s.Action.String())
		}
	}
	return strings.Join(texts, "; ")
}

// isClient reports whether a process is a client of a workload: c1, c2, ...
func isClient(process string) bool {
	n, ok := strings.CutPrefix(process, "c")
	return ok && n != "" && strings.Trim(n, "0123456789") == ""
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
	boot  bool
}

// nextBoot is the event at which the next boot after an event opened, or that
// event.
func (m *Measured) nextBoot(event int64) int64 {
	next := event
	for _, b := range m.History.Boots {
		if b.OpenedAt > event && (next == event || b.OpenedAt < next) {
			next = b.OpenedAt
		}
	}
	return next
}

// story is up to n telling events in order: the operations that show the
// breach, and the latest of what happened to processes and machines.
func (m *Measured) story(v checkers.Verdict, n int) []string {
	var all []moment
	until := int64(0)
	for _, id := range v.Ops[:min(len(v.Ops), n/2)] {
		for i := range m.History.Ops {
			if o := &m.History.Ops[i]; o.ID == id {
				all = append(all, moment{event: o.Call, at: o.Start, text: opText(o), guilt: true})
				until = max(until, o.Call)
			}
		}
	}
	if v.Check == "durable" {
		until = m.nextBoot(until) // which lost what these had written
	}
	world := m.world()
	if until > 0 {
		world = slices.DeleteFunc(world, func(w moment) bool { return w.event > until })
	}
	room := max(0, n-len(all))
	if len(world) > room { // boots tell least
		world = slices.DeleteFunc(world, func(w moment) bool { return w.boot })
	}
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
		case trace.Fault:
			text = e.reason
		case trace.Panic:
			text = fmt.Sprintf("%s (boot %d) panics", who, e.A)
		}
		all = append(all, moment{event: int64(e.N), at: at, text: text, boot: e.Kind == trace.Boot})
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
