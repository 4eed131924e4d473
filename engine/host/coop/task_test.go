package coop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host/coop"
)

func TestCoroutinesAreUsedAgain(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	g := c.loop.NewGroup(&c)
	start := coroutines()
	ids := map[uint32]bool{}
	for range 100 {
		for range 5 {
			ids[g.Go("short", func() { g.Pay() }).ID()] = true
		}
		require.Equal(t, 5, g.Tasks())
		c.run()
		require.Zero(t, g.Tasks())
	}
	require.Len(t, ids, 500, "IDs were given twice")
	require.Equal(t, start+5, coroutines(), "want five coroutines for 500 tasks, five at a time")
	g.Kill()
	closed(0)
}

// A wake-up that was meant for an earlier park, or for an earlier task on the
// same coroutine, does nothing (C3).
func TestStaleWakeUps(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	g := c.loop.NewGroup(&c)
	steps := 0
	first := g.Go("first", func() { steps++; g.Park(1); steps++; g.Park(1); steps++ })
	c.run()
	require.Equal(t, 1, steps)
	gen := first.Gen()
	require.True(t, c.loop.Resume(first, gen))
	require.Equal(t, 2, steps)
	require.False(t, c.loop.Resume(first, gen), "a second wake-up of one park")
	require.Equal(t, 2, steps)
	last := first.Gen()
	require.True(t, c.loop.Resume(first, last))
	require.Equal(t, 3, steps)
	require.False(t, c.loop.Resume(first, last), "a wake-up of an ended task")

	second := g.Go("second", func() { g.Park(1); steps = 100 })
	require.Same(t, first, second, "the coroutine was to be used again")
	c.run()
	for old := range second.Gen() {
		require.False(t, c.loop.Resume(second, old), "generation %d of %d", old, second.Gen())
	}
	require.Equal(t, 3, steps)
	require.True(t, c.loop.Resume(second, second.Gen()))
	require.Equal(t, 100, steps)
	closed(0)
}

// What a task with debt does takes effect when the debt would be paid (C2).
func TestEffectsLeaveAtNowPlusDebt(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	g := c.loop.NewGroup(&c)
	cond := g.NewCond(3)
	woken, started := int64(-1), int64(-1)
	g.Go("waiter", func() { cond.Wait(); woken = c.now })
	g.Go("worker", func() {
		g.SleepUntil(1000, 1)
		g.Charge(30)
		g.Charge(4)
		require.Equal(t, int64(34), g.Debt())
		cond.Signal()
		g.Charge(10)
		g.Go("child", func() { started = c.now })
		require.Equal(t, int64(1000), c.now, "charging took time")
		require.True(t, g.PayDebt())
		require.Equal(t, int64(1044), c.now)
		require.False(t, g.PayDebt(), "debt was paid twice")
	})
	c.run()
	require.Equal(t, int64(1034), woken)
	require.Equal(t, int64(1044), started)
	g.Charge(7)
	require.Equal(t, int64(7), g.TakeDebt())
	require.Zero(t, g.Debt())
	closed(0)
}

// A task that ends with debt pays it; the next one to run owes nothing, and a
// kill meanwhile finds the task as in any other park.
func TestEndedTasksPayTheirDebt(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	g := c.loop.NewGroup(&c)
	c.loop.Panicked = func(_ *coop.Task, v any, _ []byte) { t.Errorf("reported: %v", v) }
	owed := int64(-1)
	g.Go("worker", func() { g.Charge(70) })
	g.Go("next", func() { owed = g.Debt() })
	c.runUntil(69)
	require.Zero(t, owed)
	require.Equal(t, 1, g.Tasks(), "the worker's debt takes until 70")
	c.runUntil(70)
	require.Zero(t, g.Tasks())
	require.Equal(t, int64(70), g.Waited(c.now, coop.EventCPU))
	g.Go("worker", func() { g.Charge(70) })
	c.runUntil(80)
	require.Equal(t, 1, g.Tasks())
	g.Kill()
	closed(0)
}

