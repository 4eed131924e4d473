package faults

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"tornpage/sim/draw"
)

// Space is what a swarm draws plans from.
type Space struct {
	Names // what the plan may strike; a kind without targets is never drawn

	Scenario string
	Params   []Dim  // one value of each goes to the scenario line
	Config   []Dim  // one value of each goes to the config line
	Kinds    []Kind // kinds of fault that may come; nil: all

	Markers []string // hosts that reach marks, for triggers; nil: all hosts

	Horizon  time.Duration // length of the run
	Quiet    time.Duration // so long before the horizon all faults end, for progress
	MaxSteps int           // most faults of a plan; 0: 16
	Budget   *Budget       // no plan goes beyond it; nil: anything goes
}

// Dim is one setting and the values it may take, the tiniest first: low
// indexes are drawn more often, since tiny geometries make rare paths common.
type Dim struct {
	Key    string
	Values []string
}

// defaultMaxSteps is few enough to read a plan at a glance.
const defaultMaxSteps = 16

// Check returns an error that names the first part of the space from which no
// valid plan could be drawn.
func (s Space) Check() error {
	p := Plan{Scenario: s.Scenario}
	for _, dims := range [][]Dim{s.Params, s.Config} {
		kvs := []KV{}
		for _, d := range dims {
			if len(d.Values) == 0 {
				return fmt.Errorf("dimension %q has no values", d.Key)
			}
			for _, v := range d.Values {
				if err := checkValue(v); err != nil {
					return fmt.Errorf("dimension %q: value %q %w", d.Key, v, err)
				}
			}
			kvs = append(kvs, KV{d.Key, d.Values[0]})
		}
		if err := checkKVs("space", kvs); err != nil {
			return err
		}
	}
	if s.Quiet < 0 || s.Horizon < s.Quiet || s.Horizon > maxSpan {
		return fmt.Errorf("quiet time %v and horizon %v: want 0s <= quiet <= horizon <= %v", s.Quiet, s.Horizon, maxSpan)
	}
	if s.MaxSteps < 0 || s.MaxSteps >= MaxSteps {
		return fmt.Errorf("%d steps at most are not within 0 and %d", s.MaxSteps, MaxSteps-1)
	}
	for _, m := range s.Machines {
		p.Steps = append(p.Steps, Step{Action: PowerOff{m}})
	}
	for _, h := range s.Hosts {
		p.Steps = append(p.Steps, Step{Action: Cut{Ends{From: HostEnd(h), To: ZoneEnd("z")}}})
	}
	for _, z := range s.Zones {
		p.Steps = append(p.Steps, Step{Action: Zone{Zone: z}})
	}
	for _, d := range s.Disks {
		p.Steps = append(p.Steps, Step{Action: Lose{d}})
	}
	for _, m := range s.Marks {
		p.Steps = append(p.Steps, Step{Trigger: OnMark(1, m, ""), Action: Quiet{}})
	}
	return p.Check()
}

// Swarm turns a seed into a plan: which kinds of fault strike at all, how
// often and how hard (from calm to wild), and the sizes of scenario and engine.
//
// Every choice is a draw of its own, keyed by what it is about. So the same
// seed and space give the same plan everywhere, and a kind or a setting added to
// a space leaves the choices of the others alone,
// except where MaxSteps or the budget has room for one fault only.
//
// Every fault ends, by its "for" or by the quiet step that closes the plan.
func Swarm(seed uint64, s Space) Plan {
	p := Plan{
		Scenario: s.Scenario,
		Params:   drawDims(seed, "params", s.Params),
		Config:   drawDims(seed, "config", s.Config),
		Seed:     seed,
	}
	active := s.Horizon - s.Quiet
	quiet := Step{Trigger: At(active), Action: Quiet{}}
	most := cmp.Or(s.MaxSteps, defaultMaxSteps)
	var steps []Step
	for _, c := range candidates(seed, s, active) {
		if len(steps) == most {
			break
		}
		if s.Budget != nil {
			try := Plan{Steps: append(slices.Clone(steps), c.step, quiet)}
			if ok, _ := Within(try, *s.Budget); !ok {
				continue
			}
		}
		steps = append(steps, c.step)
	}
	// Times in order, then marks; the sort is stable, so ties keep their rank.
	slices.SortStableFunc(steps, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.Trigger.Kind, b.Trigger.Kind), cmp.Compare(a.Trigger.Time, b.Trigger.Time))
	})
	p.Steps = append(steps, quiet)
	return p
}

// drawDims draws a value for each dimension: the lower of two draws, so that
// of three values the first comes in 5 of 9 plans.
func drawDims(seed uint64, line string, dims []Dim) []KV {
	var kvs []KV
	for _, d := range dims {
		r := draw.New(seed, "faults.swarm", line, d.Key)
		n := uint64(len(d.Values))
		kvs = append(kvs, KV{d.Key, d.Values[min(r.N(n), r.N(n))]})
	}
	return kvs
}

// candidate is a step that goes into the plan if there is room.
type candidate struct {
	step Step
	rank uint64 // the lowest get in first; drawn, so that no kind comes first
	kind Kind
}

// mood is how a seed's faults are as a whole.
type mood struct {
	level   uint64 // 0 calm to 3 wild
	density uint64 // of 8 kinds so many strike
}

// candidates draws the faults of all kinds, in the order of their rank.
func candidates(seed uint64, s Space, active time.Duration) []candidate {
	if active < time.Microsecond {
		return nil
	}
	r := draw.New(seed, "faults.swarm", "mood")
	m := mood{level: r.N(4), density: r.N(7)}
	kinds := s.Kinds
	if kinds == nil {
		kinds = Kinds()
	}
	var all []candidate
	for _, k := range slices.Compact(slices.Sorted(slices.Values(kinds))) {
		r := draw.New(seed, "faults.swarm", k.String())
		if !r.Chance(m.density, 8) {
			continue
		}
		for i := range 1 + r.N(1<<m.level) {
			d := drawer{
				Stream: draw.New(seed, "faults.swarm", k.String(), strconv.FormatUint(i, 10)),
				space:  s, level: m.level, active: active,
			}
			rank := d.Uint64()
			if step, ok := d.step(k); ok {
				all = append(all, candidate{step: step, rank: rank, kind: k})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.kind.String(), b.kind.String()))
	})
	return all
}
