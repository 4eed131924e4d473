package main

import (
	"github.com/spf13/cobra"

	"tornpage/experiments"
)

func demoCommand(a *app) *cobra.Command {
	var seed uint64
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show why full-page writes exist: one load, one power cut, four settings",
		Args:  exactly(0, "nothing"),
		RunE: func(*cobra.Command, []string) error {
			ok, err := experiments.Demo(a.out, experiments.DemoOptions{Seed: seed, Color: a.colours(), JSON: a.json})
			if err != nil {
				return unknown(err, "try: tornpage demo, without --seed")
			}
			if !ok {
				a.next("tornpage demo, without --seed, for a power cut that shows every kind of damage")
				return ended(exitViolation)
			}
			return nil // the demo ends with what to do next
		},
	}
	c.Flags().Uint64Var(&seed, "seed", experiments.DemoSeed, "the seed of the load and of the power cut")
	return c
}
