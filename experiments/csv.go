package experiments

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"tornpage/checkers"
	"tornpage/faults"
	"tornpage/sim"
	"tornpage/sim/trace"
)

// Outcomes counts operations by how they ended, as their clients know it.
type Outcomes struct{ Committed, Aborted, Unknown, Pending uint64 }

// All is the number of operations.
func (o Outcomes) All() uint64 { return o.Committed + o.Aborted + o.Unknown + o.Pending }

func (o *Outcomes) add(p Outcomes) {
	o.Committed += p.Committed
	o.Aborted += p.Aborted
	o.Unknown += p.Unknown
	o.Pending += p.Pending
}

// OutcomesOf counts the operations of a history.
func OutcomesOf(h *checkers.History) (o Outcomes) {
	for i := range h.Ops {
		switch h.Ops[i].Outcome {
		case checkers.Committed:
			o.Committed++
		case checkers.Aborted:
			o.Aborted++
		case checkers.Unknown:
			o.Unknown++
		default:
			o.Pending++
		}
	}
	return o
}

// Measured is a Result with what only the trace tells.
type Measured struct {
	*Result
	Kills     uint64
	PowerOffs uint64
	Torn      uint64                 // pages that power-offs left as a mixture
	Kinds     map[faults.Kind]uint64 // of the plan: how often each really struck
	plan      faults.Plan
	tail      []told   // the last events that tell a story
	names     []string // of processes
	machines  []string
	server    []bool // by process: what clients do with themselves is no part of a story
}

// Measure is Run, with a look at every event. A panic outside of every process,
// in the world itself or in a scenario, is a failure of the run like others.
func Measure(p faults.Plan, opt Options) (m *Measured, err error) {
	m = &Measured{plan: p}
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

// Row is one seed of a hunt in numbers, without its history.
type Row struct {
	Scenario  string
	Seed      uint64
	Verdict   checkers.Verdict // the worst
	Hash      uint64
	Events    uint64
	Virtual   time.Duration
	Steps     int // of the plan
	Unfired   int // of them
	Outcomes  Outcomes
	Kills     uint64
	PowerOffs uint64
	Torn      uint64
	Refusals  int
	Engine    [5]uint64 // as engineColumns
	Struck    []uint64  // by kind of fault

	planned kindSet
	marks   map[string]uint64
}

// rowOf keeps of a run what a hunt adds up.
func rowOf(m *Measured) *Row {
	r := &Row{
		Scenario: m.Plan.Scenario, Seed: m.Plan.Seed, Verdict: m.Worst(), Hash: m.Hash, Events: m.Events,
		Virtual: m.Virtual, Steps: len(m.Plan.Steps), Unfired: len(m.Unfired), Outcomes: OutcomesOf(m.History),
		Kills: m.Kills, PowerOffs: m.PowerOffs, Torn: m.Torn, Refusals: len(m.Refusals),
		Engine: [5]uint64{m.Compute.Committed, m.Compute.Records, m.Compute.LogBytes, m.Compute.Images, m.Local.Checkpoints},
		Struck: make([]uint64, len(faults.Kinds())), marks: m.Marks,
	}
	for k, n := range m.Kinds {
		r.Struck[k] = n
		r.planned |= 1 << k
	}
	return r
}

// engineColumns are counters of the writer, over all its boots.
var engineColumns = [...]string{"transactions", "records", "record_bytes", "images", "checkpoints"}

// Columns are the names of a CSV file's columns: one row a seed, one value a
// cell, times in nanoseconds, no wall time. New columns go to the end of their
// group; struck_ columns follow the kinds of fault.
func Columns() []string {
	cols := []string{
		"scenario", "seed", "result", "check", "hash", "events", "virtual_ns", "steps", "unfired",
		"ops", "committed", "aborted", "unknown", "pending", "kills", "power_offs", "torn_pages", "refusals",
	}
	cols = append(cols, engineColumns[:]...)
	for _, k := range faults.Kinds() {
		cols = append(cols, "struck_"+k.String())
	}
	return cols
}

// Cells are the row's values in the order of Columns.
func (r *Row) Cells() []string {
	check := r.Verdict.Check
	if r.Verdict.Green() {
		check = ""
	}
	n := func(v uint64) string { return strconv.FormatUint(v, 10) }
	cells := []string{
		r.Scenario, n(r.Seed), r.Verdict.Result.String(), check, fmt.Sprintf("%016x", r.Hash), n(r.Events),
		strconv.FormatInt(int64(r.Virtual), 10), strconv.Itoa(r.Steps), strconv.Itoa(r.Unfired),
		n(r.Outcomes.All()), n(r.Outcomes.Committed), n(r.Outcomes.Aborted), n(r.Outcomes.Unknown), n(r.Outcomes.Pending),
		n(r.Kills), n(r.PowerOffs), n(r.Torn), strconv.Itoa(r.Refusals),
	}
	for _, v := range r.Engine {
		cells = append(cells, n(v))
	}
	for _, v := range r.Struck {
		cells = append(cells, n(v))
	}
	return cells
}
