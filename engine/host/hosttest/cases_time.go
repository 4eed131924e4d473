package hosttest

import (
	"time"

	"tornpage/engine/host"
)

func timeCases() []*Case {
	return []*Case{
		solo("now-never-decreases", "Machine.Now", "Now never decreases", nowNeverDecreases),
		solo("sleep-is-long-enough", "Machine.Sleep", "Sleep(d) takes at least d of Now", sleepIsLongEnough),
		solo("sleeps-overlap", "Machine.Sleep", "the shorter of two sleeps ends first", sleepsOverlap),
		solo("wall-is-a-date", "Machine.Wall", "Wall is some date and does not switch", wallIsADate),
		solo("after-once", "Machine.After", "After calls once, not before d and never in place", afterOnce),
		solo("after-runs-between-tasks", "H6", "a handler may send, signal, start tasks and charge", afterActs),
		ends("handler-must-not-block", "H6", "a handler that blocks stops the process with a report",
			func(m host.Machine) error {
				m.After(0, func() { m.Sleep(time.Millisecond) })
				return forever(m)
			}, Panicked, "blocking call"),
	}
}

func nowNeverDecreases(m host.Machine) error {
	var c check
	last := m.Now()
	for i := range 200 {
		now := m.Now()
		c.that(now >= last, "Now went from %v to %v", last, now)
		last = now
		if i%10 == 0 {
			m.Sleep(time.Duration(i))
		}
	}
	return c.err
}

func sleepIsLongEnough(m host.Machine) error {
	var c check
	for _, d := range []time.Duration{1, time.Microsecond, time.Millisecond, 5 * time.Millisecond} {
		before := m.Now()
		m.Sleep(d)
		c.that(m.Now()-before >= d, "Sleep(%v) took %v", d, m.Now()-before)
	}
	m.Sleep(-time.Hour)
	return c.err
}

func sleepsOverlap(m host.Machine) error {
	all := newCrew(m)
	order := ""
	var started time.Duration
	var late [2]time.Duration
	started = m.Now()
	all.run("long", func() { m.Sleep(200 * time.Millisecond); order += "long "; late[0] = m.Now() - started })
	all.run("short", func() { m.Sleep(time.Millisecond); order += "short "; late[1] = m.Now() - started })
	all.wait()
	var c check
	// A machine that was stopped for 200 ms may wake both at once.
	c.that(order == "short long " || late[1] >= 200*time.Millisecond, "order of waking: %safter %v", order, late)
	return c.err
}

func wallIsADate(m host.Machine) error {
	var c check
	ran := false
	m.Go("other", func() { ran = true })
	wall := m.Wall()
	c.that(!ran, "a task ran inside Wall")
	c.that(wall.Year() >= 1970 && wall.Year() < 2200, "Wall is %d, want a year of this or the last century", wall.Year())
	return c.err
}

func afterOnce(m host.Machine) error {
	var c check
	calls := 0
	start := m.Now()
	for _, d := range []time.Duration{-time.Second, 0, time.Millisecond} {
		m.After(d, func() {
			c.that(m.Now()-start >= d, "After(%v) called after %v", d, m.Now()-start)
			calls++
		})
	}
	c.that(calls == 0, "After called in place")
	c.that(poll(m, func() bool { return calls >= 3 }), "%d of 3 calls were made", calls)
	m.Sleep(3 * time.Millisecond)
	c.that(calls == 3, "%d calls were made, want 3", calls)
	return c.err
}

func afterActs(m host.Machine) error {
	var c check
	cond := m.NewCond(host.WaitWork)
	signalled, started, chained, got := false, false, false, 0
	m.Handle(1, func(_ host.Addr, msg []byte) {
		if string(msg) == "tick" {
			got++
		}
	})
	m.After(time.Microsecond, func() {
		m.Charge(host.WorkMessage, 5)
		signalled = true
		cond.Signal()
		m.Go("by handler", func() { m.Sleep(time.Microsecond); started = true })
		m.After(time.Microsecond, func() { chained = true })
	})
	var tick func()
	tick = func() { // datagrams may be lost: again until one came
		if got == 0 {
			m.Send(m.Lookup(m.Name()), 1, []byte("tick"))
			m.After(time.Millisecond, tick)
		}
	}
	m.After(time.Microsecond, tick)
	for !signalled {
		cond.Wait()
	}
	c.that(poll(m, func() bool { return started }), "the task that a handler started did not run")
	c.that(poll(m, func() bool { return chained }), "the timer that a handler set did not fire")
	c.that(poll(m, func() bool { return got > 0 }), "no datagram that a handler sent arrived")
	return c.err
}
