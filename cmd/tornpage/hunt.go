package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"tornpage/checkers"
	"tornpage/experiments"
	"tornpage/faults"
)

// Limits of what a hunt says of its failures; the rest is in the CSV file.
const (
	explained = 3 // checks of which the first seed is explained
	seedsTold = 8 // seeds of a check that are named
)

// hunt runs many seeds.
func (a *app) hunt(ctx context.Context, sc experiments.Scenario, f *runFlags) error {
	switch {
	case f.watch.any():
		return usage(errors.New("--log, --trace and --load are for one seed"), "try: tornpage run "+sc.Name+" --seed N without --seeds and --csv")
	case f.seeds == 0 || f.seed+f.seeds < f.seed:
		return usage(fmt.Errorf("--seed %d --seeds %d: want at least one seed, and none above 2^64-1", f.seed, f.seeds), "try: --seeds 100")
	case f.jobs < 1:
		return usage(fmt.Errorf("--jobs %d: want at least 1", f.jobs), "leave it out for one a core")
	}
	// A wrong setting should not wait for a worker to meet it.
	if _, err := f.change(sc.Plan(f.seed)); err != nil {
		return err
	}
	rows, closeRows, err := rowWriter(f.csv)
	if err != nil {
		return err
	}
	step, done := a.progress(f.seeds, sc.Name)
	h := experiments.Hunt{
		Scenario: sc, From: f.seed, Seeds: f.seeds, Jobs: f.jobs, Change: f.change,
		Each: func(r *experiments.Row) error { step(); return rows(r.Cells()) },
	}
	begin := a.now()
	t, err := h.Run(ctx)
	wall := a.now().Sub(begin)
	done()
	if e := closeRows(); err == nil {
		err = e
	}
	if t.Seeds > 0 {
		if e := a.totals(sc, f, t, wall); e != nil {
			return e
		}
	}
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("interrupted after %s of %s", count(t.Seeds), plural(f.seeds, "seed"))
		}
		e := unknown(err, fmt.Sprintf("go on with: tornpage run %s --seed %d --seeds %d%s", sc.Name, f.seed+t.Seeds, f.seeds-t.Seeds, f.again()))
		if t.Worst() == checkers.Broken {
			e.code = exitViolation
		}
		return e
	}
	a.hintAfter(sc, f, t)
	return ended(codeOf(t.Worst()))
}

// codeOf is the exit code for a result.
func codeOf(r checkers.Result) int {
	switch r {
	case checkers.Holds:
		return exitClean
	case checkers.Broken:
		return exitViolation
	}
	return exitUnknown
}

// rowWriter opens a CSV file; without a name it writes nowhere.
func rowWriter(name string) (write func([]string) error, finish func() error, err error) {
	if name == "" {
		return func([]string) error { return nil }, func() error { return nil }, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, nil, unknown(err, "give another file with --csv")
	}
	b := bufio.NewWriter(file)
	w := csv.NewWriter(b)
	finish = func() error {
		w.Flush()
		err := errors.Join(w.Error(), b.Flush(), file.Close())
		if err != nil {
			return fmt.Errorf("%s is not complete: %w", name, err)
		}
		return nil
	}
	return w.Write, finish, w.Write(experiments.Columns())
}

