package faults

import (
	"slices"
	"time"
)

// Plan is one run, complete in itself: what runs, how it is sized, the seed of
// every choice, and what goes wrong. Parse and Print turn it from and to text.
type Plan struct {
	Comment  []string // comment lines of the head, without "#" and its blank
	Scenario string   // name of the scenario, for example "local/register"
	Params   []KV     // the scenario's own settings, validated by the scenario
	Config   []KV     // the engine's settings, validated by the engine's config
	Seed     uint64   // the seed of every draw in the run
	Steps    []Step   // in the order of the text; steps due together run in this order
}

// KV is one key=value of a plan's scenario or config line. Keys are unique in
// their line; values are free text without blanks.
type KV struct{ Key, Value string }

// Step is one line of a plan: when, for how long, what.
type Step struct {
	Comment []string // comment lines above the step
	Trigger Trigger
	For     time.Duration // the action is undone after this time; 0: never by itself
	Action  Action
}

// Removed returns the plan without step i. The receiver is not changed.
func (p Plan) Removed(i int) Plan {
	p.Steps = slices.Delete(slices.Clone(p.Steps), i, i+1)
	return p
}

// WithSteps returns the plan with other steps. The receiver is not changed.
func (p Plan) WithSteps(steps []Step) Plan {
	p.Steps = slices.Clone(steps)
	return p
}

// QuietAt returns the time since the start of the run from which no fault of
// the plan acts, and false if the plan fixes no such time: a fault without end,
// or one by mark or event, and no quiet step at a time. Damage that a fault
// left on a disk may still be found later.
func (p Plan) QuietAt() (time.Duration, bool) {
	var last time.Duration
	for i, s := range spansOf(p) {
		if !s.idle && len(p.Steps[i].Action.Kinds()) > 0 {
			last = max(last, s.ends)
		}
	}
	last = min(last, quietTime(p))
	return last, last != never
}
