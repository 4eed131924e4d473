package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/host"
	"tornpage/sim"
	"tornpage/sim/draw"
)

// sendTo sends one datagram of n bytes to port 1 of each, at once.
func sendTo(n int, names ...string) func(host.Machine) {
	return func(m host.Machine) {
		for _, name := range names {
			m.Send(m.Lookup(name), 1, make([]byte, n))
		}
		idle(m)
	}
}

// stamp logs the length of every datagram.
func stamp(m host.Machine) {
	m.Handle(1, func(from host.Addr, msg []byte) { m.Logf("%d bytes from %s", len(msg), m.NameOf(from)) })
	idle(m)
}

// A datagram's way takes the latency of its pair of zones, and its bytes on
// both cards; within one machine there is no card.
func TestLatencyByZonePair(t *testing.T) {
	for _, c := range []struct {
		to   string
		want time.Duration
	}{
		{"local", 10 * time.Microsecond},
		{"near", 100*time.Microsecond + card(1000)},
		{"far", time.Millisecond + card(1000)},
	} {
		cfg := configOf(1, node{"a", "x", sendTo(1000, c.to)}, node{"near", "x", stamp}, node{"far", "y", stamp})
		cfg.Hosts = append(cfg.Hosts, sim.Host{Name: "local", Machine: "a-m", Boot: stamp})
		l := newLab(t, cfg)
		for _, p := range []string{"near", "far", "local", "a"} {
			l.Boot(p)
		}
		l.must(t, time.Second)
		require.Equal(t, []string{c.to + ": 1000 bytes from a"}, l.said)
		require.Equal(t, []time.Duration{c.want}, l.when)
	}
}

func TestMessageToSelf(t *testing.T) {
	l := start(t, 1, node{"a", "z", func(m host.Machine) {
		m.Send(m.Lookup("a"), 3, []byte("note"))
		from, msg := m.Recv(3, nil)
		m.Logf("%s from %s", msg, m.NameOf(from))
		m.Listen(2, func(c host.Conn) { c.OnRecv(func(msg []byte, err error) { m.Logf("served %s %v", msg, err) }) })
		c, err := m.Dial(m.Lookup("a"), 2)
		m.Logf("dialed %v", err)
		c.Send([]byte("hello"))
		m.Sleep(time.Millisecond)
		c.Close()
		idle(m)
	}})
	l.must(t, time.Second)
	require.Equal(t, []string{"a: note from a", "a: dialed <nil>", "a: served hello <nil>", "a: served  closed"}, l.said)
}

// The sender's card sends one message after the other; the receiver's takes
// what several send at once in turn. A slow card takes longer.
func TestCards(t *testing.T) {
	out := start(t, 1, node{"a", "z", sendTo(9000, "b", "c", "d")}, node{"b", "z", stamp}, node{"c", "z", stamp}, node{"d", "z", stamp})
	out.must(t, time.Second)
	require.Equal(t, []time.Duration{120 * time.Microsecond, 130 * time.Microsecond, 140 * time.Microsecond}, out.when)

	in := start(t, 1, node{"a", "z", sendTo(9000, "d")}, node{"b", "z", sendTo(9000, "d")}, node{"c", "z", sendTo(9000, "d")}, node{"d", "z", stamp})
	in.must(t, time.Second)
	require.Equal(t, out.when, in.when)

	slow := newLab(t, configOf(1, node{"a", "z", sendTo(9000, "b")}, node{"b", "z", stamp}))
	slow.SetNIC("a-m", 5)
	slow.BootAll()
	slow.must(t, time.Second)
	require.Equal(t, []time.Duration{160 * time.Microsecond}, slow.when)
}

