package experiments

import (
	"fmt"
	"strconv"
	"time"

	"tornpage/checkers"
	"tornpage/faults"
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
