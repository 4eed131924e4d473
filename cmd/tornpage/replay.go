package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tornpage/checkers"
	"tornpage/experiments"
	"tornpage/faults"
)

func replayCommand(a *app) *cobra.Command {
	var w watchFlags
	c := &cobra.Command{
		Use:   "replay FILE",
		Short: "Run a plan file again, and say whether it still gives what it says",
		Long: `Runs the plan in FILE twice. If its comment says what to expect, the first word
of the answer is REPRODUCED (it happened again), FIXED (every check holds now)
or DIFFERENT (something else breaks). DIVERGED means that the two runs were not
equal, which no plan can cause.`,
		Example: "  tornpage replay failures/local-register-7.plan --log",
		Args:    exactly(1, "a plan file"),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := readPlan(args[0])
			if err != nil {
				return err
			}
			return a.replay(args[0], p, &w)
		},
	}
	w.add(c)
	return c
}

// readPlan reads a plan file; "-" is standard input.
func readPlan(file string) (faults.Plan, error) {
	f := os.Stdin
	if file != "-" {
		var err error
		if f, err = os.Open(file); err != nil {
			return faults.Plan{}, usage(err, "try: tornpage plan print SCENARIO --seed 1 > FILE")
		}
		defer f.Close()
	}
	// One byte above the limit, so that Parse sees that it is exceeded.
	text, err := io.ReadAll(io.LimitReader(f, faults.MaxText+1))
	if err != nil {
		return faults.Plan{}, usage(err, "give a file, not a directory")
	}
	p, err := faults.Parse(file, string(text))
	if err != nil {
		return p, usage(err, "mend the line; tornpage plan print local/register --seed 1 shows a whole plan")
	}
	return p, nil
}

func (a *app) replay(file string, p faults.Plan, w *watchFlags) error {
	expected, said, err := experiments.ExpectedOf(p)
	if err != nil {
		return usage(fmt.Errorf("%s: %w", file, err), "mend the comment, or take it out")
	}
	m, wall, err := a.measure(p, w)
	if err != nil {
		return err
	}
	second, err := experiments.Measure(p, experiments.Options{})
	if err != nil {
		return err
	}
	if second.Hash != m.Hash {
		return &exit{exitDiverged, fmt.Errorf("DIVERGED: two runs of %s have the hashes %016x and %016x\ntry: tornpage determinism %s --seed %d --seeds 1",
			file, m.Hash, second.Hash, p.Scenario, p.Seed)}
	}
	if a.json {
		j := jsonOf(m, wall, file)
		if said {
			j.Expected, j.Answer = expected.String(), string(expected.Judge(m))
		}
		if err := a.printJSON(j); err != nil {
			return err
		}
	} else if err := a.answer(file, m, wall, expected, said, w); err != nil {
		return err
	}
	a.afterReplay(file, m, w)
	return ended(codeOf(m.Worst().Result))
}

// answer prints what a replay gave against what the plan says.
func (a *app) answer(file string, m *experiments.Measured, wall time.Duration, e experiments.Expected, said bool, w *watchFlags) error {
	worst := m.Worst()
	found := worst.Result.String()
	if !worst.Green() {
		found = worst.Check + " " + found
	}
	hash := "hash equal"
	switch {
	case e.Hash == "":
		hash = "no hash to compare"
	case e.Hash != fmt.Sprintf("%016x", m.Hash):
		hash = "another hash: code or plan changed since it was written"
	}
	if said {
		answer := e.Judge(m)
		colour := map[experiments.Answer]string{experiments.Reproduced: yellow, experiments.Fixed: green, experiments.Different: red}[answer]
		fmt.Fprintf(a.out, "%s: %s: expected %v, found %s (%s)\n", a.paint(colour, string(answer)), file, e, found, hash)
	} else {
		fmt.Fprintf(a.out, "%s: %s\n", file, found)
	}
	return a.report(m, wall, file, w)
}

func (a *app) afterReplay(file string, m *experiments.Measured, w *watchFlags) {
	switch {
	case m.Worst().Result == checkers.Holds:
		a.next("tornpage run %s --seed %d --seeds 1000", m.Plan.Scenario, m.Plan.Seed)
	case !w.any():
		a.next("tornpage replay %s --log --trace trace.txt", file)
	default:
		a.next("take steps out of %s as long as it still breaks: tornpage replay %s", file, file)
	}
}

// planCommand prints and checks plans.
func planCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "plan",
		Short: "Check and print plans",
		RunE: func(c *cobra.Command, _ []string) error {
			return usage(errors.New("plan: want check or print"), "try: tornpage plan --help")
		},
	}
	c.AddCommand(planCheck(a), planPrint(a))
	return c
}
