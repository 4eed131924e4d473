package experiments

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/checkers"
	"tornpage/engine/invariant"
	"tornpage/faults/zoo"
	"tornpage/sim"
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

// TestZoo hunts planted bugs: those that are required, within their budgets.
// With TORNPAGE_ZOO=1 it hunts all of them, in three trials each, and logs the
// scoreboard; any other value is the name of one bug, for seven trials.
func TestZoo(t *testing.T) {
	bugs, err := zoo.All()
	require.NoError(t, err)
	root, err := zoo.Root(".")
	require.NoError(t, err)
	which := os.Getenv("TORNPAGE_ZOO")
	h := Hunter{Trials: 1}
	switch which {
	case "":
	case "1":
		h.Trials = 3
	default:
		h.Trials = 7
	}
	h.Program, err = BuildHunter(root, t.TempDir(), bugs)
	require.NoError(t, err)
	sameHash(t, h, bugs[0])
	for _, b := range bugs {
		if which == "" && !b.Required || which != "" && which != "1" && which != b.Name {
			continue
		}
		t.Run(b.Name, func(t *testing.T) {
			t.Parallel()
			hunted(t, h, b)
		})
	}
}

// sameHash is rule Z3: with no bug on, the overlay changes nothing.
func sameHash(t *testing.T, h Hunter, b zoo.Bug) {
	plain, err := Planted(b, 1, Options{})
	require.NoError(t, err)
	require.NoError(t, h.runs("", b.Name, 1, 1, func(s zoo.Sighting) {
		require.Equal(t, plain.Hash, s.Hash, "the overlay without a bug is another engine")
	}))
}

func hunted(t *testing.T, h Hunter, b zoo.Bug) {
	s, err := h.Score(b)
	require.NoError(t, err)
	t.Log(BoardLine(s))
	for i, trial := range s.Trials {
		if i == 0 && !trial.Escaped() {
			t.Logf("%s\n%s", trial.Found.What, trial.Found.Plan)
		}
		if trial.Control != "" {
			t.Logf("not green without the bug either: %s", trial.Control)
		}
	}
	require.Less(t, s.Escaped(), len(s.Trials), "%s escaped: %s", b.Name, b.Breaks)
}

// TestSighting: only a verdict of a named check, in a run that neither
// panicked nor ran away, counts as caught (rule Z4).
func TestSighting(t *testing.T) {
	b := zoo.Bug{Checks: []string{"linear"}}
	broken := func(check string) checkers.Verdict {
		return checkers.Verdict{Check: check, Result: checkers.Broken}
	}
	rule := &sim.Failure{Value: &invariant.Violation{Rule: "L3"}}
	for _, c := range []struct {
		r    Result
		want zoo.Kind
	}{
		{Result{}, zoo.Green},
		{Result{Verdicts: []checkers.Verdict{{Check: "linear", Result: checkers.Holds}}}, zoo.Green},
		{Result{Verdicts: []checkers.Verdict{broken("pages"), broken("linear")}}, zoo.Caught},
		{Result{Verdicts: []checkers.Verdict{broken("pages")}}, zoo.Other},
		{Result{Verdicts: []checkers.Verdict{{Check: "linear"}}}, zoo.Unsure},
		{Result{Failure: rule, Verdicts: []checkers.Verdict{broken("linear")}}, zoo.Assert},
		{Result{Failure: &sim.Failure{Value: "index out of range"}}, zoo.Panic},
		{Result{Why: sim.TooMany, Verdicts: []checkers.Verdict{broken("linear")}}, zoo.Hang},
	} {
		require.Equal(t, c.want, sighting(b, &c.r).Kind, "%+v", c.r)
	}
}
