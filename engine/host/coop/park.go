package coop

import "errors"

// ErrGoexit is the value given to Loop.Panicked for a task that called
// runtime.Goexit, as testing.T.FailNow does.
var ErrGoexit = errors.New("the task ended by runtime.Goexit (t.FailNow inside a task?)")

// killed is the panic that unwinds the tasks of a dead group.
type killed struct{}

// Killed reports whether a recovered value is the panic that unwinds what a
// dead group was doing: a driver that runs handlers meets it too.
func Killed(v any) bool {
	_, ok := v.(killed)
	return ok
}

// Events is the number of distinct wait events (WaitEvent is a byte).
const Events = 256

// Group is the tasks of one process.
type Group struct {
	dead   bool
	debt   int64
	loop   *Loop
	driver Driver
	skip   Skipper // the driver, if it is one
	tasks  []*Task
	waited [Events]int64
}

// NewGroup makes an empty group whose tasks are driven by d.
func (l *Loop) NewGroup(d Driver) *Group {
	g := &Group{loop: l, driver: d}
	g.skip, _ = d.(Skipper)
	return g
}

// Go starts a task that runs f. It never switches: the task is ready at now
// plus the caller's debt.
func (g *Group) Go(name string, f func()) *Task {
	g.Alive()
	l := g.loop
	l.seq++
	l.live++
	now := g.driver.Now()
	t := l.take()
	t.group, t.name, t.body = g, name, f
	t.id, t.slot = l.seq, int32(len(g.tasks))
	t.since, t.event = now, EventCPU
	g.tasks = append(g.tasks, t)
	g.driver.Wake(t, t.gen, now+g.debt)
	return t
}

// EventCPU labels time spent paying debt or being ready.
const EventCPU WaitEvent = 0

// Alive panics if the group is dead: the door to the world is closed (C5).
func (g *Group) Alive() {
	if g.dead {
		panic(killed{})
	}
}

// Driver is what the group was made with.
func (g *Group) Driver() Driver { return g.driver }

// Dead reports whether the group was killed.
func (g *Group) Dead() bool { return g.dead }

// Tasks is the number of tasks that have not ended.
func (g *Group) Tasks() int { return len(g.tasks) }

// Each calls f for every task that has not ended, in no promised order that a
// run may depend on other than that it is the same for the same run.
func (g *Group) Each(f func(*Task)) {
	for _, t := range g.tasks {
		f(t)
	}
}

// Waited is the time, in nanoseconds, that tasks of the group have spent parked
// with the label ev, those that are parked at the time now included.
func (g *Group) Waited(now int64, ev WaitEvent) int64 {
	sum := g.waited[ev]
	for _, t := range g.tasks {
		if t.event == ev && t != g.loop.current {
			sum += now - t.since
		}
	}
	return sum
}

// Charge adds ns of CPU debt to whoever runs now. It never switches.
func (g *Group) Charge(ns int64) { g.debt += ns }

// Debt is the CPU time charged since the running task or handler last paid.
func (g *Group) Debt() int64 { return g.debt }

// TakeDebt clears the debt and returns it: for handlers, which cannot park.
func (g *Group) TakeDebt() int64 {
	d := g.debt
	g.debt = 0
	return d
}

// Pay parks the running task until its debt is served. It is a switch point
// even when nothing is owed.
func (g *Group) Pay() {
	t := g.running()
	d := g.debt
	g.debt = 0
	if g.skip != nil && g.skip.SkipWork(t, d) {
		g.waited[EventCPU] += d
		return
	}
	t.event = EventCPU
	t.since = g.driver.Now()
	g.driver.Compute(t, t.gen, d)
	t.switchOut()
}

// PayDebt pays if anything is owed and reports whether it did.
func (g *Group) PayDebt() bool {
	if g.debt == 0 {
		g.Alive()
		return false
	}
	g.Pay()
	return true
}

// Park parks the running task with the label ev until a wake-up for its
// present generation. Whoever is to wake it must know the task already.
func (g *Group) Park(ev WaitEvent) {
	t := g.running()
	t.event = ev
	t.since = g.driver.Now()
	t.switchOut()
}

// SleepUntil parks the running task until the clock reaches at.
func (g *Group) SleepUntil(at int64, ev WaitEvent) {
	t := g.running()
	t.event = ev
	t.since = g.driver.Now()
	if g.skip != nil && g.skip.SkipTo(t, at) {
		g.waited[ev] += max(at-t.since, 0)
		return
	}
	g.driver.Wake(t, t.gen, at)
	t.switchOut()
}

// Running is the running task, which must be of this group: a blocking call
// from a handler or from another process is a bug in the caller.
func (g *Group) Running() *Task { return g.running() }

func (g *Group) running() *Task {
	g.Alive()
	t := g.loop.current
	if t == nil || t.group != g {
		panic("coop: a blocking call outside of a task of its own process (in a handler?)")
	}
	return t
}

func (t *Task) switchOut() {
	if !t.yield(struct{}{}) || t.group.dead {
		panic(killed{})
	}
}
