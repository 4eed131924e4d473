package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tornpage/experiments"
)

// determinismFlags are the flags of determinism.
type determinismFlags struct {
	seed, seeds uint64
	src         string
	same        bool
}

func determinismCommand(a *app) *cobra.Command {
	var f determinismFlags
	c := &cobra.Command{
		Use:   "determinism SCENARIO",
		Short: "Prove that the hash does not depend on build, cores or garbage collection",
		Long: `Builds this tool with and without the race detector, for 32 bits, and without
optimisation, runs the same seeds in all of them and under several settings of
the runtime, and compares the hashes. Where two differ, it finds the first event
that is not the same. Needs the go command and the source of tornpage.`,
		Args: exactly(1, "a scenario"),
		RunE: func(c *cobra.Command, args []string) error {
			sc, err := experiments.Find(args[0])
			if err != nil {
				return usage(err, "try: tornpage list")
			}
			if f.seeds == 0 || f.seed+f.seeds < f.seed {
				return usage(fmt.Errorf("--seed %d --seeds %d: want at least one seed, and none above 2^64-1", f.seed, f.seeds), "try: --seeds 20")
			}
			return a.determinism(c.Context(), sc.Name, &f)
		},
	}
	c.Flags().Uint64Var(&f.seed, "seed", 1, "the first seed")
	c.Flags().Uint64Var(&f.seeds, "seeds", 20, "how many seeds")
	c.Flags().StringVar(&f.src, "src", ".", "a directory of the source checkout")
	c.Flags().BoolVar(&f.same, "same-binary", false, "build nothing: only the settings of the runtime, with this very program")
	return c
}

// trial is what one variant gave.
type trial struct {
	Variant string `json:"variant"`
	Hash    string `json:"hash,omitempty"` // over the hashes of all seeds
	Events  uint64 `json:"events"`
	WallNS  int64  `json:"wall_ns"`
	Result  string `json:"result"` // reference, equal, differs, failed, not run
	Detail  string `json:"detail,omitempty"`

	p      *program
	hashes map[uint64][]experiments.Step
	err    error
}

// determinism runs all variants and compares them with the first.
func (a *app) determinism(ctx context.Context, scenario string, f *determinismFlags) error {
	dir, err := os.MkdirTemp("", "tornpage-determinism-")
	if err != nil {
		return unknown(err, "set TMPDIR to a directory that can be written")
	}
	defer os.RemoveAll(dir)
	if !f.same {
		if err := checkout(ctx, f.src); err != nil {
			return err
		}
	}
	var trials []*trial
	plain := ""
	for _, v := range variants {
		if f.same && !v.plain() {
			continue
		}
		if a.errTTY {
			fmt.Fprintf(a.err, "%s ...\n", v.name)
		}
		t := a.try(ctx, scenario, v, f, dir, &plain)
		if ctx.Err() != nil {
			return unknown(errors.New("interrupted"), "run it again with fewer --seeds")
		}
		trials = append(trials, t)
	}
	code := a.compare(scenario, trials)
	if err := a.trials(scenario, f, trials); err != nil {
		return err
	}
	switch code {
	case exitClean:
		a.next("tornpage run %s --seeds 1000", scenario)
	case exitUnknown:
		a.next("mend what kept a variant from running, or see to it elsewhere; the others are equal")
	case exitDiverged:
		a.next("go run ./cmd/tornvet, then look at the code that made the first event that differs")
	}
	return ended(code)
}

// try builds and runs one variant. plain keeps the plain build.
func (a *app) try(ctx context.Context, scenario string, v variant, f *determinismFlags, dir string, plain *string) *trial {
	t := &trial{Variant: v.name}
	path := *plain
	switch {
	case f.same:
		path, t.err = os.Executable()
	case !v.plain() || path == "":
		path, t.err = v.build(ctx, f.src, dir)
	}
	if t.err != nil {
		return t
	}
	if v.plain() {
		*plain = path
	}
	t.p = &program{variant: v, path: path, ctx: ctx}
	begin := a.now()
	t.hashes, t.err = t.p.steps(scenario, f.seed, f.seeds, 0)
	t.WallNS = int64(a.now().Sub(begin))
	if t.err == nil {
		var hash uint64
		for seed := f.seed; seed < f.seed+f.seeds; seed++ {
			for _, s := range t.hashes[seed] {
				hash = experiments.FoldHash(hash, s.Hash)
				t.Events += s.Event
			}
		}
		t.Hash = fmt.Sprintf("%016x", hash)
	}
	return t
}

