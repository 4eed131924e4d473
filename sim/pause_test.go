package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/host"
)

// A paused process does nothing; what came for it happens when it goes on.
func TestPause(t *testing.T) {
	l := start(t, 1, node{"a", "z", func(m host.Machine) {
		m.After(12*time.Millisecond, func() { m.Logf("timer") })
		for {
			m.Sleep(10 * time.Millisecond)
			m.Logf("tick")
		}
	}}, node{"b", "z", func(m host.Machine) { m.Sleep(15 * time.Millisecond); sendTo(3, "a")(m) }})
	l.At(5*time.Millisecond, func() { l.SetPaused("a", true) })
	l.At(31*time.Millisecond, func() { l.SetPaused("a", false) })
	l.must(t, 45*time.Millisecond)
	require.ElementsMatch(t, []string{"a: timer", "a: tick", "a: tick"}, l.said)
	require.Equal(t, []time.Duration{31 * time.Millisecond, 31 * time.Millisecond, 41 * time.Millisecond}, l.when)
}

// Pausing keeps the order of a connection, whenever it begins and ends.
func TestPauseKeepsOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := pair(t, rapid.Uint64().Draw(rt, "seed"), numbered(30, time.Millisecond))
		for i, at := range rapid.SliceOfN(rapid.IntRange(1, 40_000), 2, 8).Draw(rt, "moments") {
			who := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "who")
			l.At(time.Duration(at)*time.Microsecond, func() { l.SetPaused(who, i%2 == 0) })
		}
		l.At(50*time.Millisecond, func() { l.SetPaused("a", false); l.SetPaused("b", false) })
		l.must(t, time.Second)
		require.Equal(rt, append([]string{"b: accepted a"}, got("b", 30)...), without(l.said, "a: connected"))
		l.Close()
	})
}

// The end of a connection is no reason to run a paused process's handler.
func TestPausedProcessSeesTheBreakLater(t *testing.T) {
	for name, end := range map[string]func(l *lab){
		"power-off": func(l *lab) { l.PowerOff("a-m") }, "kill": func(l *lab) { l.Kill("a") },
	} {
		t.Run(name, func(t *testing.T) {
			l := pair(t, 1, numbered(1, time.Hour))
			l.must(t, 10*time.Millisecond)
			l.take()
			l.SetPaused("b", true)
			end(l)
			l.must(t, time.Second)
			require.Empty(t, l.said)
			l.SetPaused("b", false)
			l.must(t, 2*time.Second)
			require.Equal(t, []string{"b: end: connection broken"}, l.said)
			require.Equal(t, []time.Duration{time.Second}, l.when)
		})
	}
}

// A paused process can die, and its next boot is not paused.
func TestKillWhilePaused(t *testing.T) {
	l := start(t, 1, node{"a", "z", func(m host.Machine) { m.Sleep(time.Millisecond); m.Logf("boot %d", m.Boot()); idle(m) }})
	l.must(t, 100*time.Microsecond)
	l.SetPaused("a", true)
	l.SetPaused("a", true)
	l.must(t, 5*time.Millisecond)
	l.Kill("a")
	l.Boot("a")
	l.SetPaused("a", false)
	l.must(t, 10*time.Millisecond)
	require.Equal(t, []string{"a: boot 2"}, l.said)
}

// Clocks: skew is there at once, drift grows; other machines and Now are as ever.
func TestClock(t *testing.T) {
	l := start(t, 1, node{"a", "z", idle}, node{"b", "z", func(m host.Machine) {
		for {
			m.Sleep(time.Second)
			m.Logf("%v %v", m.Now(), m.Wall().Format("15:04:05.000000"))
		}
	}})
	l.must(t, 1500*time.Millisecond)
	l.SetClock("a-m", time.Hour, 0)
	l.SetClock("b-m", -time.Minute, 1000)
	l.must(t, 3500*time.Millisecond)
	l.SetClock("b-m", 0, 0)
	l.must(t, 4500*time.Millisecond)
	require.Equal(t, []string{
		"b: 1s 00:00:01.000000",
		"b: 2s 23:59:02.000500",
		"b: 3s 23:59:03.001500",
		"b: 4s 00:00:04.000000",
	}, l.said)
}

// A stalled disk answers nothing; all that wait go on when it is over, and
// what the device had begun comes back in between.
func TestStall(t *testing.T) {
	l := start(t, 1, node{"a", "z", func(m host.Machine) {
		d := m.Disk("data")
		f, _ := d.Open("f", host.ClassData, true)
		m.Logf("open")
		f.WriteAt(make([]byte, 512), 0)
		m.Sleep(10*time.Millisecond - m.Now())
		page := make([]byte, 512)
		for name, op := range map[string]func() error{
			"read":     func() error { _, err := f.ReadAt(page, 0); return err },
			"write":    func() error { _, err := f.WriteAt(page, 0); return err },
			"sync":     f.Sync,
			"truncate": func() error { return f.Truncate(512) },
			"list":     func() error { _, err := d.List(); return err },
			"syncdir":  d.SyncDir,
			"create":   func() error { _, err := d.Open("g", host.ClassData, true); return err },
			"rename":   func() error { return d.Rename("f", "f") },
		} {
			m.Go(name, func() { m.Logf("%s %v", name, op()) })
		}
		idle(m)
	}})
	l.must(t, 9*time.Millisecond)
	require.Equal(t, []string{"a: open"}, l.take())
	l.SetStall("a-m", "data", true)
	l.must(t, time.Second)
	require.Empty(t, l.said)
	l.SetStall("a-m", "data", false)
	l.must(t, 2*time.Second)
	require.ElementsMatch(t, []string{"a: read <nil>", "a: write <nil>", "a: sync <nil>", "a: truncate <nil>",
		"a: list <nil>", "a: syncdir <nil>", "a: create <nil>", "a: rename <nil>"}, l.said)
	for _, at := range l.when {
		require.Greater(t, at, time.Second)
	}
	require.GreaterOrEqual(t, l.Waited("a", host.WaitDataSync), 990*time.Millisecond)
}

// An error names operation, machine, disk and file, and can be tested for.
func TestDiskErrors(t *testing.T) {
	cfg := configOf(1, node{"a", "z", func(m host.Machine) {
		d := m.Disk("data")
		say := func(err error) { m.Logf("%v", err) }
		_, err := d.Open("none", host.ClassData, false)
		say(err)
		say(d.Remove("none"))
		_, err = d.Open("a/b", host.ClassData, true)
		say(err)
		f, _ := d.Open("f", host.ClassData, true)
		_, err = f.WriteAt(make([]byte, 64<<10), 0)
		say(err)
		f.Close()
		_, err = f.ReadAt(nil, 0)
		say(err)
		idle(m)
	}})
	cfg.Machines[0].Disks[0].Config.Size = 32 << 10
	l := newLab(t, cfg)
	l.BootAll()
	l.must(t, time.Second)
	require.Len(t, l.said, 5)
	for i, want := range []string{
		"open a-m/data/none: .*no such file", "remove a-m/data/none: .*no such file", "open a-m/data/a/b: .*no file name",
		"write a-m/data/f: .*no space left", "read a-m/data/f: .*closed",
	} {
		require.Regexp(t, "^a: "+want, l.said[i])
	}
}
