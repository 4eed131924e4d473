package coop

// Kill marks the group dead and unwinds its tasks. Called from a task of the
// group itself (a mark that crashes its own machine, an exit) it panics in
// place and does not return; the rest unwinds when that task has ended.
func (g *Group) Kill() {
	if g.dead {
		return
	}
	g.dead = true
	g.debt = 0
	if t := g.loop.current; t != nil {
		if t.group == g {
			panic(killed{})
		}
		// Another group's task runs: its coroutine must not be left from
		// within, so the driver reaps when that task has parked.
		return
	}
	g.reap()
}

// Reap unwinds what is left of a dead group; the driver calls it from its
// loop for groups that were killed while another group's task ran.
func (g *Group) Reap() {
	if g.dead && g.loop.current == nil {
		g.reap()
	}
}

// reap resumes every task once, newest first; each unwinds and ends.
func (g *Group) reap() {
	l := g.loop
	for len(g.tasks) > 0 {
		t := g.tasks[len(g.tasks)-1]
		t.gen++
		if t.queue != nil {
			t.queue.remove(t)
		}
		l.current = t
		t.resume()
		l.current = nil
		if !t.done {
			panic("coop: task " + t.name + " of a dead process parked instead of unwinding (a recover() without re-panic?)")
		}
		l.ended(t)
	}
}
