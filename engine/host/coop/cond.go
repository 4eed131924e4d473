package coop

// Cond is a condition that tasks of one group wait for. Waiters are woken in
// the order in which they came. The zero value is not usable; see NewCond.
type Cond struct {
	group *Group
	event WaitEvent
	head  *Task
	tail  *Task
	n     int
}

// NewCond makes a condition whose waiters' time is accounted to ev.
func (g *Group) NewCond(ev WaitEvent) *Cond { return &Cond{group: g, event: ev} }

// Wait parks the running task until a signal. It may return without one: look
// at what you wait for again, in a loop (rule C4).
func (c *Cond) Wait() {
	g := c.group
	t := g.running()
	if g.debt > 0 {
		g.Pay()
		return
	}
	c.add(t)
	t.event = c.event
	t.since = g.driver.Now()
	t.switchOut()
}

// WaitFor is Wait with a time-out of d nanoseconds; it reports whether the
// task came back before d had passed (which is no proof of a signal).
func (c *Cond) WaitFor(d int64) bool {
	g := c.group
	t := g.running()
	if g.debt > 0 {
		g.Pay()
		return true
	}
	if d <= 0 {
		g.Pay()
		return false
	}
	at := g.driver.Now() + d
	c.add(t)
	t.event = c.event
	t.since = g.driver.Now()
	g.driver.Wake(t, t.gen, at)
	t.switchOut()
	return g.driver.Now() < at
}

// Signal wakes the task that has waited longest, if any.
func (c *Cond) Signal() {
	g := c.group
	g.Alive()
	if t := c.head; t != nil {
		c.remove(t)
		g.driver.Wake(t, t.gen, g.driver.Now()+g.debt)
	}
}

// Broadcast wakes all that wait now.
func (c *Cond) Broadcast() {
	for c.head != nil {
		c.Signal()
	}
}

// Waiting is the number of tasks that wait.
func (c *Cond) Waiting() int { return c.n }

func (c *Cond) add(t *Task) {
	t.queue, t.prev, t.next = c, c.tail, nil
	if c.tail == nil {
		c.head = t
	} else {
		c.tail.next = t
	}
	c.tail = t
	c.n++
}

func (c *Cond) remove(t *Task) {
	if t.prev == nil {
		c.head = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next == nil {
		c.tail = t.prev
	} else {
		t.next.prev = t.prev
	}
	t.queue, t.prev, t.next = nil, nil, nil
	c.n--
}
