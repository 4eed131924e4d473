package sim_test

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host/hosttest"
	"tornpage/sim"
	"tornpage/sim/simdisk"
	"tornpage/sim/trace"
)

// conformWorld runs one case of the conformance suite in a simulated world.
type conformWorld struct {
	*sim.World
	seed   uint64
	logs   map[string][]string
	killed map[string]bool
}

func newConformWorld(tb testing.TB, c *hosttest.Case, seed uint64) *conformWorld {
	cw := &conformWorld{seed: seed, logs: map[string][]string{}, killed: map[string]bool{}}
	cfg := sim.Config{Seed: seed, MaxEvents: 5_000_000, Log: func(_ time.Duration, process, line string) {
		cw.logs[process] = append(cw.logs[process], line)
		cw.World.Stop()
	}}
	for i, name := range c.Names() {
		cores := 1 + int(seed+uint64(i))%3
		cfg.Machines = append(cfg.Machines, sim.Machine{
			Name: name + "-m", Zone: hosttest.Zone, Cores: cores,
			Disks: []sim.Disk{{Name: hosttest.Disk, Config: simdisk.Config{Sector: []int{512, 4096}[seed%2]}}},
		})
		cfg.Hosts = append(cfg.Hosts, sim.Host{Name: name, Machine: name + "-m", Boot: c.Boot(name)})
	}
	var err error
	cw.World, err = sim.New(cfg)
	require.NoError(tb, err)
	cw.Trace().Full = func(e *trace.Event) {
		if e.Kind == trace.Exit || e.Kind == trace.Panic {
			cw.World.Stop()
		}
	}
	return cw
}

func (w *conformWorld) Caps() hosttest.Caps { return hosttest.Caps{PowerOff: true, Debt: true} }
func (w *conformWorld) Seed() uint64        { return w.seed }

func (w *conformWorld) Boot(host string) {
	w.killed[host] = false
	w.PowerOn(host + "-m")
	w.World.Boot(host)
}

func (w *conformWorld) Kill(host string) {
	if w.Up(host) {
		w.killed[host] = true
		w.World.Kill(host)
	}
}

func (w *conformWorld) PowerOff(host string) {
	w.killed[host] = w.killed[host] || w.Up(host)
	w.World.PowerOff(host + "-m")
}

func (w *conformWorld) Until(limit time.Duration, done func() bool) bool {
	end := w.Now() + limit
	for !done() {
		if why := w.Run(end); why != sim.Stopped {
			return done()
		}
	}
	return true
}

func (w *conformWorld) Log(host string) []string { return w.logs[host] }

func (w *conformWorld) End(host string) hosttest.End {
	f := w.Failure()
	switch {
	case f != nil && f.Process == host:
		return hosttest.End{Kind: hosttest.Panicked, Text: fmt.Sprintf("%s: %v\n%s", f.Task, f.Value, f.Stack)}
	case w.Up(host), w.Boots(host) == 0:
		return hosttest.End{Kind: hosttest.Running}
	case w.killed[host]:
		return hosttest.End{Kind: hosttest.Killed}
	case w.LastExit(host) != nil:
		return hosttest.End{Kind: hosttest.Exited, Text: w.LastExit(host).Error()}
	}
	return hosttest.End{Kind: hosttest.Returned}
}

// seeds is the number of seeds of a test: few in short runs, and what
// TORNPAGE_SEEDS says otherwise.
func seeds(tb testing.TB, def uint64) uint64 {
	if s := os.Getenv("TORNPAGE_SEEDS"); s != "" {
		n, err := strconv.ParseUint(s, 10, 32)
		require.NoError(tb, err, "TORNPAGE_SEEDS")
		return n
	}
	if testing.Short() {
		return min(def, 20)
	}
	return def
}

// TestConformance: the simulated machine keeps the rules of package host, for
// every seed.
func TestConformance(t *testing.T) {
	cases := hosttest.Cases()
	require.GreaterOrEqual(t, len(cases), 40)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			for seed := range seeds(t, 200) {
				w := newConformWorld(t, c, seed)
				require.True(t, c.Fits(w.Caps()))
				err := hosttest.Run(c, w)
				w.Close()
				require.NoError(t, err, "seed %d: %s: %s", seed, c.Rule, c.Says)
			}
		})
	}
}