// compare fills in the results and gives the exit code.
func (a *app) compare(scenario string, trials []*trial) int {
	code := exitClean
	ref := trials[0]
	for _, t := range trials {
		switch {
		case errors.Is(t.err, errNotRun):
			t.Result, t.Detail = "not run", t.err.Error()
		case t.err != nil:
			t.Result, t.Detail = "failed", t.err.Error()
		case t == ref:
			t.Result = "reference"
			continue
		case ref.err != nil:
			t.Result, t.Detail = "not compared", ref.Variant+" gave nothing to compare with"
		case t.Hash == ref.Hash && t.Events == ref.Events:
			t.Result = "equal"
			continue
		default:
			t.Result, t.Detail = "differs", differ(scenario, ref, t)
			code = exitDiverged
			continue
		}
		if code == exitClean {
			code = exitUnknown
		}
	}
	return code
}

// differ finds the first seed that differs, and in it the first event.
func differ(scenario string, a, b *trial) string {
	for _, seed := range sortedSeeds(a.hashes) {
		if fmt.Sprint(a.hashes[seed]) == fmt.Sprint(b.hashes[seed]) {
			continue
		}
		d, err := experiments.FirstDifference(a.p.side(scenario, seed), b.p.side(scenario, seed))
		switch {
		case err != nil:
			return fmt.Sprintf("seed %d: %v", seed, err)
		case d == nil:
			return fmt.Sprintf("seed %d: differed, and did not when run again", seed)
		}
		return fmt.Sprintf("seed %d, event %d is the first that differs\n  before        %s\n  %-13s %s\n  %-13s %s",
			seed, d.Event, orNone(d.Before), a.Variant, orNone(d.Lines[0]), b.Variant, orNone(d.Lines[1]))
	}
	return "the same seeds with the same hashes, but not as many"
}

func orNone(line string) string {
	if line == "" {
		return "(no event)"
	}
	return line
}

// trials prints the table.
func (a *app) trials(scenario string, f *determinismFlags, trials []*trial) error {
	if a.json {
		return a.printJSON(map[string]any{"scenario": scenario, "first_seed": f.seed, "seeds": f.seeds, "trials": trials})
	}
	fmt.Fprintf(a.out, "%s, %s from %d\n", scenario, plural(f.seeds, "seed"), f.seed)
	table := newTable("variant", "hash", "events", "time", "result")
	table.SetColumnConfigs(right(3, 4))
	colours := map[string]string{"reference": green, "equal": green, "differs": red, "failed": red}
	for _, t := range trials {
		colour, ok := colours[t.Result]
		if !ok {
			colour = yellow
		}
		hash, wall := t.Hash, span(time.Duration(t.WallNS))
		if t.err != nil {
			hash, wall = "-", "-"
		}
		table.AppendRow([]any{t.Variant, hash, count(t.Events), wall, a.paint(colour, t.Result)})
	}
	a.print(table)
	for _, t := range trials {
		if t.Detail != "" {
			fmt.Fprintf(a.out, "%s %s: %s\n", t.Variant, t.Result, t.Detail)
		}
	}
	return nil
}

// hashesCommand is what determinism runs in every variant.
func hashesCommand(a *app) *cobra.Command {
	var seed, seeds, every uint64
	c := &cobra.Command{
		Use:    "hashes SCENARIO",
		Short:  "Print seed, event and running hash, one a line",
		Hidden: true,
		Args:   exactly(1, "a scenario"),
		RunE: func(_ *cobra.Command, args []string) error {
			sc, err := experiments.Find(args[0])
			if err != nil {
				return usage(err, "try: tornpage list")
			}
			w := bufio.NewWriter(a.out)
			for s := seed; s < seed+seeds; s++ {
				steps, err := experiments.Steps(sc.Plan(s), every)
				if err != nil {
					return unknown(err, "try: tornpage run "+sc.Name)
				}
				for _, step := range steps {
					fmt.Fprintf(w, "%d %d %016x\n", s, step.Event, step.Hash)
				}
			}
			return w.Flush()
		},
	}
	c.Flags().Uint64Var(&seed, "seed", 1, "the first seed")
	c.Flags().Uint64Var(&seeds, "seeds", 1, "how many seeds")
	c.Flags().Uint64Var(&every, "every", 0, "also after every such event")
	return c
}

// eventsCommand shows both sides of a difference.
func eventsCommand(a *app) *cobra.Command {
	var seed, from, to uint64
	c := &cobra.Command{
		Use:    "events SCENARIO",
		Short:  "Print running hash and event, one a line",
		Hidden: true,
		Args:   exactly(1, "a scenario"),
		RunE: func(_ *cobra.Command, args []string) error {
			sc, err := experiments.Find(args[0])
			if err != nil {
				return usage(err, "try: tornpage list")
			}
			lines, err := experiments.Events(sc.Plan(seed), from, to)
			if err != nil {
				return unknown(err, "try: tornpage run "+sc.Name)
			}
			w := bufio.NewWriter(a.out)
			for _, l := range lines {
				fmt.Fprintln(w, l)
			}
			return w.Flush()
		},
	}
	c.Flags().Uint64Var(&seed, "seed", 1, "the seed")
	c.Flags().Uint64Var(&from, "from", 1, "the first event")
	c.Flags().Uint64Var(&to, "to", 1, "the last event")
	return c
}
