package oshost

import (
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"tornpage/engine/host/coop"
)

// inbox is how other goroutines reach the loop.
type inbox struct {
	mu     sync.Mutex
	events []func()
	wake   chan struct{} // one slot: something came since the last take
}

// post hands f to the loop, which calls it as a handler.
func (in *inbox) post(f func()) {
	in.mu.Lock()
	in.events = append(in.events, f)
	in.mu.Unlock()
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// take swaps the list of events for an empty one.
func (in *inbox) take(empty []func()) []func() {
	in.mu.Lock()
	defer in.mu.Unlock()
	events := in.events
	in.events = empty
	return events
}

// readyTask is a task to be resumed at once.
type readyTask struct {
	task *coop.Task
	gen  uint32
}

// scheduler is the loop's own state; only the loop's goroutine touches it.
type scheduler struct {
	loop   *coop.Loop
	group  *coop.Group
	start  time.Time
	in     inbox
	spare  []func()
	ready  []readyTask
	again  []readyTask // the other half of the swap with ready
	timers timers
	end    End
}

// now is the time since the process started, in nanoseconds.
func (s *scheduler) now() int64 { return int64(time.Since(s.start)) }

// wake queues t, or sets a timer for a moment to come.
func (s *scheduler) wake(t *coop.Task, gen uint32, at int64) {
	if at > s.now() {
		s.timers.add(timer{at: at, task: t, gen: gen})
		return
	}
	s.ready = append(s.ready, readyTask{t, gen})
}

// driver is the scheduler as the task core sees it.
type driver struct{ s *scheduler }

func (d driver) Now() int64 { return d.s.now() }

func (d driver) Wake(t *coop.Task, gen uint32, at int64) { d.s.wake(t, gen, at) }

// Compute queues t behind all that are ready: real work took its real time.
func (d driver) Compute(t *coop.Task, gen uint32, _ int64) { d.s.wake(t, gen, 0) }

// later calls f as a handler, soon.
func (s *scheduler) later(f func()) { s.after(0, f) }

// after calls f as a handler in d nanoseconds.
func (s *scheduler) after(d int64, f func()) {
	s.timers.add(timer{at: s.now() + max(d, 0), f: f})
}

// turn runs what can run now, then sleeps until there is more.
func (s *scheduler) turn() {
	events := s.in.take(s.spare)
	for i, f := range events {
		events[i] = nil
		s.handle(f)
	}
	s.spare = events[:0]
	s.fire()
	s.ready, s.again = s.again[:0], s.ready
	for i, r := range s.again {
		if s.ended() {
			return
		}
		s.again[i] = readyTask{}
		s.loop.Resume(r.task, r.gen)
	}
	if len(s.ready) == 0 && !s.ended() {
		s.sleep()
	}
}

// fire handles the timers that are due, except those set meanwhile.
func (s *scheduler) fire() {
	now, last := s.now(), s.timers.seq
	for !s.ended() {
		if at, ok := s.timers.next(); !ok || at > now || s.timers.heap[0].seq > last {
			return
		}
		t := s.timers.pop()
		if t.f != nil {
			s.handle(t.f)
		} else {
			s.ready = append(s.ready, readyTask{t.task, t.gen})
		}
	}
}

// sleep waits for an event or for the next timer.
func (s *scheduler) sleep() {
	at, ok := s.timers.next()
	if !ok {
		<-s.in.wake
		return
	}
	d := at - s.now()
	if d <= 0 {
		return
	}
	alarm := time.NewTimer(time.Duration(d))
	defer alarm.Stop()
	select {
	case <-s.in.wake:
	case <-alarm.C:
	}
}

// handle runs f as a handler: outside of tasks, and with its panics reported.
func (s *scheduler) handle(f func()) {
	if s.ended() {
		return
	}
	defer func() {
		if v := recover(); v != nil && !s.group.Dead() {
			s.finish(Panicked, fmt.Sprintf("panic in a handler: %v\n%s", v, debug.Stack()))
		}
		s.group.TakeDebt()
	}()
	f()
}

func (s *scheduler) ended() bool { return s.end.Kind != Alive }

// finish ends the process, for the first reason only. In a task or handler of
// the process it does not return.
func (s *scheduler) finish(kind EndKind, text string) {
	if !s.ended() {
		s.end = End{Kind: kind, Text: text}
	}
	s.group.Kill()
}
