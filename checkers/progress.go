package checkers

import (
	"fmt"
	"time"
)

const progressCheck = "progress"

// Expectation is what a run inside its fault budget owes its clients, in
// virtual time since the run began.
type Expectation struct {
	From    time.Duration // when the last fault was lifted
	Bound   time.Duration // how long after From, or after its call, an operation may take
	End     time.Duration // when the run was stopped
	Workers []int         // those with work left at From
}

// Progress checks that, after faults stop, each worker commits an operation
// within the bound, and that no operation called since then stays open for
// longer. Aborts and unknown outcomes are answers, but no progress.
func Progress(h *History, e Expectation) Verdict {
	open := holds(progressCheck)
	for _, w := range e.Workers {
		switch v := e.worker(h, w); v.Result {
		case Broken:
			return v
		case Undecided:
			if open.Result == Holds {
				open = v
			}
		}
	}
	return open
}

func (e Expectation) worker(h *History, w int) Verdict {
	done := false
	answers, last := 0, (*Op)(nil)
	for i := range h.Ops {
		o := &h.Ops[i]
		if o.Worker != w {
			continue
		}
		if since := max(o.Start, e.From); o.Outcome == Pending && since+e.Bound < e.End {
			return broken(progressCheck, []int64{o.ID}, "worker %d is stuck: %v (op %d), called at %v, has no answer at %v, %v after faults stopped",
				w, o.Kind, o.ID, o.Start, e.End, e.End-e.From)
		}
		if o.Outcome == Pending || o.End < e.From || o.End > e.From+e.Bound {
			continue
		}
		answers++
		done = done || o.Outcome == Committed
		if last == nil || o.End >= last.End {
			last = o
		}
	}
	switch {
	case done:
		return holds(progressCheck)
	case e.From+e.Bound > e.End:
		return undecided(progressCheck, nil, "worker %d committed nothing yet, but the run ended at %v, before %v had passed since faults stopped at %v",
			w, e.End, e.Bound, e.From)
	}
	v := broken(progressCheck, nil, "worker %d committed nothing from %v, when faults stopped, to %v", w, e.From, e.From+e.Bound)
	if last != nil {
		v.Ops = []int64{last.ID}
		v.Details = []string{fmt.Sprintf("it got %d answers, the last of them %v (op %d)", answers, last.Outcome, last.ID)}
	}
	return v
}

// Limit bounds a gauge: the length of a version chain, a queue, a backlog.
type Limit struct {
	Name string
	Max  int64 // in the gauge's own unit
}

// Gauges holds a stream of gauge readings against limits.
type Gauges struct {
	limits  []Limit
	peaks   []int64
	seen    []bool
	verdict Verdict
}

// NewGauges returns a checker of the given limits.
func NewGauges(limits ...Limit) *Gauges {
	return &Gauges{limits: limits, peaks: make([]int64, len(limits)), seen: make([]bool, len(limits)),
		verdict: holds("gauges")}
}

// Observe takes a reading; it returns false once a limit is broken.
func (g *Gauges) Observe(event int64, host, name string, value int64) bool {
	for i, l := range g.limits {
		if l.Name != name {
			continue
		}
		g.peaks[i], g.seen[i] = max(g.peaks[i], value), true
		if value > l.Max && g.verdict.Result == Holds {
			g.verdict = broken("gauges", nil, "%s on %s is %d at event %d, above its limit of %d",
				name, host, value, event, l.Max)
		}
	}
	return g.verdict.Result != Broken
}

// Peak returns the highest reading of a gauge.
func (g *Gauges) Peak(name string) int64 {
	for i, l := range g.limits {
		if l.Name == name {
			return g.peaks[i]
		}
	}
	return 0
}

// Verdict is Broken from the first breach on; Undecided while a gauge with a
// limit was never read.
func (g *Gauges) Verdict() Verdict {
	if g.verdict.Result == Holds {
		for i, l := range g.limits {
			if !g.seen[i] {
				return undecided("gauges", nil, "%s was never read", l.Name)
			}
		}
	}
	return g.verdict
}