// A message with a long latency holds up nobody else's: neither at the card
// of the receiver, nor, on a connection, at that of the sender.
func TestSlowMessagesHoldUpNobody(t *testing.T) {
	l := start(t, 1,
		node{"far", "y", sendTo(10, "b")},
		node{"near", "x", func(m host.Machine) { m.Sleep(50 * time.Microsecond); sendTo(20, "b")(m) }},
		node{"b", "x", stamp})
	l.must(t, time.Second)
	require.Equal(t, []string{"b: 20 bytes from near", "b: 10 bytes from far"}, l.said)
	require.Equal(t, 150*time.Microsecond+card(20), l.when[0])

	l = newLab(t, configOf(1,
		node{"a", "x", dialer("b", func(m host.Machine, c host.Conn) {
			m.Sleep(10*time.Millisecond - m.Now())
			c.Send([]byte("slow"))
			m.Send(m.Lookup("c"), 1, make([]byte, 10))
		})},
		node{"b", "x", serveConn}, node{"c", "x", stamp}))
	l.SetLink("a", "b", false, false, sim.LinkFaults{Drop: 1_000_000, Delay: 1_000_000})
	for _, p := range []string{"b", "c", "a"} {
		l.Boot(p)
	}
	l.must(t, time.Second)
	at := map[string]time.Duration{}
	for i, s := range l.said {
		at[s] = l.when[i]
	}
	require.Contains(t, at, "c: 10 bytes from a")
	require.Less(t, at["c: 10 bytes from a"], at["b: got slow"])
}

// wild is a network with widely spread latencies.
func wild() sim.Net {
	n := plainNet()
	n.Zone = draw.Quantiles{{PPM: 0, Value: 10_000}, {PPM: 500_000, Value: 500_000}, {PPM: 1_000_000, Value: 20_000_000}}
	return n
}

// Order is kept on a connection whatever the latencies and faults; nothing is
// lost, doubled or changed.
func TestOrderOnAConnection(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rate := func(name string) uint32 { return rapid.SampledFrom([]uint32{0, 0, 300_000}).Draw(rt, name) }
		cfg := configOf(rapid.Uint64().Draw(rt, "seed"),
			node{"a", "z", dialer("b", numbered(30, 100*time.Microsecond))}, node{"b", "z", serveConn})
		cfg.Net = wild()
		l := newLab(t, cfg)
		l.SetLink("a", "b", false, false, sim.LinkFaults{
			Drop: rate("drop"), Dup: rate("dup"), Reorder: rate("reorder"), Corrupt: rate("corrupt"),
			Delay: rapid.Int64Range(0, 1_000_000).Draw(rt, "delay"),
		})
		l.Boot("b")
		l.Boot("a")
		l.must(t, 2*time.Second)
		require.Equal(rt, append([]string{"b: accepted a"}, got("b", 30)...), without(l.said, "a: connected"))
		l.Close()
	})
}

func without(all []string, what string) (rest []string) {
	for _, s := range all {
		if s != what {
			rest = append(rest, s)
		}
	}
	return rest
}

// Datagrams keep no order where latencies differ.
func TestDatagramsOvertake(t *testing.T) {
	cfg := configOf(1, node{"a", "z", func(m host.Machine) {
		for i := range 50 {
			m.Send(m.Lookup("b"), 1, fmt.Appendf(nil, "%d", i))
		}
		idle(m)
	}}, node{"b", "z", hear})
	cfg.Net = wild()
	l := newLab(t, cfg)
	l.Boot("b")
	l.Boot("a")
	l.must(t, time.Second)
	require.Len(t, l.said, 50, "none is lost")
	var inOrder []string
	for i := range 50 {
		inOrder = append(inOrder, fmt.Sprintf("b: %d from a", i))
	}
	require.ElementsMatch(t, inOrder, l.said)
	require.NotEqual(t, inOrder, l.said)
}

// Unread datagrams are bounded, as by a socket buffer: later ones are lost.
func TestMailboxBound(t *testing.T) {
	read := 0
	l := start(t, 1, node{"a", "z", func(m host.Machine) {
		for range 1<<14 + 100 {
			m.Send(m.Lookup("b"), 1, nil)
		}
		idle(m)
	}}, node{"b", "z", func(m host.Machine) {
		m.Sleep(10 * time.Second)
		for buf := []byte(nil); ; read++ {
			_, buf = m.Recv(1, buf)
		}
	}})
	l.must(t, time.Minute)
	require.Equal(t, 1<<14, read)
}

// What a sender does with its buffer later changes no message.
func TestSendingCopies(t *testing.T) {
	l := start(t, 1, node{"a", "z", func(m host.Machine) {
		b := []byte("first")
		m.Send(m.Lookup("b"), 1, b)
		copy(b, "other")
		idle(m)
	}}, node{"b", "z", hear})
	l.must(t, time.Second)
	require.Equal(t, []string{"b: first from a"}, l.said)
}
