package sim_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
	"tornpage/sim"
	"tornpage/sim/trace"
)

//go:noinline
func stumble(m host.Machine) { m.Sleep(time.Millisecond); stumbleAgain() }

//go:noinline
func stumbleAgain() { panic("the page is torn") }

// fallen runs a world whose process b falls, and gives the failure.
func fallen(t *testing.T, boot func(host.Machine)) *sim.Failure {
	t.Helper()
	l := start(t, 1, node{"a", "z", func(m host.Machine) {
		for range 3 {
			m.Send(m.Lookup("b"), 1, []byte("x"))
			m.Sleep(time.Second)
		}
	}}, node{"b", "z", boot})
	require.Equal(t, sim.Failed, l.Run(time.Minute))
	f := l.Failure()
	require.NotNil(t, f)
	require.Equal(t, "b", f.Process)
	require.Equal(t, uint64(1), f.Boot)
	require.Equal(t, l.Now(), f.At)
	last := l.Trace().Last(1)[0]
	require.Equal(t, trace.Panic, last.Kind)
	require.Equal(t, f.Event, last.N)
	require.Equal(t, sim.Failed, l.Run(time.Minute), "a world that has failed stays so")
	require.Same(t, f, l.Failure())
	return f
}

// Promise W7: the report says where, when and in which function.
func TestPanicInATask(t *testing.T) {
	f := fallen(t, func(m host.Machine) {
		m.Go("checkpointer", func() { stumble(m) })
		idle(m)
	})
	require.Equal(t, "checkpointer", f.Task)
	require.Equal(t, time.Millisecond, f.At)
	require.Equal(t, "the page is torn", f.Value)
	for _, frame := range []string{"stumbleAgain", "sim_test.stumble(", "panic_test.go"} {
		require.Contains(t, f.Stack, frame)
	}
	require.Regexp(t, `^b \(boot 1\) at 1ms, event \d+: task checkpointer: panic: the page is torn$`, f.Error())
}

func TestPanicInHandlers(t *testing.T) {
	for name, boot := range map[string]func(host.Machine){
		"datagram": func(m host.Machine) { m.Handle(1, func(host.Addr, []byte) { stumbleAgain() }); idle(m) },
		"timer":    func(m host.Machine) { m.After(time.Millisecond, stumbleAgain); idle(m) },
		"accept": func(m host.Machine) {
			m.Listen(2, func(host.Conn) { stumbleAgain() })
			m.Dial(m.Lookup("b"), 2)
		},
		"connection": func(m host.Machine) {
			m.Listen(2, func(c host.Conn) { c.OnRecv(func([]byte, error) { stumbleAgain() }) })
			c, _ := m.Dial(m.Lookup("b"), 2)
			c.Send(nil)
			idle(m)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := fallen(t, boot)
			require.Equal(t, "handler", f.Task)
			require.Equal(t, "the page is torn", f.Value)
			require.Contains(t, f.Stack, "stumbleAgain")
		})
	}
}

// A handler that blocks has no task that could wait.
func TestBlockingInAHandler(t *testing.T) {
	f := fallen(t, func(m host.Machine) {
		m.Handle(1, func(host.Addr, []byte) { m.Sleep(1) })
		idle(m)
	})
	require.Contains(t, f.Value, "outside of a task of its own process")
}

func TestGoexitInATask(t *testing.T) {
	f := fallen(t, func(m host.Machine) {
		m.Go("asserter", func() { m.Sleep(time.Millisecond); runtime.Goexit() })
		idle(m)
	})
	require.Equal(t, "asserter", f.Task)
	require.ErrorContains(t, f.Value.(error), "Goexit")
}

// What is broken in a name is told at once, with the name.
func TestUnknownNames(t *testing.T) {
	f := fallen(t, func(m host.Machine) { m.Lookup("nobody") })
	require.Equal(t, `sim: no process is named "nobody"`, f.Value)
	require.Equal(t, "main", f.Task)
	f = fallen(t, func(m host.Machine) { m.Disk("wal") })
	require.Equal(t, `sim: machine "b-m" has no disk "wal"`, f.Value)
}

// A panic while a dead process unwinds is not the world's failure.
func TestPanicOfTheDead(t *testing.T) {
	l := start(t, 1, node{"a", "z", func(m host.Machine) {
		defer panic("in a deferred function")
		idle(m)
	}})
	l.must(t, time.Millisecond)
	l.Kill("a")
	l.must(t, 2*time.Millisecond)
	require.Nil(t, l.Failure())
	require.False(t, l.Up("a"))
}

// Another process's stack has no place in the report.
func TestStackIsTheTasksOwn(t *testing.T) {
	f := fallen(t, func(m host.Machine) { stumble(m) })
	require.NotContains(t, f.Stack, "World).Run")
	require.Less(t, strings.Count(f.Stack, "\n"), 60)
}

func TestConfigErrors(t *testing.T) {
	for want, edit := range map[string]func(*sim.Config){
		`machine name "" is empty`:            func(c *sim.Config) { c.Machines[0].Name = "" },
		`machine name "a-m" is empty or used`: func(c *sim.Config) { c.Machines = append(c.Machines, c.Machines[0]) },
		`host name "a" is empty or used`:      func(c *sim.Config) { c.Hosts = append(c.Hosts, c.Hosts[0]) },
		`host "a" is on machine "x"`:          func(c *sim.Config) { c.Hosts[0].Machine = "x" },
		`has no boot function`:                func(c *sim.Config) { c.Hosts[0].Boot = nil },
		`disk a-m/data: disk sector of 7`:     func(c *sim.Config) { c.Machines[0].Disks[0].Config.Sector = 7 },
		`Net.Zone is no distribution`:         func(c *sim.Config) { c.Net.Zone = constant(-1) },
		`bandwidth 999`:                       func(c *sim.Config) { c.Net.Bandwidth = 999 },
		`retransmit -1ns`:                     func(c *sim.Config) { c.Net.Retransmit = -1 },
	} {
		cfg := configOf(1, node{"a", "z", idle})
		edit(&cfg)
		_, err := sim.New(cfg)
		require.ErrorContains(t, err, want)
	}
}
