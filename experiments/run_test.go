package experiments

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/checkers"
	"tornpage/faults"
	"tornpage/sim"
)

// requireGreen fails with all that a person needs to replay the run.
func requireGreen(t *testing.T, r *Result) {
	t.Helper()
	if r.Green() {
		return
	}
	if r.Failure != nil {
		t.Errorf("%v\n%s", r.Failure, r.Failure.Stack)
	}
	for _, v := range r.Verdicts {
		if !v.Green() {
			t.Errorf("%v", v)
		}
	}
	t.Fatalf("the plan:\n%s", faults.Print(r.Plan))
}

func sweep(t *testing.T, name string, seeds uint64) {
	sc, err := Find(name)
	require.NoError(t, err)
	marks := map[string]uint64{}
	var c checkers.Checker
	for seed := range seeds {
		r, err := Run(sc.Plan(seed), Options{Checker: &c})
		require.NoError(t, err)
		requireGreen(t, r)
		for k, n := range r.Marks {
			marks[k] += n
		}
	}
	for _, m := range sc.must {
		require.Positive(t, marks[m], "mark %s was never reached in %d seeds", m, seeds)
	}
}

// TestPoolIsSmall: in every plan that seeds draw, the pool holds at most a
// quarter of the table.
func TestPoolIsSmall(t *testing.T) {
	for _, name := range []string{"local/register", "remote/register"} {
		sc, err := Find(name)
		require.NoError(t, err)
		for seed := range uint64(200) {
			s, err := parse(sc.Plan(seed))
			require.NoError(t, err)
			_, geo, err := s.Compute.Table()
			require.NoError(t, err)
			require.LessOrEqual(t, 4*s.Compute.Pool.Frames, int(geo.Blocks()), "%s seed %d", name, seed)
		}
	}
}

func TestLocalRegister(t *testing.T) { sweep(t, "local/register", 40) }

// BenchmarkSeed is one plan of local/register with some 300 operations, drawn,
// run and checked. The collector is set as in the command.
func BenchmarkSeed(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	sc, err := Find("local/register")
	require.NoError(b, err)
	var c checkers.Checker
	var reuse sim.Reuse
	defer reuse.Close()
	ops, events := 0, uint64(0)
	b.ReportAllocs()
	for i := range b.N {
		r, err := Run(sc.Plan(uint64(i)), Options{Checker: &c, Reuse: &reuse})
		require.NoError(b, err)
		require.True(b, r.Green(), "seed %d", i)
		ops += len(r.History.Ops)
		events += r.Events
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "seeds/s")
	b.ReportMetric(float64(ops)/float64(b.N), "ops/seed")
	b.ReportMetric(float64(events)/float64(b.N), "events/seed")
}

func TestRemoteRegister(t *testing.T) { sweep(t, "remote/register", 40) }

// TestCountersCoverEveryBoot: a writer that was killed has done its work all
// the same.
func TestCountersCoverEveryBoot(t *testing.T) {
	p, err := faults.Parse("plan", `tornpage plan 1
scenario local/register clients=2 ops=60 think=5ms
seed 1
at 100ms for 5ms kill db
at 500ms quiet
`)
	require.NoError(t, err)
	r, err := Run(p, Options{})
	require.NoError(t, err)
	requireGreen(t, r)
	require.EqualValues(t, 3, r.Marks[openedMark])
	committed := uint64(0)
	for i := range r.History.Ops {
		if o := &r.History.Ops[i]; o.Writes() && o.Outcome == checkers.Committed && (o.Kind != checkers.CAS || o.OK) {
			committed++
		}
	}
	require.GreaterOrEqual(t, r.Compute.Committed, committed)
	require.Equal(t, r.Marks["checkpoint.done"], r.Local.Checkpoints)
}
