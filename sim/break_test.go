package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/host"
	"tornpage/sim"
)

const (
	breakAfter = 400 * time.Millisecond // Net.BreakAfter's default
	retransmit = 20 * time.Millisecond  // Net.Retransmit's
)

// pair is a connection from a to b, in one zone, that has carried one message.
func pair(t *testing.T, seed uint64, send func(host.Machine, host.Conn)) *lab {
	l := newLab(t, configOf(seed, node{"a", "z", dialer("b", send)}, node{"b", "z", serveConn}, node{"c", "z", idle}))
	l.Boot("b")
	l.Boot("a")
	return l
}

// A killed process's peers see the break after a latency, and not after.
func TestKillIsSeenAtOnce(t *testing.T) {
	for _, victim := range []string{"a", "b"} {
		l := pair(t, 1, numbered(1, time.Hour))
		l.must(t, 10*time.Millisecond)
		require.Equal(t, []string{"b: accepted a", "a: connected", "b: got 1"}, l.take())
		l.Kill(victim)
		l.must(t, time.Second)
		other := map[string]string{"a": "b", "b": "a"}[victim]
		require.Equal(t, []string{other + ": end: connection broken"}, l.said)
		require.Equal(t, 10*time.Millisecond+100*time.Microsecond+card(0), l.when[0])
	}
}

// Nobody speaks for a machine without power: its peers notice by silence.
func TestPowerOffIsSeenLate(t *testing.T) {
	for _, victim := range []string{"a", "b"} {
		l := pair(t, 1, numbered(1, time.Hour))
		l.must(t, 10*time.Millisecond)
		l.take()
		l.PowerOff(victim + "-m")
		l.must(t, 10*time.Millisecond+breakAfter-1)
		require.Empty(t, l.said)
		l.must(t, time.Second)
		other := map[string]string{"a": "b", "b": "a"}[victim]
		require.Equal(t, []string{other + ": end: connection broken"}, l.said)
		require.Equal(t, 10*time.Millisecond+breakAfter, l.when[0])
	}
}

// Close is told to both sides, after what was sent before it.
func TestClose(t *testing.T) {
	l := pair(t, 1, func(m host.Machine, c host.Conn) {
		c.Send([]byte("1"))
		c.Close()
		c.Send([]byte("2"))
	})
	l.must(t, time.Second)
	require.ElementsMatch(t, []string{"b: accepted a", "a: connected", "a: end: closed", "b: got 1", "b: end: closed"}, l.said)
}

// What a dial answers, for every reason not to connect, whatever else happens
// at the moment in which it gives up.
func TestDialFails(t *testing.T) {
	refused, timeout := "a: dial b: "+host.ErrRefused.Error(), "a: dial b: "+host.ErrTimeout.Error()
	way := 100*time.Microsecond + card(0)
	for _, c := range []struct {
		name string
		boot func(host.Machine)
		set  func(l *lab)
		says string
		at   time.Duration
	}{
		{"nobody listens", idle, func(l *lab) { l.Boot("b") }, refused, 2 * way},
		{"another port", func(m host.Machine) { m.Listen(3, func(host.Conn) {}); idle(m) }, func(l *lab) { l.Boot("b") }, refused, 2 * way},
		{"process down", serveConn, func(l *lab) {}, refused, 2 * way},
		{"machine off", serveConn, func(l *lab) { l.PowerOff("b-m") }, timeout, breakAfter},
		{"cut there", serveConn, func(l *lab) { l.Boot("b"); l.SetLink("a", "b", false, false, sim.LinkFaults{Cut: true}) }, timeout, breakAfter},
		{"cut back", serveConn, func(l *lab) { l.Boot("b"); l.SetLink("b", "a", false, false, sim.LinkFaults{Cut: true}) }, timeout, breakAfter},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(20) {
				l := newLab(t, configOf(seed, node{"a", "z", dialer("b", nil)}, node{"b", "z", c.boot}))
				c.set(l)
				l.Boot("a")
				l.must(t, 2*time.Second)
				l.said = without(l.said, "b: accepted a")
				require.Contains(t, l.said, c.says, "seed %d", seed)
				require.Equal(t, c.at, l.when[len(l.when)-len(l.said)], "seed %d", seed)
				l.Close()
			}
		})
	}
}

// A connection whose dial had given up is closed at the other end too.
func TestLateAnswerToADial(t *testing.T) {
	l := newLab(t, configOf(1, node{"a", "z", dialer("b", nil)}, node{"b", "z", serveConn}))
	l.SetLink("b", "a", false, false, sim.LinkFaults{Delay: int64(breakAfter)})
	l.Boot("b")
	l.Boot("a")
	l.must(t, 2*time.Second)
	require.Equal(t, []string{"b: accepted a", "a: dial b: timed out", "b: end: connection broken"}, l.said)
}

// A cut that heals in time loses nothing on a connection, in either direction,
// one-way or two-way, whenever it begins.
func TestCutThatHeals(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ms := func(name string, lo, hi int) time.Duration {
			return time.Duration(rapid.IntRange(lo*1000, hi*1000).Draw(rt, name)) * time.Microsecond
		}
		l := pair(t, rapid.Uint64().Draw(rt, "seed"), numbered(20, 5*time.Millisecond))
		begin := ms("begin", 1, 90)
		heal := begin + ms("length", 1, int((breakAfter-retransmit)/time.Millisecond)-1)
		oneWay := rapid.Bool().Draw(rt, "one-way")
		cut := func(on bool) func() {
			return func() {
				l.SetLink("a", "b", false, false, sim.LinkFaults{Cut: on})
				l.SetLink("z", "z", true, true, sim.LinkFaults{Cut: on && !oneWay})
			}
		}
		l.At(begin, cut(true))
		l.At(heal, cut(false))
		l.must(t, 2*time.Second)
		require.Equal(rt, append([]string{"b: accepted a"}, got("b", 20)...), without(l.said, "a: connected"))
		l.Close()
	})
}

