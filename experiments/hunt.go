package experiments

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tornpage/checkers"
	"tornpage/faults"
	"tornpage/sim"
	"tornpage/sim/trace"
)

// Hunt runs many seeds of one scenario on several cores. Every world is
// independent, so nothing of what it reports depends on Jobs.
type Hunt struct {
	Scenario Scenario
	From     uint64 // the first seed
	Seeds    uint64
	Jobs     int // worlds at a time; below 1: one
	// Change, if set, gives the plan to run in place of a seed's own.
	Change func(faults.Plan) (faults.Plan, error)
	// Each, if set, is called with every row in the order of seeds, from one
	// goroutine. An error ends the hunt.
	Each      func(*Row) error
	MaxEvents uint64 // as in Options
}

// Totals is what a hunt found.
type Totals struct {
	Seeds     uint64 // that were run
	Events    uint64
	Virtual   time.Duration
	Outcomes  Outcomes
	Kills     uint64
	PowerOffs uint64
	Torn      uint64
	Planned   []faults.Kind     // kinds of fault in some plan
	Struck    []faults.Kind     // kinds that really struck
	Marks     map[string]uint64 // how often each was reached
	Missed    []string          // marks that the scenario asks for, reached less often than Least
	Hash      uint64            // over the hashes of all seeds, in their order
	Failures  []Group
}

// Group is the seeds that failed the same check.
type Group struct {
	Check  string
	Result checkers.Result
	Seeds  []uint64 // ascending
}

// String is the group's name: "durable broken".
func (g Group) String() string { return g.Check + " " + g.Result.String() }

// enoughSeeds is how many seeds reach all marks of their scenario; fewer may
// miss some by chance.
const enoughSeeds = 50

// Untested reports that marks were missed by a set that is large enough to
// reach them all: its green means nothing.
func (t *Totals) Untested() bool { return t.Seeds >= enoughSeeds && len(t.Missed) > 0 }

// Worst is Broken if any seed was, else Undecided if any was or the set is
// Untested.
func (t *Totals) Worst() checkers.Result {
	worst := checkers.Holds
	if t.Untested() {
		worst = checkers.Undecided
	}
	for _, g := range t.Failures {
		if g.Result == checkers.Broken {
			return checkers.Broken
		}
		worst = g.Result
	}
	return worst
}

// NeverStruck lists the kinds of fault that were planned and never struck.
func (t *Totals) NeverStruck() []faults.Kind {
	return slices.DeleteFunc(slices.Clone(t.Planned), func(k faults.Kind) bool { return slices.Contains(t.Struck, k) })
}

// done is a seed's row, or why there is none.
type done struct {
	i   uint64
	row *Row
	err error
}

// Run hunts until all seeds are done, one of them cannot run, or ctx ends;
// what was found until then is in the totals, also beside an error.
func (h Hunt) Run(ctx context.Context) (*Totals, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := make(chan done, 64)
	var next atomic.Uint64
	var workers sync.WaitGroup
	for range max(1, h.Jobs) {
		workers.Go(func() { h.work(ctx, &next, out) })
	}
	go func() { workers.Wait(); close(out) }()

	t := tally{Totals: Totals{Marks: map[string]uint64{}}}
	waiting := map[uint64]done{}
	var failed error
	for d := range out {
		waiting[d.i] = d
		// In the order of seeds, errors too, so that more jobs change nothing.
		for d, ok := waiting[t.Seeds]; ok && failed == nil; d, ok = waiting[t.Seeds] {
			delete(waiting, d.i)
			if failed = h.take(&t, d); failed != nil {
				cancel()
			}
		}
	}
	t.finish(h.Scenario.must)
	if failed == nil && t.Seeds < h.Seeds {
		failed = context.Cause(ctx)
	}
	return &t.Totals, failed
}

// take adds one seed up and shows it.
func (h Hunt) take(t *tally, d done) error {
	if d.err != nil {
		return d.err
	}
	t.add(d.row)
	if h.Each == nil {
		return nil
	}
	return h.Each(d.row)
}

// work runs seeds until none is left.
func (h Hunt) work(ctx context.Context, next *atomic.Uint64, out chan<- done) {
	var c checkers.Checker
	var reuse sim.Reuse
	defer reuse.Close()
	for ctx.Err() == nil {
		i := next.Add(1) - 1
		if i >= h.Seeds {
			return
		}
		row, err := h.one(h.From+i, &c, &reuse)
		out <- done{i, row, err}
	}
}

