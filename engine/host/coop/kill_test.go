package coop_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host/coop"
)

// parks are all states in which a kill can find a task.
func parks(c *clock, g *coop.Group, cond *coop.Cond) map[string]func() {
	return map[string]func(){
		"wait":    cond.Wait,
		"waitFor": func() { cond.WaitFor(1000) },
		"sleep":   func() { g.SleepUntil(c.now+1000, 1) },
		"park":    func() { g.Park(1) },
		"pay":     func() { g.Charge(1000); g.Pay() },
		"yield":   g.Pay,
	}
}

func TestKillUnwindsEveryPark(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	for name := range parks(nil, nil, new(coop.Cond)) {
		g := c.loop.NewGroup(&c)
		cond := g.NewCond(3)
		unwound, after := 0, 0
		for range 3 {
			g.Go(name, func() {
				defer func() { unwound++ }()
				parks(&c, g, cond)[name]()
				after++
			})
		}
		for range 3 { // each runs to its park, and no further
			c.step(c.now)
		}
		require.Zero(t, unwound+after, name)
		g.Kill()
		require.Equal(t, 3, unwound, name)
		require.Zero(t, g.Tasks(), name)
		require.Zero(t, cond.Waiting(), name)
		require.True(t, g.Dead())
		c.run() // what was to wake them is stale now
		require.Zero(t, after, name)
	}
	closed(0)
}

func TestKillBeforeFirstRun(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	g := c.loop.NewGroup(&c)
	ran := false
	g.Go("never", func() { ran = true })
	g.Kill()
	g.Kill() // a second kill does nothing
	c.run()
	require.False(t, ran)
	closed(0)
}

func TestKillOfATaskThatIsReady(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	g := c.loop.NewGroup(&c)
	cond := g.NewCond(3)
	after := false
	g.Go("ready", func() { cond.Wait(); after = true })
	c.run()
	cond.Signal()
	g.Kill()
	c.run()
	require.False(t, after)
	closed(0)
}

// A deferred function may try everything; each call into the core panics again
// and nothing is woken, started or reached (C5).
func TestDeadDeferredCallsDoNothing(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	g := c.loop.NewGroup(&c)
	cond := g.NewCond(3)
	doors := map[string]func(){
		"alive": g.Alive, "go": func() { g.Go("ghost", func() {}) }, "sleep": func() { g.SleepUntil(5, 1) },
		"pay": g.Pay, "payDebt": func() { g.PayDebt() }, "park": func() { g.Park(1) }, "wait": cond.Wait,
		"waitFor": func() { cond.WaitFor(5) }, "signal": cond.Signal, "running": func() { g.Running() },
	}
	tried, reached, swallowed := 0, 0, 0
	for _, door := range doors {
		g.Go("task", func() {
			defer func() {
				defer func() {
					if v := recover(); v != nil { // as engine code must not
						require.True(t, coop.Killed(v))
						swallowed++
					}
					door() // a swallowed panic meets the next one
					reached++
				}()
				tried++
				door()
				reached++
			}()
			g.Park(1)
		})
	}
	c.run()
	c.loop.Panicked = func(task *coop.Task, v any, _ []byte) { t.Errorf("task %s: %v", task.Name(), v) }
	g.Kill()
	require.Equal(t, len(doors), tried)
	require.Equal(t, len(doors), swallowed)
	require.Zero(t, reached)
	require.Empty(t, c.wakes, "the dead asked for wake-ups")
	closed(0)
}

func TestKillByItsOwnTask(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	g := c.loop.NewGroup(&c)
	unwound, after := 0, false
	g.Go("other", func() {
		defer func() { unwound++ }()
		g.Park(1)
	})
	g.Go("killer", func() {
		defer func() { unwound++ }()
		g.Pay()
		g.Kill()
		after = true
	})
	g.Go("not started", func() { g.Pay(); g.Pay(); g.Pay() })
	c.run()
	require.Equal(t, 2, unwound)
	require.False(t, after, "Kill returned into a task of the dead group")
	require.Zero(t, g.Tasks())
	closed(0)
}

// Kill of another group from within a task leaves its tasks parked until the
// driver reaps, since a coroutine cannot be left from within another.
func TestKillByAnotherGroup(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	victim, killer := c.loop.NewGroup(&c), c.loop.NewGroup(&c)
	unwound, went := 0, false
	for range 3 {
		victim.Go("victim", func() {
			defer func() { unwound++ }()
			victim.Park(1)
		})
	}
	killer.Go("killer", func() {
		victim.Kill()
		victim.Reap() // too early: nothing happens
		require.Zero(t, unwound)
		require.Equal(t, 3, victim.Tasks())
		killer.Pay()
		went = true
	})
	c.run()
	require.True(t, went)
	victim.Reap()
	require.Equal(t, 3, unwound)
	require.Zero(t, victim.Tasks())
	closed(0)
}

func TestPanicOfTheDeadIsDropped(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	g := c.loop.NewGroup(&c)
	g.Go("task", func() {
		defer func() { panic("in a deferred function") }()
		g.Park(1)
	})
	c.run()
	c.loop.Panicked = func(_ *coop.Task, v any, _ []byte) { t.Errorf("reported: %v", v) }
	g.Kill()
	closed(0)
}

func TestGoexitInATask(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	g := c.loop.NewGroup(&c)
	var reported []any
	c.loop.Panicked = func(task *coop.Task, v any, stack []byte) {
		require.Equal(t, "leaver", task.Name())
		require.Contains(t, string(stack), "TestGoexitInATask")
		reported = append(reported, v)
	}
	deferred, others := false, 0
	g.Go("leaver", func() {
		defer func() { deferred = true }()
		g.Pay()
		runtime.Goexit()
	})
	for range 3 {
		g.Go("other", func() { g.Pay(); g.Pay(); others++ })
	}
	c.run()
	require.Equal(t, []any{coop.ErrGoexit}, reported)
	require.True(t, deferred)
	require.Equal(t, 3, others, "the loop died with the task")
	g.Go("next", func() { others++ })
	c.run()
	require.Equal(t, 4, others)
	closed(1) // a coroutine in Goexit can be neither ended nor used again
}

// guilty is looked for in a stack.
//
//go:noinline
func guilty(g *coop.Group) {
	g.Pay()
	panic("broken")
}

func TestPanicIsReportedWithTheTasksStack(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	g := c.loop.NewGroup(&c)
	reports := 0
	c.loop.Panicked = func(task *coop.Task, v any, stack []byte) {
		reports++
		require.Nil(t, c.loop.Current(), "reported inside of a task")
		require.Equal(t, "panicking", task.Name())
		require.Equal(t, "broken", v)
		require.Contains(t, string(stack), "coop_test.guilty")
		require.Contains(t, string(stack), "kill_test.go")
	}
	other := false
	g.Go("panicking", func() { guilty(g) })
	g.Go("other", func() { g.Pay(); g.Pay(); other = true })
	c.run()
	require.Equal(t, 1, reports)
	require.True(t, other, "a panic of one task stopped another")
	require.False(t, g.Dead())
	closed(0)
}

// A driver may kill the group in its report, as a real machine does.
func TestKillInTheReport(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	g := c.loop.NewGroup(&c)
	c.loop.Panicked = func(task *coop.Task, _ any, _ []byte) { g.Kill() }
	unwound := false
	g.Go("other", func() {
		defer func() { unwound = true }()
		g.Park(1)
	})
	g.Go("panicking", func() { guilty(g) })
	c.run()
	require.True(t, unwound)
	require.Zero(t, g.Tasks())
	closed(0)
}