// totals prints the summary, the failures, and what the green does not mean.
func (a *app) totals(sc experiments.Scenario, f *runFlags, t *experiments.Totals, wall time.Duration) error {
	failures := a.failures(sc, f, t)
	if a.json {
		return a.printJSON(totalsJSON(sc, f, t, wall, failures))
	}
	word := a.paint(green, "clean")
	if len(t.Failures) > 0 {
		var names []string
		for _, g := range t.Failures {
			names = append(names, fmt.Sprintf("%s in %s", g, plural(len(g.Seeds), "seed")))
		}
		word = a.paint(red, strings.Join(names, ", "))
	} else if t.Untested() {
		word = a.paint(red, fmt.Sprintf("not clean: it missed %s", plural(uint64(len(t.Missed)), "mark")))
	}
	fmt.Fprintf(a.out, "%s: %s from %d, %s: %s simulated in %s (%s), %s, %d of %d planned fault kinds struck, %s, %s, hash %016x\n",
		sc.Name, plural(t.Seeds, "seed"), f.seed, word, span(t.Virtual), span(wall), speedUp(t.Virtual, wall),
		plural(t.Kills+t.PowerOffs, "crash point"), len(t.Struck), len(t.Planned), plural(t.Torn, "torn page"),
		plural(t.Outcomes.All(), "operation"), t.Hash)
	for _, m := range t.Missed {
		a.warn("mark %s was reached %s, want at least %d: what it stands for is not tested", m, plural(t.Marks[m], "time"), experiments.Least(m))
	}
	if never := t.NeverStruck(); len(never) > 0 {
		a.warn("faults that were planned and never struck: %s", join(never))
	}
	for _, x := range failures {
		fmt.Fprintf(a.out, "\n%s in %s of %s: %s\n", x.Group, count(len(x.Seeds)), plural(t.Seeds, "seed"), some(x.Seeds))
		for _, l := range x.lines {
			fmt.Fprintln(a.out, l)
		}
	}
	return nil
}

// failure is a check that failed in some seeds, and its first seed explained.
type failure struct {
	experiments.Group
	lines []string
	file  string
}

// failures explains the first seed of each check that failed, and saves its
// plan.
func (a *app) failures(sc experiments.Scenario, f *runFlags, t *experiments.Totals) (all []failure) {
	for i, g := range t.Failures {
		x := failure{Group: g}
		if i >= explained {
			x.lines = []string{fmt.Sprintf("  see: tornpage run %s --seed %d%s", sc.Name, g.Seeds[0], f.again())}
			all = append(all, x)
			continue
		}
		m, file, err := a.again(sc, f, g.Seeds[0])
		if err != nil {
			a.warn("seed %d cannot be explained: %v", g.Seeds[0], err)
			continue
		}
		x.lines, x.file = m.Explain(file), file
		all = append(all, x)
	}
	return all
}

// again runs a seed once more, to explain it, and saves its plan.
func (a *app) again(sc experiments.Scenario, f *runFlags, seed uint64) (*experiments.Measured, string, error) {
	p, err := f.change(sc.Plan(seed))
	if err != nil {
		return nil, "", err
	}
	m, err := experiments.Measure(p, experiments.Options{})
	if err != nil {
		return nil, "", err
	}
	return m, a.save(f.out, m), nil
}

// again are the flags that make a seed's plan what it was.
func (f *runFlags) again() string {
	var b strings.Builder
	for _, kv := range f.set {
		b.WriteString(" --set " + kv)
	}
	if f.noFaults {
		b.WriteString(" --no-faults")
	}
	return b.String()
}

func (a *app) hintAfter(sc experiments.Scenario, f *runFlags, t *experiments.Totals) {
	if len(t.Failures) > 0 {
		a.next("tornpage replay %s --log", planFile(f.out, sc.Name, t.Failures[0].Seeds[0]))
		return
	}
	a.next("tornpage run %s --seed %d --seeds %d%s", sc.Name, f.seed+t.Seeds, t.Seeds, f.again())
}

// some names the first seeds.
func some(seeds []uint64) string {
	var words []string
	for _, s := range seeds[:min(len(seeds), seedsTold)] {
		words = append(words, strconv.FormatUint(s, 10))
	}
	text := "seeds " + strings.Join(words, ", ")
	if n := len(seeds) - seedsTold; n > 0 {
		text += fmt.Sprintf(" and %s more", count(n))
	}
	return text
}

func join(kinds []faults.Kind) string {
	var words []string
	for _, k := range kinds {
		words = append(words, k.String())
	}
	return strings.Join(words, ", ")
}
