package sim

import (
	"slices"

	"tornpage/engine/host/coop"
	"tornpage/sim/draw"
	"tornpage/sim/sched"
	"tornpage/sim/trace"
)

// cores is a machine's processor: work runs on a free core or waits for one,
// and whoever has had a quantum makes room. Which of the waiting runs next is
// drawn.
type cores struct {
	total  int
	free   int
	jobs   slab[job]
	queue  []uint32 // jobs that wait
	choice draw.Stream
}

// job is CPU work to be done for a task, or for nobody (a handler's).
type job struct {
	task  *coop.Task
	gen   uint32
	left  int64
	epoch uint32
}

// void reports work that nobody waits for any more: its process has died.
func (j *job) void() bool { return j.task != nil && j.task.Gen() != j.gen }

// Compute implements coop.Driver: t has parked until its debt is served.
func (m *incarnation) Compute(t *coop.Task, gen uint32, debt int64) {
	if debt == 0 {
		m.Wake(t, gen, m.w.now)
		return
	}
	m.w.addJob(m.p.m, job{t, gen, debt, m.p.m.epoch})
}

// SkipWork implements coop.Skipper.
func (m *incarnation) SkipWork(t *coop.Task, debt int64) bool {
	if debt == 0 {
		return m.stay(t)
	}
	return m.p.m.cpu.free > 0 && m.SkipTo(t, m.w.now+debt)
}

// SkipTo implements coop.Skipper: the event is recorded as if the task had been
// resumed. Whatever the loop looks at between two events forbids it.
func (m *incarnation) SkipTo(t *coop.Task, at int64) bool {
	w := m.w
	if !w.q.Before(at) || w.busy(m) {
		return false
	}
	w.now = at
	w.log.Add(at, trace.TaskRun, 0, uint64(t.ID()), 0, 0)
	return true
}

// stay is a yield: the next of the ready set, t among it, is drawn here. If it
// is t itself, no switch is needed.
func (m *incarnation) stay(t *coop.Task) bool {
	w := m.w
	if w.q.Now() != w.now || w.busy(m) {
		return false
	}
	// A lone task costs no draw, as in the loop.
	if n := w.q.Ready(); n > 0 {
		if i := int(w.choice.N(uint64(n + 1))); i < n {
			w.forced = i + 1
			return false
		}
	}
	w.log.Add(w.now, trace.TaskRun, 0, uint64(t.ID()), 0, 0)
	return true
}

// busy reports whether the loop has something to see to before m may go on.
func (w *World) busy(m *incarnation) bool {
	return w.log.N()+1 >= w.quietTo || m.paused || w.marking != nil
}

func (w *World) addJob(m *machine, j job) {
	i := m.cpu.jobs.take()
	*m.cpu.jobs.at(i) = j
	if m.cpu.free == 0 {
		m.cpu.queue = append(m.cpu.queue, i)
		return
	}
	m.cpu.free--
	w.slice(m, i)
}

// slice lets job i run until it is done or its quantum is over.
func (w *World) slice(m *machine, i uint32) {
	d := min(m.cpu.jobs.at(i).left, int64(w.cfg.Quantum))
	w.q.Push(sched.Item{At: w.now + d, Kind: evCore, Ref: m.index, Gen: i})
}

// coreDone ends a slice: the job goes on, makes room, or is done.
func (w *World) coreDone(it sched.Item) {
	m := w.machines[it.Ref]
	c := &m.cpu
	j := c.jobs.at(it.Gen)
	if j.epoch != m.epoch {
		c.jobs.free(it.Gen) // the power-off has freed its core
		return
	}
	j.left -= min(j.left, int64(w.cfg.Quantum))
	over := j.left == 0 || j.void()
	if !over && len(c.queue) == 0 {
		w.slice(m, it.Gen)
		return
	}
	done := *j
	if over {
		c.jobs.free(it.Gen)
	} else {
		c.queue = append(c.queue, it.Gen)
	}
	w.next(m)
	if over && done.task != nil {
		w.do(sched.Item{At: w.now, Kind: evWake, Ref: done.task.Index(), Gen: done.gen})
	}
}

// next gives the core that has become free to one of the waiting.
func (w *World) next(m *machine) {
	c := &m.cpu
	for i := len(c.queue) - 1; i >= 0; i-- {
		if c.jobs.at(c.queue[i]).void() {
			c.jobs.free(c.queue[i])
			c.queue = slices.Delete(c.queue, i, i+1)
		}
	}
	n := len(c.queue)
	if n == 0 {
		c.free++
		return
	}
	i := 0
	if n > 1 {
		i = int(c.choice.N(uint64(n)))
	}
	j := c.queue[i]
	c.queue[i] = c.queue[n-1]
	c.queue = c.queue[:n-1]
	w.slice(m, j)
}
