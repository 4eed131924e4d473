package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"tornpage/experiments"
)

// realFlags are the flags of a run on real machines.
type realFlags struct {
	real  bool
	kills int
}

func (f *realFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.real, "real", false, "run on this machine instead: one OS process per host, real clock, TCP and files")
	c.Flags().IntVar(&f.kills, "kills", 3, "with --real: how many servers are killed (SIGKILL) and started again")
}

// deploy runs one seed with one OS process per host. Of faults it has kills
// only: whatever else a plan may do needs the simulated world.
func (a *app) deploy(ctx context.Context, sc experiments.Scenario, f *runFlags) error {
	if f.kills < 0 {
		return usage(fmt.Errorf("--kills %d: want 0 or more", f.kills), "try: tornpage run "+sc.Name+" --real")
	}
	p, err := sc.KillPlan(f.seed, f.kills)
	if err == nil {
		p, err = f.change(p)
	}
	if err != nil {
		return err
	}
	d, err := experiments.Deploy(ctx, p, experiments.DeployOptions{})
	if err != nil {
		return unknown(err, "a real run needs free TCP ports on the loopback interface and a place for temporary files")
	}
	fmt.Fprintln(a.out, d)
	a.next("tornpage run %s --seed %d", sc.Name, f.seed)
	if !d.Green() {
		return ended(exitViolation)
	}
	return nil
}
