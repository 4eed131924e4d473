package sim_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/host"
	"tornpage/sim"
)

// goroutines counts goroutines once those that are ending have ended: a closed
// coroutine is gone for the scheduler a moment later.
func goroutines(atMost int) (n int) {
	for range 1000 {
		if n = runtime.NumGoroutine(); n <= atMost {
			return n
		}
		runtime.Gosched()
	}
	return n
}

// Close leaves no coroutine behind, in whatever state the world is.
func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	rapid.Check(t, func(rt *rapid.T) {
		l := rich(t, rapid.Uint64Range(0, 1<<20).Draw(rt, "seed"))
		until := time.Duration(rapid.Int64Range(0, int64(40*time.Millisecond)).Draw(rt, "until"))
		switch rapid.IntRange(0, 3).Draw(rt, "end") {
		case 0:
			l.At(until, l.Stop)
		case 1:
			l.OnMark("worked", "", 1+uint64(until/time.Millisecond), func() { l.PowerOff("m1"); l.Stop() })
		case 2:
			l.At(until, func() { l.SetPaused("a", true); l.SetStall("m2", "data", true) })
		}
		l.Run(until + 1)
		require.Nil(rt, l.Failure())
		l.Close()
		require.LessOrEqual(rt, goroutines(before), before)
	})
}

func TestCloseAfterFailures(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, boot := range []func(host.Machine){
		func(m host.Machine) { m.Go("other", func() { idle(m) }); m.Sleep(1); panic("torn") },
		func(m host.Machine) { m.After(5, func() { panic("torn") }); idle(m) },
		func(m host.Machine) { defer panic("torn"); idle(m) },
		func(m host.Machine) { m.Exit(host.ErrIO) },
		func(m host.Machine) {},
	} {
		l := start(t, 1, node{"a", "z", boot}, node{"b", "z", serveConn}, node{"c", "z", dialer("b", nil)})
		l.Run(time.Second)
		l.Close()
		l.Close()
		require.LessOrEqual(t, goroutines(before), before)
	}
	l := newLab(t, configOf(1, node{"a", "z", idle}))
	l.BootAll() // never run
	l.Close()
	require.LessOrEqual(t, goroutines(before), before)
}

// Why Run returns, for each reason, and in which words.
func TestWhy(t *testing.T) {
	l := start(t, 1, node{"a", "z", idle})
	require.Equal(t, sim.TimeUp, l.Run(time.Second))
	require.Equal(t, time.Second, l.Now())
	require.Equal(t, sim.TimeUp, l.Run(time.Millisecond), "a time that has passed")
	require.Equal(t, time.Second, l.Now())

	l.At(2*time.Second, l.Stop)
	require.Equal(t, sim.Stopped, l.Run(time.Minute))
	require.Equal(t, 2*time.Second, l.Now())

	l.Kill("a")
	l = start(t, 1, node{"a", "z", func(m host.Machine) { m.Sleep(time.Millisecond) }})
	require.Equal(t, sim.Idle, l.Run(time.Second))
	require.Equal(t, time.Second, l.Now(), "the time asked for passes")
	require.False(t, l.Up("a"))
	require.NoError(t, l.LastExit("a"))

	cfg := configOf(1, node{"a", "z", func(m host.Machine) {
		for {
			m.Pay()
		}
	}})
	cfg.MaxEvents = 1000
	l = newLab(t, cfg)
	l.BootAll()
	require.Equal(t, sim.TooMany, l.Run(time.Second))
	require.Equal(t, uint64(1001), l.Event())
	require.Equal(t, sim.TooMany, l.Run(time.Second))

	words := map[string]bool{}
	for y := sim.TimeUp; y <= sim.TooMany; y++ {
		words[y.String()] = true
	}
	require.Len(t, words, 5)
}

// Runs that were stopped early leave their ends in the queue: they are no
// reason to think that something could still happen, nor for time to pass.
func TestIdleAfterStops(t *testing.T) {
	l := start(t, 1, node{"a", "z", func(m host.Machine) {
		for range 5 {
			m.Sleep(time.Millisecond)
			m.Mark("tick")
		}
	}})
	for i := range uint64(5) {
		l.OnMark("tick", "a", i+1, l.Stop)
	}
	for i := range 5 {
		require.Equal(t, sim.Stopped, l.Run(time.Duration(10+i)*time.Second))
	}
	require.Equal(t, 5*time.Millisecond, l.Now())
	require.Equal(t, sim.Idle, l.Run(12*time.Second))
	require.Equal(t, 12*time.Second, l.Now())
	ran := false
	l.At(12500*time.Millisecond, func() { ran = true })
	require.Equal(t, sim.Idle, l.Run(20*time.Second))
	require.True(t, ran)
	require.Equal(t, 20*time.Second, l.Now())
}

func TestExit(t *testing.T) {
	l := start(t, 1, node{"a", "z", func(m host.Machine) { m.Exit(host.ErrNoSpace) }})
	require.Equal(t, sim.Idle, l.Run(time.Second))
	require.ErrorIs(t, l.LastExit("a"), host.ErrNoSpace)
	require.Equal(t, []string{"a: exit: no space left on the disk"}, l.said)
	l.Boot("a")
	require.NoError(t, l.LastExit("a"))
}
