package sim_test

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/sim/trace"
)

// Promise W1: the same seed gives the same events, whatever the garbage
// collector and the Go scheduler do meanwhile.
func TestSameSeedSameTrace(t *testing.T) {
	gc, procs := debug.SetGCPercent(100), runtime.GOMAXPROCS(0)
	defer func() { debug.SetGCPercent(gc); runtime.GOMAXPROCS(procs) }()
	for seed := range uint64(2) {
		want := traced(t, rich(t, seed), richTime/2)
		require.Greater(t, len(want.events), 3000)
		for _, v := range []struct{ gc, procs int }{{100, 1}, {20, 2}, {-1, 4}} {
			debug.SetGCPercent(v.gc)
			runtime.GOMAXPROCS(v.procs)
			same(t, want, traced(t, rich(t, seed), richTime/2))
		}
	}
}

// The workload of these tests reaches what they are about: a test of
// determinism in a world where nothing happens would prove nothing.
func TestRichWorldIsRich(t *testing.T) {
	kinds := map[trace.Kind]int{}
	strikes := map[string]uint64{}
	for seed := range uint64(4) {
		l := rich(t, seed)
		l.Trace().Full = func(e *trace.Event) { kinds[e.Kind]++ }
		l.must(t, richTime)
		for k, n := range l.Strikes() {
			strikes[k] += n
		}
		require.NotEmpty(t, l.Crashes())
		require.GreaterOrEqual(t, l.Boots("b"), uint64(2))
	}
	for k := trace.TaskRun; k <= trace.Crash; k++ {
		switch k {
		case trace.TaskEnd, trace.Exit, trace.Panic: // not written; not in this workload
		default:
			require.NotZero(t, kinds[k], "no event of kind %v", k)
		}
	}
	for _, s := range []string{"net.lost", "net.reordered", "net.doubled", "net.corrupted", "net.held", "net.resent"} {
		require.NotZero(t, strikes[s], s)
	}
}

func TestOtherSeedOtherHash(t *testing.T) {
	seen := map[uint64]uint64{}
	for seed := range uint64(6) {
		l := rich(t, seed)
		l.must(t, 20*time.Millisecond)
		other, ok := seen[l.Hash()]
		require.False(t, ok, "seeds %d and %d give the same hash", seed, other)
		seen[l.Hash()] = seed
	}
}

// Running in steps that end where nothing happens changes no event: only the
// end of a run that falls together with an event takes part in a draw.
func TestRunInSteps(t *testing.T) {
	want := traced(t, rich(t, 5), richTime)
	l := rich(t, 5)
	for at := 7*time.Millisecond + 13; at < richTime; at += 7 * time.Millisecond {
		l.must(t, at)
	}
	got := traced(t, l, richTime)
	require.Equal(t, want.hash, got.hash)
	require.Equal(t, want.said, got.said)
}

// noSkips forbids the world to resume a task in place: before every event
// something asks to be called, and the loop must see to that.
func noSkips(l *lab) *lab {
	var again func()
	again = func() { l.OnEvent(l.Event()+1, again) }
	again()
	return l
}

// The fast paths (a task that sleeps, computes or yields while nothing else
// could happen is not parked) change nothing: the very same events come out of
// a world in which every one of them goes through the queue. No draw differs
// either, since the queue draws only among several and a skip happens only
// where there is one, or draws as the queue would.
func TestSkippingChangesNothing(t *testing.T) {
	for seed := range seeds(t, 10) {
		until := time.Duration(5+seed*7%40) * time.Millisecond
		same(t, traced(t, noSkips(rich(t, seed+100)), until), traced(t, rich(t, seed+100), until))
	}
}