// one runs one seed.
func (h Hunt) one(seed uint64, c *checkers.Checker, reuse *sim.Reuse) (*Row, error) {
	p := h.Scenario.Plan(seed)
	if h.Change != nil {
		var err error
		if p, err = h.Change(p); err != nil {
			return nil, err
		}
	}
	m, err := Measure(p, Options{Checker: c, Reuse: reuse, MaxEvents: h.MaxEvents})
	if err != nil {
		return nil, fmt.Errorf("%s seed %d: %w", h.Scenario.Name, seed, err)
	}
	return rowOf(m), nil
}

// tally adds rows up.
type tally struct {
	Totals
	planned, struck kindSet
}

func (t *tally) add(r *Row) {
	t.Seeds++
	t.Events += r.Events
	t.Virtual += r.Virtual
	t.Outcomes.add(r.Outcomes)
	t.Kills += r.Kills
	t.PowerOffs += r.PowerOffs
	t.Torn += r.Torn
	for k, n := range r.marks {
		t.Marks[k] += n
	}
	for k, n := range r.Struck {
		if n > 0 {
			t.struck |= 1 << k
		}
	}
	t.planned |= r.planned
	t.Hash = FoldHash(t.Hash, r.Hash)
	if r.Verdict.Green() {
		return
	}
	i := slices.IndexFunc(t.Failures, func(g Group) bool {
		return g.Check == r.Verdict.Check && g.Result == r.Verdict.Result
	})
	if i < 0 {
		i = len(t.Failures)
		t.Failures = append(t.Failures, Group{Check: r.Verdict.Check, Result: r.Verdict.Result})
	}
	t.Failures[i].Seeds = append(t.Failures[i].Seeds, r.Seed)
}

// FoldHash takes the hash of one more run into the hash of a set, whose order
// counts.
func FoldHash(set, run uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], run)
	return trace.Bytes(set, b[:])
}

func (t *tally) finish(must []string) {
	t.Planned, t.Struck = t.planned.list(), t.struck.list()
	t.Missed = missing(must, t.Marks)
}

// kindSet has a bit for each kind of fault.
type kindSet uint64

func (s kindSet) list() (kinds []faults.Kind) {
	for _, k := range faults.Kinds() {
		if s&(1<<k) != 0 {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// Keys are the settings that a scenario's plans may have, on their scenario
// line and on their config line, in order.
func Keys(scenario string) (params, config []string) {
	params, _ = try(scenario, faults.Plan{Params: nobodyKnows})
	config, _ = try(scenario, faults.Plan{Config: nobodyKnows})
	return params, config
}

// nobodyKnows makes parse list the keys that it knows.
var nobodyKnows = []faults.KV{{Key: "?", Value: "?"}}

// try parses a plan's settings. If it has an unknown key, known are the others.
func try(scenario string, p faults.Plan) (known []string, err error) {
	p.Scenario = scenario
	if _, err = parse(p); err != nil {
		if _, list, found := strings.Cut(err.Error(), knownKeys); found {
			known = strings.Split(list, ", ")
		}
	}
	return known, err
}

// knownKeys is how faults.Values begins its list of what may be set.
const knownKeys = "; known: "

// SettingsOf reads and checks the scenario and config lines of a plan.
func SettingsOf(p faults.Plan) (Settings, error) { return parse(p) }

// Set changes one setting of a plan, on the line that knows the key. The value
// is checked.
func Set(p faults.Plan, key, value string) (faults.Plan, error) {
	params, config := Keys(p.Scenario)
	kv := []faults.KV{{Key: key, Value: value}}
	switch {
	case slices.Contains(params, key):
		p.Params = replaced(p.Params, kv[0])
	case slices.Contains(config, key):
		p.Config = replaced(p.Config, kv[0])
	default:
		_, err := try(p.Scenario, faults.Plan{Params: kv})
		_, err2 := try(p.Scenario, faults.Plan{Config: kv})
		return p, fmt.Errorf("%w\n%w", err, err2)
	}
	_, err := parse(p)
	return p, err
}

func replaced(kvs []faults.KV, kv faults.KV) []faults.KV {
	kvs = slices.Clone(kvs)
	for i := range kvs {
		if kvs[i].Key == kv.Key {
			kvs[i] = kv
			return kvs
		}
	}
	return append(kvs, kv)
}

// WithoutFaults is the plan without its steps.
func WithoutFaults(p faults.Plan) faults.Plan { return p.WithSteps(nil) }

// Must are the marks without which a set of runs has tested nothing.
func (s Scenario) Must() []string { return slices.Clone(s.must) }

// CheckPlan says what would keep a plan from running, without running it.
func CheckPlan(p faults.Plan) error {
	x, err := prepare(p, Options{})
	if x != nil && x.w != nil {
		x.w.Close()
	}
	return err
}