// Behind a one-way cut the sender gives up, and the other side never knows.
func TestOneWayCutBreaksOneSide(t *testing.T) {
	l := pair(t, 1, numbered(40, 10*time.Millisecond))
	l.At(105*time.Millisecond, func() { l.SetLink("a", "b", false, false, sim.LinkFaults{Cut: true}) })
	l.must(t, time.Minute)
	want := append([]string{"b: accepted a", "a: connected"}, got("b", 11)...)
	require.Equal(t, append(want, "a: end: connection broken"), l.said)
	last := l.when[len(l.when)-1]
	require.GreaterOrEqual(t, last, 110*time.Millisecond+breakAfter, "tried long enough")
	require.LessOrEqual(t, last, 111*time.Millisecond+breakAfter+retransmit, "gave up in time")
	require.NotZero(t, l.Strikes()["net.held"])
}

// faultsOn counts what 1,000 datagrams of 8 bytes meet on a link with faults.
func faultsOn(t *testing.T, f sim.LinkFaults) (l *lab, order []string, copies map[string]int) {
	l = newLab(t, configOf(7, node{"a", "z", func(m host.Machine) {
		for i := range 1000 {
			m.Send(m.Lookup("b"), 1, fmt.Appendf(nil, "%08d", i))
			m.Sleep(10 * time.Microsecond)
		}
	}}, node{"b", "z", hear}))
	l.SetLink("a", "b", false, false, f)
	l.Boot("b")
	l.Boot("a")
	l.must(t, 5*time.Second)
	copies = map[string]int{}
	for _, s := range l.said {
		copies[s]++
	}
	return l, l.said, copies
}

// Every fault of a link strikes at about its rate, and is counted exactly.
func TestLinkFaultsStrike(t *testing.T) {
	const rate = 200_000
	l, _, copies := faultsOn(t, sim.LinkFaults{Drop: rate})
	lost := 1000 - len(copies)
	require.InDelta(t, 200, lost, 50)
	require.Equal(t, map[string]uint64{"net.lost": uint64(lost)}, l.Strikes())

	l, order, copies := faultsOn(t, sim.LinkFaults{Dup: rate})
	require.Len(t, copies, 1000)
	require.InDelta(t, 1200, len(order), 50)
	require.Equal(t, map[string]uint64{"net.doubled": uint64(len(order) - 1000)}, l.Strikes())

	l, order, copies = faultsOn(t, sim.LinkFaults{Reorder: rate})
	require.Len(t, copies, 1000)
	require.Len(t, order, 1000)
	overtaken := 0
	for i := 1; i < len(order); i++ {
		if order[i] < order[i-1] {
			overtaken++
		}
	}
	require.Greater(t, overtaken, 50)
	require.InDelta(t, 200, l.Strikes()["net.reordered"], 50)

	l, order, copies = faultsOn(t, sim.LinkFaults{Corrupt: rate})
	require.Len(t, order, 1000, "a damaged datagram arrives")
	missing := 0
	for i := range 1000 {
		if copies[fmt.Sprintf("b: %08d from a", i)] == 0 {
			missing++
		}
	}
	require.InDelta(t, 200, l.Strikes()["net.corrupted"], 50)
	require.LessOrEqual(t, missing, int(l.Strikes()["net.corrupted"]))
	require.InDelta(t, l.Strikes()["net.corrupted"], missing, 20, "one damaged number may look like another")

	l, _, copies = faultsOn(t, sim.LinkFaults{Cut: true})
	require.Empty(t, copies)
	require.Equal(t, map[string]uint64{"net.lost": 1000}, l.Strikes())

	l, _, _ = faultsOn(t, sim.LinkFaults{Delay: int64(time.Second)})
	require.Equal(t, time.Second+100*time.Microsecond+card(8), l.when[0])
	require.Len(t, l.said, 1000)
}

// Faults of a process and of its zone meet; each direction has its own; zero
// heals.
func TestFaultsMerge(t *testing.T) {
	l := newLab(t, configOf(1, node{"a", "x", sendTo(5, "b")}, node{"b", "y", stamp}))
	l.SetLink("x", "y", true, true, sim.LinkFaults{Drop: 1_000_000, Delay: 7000})
	require.Equal(t, sim.LinkFaults{Drop: 1_000_000, Delay: 7000}, l.LinkOf("x", "y", true, true))
	require.Equal(t, sim.LinkFaults{}, l.LinkOf("y", "x", true, true))
	l.SetLink("x", "y", true, true, sim.LinkFaults{Delay: 1000}) // in place of what was
	l.SetLink("a", "y", false, true, sim.LinkFaults{Delay: 20_000})
	l.SetLink("a", "b", false, false, sim.LinkFaults{Delay: 300_000})
	l.SetLink("x", "b", true, false, sim.LinkFaults{Cut: true})
	l.SetLink("x", "b", true, false, sim.LinkFaults{})
	l.SetLink("b", "a", false, false, sim.LinkFaults{Cut: true}) // the other direction
	l.BootAll()
	l.must(t, time.Second)
	require.Equal(t, []time.Duration{time.Millisecond + 321*time.Microsecond + card(5)}, l.when)
}
