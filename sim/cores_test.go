package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
	"tornpage/sim"
)

// cpuLab is one machine with some cores, and a unit of work of 1 µs.
func cpuLab(t *testing.T, seed uint64, cores int, boot func(host.Machine)) *lab {
	cfg := configOf(seed, node{"a", "z", boot}, node{"b", "z", idle})
	cfg.Machines[0].Cores = cores
	for i := range cfg.Costs {
		cfg.Costs[i] = 1000
	}
	l := newLab(t, cfg)
	l.BootAll()
	return l
}

// job starts a task that works for so many µs and logs that it is done.
func job(m host.Machine, name string, us int) {
	m.Go(name, func() {
		m.Charge(host.WorkTuple, us)
		m.Pay()
		m.Logf("%s", name)
	})
}

// ends gives what was said with its time, sorted by time and then name.
func ends(l *lab) string {
	var out []string
	for i, s := range l.said {
		out = append(out, fmt.Sprintf("%v %s", l.when[i], strings.TrimPrefix(s, "a: ")))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func TestCores(t *testing.T) {
	two := func(m host.Machine) { job(m, "p", 100); job(m, "q", 100); idle(m) }
	for seed := range uint64(4) {
		l := cpuLab(t, seed, 1, two)
		l.must(t, time.Millisecond)
		require.Equal(t, []time.Duration{100 * time.Microsecond, 200 * time.Microsecond}, l.when, "one core: one after the other")
		l = cpuLab(t, seed, 2, two)
		l.must(t, time.Millisecond)
		require.Equal(t, "100µs p, 100µs q", ends(l), "two cores: side by side")
		l = cpuLab(t, seed, 2, func(m host.Machine) { job(m, "p", 100); job(m, "q", 100); job(m, "r", 100); idle(m) })
		l.must(t, time.Millisecond)
		require.Equal(t, []time.Duration{100 * time.Microsecond, 100 * time.Microsecond, 200 * time.Microsecond}, l.when)
	}
}

// A long job makes room after each quantum (1 ms) while others wait, and keeps
// its core when none does.
func TestQuantum(t *testing.T) {
	l := cpuLab(t, 1, 1, func(m host.Machine) {
		job(m, "long", 10_000)
		m.Sleep(2500 * time.Microsecond) // in the third slice
		job(m, "short", 100)
		idle(m)
	})
	l.must(t, time.Second)
	require.Equal(t, "10.1ms long, 3.1ms short", ends(l))
}

// The order of those that wait is drawn: both orders come up.
func TestWhoRunsNextIsDrawn(t *testing.T) {
	orders := map[string]int{}
	for seed := range uint64(60) {
		l := cpuLab(t, seed, 1, func(m host.Machine) {
			job(m, "first", 500)
			m.Sleep(100 * time.Microsecond)
			job(m, "p", 100)
			m.Sleep(100 * time.Microsecond)
			job(m, "q", 100)
			m.Sleep(100 * time.Microsecond)
			job(m, "r", 100)
			idle(m)
		})
		l.must(t, 5*time.Millisecond)
		require.Equal(t, "a: first", l.said[0])
		orders[strings.Join(l.said[1:], ",")]++
	}
	require.Len(t, orders, 6, "%v", orders)
}

// A handler cannot wait for a core, but its debt keeps one busy (rule H6).
func TestHandlerDebt(t *testing.T) {
	l := cpuLab(t, 1, 1, func(m host.Machine) {
		m.After(time.Millisecond, func() {
			m.Charge(host.WorkTuple, 300)
			m.Logf("handled")
		})
		m.Sleep(1100 * time.Microsecond)
		job(m, "task", 100)
		idle(m)
	})
	l.must(t, time.Second)
	require.Equal(t, "1.4ms task, 1ms handled", ends(l))
}

// Sends of a task with debt leave when the debt would be paid (rule H5).
func TestDebtDelaysEffects(t *testing.T) {
	l := cpuLab(t, 1, 1, func(m host.Machine) {
		m.Handle(1, func(host.Addr, []byte) { m.Logf("arrived") })
		m.Charge(host.WorkTuple, 250)
		m.Send(m.Lookup("a"), 1, nil)
		m.After(0, func() { m.Logf("after") })
		m.Go("child", func() { m.Logf("child") })
		m.Sleep(0)
		idle(m)
	})
	l.must(t, time.Second)
	require.Equal(t, "250µs after, 250µs child, 260µs arrived", ends(l))
}

// A power-off frees the cores, whatever ran on them.
func TestPowerOffFreesCores(t *testing.T) {
	cfg := configOf(1, node{"a", "z", func(m host.Machine) {
		if m.Boot() == 1 {
			for range 5 {
				job(m, "lost", 50_000)
			}
			m.After(0, func() { m.Charge(host.WorkTuple, 90_000) })
			idle(m)
		}
		job(m, "p", 100)
		job(m, "q", 100)
		idle(m)
	}})
	cfg.Machines[0].Cores, cfg.Quantum = 2, time.Second
	cfg.Costs = sim.Costs{host.WorkTuple: 1000}
	l := newLab(t, cfg)
	l.BootAll()
	l.must(t, time.Millisecond)
	l.PowerOff("a-m")
	l.PowerOn("a-m")
	l.must(t, time.Second)
	require.Equal(t, "1.1ms p, 1.1ms q", ends(l))
}

// The work of a process that was killed ends with its slice at the latest,
// and what waited for a core never gets one (promise W6).
func TestKillFreesCores(t *testing.T) {
	l := cpuLab(t, 1, 1, func(m host.Machine) {
		if m.Boot() == 1 {
			for range 5 {
				job(m, "lost", 50_000)
			}
			idle(m)
		}
		job(m, "next", 100)
		idle(m)
	})
	l.must(t, 2500*time.Microsecond)
	l.Kill("a")
	l.Boot("a")
	l.must(t, time.Second)
	require.Equal(t, "3.1ms next", ends(l), "the slice that ran at 2.5 ms ends at 3 ms")
}

func TestWaitedCPU(t *testing.T) {
	l := cpuLab(t, 1, 1, func(m host.Machine) { job(m, "p", 100); job(m, "q", 100); idle(m) })
	l.must(t, time.Millisecond)
	require.Equal(t, 300*time.Microsecond, l.Waited("a", host.WaitCPU), "100 µs of one, 200 of the other")
	require.Equal(t, time.Millisecond, l.Waited("a", host.WaitSleep))
}
