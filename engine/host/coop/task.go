package coop

import (
	"iter"
	"runtime/debug"
)

// WaitEvent labels what a parked task waits for. The numbers belong to the
// machine's packages; coop only keeps time per label.
type WaitEvent uint8

// Driver is what a machine gives to its tasks: a clock and wake-ups.
type Driver interface {
	// Now is the current time in nanoseconds; it never decreases.
	Now() int64
	// Wake arranges that Loop.Resume(t, gen) is called once the clock has
	// reached at. It must not resume t before it returns.
	Wake(t *Task, gen uint32, at int64)
	// Compute is called as t parks to have its CPU debt (nanoseconds, may be
	// zero) served: the driver wakes t, with gen, when a core has done so.
	Compute(t *Task, gen uint32, debt int64)
}

// Skipper is a Driver that can move its clock while a task runs. Where nothing
// else would happen before a task's own wake-up, parking it and resuming it is
// two coroutine switches for nothing; the driver records the event all the same.
type Skipper interface {
	// SkipWork serves debt at once, if a core is free and nothing is due
	// until that is done, and reports whether it did.
	SkipWork(t *Task, debt int64) bool
	// SkipTo moves the clock to at, if nothing is due until then.
	SkipTo(t *Task, at int64) bool
}

// Loop owns the coroutines of one world or of one real process.
type Loop struct {
	current *Task
	all     []*Task // every task value made; a driver may name one by index
	idle    []*Task // ended tasks, each with its parked coroutine
	live    int
	seq     uint32
	// Panicked is called when a task of a living group panics, or ends by
	// runtime.Goexit (then value is ErrGoexit). It runs in the task's place,
	// outside of any task. Nil: such a panic is dropped.
	Panicked func(t *Task, value any, stack []byte)
	// Pool, if set before the first task, lends and takes back coroutines.
	Pool   *Pool
	failed *failure
}

type failure struct {
	value any
	stack []byte
}

// maxIdle bounds the pool, since stacks that grew stay grown.
const maxIdle = 4096

// Task is one flow of control of a group. Its coroutine outlives it: the value
// is used again for a later task, with a higher generation and a new ID.
//
// Its size is 128 bytes, so that values lie at multiples of a cache line, and
// what a park and a resume need is in the first line: with many tasks a
// switch costs what it misses in the caches.
type Task struct {
	resume func() (struct{}, bool)
	yield  func(struct{}) bool
	group  *Group
	queue  *Cond // the condition it waits in, if any
	since  int64
	gen    uint32
	id     uint32
	index  uint32 // in loop.all
	slot   int32  // in group.tasks
	event  WaitEvent
	done   bool

	prev *Task
	next *Task
	body func()
	stop func()
	name string
	_    [16]byte
}

// Name is the name given to Go.
func (t *Task) Name() string { return t.name }

// ID is unique in the loop: tasks are numbered as they are started.
func (t *Task) ID() uint32 { return t.id }

// Group is the task's process.
func (t *Task) Group() *Group { return t.group }

// Gen is the generation of the task's current or next park (rule C3).
func (t *Task) Gen() uint32 { return t.gen }

// Event is what the task waits for, or waited for last.
func (t *Task) Event() WaitEvent { return t.event }

// Since is when the task parked last, in the driver's nanoseconds.
func (t *Task) Since() int64 { return t.since }

// Index is the number of the task's value in its loop: small, and used again by
// later tasks. With Gen it names one park, so a driver's queue needs no pointers.
func (t *Task) Index() uint32 { return t.index }

// At is the task value with that index.
func (l *Loop) At(index uint32) *Task { return l.all[index] }

// Current is the running task, or nil outside of tasks (handlers, the loop).
func (l *Loop) Current() *Task { return l.current }

// Live counts tasks that have not ended.
func (l *Loop) Live() int { return l.live }

// take gives an idle task or a new one; its coroutine starts at first resume.
func (l *Loop) take() *Task {
	if n := len(l.idle); n > 0 {
		t := l.idle[n-1]
		l.idle = l.idle[:n-1]
		t.done = false
		return t
	}
	if p := l.Pool; p != nil && len(p.idle) > 0 {
		t := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		t.index, t.done = uint32(len(l.all)), false
		l.all = append(l.all, t)
		return t
	}
	t := &Task{index: uint32(len(l.all))}
	l.all = append(l.all, t)
	t.resume, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		for t.group.loop.run(t) && yield(struct{}{}) {
		}
	})
	return t
}

// run executes one body on t's coroutine and turns every way of ending into
// "done". It returns true, also after a panic: the coroutine can be used again.
func (l *Loop) run(t *Task) (again bool) {
	finished := false
	defer func() {
		if finished {
			t.done = true
			return
		}
		v := recover()
		goexit := v == nil
		if goexit {
			v = ErrGoexit
		}
		if goexit || !t.group.dead {
			l.failed = &failure{v, debug.Stack()}
		}
		t.done, again = true, true
		if goexit {
			// Goexit goes on after this function and would end the loop's
			// own goroutine. Staying parked for ever keeps the loop alive;
			// nothing can stop this one coroutine, so it is left behind.
			t.yield(struct{}{})
		}
	}()
	if !t.group.dead {
		t.body()
		t.group.PayDebt() // else whoever runs next would owe it
	}
	finished = true
	return true
}

// Resume runs t until it parks or ends, if gen is still its generation, and
// reports whether it did. Only the driver's loop calls it, never a task.
func (l *Loop) Resume(t *Task, gen uint32) bool {
	if t.gen != gen || t.done {
		return false
	}
	g := t.group
	t.gen++
	if t.queue != nil {
		t.queue.remove(t)
	}
	g.waited[t.event] += g.driver.Now() - t.since
	l.current = t
	t.resume()
	l.current = nil
	if t.done {
		l.ended(t)
	}
	if g.dead && len(g.tasks) > 0 {
		g.reap()
	}
	return true
}

// ended returns the task to the pool and reports a failure, if any.
func (l *Loop) ended(t *Task) {
	g := t.group
	last := len(g.tasks) - 1
	g.tasks[t.slot] = g.tasks[last]
	g.tasks[t.slot].slot = t.slot
	g.tasks[last] = nil
	g.tasks = g.tasks[:last]
	l.live--
	t.gen++
	f := l.failed
	l.failed = nil
	if f != nil && l.Panicked != nil {
		l.Panicked(t, f.value, f.stack)
	}
	t.body = nil
	switch {
	case f != nil && f.value == ErrGoexit: // its coroutine is lost
	case len(l.idle) < maxIdle:
		l.idle = append(l.idle, t)
	default:
		t.stop()
	}
}

// Close gives the idle coroutines to the Pool, or ends them. Every group must
// be dead or done by then.
func (l *Loop) Close() {
	for _, t := range l.idle {
		if p := l.Pool; p != nil && len(p.idle) < maxIdle {
			t.group = nil
			p.idle = append(p.idle, t)
			continue
		}
		t.stop()
	}
	l.idle = nil
}

// Pool hands coroutines, with the stacks that they have grown, from a Loop that
// is closed to a later one. It serves one Loop at a time. Which coroutine runs a
// task cannot be seen by the task.
type Pool struct{ idle []*Task }

// Close ends the coroutines.
func (p *Pool) Close() {
	for _, t := range p.idle {
		t.stop()
	}
	p.idle = nil
}
