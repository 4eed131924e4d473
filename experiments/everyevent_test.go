package experiments

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/faults"
)

// short is a plan whose load is over within some hundred events: two clients
// that hurry, on tiny sizes.
const short = `tornpage plan 1
scenario local/register clients=2 ops=16 keys=4 group=2 think=0s writes=90
config pool.pages=4 rows.per-page=1 heap.lines=4 checkpoint.records=12 checkpoint.target=0 wal.segment=16KiB wal.buffer=8KiB xid.batch=4 redo.pages=2
seed 7
at 4ms quiet
`

// shortRemote is the same for storage remote.
const shortRemote = `tornpage plan 1
scenario remote/register clients=2 ops=10 keys=4 group=2 think=0s writes=90
config pool.pages=4 rows.per-page=1 heap.lines=4 xid.batch=4 remote.unacknowledged=4KiB remote.window=4KiB remote.history=16KiB
seed 7
at 12ms quiet
`

// TestCrashAtEveryEvent is the sweep that leaves no moment out: power-off
// after each event of a run, recovery, and power-off again within it.
func TestCrashAtEveryEvent(t *testing.T) {
	marks := everyEvent(t, short, "db-m", 450)
	require.Greater(t, marks["recovery.redone"], uint64(1800))
}

// TestCrashAtEveryEventRemote: each machine of storage remote in turn.
func TestCrashAtEveryEventRemote(t *testing.T) {
	for _, machine := range []string{"log-m", "db-m", "pages-m", "replica-m"} {
		t.Run(machine, func(t *testing.T) {
			marks := everyEvent(t, shortRemote, machine, 200)
			require.Positive(t, marks["remote.view-moved"])
			require.Positive(t, marks["remote.taken-over"])
		})
	}
}

// everyEvent crashes a machine after each of the first events of a plan, and
// gives the marks of all runs.
func everyEvent(t *testing.T, plan, machine string, last uint64) map[string]uint64 {
	p, err := faults.Parse("plan", plan)
	require.NoError(t, err)
	if testing.Short() {
		last /= 5
	}
	runs, marks := 0, map[string]uint64{}
	require.NoError(t, EveryEvent(p, machine, 1, last, func(r *Result) bool {
		requireGreen(t, r)
		require.NotZero(t, r.Struck["power-off"])
		runs++
		for k, n := range r.Marks {
			marks[k] += n
		}
		return true
	}))
	t.Logf("%s: %d runs, marks %v", machine, runs, marks)
	require.GreaterOrEqual(t, runs, int(last))
	return marks
}