// Paying first and then queueing would lose a signal in between (C4).
func TestWaitWithDebtPaysAndReturns(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	g := c.loop.NewGroup(&c)
	cond := g.NewCond(3)
	returned := 0
	g.Go("waiter", func() {
		g.Charge(50)
		cond.Wait()
		require.Equal(t, int64(50), c.now)
		returned++
		g.Charge(50)
		require.True(t, cond.WaitFor(1))
		require.Equal(t, int64(100), c.now, "WaitFor with debt pays, however long that takes")
		returned++
	})
	c.run()
	require.Equal(t, 2, returned)
	closed(0)
}

func TestWaitedByEvent(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	g := c.loop.NewGroup(&c)
	cond := g.NewCond(7)
	g.Go("waiter", func() {
		cond.WaitFor(100)
		g.SleepUntil(150, 8)
		g.Charge(25)
		g.Pay()
		g.Park(9)
	})
	c.runUntil(500)
	require.Equal(t, int64(100), g.Waited(c.now, 7))
	require.Equal(t, int64(50), g.Waited(c.now, 8))
	require.Equal(t, int64(25), g.Waited(c.now, coop.EventCPU))
	require.Equal(t, int64(325), g.Waited(c.now, 9), "a park that goes on counts up to now")
	parked := 0
	g.Each(func(task *coop.Task) {
		parked++
		require.Equal(t, coop.WaitEvent(9), task.Event())
		require.Equal(t, int64(175), task.Since())
		require.Same(t, g, task.Group())
	})
	require.Equal(t, 1, parked)
	g.Kill()
	closed(0)
}

// A blocking call needs a task of its own group: not a handler, not a task of
// another process.
func TestBlockingInTheWrongPlace(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	g, other := c.loop.NewGroup(&c), c.loop.NewGroup(&c)
	cond := g.NewCond(3)
	for _, call := range []func(){cond.Wait, func() { cond.WaitFor(5) }, g.Pay, func() { g.Park(1) }, func() { g.SleepUntil(5, 1) }} {
		require.PanicsWithValue(t, "coop: a blocking call outside of a task of its own process (in a handler?)", call)
		other.Go("stranger", func() {
			require.PanicsWithValue(t, "coop: a blocking call outside of a task of its own process (in a handler?)", call)
		})
	}
	c.run()
	require.Nil(t, c.loop.Current())
	other.Kill()
	closed(0)
}

func TestWarmCallsDoNotAllocate(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	c.wakes = make([]wake, 0, 64)
	g := c.loop.NewGroup(&c)
	ping, pong := g.NewCond(1), g.NewCond(2)
	g.Go("ping", func() {
		for {
			ping.Wait()
			pong.Signal()
		}
	})
	g.Go("pong", func() {
		for {
			pong.WaitFor(1 << 40)
		}
	})
	g.Go("sleeper", func() {
		for {
			g.SleepUntil(c.now+10, 1)
			g.Pay()
		}
	})
	short := func() { g.Pay() }
	round := func() {
		ping.Signal()
		g.Go("short", short)
		c.runUntil(c.now + 100)
		c.wakes = c.wakes[:min(len(c.wakes), 1)] // stale time-outs would pile up
	}
	round()
	require.Zero(t, testing.AllocsPerRun(100, round))
	g.Kill()
	closed(0)
}

func BenchmarkSwitch(b *testing.B) {
	var c clock
	g := c.loop.NewGroup(&c)
	g.Go("switcher", func() {
		for {
			g.Pay()
		}
	})
	b.ReportAllocs()
	for b.Loop() {
		c.step(c.now)
	}
	g.Kill()
	c.loop.Close()
}

func BenchmarkStartAndEnd(b *testing.B) {
	var c clock
	g := c.loop.NewGroup(&c)
	f := func() {}
	b.ReportAllocs()
	for b.Loop() {
		g.Go("short", f)
		c.step(c.now)
	}
	c.loop.Close()
}
