package sim

import (
	"runtime/debug"
	"time"

	"tornpage/engine/host/coop"
	"tornpage/sim/sched"
	"tornpage/sim/trace"
)

// Stop ends Run after the event in which it is called.
func (w *World) Stop() {
	w.stopped = true
	w.attend()
}

// Why says why Run returned.
type Why uint8

// The ways in which Run ends.
const (
	TimeUp  Why = iota // the time asked for has passed
	Stopped            // Stop was called
	Idle               // nothing is left that could happen
	Failed             // a task panicked; see Failure
	TooMany            // Config.MaxEvents
)

// String says it in words.
func (y Why) String() string {
	return [...]string{"time is up", "stopped", "nothing left to happen", "a task panicked", "too many events"}[y]
}

// Run lets the world run until the given time since it began.
func (w *World) Run(until time.Duration) Why {
	w.stopped = false
	w.stops++
	w.forced = 0
	w.q.Push(sched.Item{At: max(int64(until), w.now), Kind: evStop, Gen: w.stops})
	w.stopItems++
	if why, done := w.between(); done {
		return why // a world that has failed, or in which nothing is left
	}
	for {
		if why, done := w.guarded(); done {
			return why
		}
	}
}

// guarded runs the loop until Run is to return, or until a handler panics:
// one deferred function serves all handlers.
func (w *World) guarded() (why Why, done bool) {
	defer func() {
		m := w.handling
		if m == nil {
			return // not ours: let it pass
		}
		w.handling = nil
		if v := recover(); !(m.group.Dead() && coop.Killed(v)) { //tornvet:recover a handler has no coroutine that could be unwound
			w.fail(m, "handler", v, debug.Stack()) //tornvet:observe the stack of a run that has failed
		}
		why, done = w.between()
	}()
	for {
		_, n := w.q.Advance()
		i := 0
		if w.forced > 0 {
			i, w.forced = w.forced-1, 0
		} else if n > 1 {
			i = int(w.choice.N(uint64(n)))
		}
		it := w.q.Take(i)
		w.now = it.At
		if it.Kind == evStop {
			w.stopItems--
			if it.Gen == w.stops {
				return TimeUp, true
			}
			continue
		}
		w.do(it)
		if t := w.woken.t; t != nil {
			// Here, with few calls below it: after a switch of coroutines the
			// processor foresees no return.
			w.woken.t = nil
			w.loop.Resume(t, w.woken.gen)
		}
		if w.log.N() < w.quietTo && w.q.Len() != w.stopItems {
			continue // between would find nothing
		}
		if why, done := w.between(); done {
			return why, true
		}
	}
}

// attend makes the loop call between after the present event.
func (w *World) attend() { w.quietTo = 0 }

// between is what the loop sees to after an event, if there may be something.
func (w *World) between() (Why, bool) {
	if len(w.doomed) > 0 {
		w.reap()
	}
	if len(w.triggers) > 0 {
		w.fire()
	}
	switch {
	case w.failure != nil:
		return Failed, true
	case w.stopped:
		return Stopped, true
	case w.q.Len() == w.stopItems:
		w.takeStops()
		return Idle, true
	case w.log.N() > w.cfg.MaxEvents:
		return TooMany, true
	}
	w.quietTo = w.cfg.MaxEvents
	if len(w.triggers) > 0 {
		w.quietTo = min(w.quietTo, w.triggers[0].n)
	}
	if len(w.doomed) > 0 { // a trigger's doing
		w.attend()
	}
	return 0, false
}

// takeStops takes the ends of runs that lie before this Run's own, and that:
// nothing else is left, and the time asked for passes.
func (w *World) takeStops() {
	for own := false; !own; w.stopItems-- {
		w.q.Advance()
		it := w.q.Take(0)
		w.now, own = it.At, it.Gen == w.stops
	}
}

// do performs one event.
func (w *World) do(it sched.Item) {
	switch it.Kind {
	case evWake:
		t := w.loop.At(it.Ref)
		if t.Gen() != it.Gen {
			return
		}
		if w.paused > 0 && w.postpone(t.Group().Driver().(*incarnation), it) {
			return
		}
		w.log.Add(w.now, trace.TaskRun, 0, uint64(t.ID()), 0, 0)
		w.woken = parked{t, it.Gen}
	case evCore:
		w.coreDone(it)
	case evDeliver:
		w.deliver(it)
	case evCall:
		c := *w.calls.at(it.Ref)
		if c.inc != nil && w.paused > 0 && w.postpone(c.inc, it) {
			return
		}
		w.calls.free(it.Ref)
		if c.inc == nil {
			c.f()
		} else if !c.inc.group.Dead() {
			w.log.Add(w.now, trace.Timer, c.inc.who(), 0, 0, 0)
			c.inc.enter()
			c.f()
			c.inc.leave()
		}
	}
}

func (w *World) postpone(inc *incarnation, it sched.Item) bool {
	if !inc.paused {
		return false
	}
	inc.held = append(inc.held, it)
	return true
}

func (w *World) fire() {
	for len(w.triggers) > 0 && w.triggers[0].n <= w.log.N() {
		f := w.triggers[0].f
		w.triggers = w.triggers[1:]
		f()
	}
}

func (w *World) panicked(t *coop.Task, value any, stack []byte) {
	inc := t.Group().Driver().(*incarnation)
	w.fail(inc, t.Name(), value, stack)
}

// fail records the panic that ends the run.
func (w *World) fail(inc *incarnation, task string, value any, stack []byte) {
	w.log.Add(w.now, trace.Panic, inc.who(), inc.boot, 0, 0)
	if w.failure == nil {
		w.attend()
		w.failure = &Failure{inc.p.name, inc.boot, task, w.Now(), w.log.N(), value, string(stack)}
	}
}
