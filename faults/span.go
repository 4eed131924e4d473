package faults

import (
	"math"
	"slices"
	"time"
)

// never is the end of what does not end by the plan alone.
const never = time.Duration(math.MaxInt64)

// span is when a step's fault acts, as far as the plan fixes it.
type span struct {
	starts time.Duration // 0 if a mark or an event starts it
	ends   time.Duration // never if it does not end, or ends after an unknown start
	cured  bool          // it ends, be the time known or not
	idle   bool          // it never acts: a quiet step is before it
}

// spansOf returns the span of each step. Cures and what is done in an instant
// start and end at once.
func spansOf(p Plan) []span {
	quiet := quietTime(p)
	cures := curesOf(p)
	spans := make([]span, len(p.Steps))
	for i, s := range p.Steps {
		spans[i] = spanOf(s, i, cures, quiet)
	}
	return spans
}

func spanOf(s Step, at int, cures []cure, quiet time.Duration) span {
	timed := s.Trigger.Kind == AtTime
	sp := span{starts: s.Trigger.Time, ends: never, idle: timed && quiet < s.Trigger.Time}
	if !s.Action.lasting() {
		sp.cured = true
		if timed {
			sp.ends = sp.starts
		}
		return sp
	}
	if s.For != 0 {
		sp.cured = true
		if timed {
			sp.ends = sp.starts + s.For
		}
	}
	for _, c := range cures {
		if !c.cures(s.Action) || !c.follows(s.Trigger, at) {
			continue
		}
		sp.cured = true
		if timed {
			sp.ends = min(sp.ends, c.trigger.Time)
		}
	}
	if quiet != never {
		sp.cured = true
		sp.ends = min(sp.ends, quiet)
	}
	return sp
}

// quietTime returns when the plan's first quiet step at a known time ends all
// faults, or never.
func quietTime(p Plan) time.Duration {
	quiet := never
	for _, s := range p.Steps {
		if _, ok := s.Action.(Quiet); ok && s.Trigger.Kind == AtTime {
			quiet = min(quiet, s.Trigger.Time)
		}
	}
	return quiet
}

// cure is a step that undoes others.
type cure struct {
	action  Action
	trigger Trigger
	at      int // index of the step
}

func curesOf(p Plan) []cure {
	var cures []cure
	for i, s := range p.Steps {
		switch a := s.Action.(type) {
		case Boot, Heal:
			cures = append(cures, cure{s.Action, s.Trigger, i})
		case Zone:
			if a.Up {
				cures = append(cures, cure{s.Action, s.Trigger, i})
			}
		}
	}
	return cures
}

// cures reports whether the cure undoes an action. Which hosts a machine runs
// is not known here: what was killed by its name is booted by its name.
func (c cure) cures(a Action) bool {
	switch a := a.(type) {
	case Kill:
		return c.action == Boot{a.Host}
	case PowerOff:
		return c.action == Boot{a.Machine}
	case Zone:
		return c.action == Zone{a.Zone, true}
	case Cut:
		h, ok := c.action.(Heal)
		return ok && covers(h.Ends, a.Ends)
	case Link:
		h, ok := c.action.(Heal)
		return ok && covers(h.Ends, a.Ends)
	}
	return false
}

// follows reports whether the cure surely comes after a step: at a later time
// if both have one, else by a longer delay of the very same trigger.
func (c cure) follows(t Trigger, at int) bool {
	before := t.Time
	after := c.trigger.Time
	if t.Kind != AtTime {
		before, after = t.Delay, c.trigger.Delay
		t.Delay = c.trigger.Delay
		if t != c.trigger {
			return false
		}
	} else if c.trigger.Kind != AtTime {
		return false
	}
	return after > before || after == before && c.at > at
}

// arrow is one direction of a link.
type arrow struct{ from, to End }

func (e Ends) arrows() []arrow {
	if e.Both {
		return []arrow{{e.From, e.To}, {e.To, e.From}}
	}
	return []arrow{{e.From, e.To}}
}

// covers reports whether all directions of inner are directions of outer.
func covers(outer, inner Ends) bool {
	have := outer.arrows()
	for _, a := range inner.arrows() {
		if !slices.Contains(have, a) {
			return false
		}
	}
	return true
}
