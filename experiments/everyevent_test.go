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

// TestCrashAtEveryEvent is the sweep that leaves no moment out: power-off
// after each event of a run, recovery, and power-off again within it.
func TestCrashAtEveryEvent(t *testing.T) {
	p, err := faults.Parse("short", short)
	require.NoError(t, err)
	var runs, recoveries int
	marks := map[string]uint64{}
	last := uint64(450)
	if testing.Short() {
		last = 100
	}
	require.NoError(t, EveryEvent(p, "db-m", 1, last, func(r *Result) bool {
		requireGreen(t, r)
		runs++
		recoveries += int(r.Marks["recovery.redone"])
		for k, n := range r.Marks {
			marks[k] += n
		}
		return true
	}))
	require.Greater(t, runs, int(last))
	require.Greater(t, recoveries, 2*runs)
	t.Logf("%d runs, %d recoveries, marks %v", runs, recoveries, marks)
}
