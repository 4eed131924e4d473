package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
	"tornpage/sim"
	"tornpage/sim/trace"
)

// marker marks "step" on its own, once a ms, and logs each before and after.
func marker(m host.Machine) {
	for {
		m.Sleep(time.Millisecond)
		m.Logf("before")
		m.Mark("step")
		m.Logf("after")
	}
}

// A crash of the process inside its own mark: the mark does not return.
func TestCrashInAMark(t *testing.T) {
	for name, crash := range map[string]func(l *lab){
		"kill":      func(l *lab) { l.Kill("a") },
		"power-off": func(l *lab) { l.PowerOff("a-m") },
	} {
		t.Run(name, func(t *testing.T) {
			l := start(t, 1, node{"a", "z", marker})
			l.OnMark("step", "a", 2, func() { crash(l) })
			l.must(t, 10*time.Millisecond)
			require.Equal(t, []string{"a: before", "a: after", "a: before"}, l.said)
			require.False(t, l.Up("a"))
			require.Equal(t, name == "kill", l.On("a-m"))
		})
	}
}

// In a handler's mark too.
func TestCrashInAHandlersMark(t *testing.T) {
	l := start(t, 1, node{"a", "z", func(m host.Machine) {
		m.After(time.Millisecond, func() { m.Mark("timer"); m.Logf("survived") })
		defer m.Logf("unwound")
		idle(m)
	}})
	l.OnMark("timer", "", 1, func() { l.Kill("a") })
	l.must(t, 10*time.Millisecond)
	require.Empty(t, l.said)
	require.False(t, l.Up("a"))
}

// Another process dies at once; the one in the mark goes on.
func TestCrashOfAnotherInAMark(t *testing.T) {
	l := start(t, 1, node{"a", "z", marker}, node{"b", "z", marker})
	l.OnMark("step", "a", 1, func() { l.Kill("b") })
	l.must(t, 3*time.Millisecond+1)
	require.Equal(t, 3, count(l.said, "a: after"))
	require.LessOrEqual(t, count(l.said, "b: before"), 1)
	require.False(t, l.Up("b"))
}

func count(all []string, what string) (n int) {
	for _, s := range all {
		if s == what {
			n++
		}
	}
	return n
}

// Two plans for one mark: of a kill and a power-off of the process that is in
// it, in either order, the power-off counts.
func TestKillAndPowerOffInOneMark(t *testing.T) {
	for _, killFirst := range []bool{true, false} {
		l := start(t, 1, node{"a", "z", marker}, node{"b", "z", idle})
		kill := func() { l.OnMark("step", "a", 1, func() { l.Kill("a") }) }
		if killFirst {
			kill()
		}
		l.OnMark("step", "a", 1, func() { l.PowerOff("a-m") })
		if !killFirst {
			kill()
		}
		l.OnMark("step", "a", 1, func() { l.Kill("b") })
		l.must(t, 5*time.Millisecond)
		require.Equal(t, []string{"a: before"}, l.said)
		require.False(t, l.On("a-m"), "kill first: %v", killFirst)
		require.False(t, l.Up("b"))
	}
}

// Marks are counted for each process over all its boots, and in all.
func TestMarkCounts(t *testing.T) {
	l := start(t, 1, node{"a", "z", marker}, node{"b", "z", marker})
	var seen []string
	note := func(s string) func() { return func() { seen = append(seen, s) } }
	l.OnMark("step", "a", 3, note("a3"))
	l.OnMark("step", "b", 3, note("b3"))
	l.OnMark("step", "", 7, func() {
		note("all7")()
		l.OnMark("step", "", 7, note("nested")) // still in the 7th: at once
		l.OnMark("step", "", 8, note("all8"))
	})
	l.OnMark("never", "a", 1, note("never"))
	l.At(1500*time.Microsecond, func() { l.Kill("a"); l.Boot("a") })
	l.must(t, 6*time.Millisecond)
	require.ElementsMatch(t, []string{"a3", "b3", "all7", "nested", "all8"}, seen)
	require.Equal(t, uint64(2), l.Boots("a"))
	require.Equal(t, map[string]uint64{"step": l.Marks()["step"]}, l.Marks())
	require.GreaterOrEqual(t, l.Marks()["step"], uint64(10))
}

