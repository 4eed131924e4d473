package remote_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine"
	"tornpage/engine/remote"
	"tornpage/sim"
	"tornpage/sim/draw"
)

// tiny makes rare paths common.
func tiny(r *draw.Stream) remote.Config {
	return remote.Config{
		Unacknowledged: 500 << r.N(8),
		StreamWindow:   200 << r.N(10),
		History:        1 + r.N(20_000),
		Retry:          time.Duration(1+r.N(3000)) * time.Microsecond,
		Heartbeat:      time.Duration(1+r.N(4)) * time.Millisecond,
	}
}

// TestQuiet: without faults everything makes progress, and the follower
// follows.
func TestQuiet(t *testing.T) {
	r := draw.New(1, "quiet")
	f := newFixture(t, 1, tiny(&r), 3, 8)
	f.boot()
	f.let(200 * time.Millisecond)
	require.Greater(t, f.acked(), uint64(200))
	require.Greater(t, f.views, 100)
	require.Empty(t, f.exits)
	require.Equal(t, []uint64{1}, f.epochs)
	require.Positive(t, f.engine.Stats().Pool.Evicted)
}

// TestChaos kills, powers off and cuts anything, and lets a second writer take
// over; owners and readers panic if anything acknowledged is lost, rolled back
// rows are seen, or a view is torn or goes back. Once faults stop, everything
// makes progress.
func TestChaos(t *testing.T) {
	marks := map[string]uint64{}
	views, behind := 0, 0
	for seed := range uint64(14) {
		f := chaos(t, seed)
		for k, n := range f.w.Marks() {
			marks[k] += n
		}
		views += f.views
		behind += f.behind
	}
	t.Log(views, behind, marks)
	for _, k := range []string{
		"remote.taken-over", "remote.fenced", "remote.stopped", "remote.resumed", "remote.reconnected", "remote.tail-cut",
		"remote.log-synced", "remote.stream-broken", "remote.page-waited", "remote.page-retried", "remote.folded",
		"remote.view-moved", "wal.buffer-full", "buffer.evicted",
	} {
		require.Positive(t, marks[k], k)
	}
	require.Greater(t, views, 500)
}

func chaos(t *testing.T, seed uint64) *fixture {
	r := draw.New(seed, "chaos")
	f := newFixture(t, seed, tiny(&r), 3+int(r.N(8)), 2+int(r.N(8)))
	f.boot()
	for range 12 {
		f.let(time.Duration(r.N(uint64(15 * time.Millisecond))))
		name := machines[r.N(5)] // not the clients
		switch r.N(4) {
		case 0:
			f.w.Kill(name)
		case 1:
			f.w.PowerOff(name)
		case 2:
			other := machines[r.N(6)]
			f.w.SetLink(name, other, false, false, sim.LinkFaults{Cut: true})
			f.w.SetLink(other, name, false, false, sim.LinkFaults{Cut: r.Chance(1, 2)})
		case 3:
			f.heal()
		}
	}
	f.heal()
	f.let(80 * time.Millisecond)
	before, views := f.acked(), f.views
	f.let(80 * time.Millisecond)
	require.Greater(t, f.acked(), before+10, "seed %d: no progress of writers", seed)
	require.Greater(t, f.views, views, "seed %d: no progress of readers", seed)
	last := uint64(0)
	for _, e := range f.epochs {
		require.Greater(t, e, last, "seed %d: epochs %v", seed, f.epochs)
		last = e
	}
	for _, err := range f.exits {
		require.ErrorIs(t, err, engine.ErrFenced, "seed %d", seed)
	}
	return f
}

// cuts ends all cuts.
func (f *fixture) cuts() {
	for _, a := range machines {
		for _, b := range machines {
			f.w.SetLink(a, b, false, false, sim.LinkFaults{})
		}
	}
}

// heal ends every fault and boots what is down; of the two writers one.
func (f *fixture) heal() {
	f.cuts()
	for _, name := range machines {
		f.w.PowerOn(name)
	}
	for _, name := range machines {
		if name != "spare" && name != "writer" {
			f.w.Boot(name)
		}
	}
	switch writer, spare := f.w.Up("writer"), f.w.Up("spare"); {
	case writer && spare:
	case writer:
		f.w.Boot("spare") // takes over from the other
	default:
		f.w.Boot("writer")
	}
}
