package experiments

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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
		for seed := range uint64(3) {
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
	for _, env := range []string{"GOMAXPROCS=1", "GOMAXPROCS=2", "GOGC=1", "GOGC=off"} {
		file := filepath.Join(t.TempDir(), "hashes")
		c := exec.Command(os.Args[0], "-test.run=^TestRunsAreRepeatable$")
		c.Env = append(os.Environ(), env, hashFile+"="+file)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s: %s", env, out)
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, want, string(got), env)
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
// deterministic: the search must find that very event.
func TestFirstDifference(t *testing.T) {
	sc, err := Find("local/register")
	require.NoError(t, err)
	p, err := small(WithoutFaults(sc.Plan(3)))
	require.NoError(t, err)
	steps, err := Steps(p, 0)
	require.NoError(t, err)
	last := steps[0].Event
	for _, n := range []uint64{1, 2, 700, stride - 1, stride, stride + 1, 2 * stride, last - 3} {
		require.Less(t, n, last, "the run is long enough")
		q := p.WithSteps([]faults.Step{{Trigger: faults.OnEvent(n), Action: faults.Clock{Name: "db", Skew: 1}}})
		d, err := FirstDifference(sideOf("a", p), sideOf("b", q))
		require.NoError(t, err)
		require.NotNil(t, d, "event %d", n)
		require.Equal(t, n+1, d.Event, "%+v", d)
		require.Contains(t, d.Lines[1], " fault ", "the other side changes a clock")
		require.NotEqual(t, d.Lines[0], d.Lines[1])
		require.Contains(t, d.Before, fmt.Sprintf(" %d ", n))
	}
	d, err := FirstDifference(sideOf("a", p), sideOf("b", p))
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
