package hosttest

import (
	"fmt"
	"time"

	"tornpage/engine/host"
)

func condCases() []*Case {
	return []*Case{
		solo("signal-wakes-the-oldest", "Cond", "signals wake tasks in the order in which they came", signalOrder),
		solo("broadcast-wakes-all", "Cond", "a broadcast wakes all that wait", broadcastAll),
		solo("signal-is-not-kept", "Cond", "a signal that nobody waits for is lost", signalNotKept),
		solo("waitfor-times-out", "Cond", "WaitFor comes back after d without a signal, and says so", waitForTimesOut),
		solo("waitfor-is-signalled", "Cond", "WaitFor comes back by a signal long before d", waitForSignalled),
		solo("timed-out-is-out", "Cond", "a task that timed out takes no signal from those who wait", timedOutIsOut),
		solo("late-timer-is-stale", "Cond", "the timer of an ended WaitFor ends no later wait", staleTimer),
		solo("queue-loses-nothing", "Cond", "with a loop around Wait no item and no wake-up is lost", queueLosesNothing),
	}
}

// waiters starts n tasks that wait for cond, and returns once all do. Each
// appends its number to *woken.
func waiters(m host.Machine, n int, cond *host.Cond, woken *[]int) {
	for i := range n {
		m.Go(fmt.Sprint("waiter ", i), func() {
			m.Pay()                   // a wait with debt comes back at once
			for cond.Waiting() != i { // in order of their numbers
				m.Sleep(time.Microsecond)
			}
			cond.Wait()
			*woken = append(*woken, i)
		})
	}
	poll(m, func() bool { return cond.Waiting() == n })
}

func signalOrder(m host.Machine) error {
	var c check
	var woken []int
	cond := m.NewCond(host.WaitWork)
	waiters(m, 5, cond, &woken)
	for i := range 5 {
		cond.Signal()
		c.that(len(woken) == i, "a task ran inside Signal")
		c.that(poll(m, func() bool { return len(woken) > i }), "signal %d woke nobody", i)
		c.that(len(woken) == i+1 && woken[i] == i, "after %d signals tasks %v were woken", i+1, woken)
		if c.err != nil {
			break
		}
	}
	return c.err
}

func broadcastAll(m host.Machine) error {
	var c check
	var woken []int
	cond := m.NewCond(host.WaitWork)
	waiters(m, 20, cond, &woken)
	cond.Broadcast()
	c.that(len(woken) == 0 && cond.Waiting() == 0, "after Broadcast %d ran and %d wait, want 0 and 0", len(woken), cond.Waiting())
	c.that(poll(m, func() bool { return len(woken) == 20 }), "%d of 20 tasks were woken", len(woken))
	return c.err
}

func signalNotKept(m host.Machine) error {
	var c check
	cond := m.NewCond(host.WaitWork)
	m.Pay()
	cond.Signal()
	cond.Broadcast()
	c.that(!cond.WaitFor(int64(2*time.Millisecond)), "a signal from before the wait ended it")
	return c.err
}

func waitForTimesOut(m host.Machine) error {
	var c check
	cond := m.NewCond(host.WaitWork)
	for _, d := range []time.Duration{-1, 0, 1, time.Millisecond} {
		before := m.Now()
		c.that(!cond.WaitFor(int64(d)), "WaitFor(%v) gave true without a signal", d)
		c.that(m.Now()-before >= d, "WaitFor(%v) took %v", d, m.Now()-before)
		c.that(cond.Waiting() == 0, "%d tasks wait after a time-out", cond.Waiting())
	}
	return c.err
}

func waitForSignalled(m host.Machine) error {
	var c check
	cond := m.NewCond(host.WaitWork)
	m.After(time.Millisecond, cond.Signal)
	before := m.Now()
	c.that(cond.WaitFor(int64(time.Hour)), "WaitFor gave false after a signal")
	c.that(m.Now()-before < time.Hour, "a signalled WaitFor took %v", m.Now()-before)
	return c.err
}

func timedOutIsOut(m host.Machine) error {
	var c check
	var woken []int
	cond := m.NewCond(host.WaitWork)
	timedOut := false
	m.Go("impatient", func() { cond.WaitFor(int64(time.Millisecond)); timedOut = true })
	poll(m, func() bool { return cond.Waiting() == 1 || timedOut })
	m.Go("patient", func() { cond.Wait(); woken = append(woken, 1) })
	c.that(poll(m, func() bool { return timedOut && cond.Waiting() == 1 }), "time-out %v, %d wait", timedOut, cond.Waiting())
	cond.Signal()
	c.that(poll(m, func() bool { return len(woken) == 1 }), "the signal did not reach the task that still waits")
	return c.err
}

func staleTimer(m host.Machine) error {
	var c check
	cond := m.NewCond(host.WaitWork)
	m.After(time.Microsecond, cond.Signal)
	cond.WaitFor(int64(2 * time.Millisecond))
	before := m.Now()
	cond.WaitFor(int64(20 * time.Millisecond))
	c.that(m.Now()-before >= 20*time.Millisecond, "a wait of 20ms ended after %v by the timer of an earlier one", m.Now()-before)
	return c.err
}

func queueLosesNothing(m host.Machine) error {
	const each = 50
	var c check
	all := newCrew(m)
	filled := m.NewCond(host.WaitWork)
	var queue []int
	var seen [4 * each]int
	taken := 0
	for p := range 4 {
		all.run("producer", func() {
			r := m.Rand("hosttest.producer", uint64(p))
			for i := range each {
				queue = append(queue, p*each+i)
				m.Charge(host.WorkTuple, int(r.N(3)))
				filled.Signal()
				m.Sleep(time.Duration(r.N(3)) * time.Microsecond)
			}
		})
		all.run("consumer", func() {
			for range each {
				for len(queue) == 0 {
					filled.Wait()
				}
				seen[queue[0]]++
				queue = queue[1:]
				taken++
				m.Charge(host.WorkTuple, 2)
			}
		})
	}
	c.that(poll(m, func() bool { return all.left == 0 }), "%d of %d items were taken: a wake-up was lost", taken, 4*each)
	for item, n := range seen {
		c.that(n == 1, "item %d was taken %d times", item, n)
	}
	return c.err
}
