package plangen

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"tornpage/faults"
)

// Plan draws a plan over a space: up to MaxSteps (0: 16) steps, all triggers,
// all kinds of the space, cures too, and a quiet step where the space wants
// one. Steps that would leave the budget are left out.
func Plan(s faults.Space) *rapid.Generator[faults.Plan] {
	return rapid.Custom(func(t *rapid.T) faults.Plan {
		p := faults.Plan{Scenario: s.Scenario}
		quiet := faults.Step{Trigger: faults.At(s.Horizon - s.Quiet), Action: faults.Quiet{}}
		for _, step := range steps(t, s) {
			p.Steps = append(p.Steps, step)
			if s.Budget == nil {
				continue
			}
			n := len(p.Steps)
			if ok, _ := faults.Within(p.WithSteps(append(slices.Clone(p.Steps), quiet)), *s.Budget); !ok {
				p.Steps = p.Steps[:n-1]
			}
		}
		p.Steps = append(p.Steps, quiet)
		p.Seed = rapid.Uint64().Draw(t, "seed")
		p.Params = settings(t, s.Params)
		p.Config = settings(t, s.Config)
		return p
	})
}

func steps(t *rapid.T, s faults.Space) []faults.Step {
	most := s.MaxSteps
	if most == 0 {
		most = 16
	}
	if len(actions(s)) == 0 {
		return nil
	}
	return rapid.SliceOfN(Step(s), 0, most).Draw(t, "steps")
}

func settings(t *rapid.T, dims []faults.Dim) []faults.KV {
	var kvs []faults.KV
	for _, d := range dims {
		kvs = append(kvs, faults.KV{Key: d.Key, Value: rapid.SampledFrom(d.Values).Draw(t, d.Key)})
	}
	return kvs
}

// Step draws one step over a space that has at least one target.
func Step(s faults.Space) *rapid.Generator[faults.Step] {
	active := max(s.Horizon-s.Quiet, time.Microsecond)
	all := actions(s)
	return rapid.Custom(func(t *rapid.T) faults.Step {
		step := faults.Step{Action: rapid.OneOf(all...).Draw(t, "action")}
		step.Trigger = trigger(t, s, active)
		if faults.Lasting(step.Action) && rapid.IntRange(0, 3).Draw(t, "ends") != 3 {
			step.For = micros(1, active).Draw(t, "for")
		}
		return step
	})
}

// micros draws a time in whole microseconds, small ones more often.
func micros(least int64, most time.Duration) *rapid.Generator[time.Duration] {
	return rapid.Map(rapid.Int64Range(least, max(least, int64(most/time.Microsecond))), func(us int64) time.Duration {
		return time.Duration(us) * time.Microsecond
	})
}

func trigger(t *rapid.T, s faults.Space, active time.Duration) faults.Trigger {
	forms := 2
	if len(s.Marks) > 0 {
		forms = 3
	}
	var tr faults.Trigger
	switch rapid.IntRange(0, forms-1).Draw(t, "trigger") {
	case 0:
		return faults.At(micros(0, active-time.Microsecond).Draw(t, "at"))
	case 1:
		tr = faults.OnEvent(rapid.Uint64Range(1, 1_000_000).Draw(t, "event"))
	default:
		hosts := append([]string{""}, s.Hosts...)
		tr = faults.OnMark(rapid.Uint64Range(1, 5).Draw(t, "count"),
			rapid.SampledFrom(s.Marks).Draw(t, "mark"), rapid.SampledFrom(hosts).Draw(t, "on"))
	}
	if rapid.Bool().Draw(t, "late") {
		tr = tr.After(micros(1, 10*time.Millisecond).Draw(t, "delay"))
	}
	return tr
}

// actions returns generators for all actions for which the space has a kind
// and a target.
func actions(s faults.Space) []*rapid.Generator[faults.Action] {
	kinds := s.Kinds
	if kinds == nil {
		kinds = faults.Kinds()
	}
	var all []*rapid.Generator[faults.Action]
	for _, k := range faults.Kinds() {
		if slices.Contains(kinds, k) {
			all = append(all, actionsOf(k, s)...)
		}
	}
	return all
}