// OnEvent comes once, after the step of the loop in which its event fell:
// before anything else is run, delivered or timed.
func TestOnEventIsExact(t *testing.T) {
	l := rich(t, 3)
	var all []trace.Event
	l.Trace().Full = func(e *trace.Event) { all = append(all, *e) }
	fired := map[uint64]uint64{}
	for n := uint64(1); n < 1500; n++ {
		l.OnEvent(n, func() { require.NotContains(t, fired, n); fired[n] = l.Event() })
	}
	l.must(t, 30*time.Millisecond)
	base := all[0].N
	for n := base; n < 1500; n++ {
		require.GreaterOrEqual(t, fired[n], n)
		for i := n + 1; i <= fired[n]; i++ {
			require.NotContains(t, []trace.Kind{trace.TaskRun, trace.Deliver, trace.Timer}, all[i-base].Kind, "event %d came before the call for event %d", i, n)
		}
	}
}

// Whatever a dead process's functions defer, files and peers stay as they were.
func TestDeadDefersChangeNothing(t *testing.T) {
	for name, crash := range map[string]func(l *lab){
		"kill": func(l *lab) { l.Kill("a") }, "power-off": func(l *lab) { l.PowerOff("a-m") },
		"exit": func(l *lab) {}, // the process does it itself
	} {
		t.Run(name, func(t *testing.T) {
			l := start(t, 1, node{"a", "z", func(m host.Machine) { deferAll(m, name == "exit") }}, node{"b", "z", hear})
			l.At(50*time.Millisecond, func() { crash(l) })
			l.must(t, 50*time.Millisecond-1)
			events := l.Event()
			l.must(t, time.Second)
			require.False(t, l.Up("a"))
			d, err := l.Disk("a-m", "data")
			require.NoError(t, err)
			require.Equal(t, []string{"kept"}, d.List())
			require.Equal(t, uint64(1), d.Stats().Writes)
			require.Empty(t, without(l.said, "a: exit: input/output error"))
			require.LessOrEqual(t, l.Event(), events+4, "only the crash itself may be in the trace")
		})
	}
}

// deferAll parks two tasks with deferred functions that try every door.
func deferAll(m host.Machine, exit bool) {
	d := m.Disk("data")
	f, _ := d.Open("kept", host.ClassData, true)
	f.WriteAt([]byte("kept"), 0)
	f.Sync()
	d.SyncDir()
	doors := []func(){
		func() { m.Send(m.Lookup("b"), 1, []byte("ghost")) },
		func() { f.WriteAt([]byte("gone"), 0) },
		func() { f.Truncate(0) },
		func() { d.Remove("kept") },
		func() { d.Open("new", host.ClassData, true) },
		func() { m.Logf("ghost") },
		func() { m.Go("ghost", func() {}) },
		func() { m.After(0, func() { m.Logf("ghost") }) },
		func() { m.Mark("ghost") },
		func() { m.Exit(host.ErrIO) },
	}
	park := func() {
		for _, door := range doors {
			defer door()
		}
		m.Sleep(time.Hour)
	}
	m.Go("other", park)
	if exit {
		m.Go("exiter", func() {
			m.Sleep(50*time.Millisecond - m.Now())
			m.Exit(host.ErrIO)
		})
	}
	park()
}

// A process that is down stays down when it is killed again; a machine that
// is off boots nothing; power returns with all its processes.
func TestBootsAndPower(t *testing.T) {
	l := start(t, 1, node{"a", "z", func(m host.Machine) { m.Logf("boot %d", m.Boot()); idle(m) }})
	l.Boot("a")
	l.must(t, time.Millisecond)
	l.Kill("a")
	l.Kill("a")
	l.PowerOff("a-m")
	l.PowerOff("a-m")
	l.Boot("a")
	require.False(t, l.Up("a"))
	require.False(t, l.On("a-m"))
	l.PowerOn("a-m")
	l.PowerOn("a-m")
	l.must(t, 2*time.Millisecond)
	require.Equal(t, []string{"a: boot 1", "a: boot 2"}, l.said)
	require.Len(t, l.Crashes(), 1)
	require.Equal(t, sim.Crash{At: time.Millisecond, Machine: "a-m", Disk: "data", Report: l.Crashes()[0].Report}, l.Crashes()[0])
}
