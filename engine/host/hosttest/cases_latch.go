package hosttest

import (
	"fmt"
	"slices"
	"time"

	"tornpage/engine/host"
)

func latchCases() []*Case {
	return []*Case{
		solo("latch-excludes", "Latch", "an exclusive hold excludes all others, also across Pay and Sleep", latchExcludes),
		solo("latch-shares", "Latch", "readers hold the latch together", latchShares),
		solo("latch-is-fair", "Latch", "a reader that comes after a waiting writer enters after it", latchIsFair),
		solo("free-latch-does-not-switch", "Latch", "taking a free latch does not switch", latchFree),
		ends("unlock-of-a-free-latch", "Latch", "releasing what is not held is a broken rule",
			func(m host.Machine) error {
				host.NewLatch(m, host.WaitWork).Unlock()
				return nil
			}, Panicked, "H-latch"),
		ends("runlock-of-a-free-latch", "Latch", "releasing what is not held is a broken rule",
			func(m host.Machine) error {
				host.NewLatch(m, host.WaitWork).RUnlock()
				return nil
			}, Panicked, "H-latch"),
	}
}

// rest is a switch point while a latch is held: sometimes long, mostly not.
func rest(m host.Machine, r *host.Rand) {
	m.Charge(host.WorkTuple, int(r.N(4)))
	if r.Chance(1, 4) {
		m.Sleep(time.Microsecond)
		return
	}
	m.Pay()
}

func latchExcludes(m host.Machine) error {
	var c check
	l := host.NewLatch(m, host.WaitBufferContent)
	all := newCrew(m)
	readers, writers, sum := 0, 0, 0
	for i := range 6 {
		all.run("latcher", func() {
			r := m.Rand("hosttest.latcher", uint64(i))
			for range 20 {
				if r.Chance(1, 2) {
					l.Lock()
					writers++
					before := sum
					c.that(writers == 1 && readers == 0, "a writer holds the latch with %d writers and %d readers", writers, readers)
					rest(m, &r)
					sum = before + 1
					writers--
					l.Unlock()
				} else {
					l.RLock()
					readers++
					before := sum
					rest(m, &r)
					c.that(writers == 0 && sum == before, "a reader saw %d writers, and %d become %d", writers, before, sum)
					readers--
					l.RUnlock()
				}
			}
		})
	}
	c.that(poll(m, func() bool { return all.left == 0 }), "%d tasks never got the latch", all.left)
	return c.err
}

func latchShares(m host.Machine) error {
	var c check
	l := host.NewLatch(m, host.WaitBufferContent)
	all := newCrew(m)
	together := 0
	for range 5 {
		all.run("reader", func() {
			l.RLock()
			together++
			poll(m, func() bool { return together == 5 })
			c.that(together == 5, "%d of 5 readers hold the latch together", together)
			l.RUnlock()
		})
	}
	all.wait()
	c.that(l.TryLock(), "TryLock failed on a latch that all readers left")
	c.that(l.Held(), "Held is false after TryLock")
	c.that(!l.TryLock(), "TryLock worked on a held latch")
	l.Unlock()
	return c.err
}

func latchIsFair(m host.Machine) error {
	var c check
	l := host.NewLatch(m, host.WaitBufferContent)
	cond := m.NewCond(host.WaitWork)
	all := newCrew(m)
	var order []string
	arrived := 0
	enter := func(who string, lock, unlock func()) {
		before := arrived
		all.run(who, func() {
			m.Pay()
			arrived++
			lock()
			order = append(order, who)
			m.Sleep(time.Microsecond)
			unlock()
		})
		for arrived == before {
			m.Sleep(time.Microsecond)
		}
	}
	l.RLock()
	enter("writer 1", l.Lock, l.Unlock)
	enter("reader 1", l.RLock, l.RUnlock)
	enter("writer 2", l.Lock, l.Unlock)
	enter("reader 2", l.RLock, l.RUnlock)
	c.that(len(order) == 0, "%v entered a latch that a reader holds and a writer waits for", order)
	c.that(!l.TryLock(), "TryLock overtook those who wait")
	c.that(cond.Waiting() == 0, "a condition of nobody has %d waiters", cond.Waiting())
	l.RUnlock()
	all.wait()
	want := []string{"writer 1", "reader 1", "writer 2", "reader 2"}
	c.that(slices.Equal(order, want), "entered in order %v, want %v", order, want)
	return c.err
}

func latchFree(m host.Machine) error {
	var c check
	ran := false
	m.Go("other", func() { ran = true })
	l := host.NewLatch(m, host.WaitBufferContent)
	for _, step := range []func(){l.Lock, l.Unlock, l.RLock, l.RLock, l.RUnlock, l.RUnlock, func() { l.TryLock() }, l.Unlock} {
		step()
	}
	c.that(!ran, "a free latch switched")
	if c.err != nil {
		return fmt.Errorf("latch: %w", c.err)
	}
	return nil
}
