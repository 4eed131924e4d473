package sim_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
	"tornpage/sim"
)

// lab is a world under test, with what its processes have said.
type lab struct {
	*sim.World
	said []string // "a: text", in order
	when []time.Duration
}

// node is a process on a machine of its own, called the process's name and
// "-m", with the disk "data".
type node struct {
	name, zone string
	boot       func(host.Machine)
}

// plainNet has constant latencies, 1 ns a byte and 1 µs a message on each card,
// so that times can be told in advance.
func plainNet() sim.Net {
	return sim.Net{
		Local: constant(10_000), Zone: constant(100_000), Cross: constant(1_000_000),
		Bandwidth: 1_000_000_000, PerMessage: time.Microsecond,
	}
}

// card is what a message of n bytes costs the two network cards of plainNet.
func card(n int) time.Duration { return 2 * (time.Microsecond + time.Duration(n)) }

// configOf is a configuration of plainNet with the nodes.
func configOf(seed uint64, nodes ...node) sim.Config {
	cfg := sim.Config{Seed: seed, MaxEvents: 1_000_000, Net: plainNet()}
	for _, n := range nodes {
		cfg.Machines = append(cfg.Machines, sim.Machine{Name: n.name + "-m", Zone: n.zone, Disks: []sim.Disk{{Name: "data"}}})
		cfg.Hosts = append(cfg.Hosts, sim.Host{Name: n.name, Machine: n.name + "-m", Boot: n.boot})
	}
	return cfg
}

func newLab(tb testing.TB, cfg sim.Config) *lab {
	tb.Helper()
	l := &lab{}
	cfg.Log = func(at time.Duration, process, line string) {
		l.said = append(l.said, process+": "+line)
		l.when = append(l.when, at)
	}
	var err error
	l.World, err = sim.New(cfg)
	require.NoError(tb, err)
	tb.Cleanup(l.Close)
	return l
}

// start is a lab of the nodes, all booted.
func start(tb testing.TB, seed uint64, nodes ...node) *lab {
	tb.Helper()
	l := newLab(tb, configOf(seed, nodes...))
	l.BootAll()
	return l
}

// must runs the world up to a time, which must not end it.
func (l *lab) must(tb testing.TB, until time.Duration) {
	tb.Helper()
	why := l.Run(until)
	if f := l.Failure(); f != nil {
		require.Fail(tb, "the world failed", "%v\n%s", f, f.Stack)
	}
	require.Contains(tb, []sim.Why{sim.TimeUp, sim.Idle}, why)
}

// take gives what was said since the last take.
func (l *lab) take() []string {
	s := l.said
	l.said, l.when = nil, nil
	return s
}

// idle is a process that does nothing until it dies.
func idle(m host.Machine) { m.Sleep(1 << 60) }

// hear logs every datagram to port 1.
func hear(m host.Machine) {
	m.Handle(1, func(from host.Addr, msg []byte) { m.Logf("%s from %s", msg, m.NameOf(from)) })
	idle(m)
}

// serveConn logs what arrives on connections to port 2, and their ends.
func serveConn(m host.Machine) {
	m.Listen(2, func(c host.Conn) {
		m.Logf("accepted %s", m.NameOf(c.Peer()))
		c.OnRecv(func(msg []byte, err error) {
			if err != nil {
				m.Logf("end: %v", err)
				return
			}
			m.Logf("got %s", msg)
		})
	})
	idle(m)
}

// dialer connects to the peer's port 2, gives the connection to f, and logs
// what it receives until the end.
func dialer(peer string, f func(m host.Machine, c host.Conn)) func(host.Machine) {
	return func(m host.Machine) {
		c, err := m.Dial(m.Lookup(peer), 2)
		if err != nil {
			m.Logf("%v", err)
			idle(m)
		}
		m.Logf("connected")
		if f != nil {
			m.Go("sender", func() { f(m, c) })
		}
		for {
			msg, err := c.Recv(nil)
			if err != nil {
				m.Logf("end: %v", err)
				idle(m)
			}
			m.Logf("got %s", msg)
		}
	}
}

// numbered sends "from 1", "2", … on a connection, one every gap.
func numbered(n int, gap time.Duration) func(host.Machine, host.Conn) {
	return func(m host.Machine, c host.Conn) {
		for i := range n {
			c.Send(fmt.Appendf(nil, "%d", i+1))
			m.Sleep(gap)
		}
	}
}

// got lists "who: got 1" to "who: got n".
func got(who string, n int) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprintf("%s: got %d", who, i+1))
	}
	return lines
}
