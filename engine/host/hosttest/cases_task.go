package hosttest

import (
	"time"

	"tornpage/engine/host"
)

func taskCases() []*Case {
	return []*Case{
		solo("switch-only-where-said", "H1", "no task or handler runs between two blocking calls", switchOnlyWhereSaid),
		solo("go-never-switches", "H1, Machine.Go", "Go starts a task later, and each task once", goNeverSwitches),
		solo("go-from-a-task", "Machine.Go", "tasks started by tasks run too", goFromATask),
		solo("sleep-zero-yields", "Machine.Sleep", "Sleep(0) lets ready tasks run", sleepZeroYields),
		solo("pay-yields", "Machine.Pay", "Pay is a switch point, also when nothing is owed", payYields),
		solo("charge-never-switches", "H5", "Charge never switches, however much is owed", chargeNeverSwitches),
		{Name: "pay-takes-time", Rule: "H5", Says: "debt takes time when it is paid, not when it is charged",
			Needs: Caps{Debt: true}, Hosts: []Host{{Name: "one", Boot: payTakesTime}}},
		solo("mark-never-switches", "Machine.Mark", "a mark does not switch", markNeverSwitches),
		solo("many-tasks", "H1", "three hundred tasks that yield lose no update made between yields", manyTasks),
	}
}

// quiet does everything that must not switch.
func quiet(m host.Machine, c *host.Cond) {
	m.Charge(host.WorkTuple, 3)
	m.Send(m.Lookup(m.Name()), 9, []byte("x"))
	c.Signal()
	c.Broadcast()
	m.Go("bystander", func() {})
	m.After(time.Nanosecond, func() {})
	m.Mark("hosttest.quiet")
	m.Logf("quiet")
	m.Now()
	m.Wall()
	r := m.Rand("hosttest.quiet", 0)
	r.Uint64()
	m.NameOf(m.Lookup(m.Name()))
	m.NewCond(host.WaitWork)
}

func switchOnlyWhereSaid(m host.Machine) error {
	var c check
	cond := m.NewCond(host.WaitWork)
	inside, entries := "", 0
	enter := func(who string) {
		c.that(inside == "", "%s runs while %s is between two blocking calls", who, inside)
		inside = who
		quiet(m, cond)
		inside = ""
		entries++
	}
	m.Handle(9, func(host.Addr, []byte) { c.that(inside == "", "a datagram handler runs inside %s", inside) })
	all := newCrew(m)
	for _, who := range []string{"a", "b", "c"} {
		all.run(who, func() {
			for range 5 {
				enter(who)
				m.Sleep(time.Microsecond)
			}
		})
	}
	for range 5 {
		m.After(2*time.Microsecond, func() { enter("timer") })
	}
	all.wait()
	c.that(poll(m, func() bool { return entries == 20 }), "%d of 20 entries were made", entries)
	return c.err
}

func goNeverSwitches(m host.Machine) error {
	var c check
	var runs [10]int
	for i := range runs {
		m.Go("child", func() { runs[i]++ })
	}
	c.that(runs == [10]int{}, "tasks ran inside Go: %v", runs)
	want := [10]int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	c.that(poll(m, func() bool { return runs == want }), "tasks ran %v times, want once each", runs)
	return c.err
}

func goFromATask(m host.Machine) error {
	all, depth := newCrew(m), 0
	var down func()
	down = func() {
		if depth++; depth < 20 {
			all.run("deeper", down)
		}
	}
	all.run("first", down)
	all.wait()
	var c check
	c.that(depth == 20, "%d tasks ran, want 20", depth)
	return c.err
}

// yields checks that a call lets a ready task run, if not at the first try (the
// choice is the machine's) then within many.
func yields(m host.Machine, call func()) error {
	var c check
	ran := false
	m.Go("other", func() { ran = true })
	for range 10_000 {
		if ran {
			return nil
		}
		call()
	}
	c.that(ran, "a ready task did not run in 10,000 calls")
	return c.err
}

func sleepZeroYields(m host.Machine) error { return yields(m, func() { m.Sleep(0) }) }

func payYields(m host.Machine) error { return yields(m, m.Pay) }

func chargeNeverSwitches(m host.Machine) error {
	var c check
	ran := false
	m.Go("other", func() { ran = true })
	for w := range host.Works {
		m.Charge(w, 1000)
	}
	c.that(!ran, "a task ran inside Charge")
	m.Pay()
	return c.err
}

func payTakesTime(m host.Machine) error {
	var c check
	m.Pay()
	before := m.Now()
	m.Charge(host.WorkStatement, 1000)
	c.that(m.Now() == before, "Charge took %v", m.Now()-before)
	m.Pay()
	c.that(m.Now() > before, "Pay took no time with debt")
	cond := m.NewCond(host.WaitWork)
	m.Charge(host.WorkStatement, 1000)
	cond.Wait() // nobody signals: it must come back for the debt
	return c.err
}

func markNeverSwitches(m host.Machine) error {
	var c check
	ran := false
	m.Go("other", func() { ran = true })
	for range 100 {
		m.Mark("hosttest.mark")
	}
	c.that(!ran, "a task ran inside Mark")
	return c.err
}

func manyTasks(m host.Machine) error {
	all, sum := newCrew(m), 0
	for range 300 {
		all.run("adder", func() {
			for range 3 {
				before := sum
				m.Charge(host.WorkTuple, 1)
				sum = before + 1
				m.Pay()
			}
		})
	}
	all.wait()
	var c check
	c.that(sum == 900, "the sum is %d, want 900", sum)
	return c.err
}
