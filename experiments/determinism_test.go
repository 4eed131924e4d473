package experiments

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/faults"
)

// hashFile names the file to which a child process of the test writes.
const hashFile = "TORNPAGE_TEST_HASHES"

// allHashes are the hashes of a few seeds of every scenario that swarms draw.
func allHashes(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, sc := range Scenarios() {
		for seed := range uint64(2) {
			steps, err := Steps(sc.Plan(seed), 4096)
			require.NoError(t, err)
			fmt.Fprintf(&b, "%s %d %v\n", sc.Name, seed, steps)
		}
	}
	return b.String()
}

// A run is a function of its plan, in one process.
func TestRunsAreRepeatable(t *testing.T) {
	first := allHashes(t)
	require.Equal(t, first, allHashes(t))
	if name := os.Getenv(hashFile); name != "" {
		require.NoError(t, os.WriteFile(name, []byte(first), 0o600))
	}
}

// And in others, whatever the runtime does. The command determinism compares
// builds too.
func TestHashesDoNotDependOnTheRuntime(t *testing.T) {
	want := allHashes(t)
	for _, env := range [][]string{{"GOMAXPROCS=1", "GOGC=1"}, {"GOMAXPROCS=2", "GOGC=off"}} {
		file := filepath.Join(t.TempDir(), "hashes")
		c := exec.Command(os.Args[0], "-test.run=^TestRunsAreRepeatable$")
		c.Env = append(append(os.Environ(), env...), hashFile+"="+file)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s: %s", env, out)
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, want, string(got), "%v", env)
	}
}

func sideOf(name string, p faults.Plan) Side {
	return Side{
		Name:   name,
		Steps:  func(every uint64) ([]Step, error) { return Steps(p, every) },
		Events: func(from, to uint64) ([]string, error) { return Events(p, from, to) },
	}
}

// Two plans that differ from event n on stand for a program that is not
// deterministic: the search must find the event that a look at all finds.
func TestFirstDifference(t *testing.T) {
	sc, err := Find("local/register")
	require.NoError(t, err)
	p, err := Set(sc.Plan(3), "ops", "300")
	require.NoError(t, err)
	skewed := func(n uint64) faults.Plan {
		return p.WithSteps([]faults.Step{
			{Trigger: faults.OnEvent(n), Action: faults.Clock{Name: "db", Skew: 1}},
			{Trigger: faults.At(time.Second), Action: faults.Quiet{}},
		})
	}
	straight := skewed(1 << 40)
	all, err := Events(straight, 1, 1<<40)
	require.NoError(t, err)
	require.Greater(t, len(all), 6*stride, "the run is long enough")
	for _, n := range []uint64{1, 700, stride - 1, stride, stride + 1, 2 * stride, 5 * stride} {
		d, err := FirstDifference(sideOf("a", straight), sideOf("b", skewed(n)))
		require.NoError(t, err)
		require.NotNil(t, d, "event %d", n)
		require.Contains(t, d.Lines[1], " fault ", "what differs is the clock that one side changes")
		require.GreaterOrEqual(t, d.Event, n)
		require.Equal(t, all[d.Event-1], d.Lines[0])
		require.Equal(t, all[d.Event-2], d.Before)
	}
	d, err := FirstDifference(sideOf("a", straight), sideOf("b", straight))
	require.NoError(t, err)
	require.Nil(t, d)
}

// One side may just end earlier.
func TestFirstDifferenceAtTheEnd(t *testing.T) {
	lines := func(n int) Side {
		return Side{
			Steps: func(every uint64) ([]Step, error) { return []Step{{uint64(n), uint64(n)}}, nil },
			Events: func(from, to uint64) (all []string, err error) {
				for i := range n {
					all = append(all, fmt.Sprint("event ", i+1))
				}
				return all, nil
			},
		}
	}
	d, err := FirstDifference(lines(2), lines(3))
	require.NoError(t, err)
	require.Equal(t, &Difference{Event: 3, Lines: [2]string{"", "event 3"}, Before: "event 2"}, d)
}

func TestEventLines(t *testing.T) {
	sc, err := Find("local/register")
	require.NoError(t, err)
	p, err := small(WithoutFaults(sc.Plan(3)))
	require.NoError(t, err)
	lines, err := Events(p, 1, 1<<40)
	require.NoError(t, err)
	steps, err := Steps(p, 1)
	require.NoError(t, err)
	require.Len(t, lines, len(steps)-1, "one line an event; the run's end is a step of its own")
	for i, l := range lines {
		require.True(t, strings.HasPrefix(l, fmt.Sprintf("%016x %d ", steps[i].Hash, steps[i].Event)), l)
	}
	text := strings.Join(lines, "\n")
	require.Contains(t, text, " db mark db.opened 1")
	require.Contains(t, text, " world power-off db-m")
	require.Regexp(t, `c1 send db b=\d+ data=[0-9a-f]{16}`, text)
}
