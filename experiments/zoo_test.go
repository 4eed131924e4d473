package experiments

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/faults/zoo"
)

// TestMain makes the test program the hunter that BuildHunter builds, and a
// process of what Deploy deploys.
func TestMain(m *testing.M) {
	if handled, code := DeployChild(); handled {
		os.Exit(code)
	}
	request, ok := os.LookupEnv(PlantedEnv)
	if !ok {
		os.Exit(m.Run())
	}
	go guardMemory()
	if err := PlantedRuns(request, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestZoo hunts planted bugs. It takes those that are required, within their
// budget; with TORNPAGE_ZOO=1 all of them, in several trials, and logs the
// scoreboard; any other value is the name of one bug.
func TestZoo(t *testing.T) {
	bugs, err := zoo.All()
	require.NoError(t, err)
	root, err := zoo.Root(".")
	require.NoError(t, err)
	program, err := BuildHunter(root, t.TempDir(), bugs)
	require.NoError(t, err)
	h := Hunter{Program: program, Trials: 1}
	which := os.Getenv("TORNPAGE_ZOO")
	if which != "" {
		h.Trials = 7
	}
	if n, err := strconv.Atoi(os.Getenv("ZT")); err == nil { h.Trials = n }
	for _, b := range bugs {
		if which == "" && !b.Required || which != "" && which != "1" && which != b.Name {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			s, err := h.Score(b)
			require.NoError(t, err)
			t.Logf("%s: seeds to detection %v; by %s; apart: %s; %d steps", b.Name, s.Estimate(), s.CaughtBy(), s.Apart(), s.Steps())
			for i, trial := range s.Trials {
				if i == 0 && !trial.Escaped() {
					t.Logf("%s\n%s", trial.Found.What, trial.Found.Plan)
				}
				if trial.Control != "" {
					t.Logf("not green without the bug: %s", trial.Control)
				}
			}
			require.Less(t, s.Escaped(), len(s.Trials), "%s escaped: %s", b.Name, b.Breaks)
		})
	}
}
