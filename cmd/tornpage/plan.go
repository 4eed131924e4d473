package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"tornpage/experiments"
	"tornpage/faults"
)

func planCheck(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE...",
		Short: "Say whether plans can run, and whether they stay within the scenario's budget",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("plan check: want plan files"), "try: tornpage plan check failures/*.plan")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var found []checkJSON
			bad := 0
			for _, file := range args {
				c := checkPlan(file)
				if c.err != nil {
					bad++
					c.Error = c.err.Error()
					if !a.json {
						fmt.Fprintf(a.err, "%s %v\n", a.paint(red, "tornpage:"), c.err)
					}
				} else if !a.json {
					fmt.Fprintln(a.out, c.line(a))
				}
				found = append(found, c)
			}
			if a.json {
				if err := a.printJSON(found); err != nil {
					return err
				}
			}
			if bad > 0 {
				return &exit{exitUsage, fmt.Errorf("%d of %s cannot run; mend the lines named above", bad, plural(len(args), "plan"))}
			}
			a.next("tornpage replay %s", args[0])
			return nil
		},
	}
}

// checkJSON is what plan check says of one file.
type checkJSON struct {
	File     string `json:"file"`
	Scenario string `json:"scenario,omitempty"`
	Seed     uint64 `json:"seed"`
	Steps    int    `json:"steps"`
	Within   bool   `json:"within_budget"`
	Why      string `json:"beyond,omitempty"`
	Error    string `json:"error,omitempty"`
	err      error
}

func checkPlan(file string) checkJSON {
	c := checkJSON{File: file}
	var p faults.Plan
	if p, c.err = readPlan(file); c.err != nil {
		return c
	}
	c.Scenario, c.Seed, c.Steps = p.Scenario, p.Seed, len(p.Steps)
	sc, err := experiments.Find(p.Scenario)
	if err == nil {
		_, _, err = experiments.ExpectedOf(p)
	}
	if err == nil {
		err = experiments.CheckPlan(p)
	}
	if err != nil {
		c.err = usage(fmt.Errorf("%s: %w", file, err), "try: tornpage list "+p.Scenario)
		return c
	}
	c.Within, c.Why = faults.Within(p, sc.Budget)
	return c
}

// line is what plan check says of a plan that can run.
func (c *checkJSON) line(a *app) string {
	s := fmt.Sprintf("%s: %s, seed %d, %s: %s, ", c.File, c.Scenario, c.Seed, plural(c.Steps, "step"), a.paint(green, "ok"))
	if c.Within {
		return s + "within the scenario's budget"
	}
	return s + a.paint(yellow, "beyond the scenario's budget") + ": " + c.Why
}

func planPrint(a *app) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "print FILE|SCENARIO",
		Short: "Print a plan file in its one canonical form, or the plan of a seed",
		Example: `  tornpage plan print failures/local-register-7.plan
  tornpage plan print local/register --seed 7 > mine.plan`,
		Args: exactly(1, "a plan file or a scenario"),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := planOf(args[0], &f, c.Flags().Changed("seed"))
			if err != nil {
				return err
			}
			if p, err = f.change(p); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]string{"plan": faults.Print(p)})
			}
			fmt.Fprint(a.out, faults.Print(p))
			a.next("tornpage replay FILE, once the plan is in a file")
			return nil
		},
	}
	f.addPlanFlags(c)
	return c
}

// planOf is the plan in a file, or the plan of a seed of a scenario.
func planOf(name string, f *runFlags, seeded bool) (faults.Plan, error) {
	sc, err := experiments.Find(name)
	if err == nil {
		return sc.Plan(f.seed), nil
	}
	if _, statErr := os.Stat(name); name != "-" && errors.Is(statErr, os.ErrNotExist) {
		return faults.Plan{}, usage(fmt.Errorf("%q is neither a plan file nor a scenario: %w", name, err), "try: tornpage list")
	}
	if seeded {
		return faults.Plan{}, usage(fmt.Errorf("%s is a file and has its own seed", name), "leave --seed out, or edit the plan's seed line")
	}
	return readPlan(name)
}
