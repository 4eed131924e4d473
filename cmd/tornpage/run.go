package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tornpage/experiments"
	"tornpage/faults"
)

// runFlags are the flags of run and of what runs a plan.
type runFlags struct {
	seed, seeds uint64
	set         []string
	noFaults    bool
	csv         string
	jobs        int
	out         string
	watch       watchFlags
	realFlags
}

func runCommand(a *app) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run SCENARIO",
		Short: "Run a seed of a scenario, or hunt through many",
		Long: `Runs the plan of one seed and prints what happened, or, with --seeds, runs
many on all cores and prints one summary. A failing run is explained, and its
plan is written to a file that replays it.`,
		Example: `  tornpage run local/register --seed 7
  tornpage run local/register --seeds 1000 --csv seeds.csv
  tornpage run remote/register --seed 7 --real --kills 5
  tornpage run local/register --seeds 200 --set fpw=off --set checksums=off
  tornpage run local/register --seed 7 --load`,
		Args: exactly(1, "a scenario"),
		RunE: func(c *cobra.Command, args []string) error {
			sc, err := experiments.Find(args[0])
			if err != nil {
				return usage(err, "try: tornpage list")
			}
			if f.real {
				return a.deploy(c.Context(), sc, &f)
			}
			if c.Flags().Changed("seeds") || f.csv != "" {
				return a.hunt(c.Context(), sc, &f)
			}
			return a.one(sc, &f)
		},
	}
	f.addPlanFlags(c)
	c.Flags().Uint64Var(&f.seeds, "seeds", 1, "hunt through so many seeds, from --seed on")
	c.Flags().StringVar(&f.csv, "csv", "", "write one row a seed to this file")
	c.Flags().IntVarP(&f.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "worlds at a time; changes no result")
	c.Flags().StringVar(&f.out, "out", "failures", "directory for the plans of failing runs")
	f.watch.add(c)
	f.realFlags.add(c)
	return c
}

// addPlanFlags adds what decides which plan a seed gives.
func (f *runFlags) addPlanFlags(c *cobra.Command) {
	c.Flags().Uint64Var(&f.seed, "seed", 1, "the seed, or the first one")
	c.Flags().StringArrayVar(&f.set, "set", nil, "change a setting of the plan, KEY=VALUE; see tornpage list")
	c.Flags().BoolVar(&f.noFaults, "no-faults", false, "leave the plan's steps out")
}

// change carries out --set and --no-faults.
func (f *runFlags) change(p faults.Plan) (faults.Plan, error) {
	var err error
	for _, kv := range f.set {
		key, value, ok := strings.Cut(kv, "=")
		if !ok {
			return p, usage(fmt.Errorf("--set %q: want KEY=VALUE", kv), "try: tornpage list "+p.Scenario)
		}
		if p, err = experiments.Set(p, key, value); err != nil {
			return p, usage(fmt.Errorf("--set %s: %w", kv, err), "try: tornpage list "+p.Scenario)
		}
	}
	if f.noFaults {
		p = experiments.WithoutFaults(p)
	}
	return p, nil
}

// one runs one seed.
func (a *app) one(sc experiments.Scenario, f *runFlags) error {
	p, err := f.change(sc.Plan(f.seed))
	if err != nil {
		return err
	}
	m, wall, err := a.measure(p, &f.watch)
	if err != nil {
		return err
	}
	file := ""
	if !m.Worst().Green() {
		file = a.save(f.out, m)
	}
	if err := a.report(m, wall, file, &f.watch); err != nil {
		return err
	}
	switch {
	case file != "":
		a.next("tornpage replay %s --log", file)
	default:
		a.next("tornpage run %s --seeds 1000", sc.Name)
	}
	return ended(codeOf(m.Worst().Result))
}

// measure runs a plan with its log and trace.
func (a *app) measure(p faults.Plan, w *watchFlags) (*experiments.Measured, time.Duration, error) {
	opt, closeTrace, err := w.options(a)
	if err != nil {
		return nil, 0, err
	}
	begin := a.now()
	m, err := experiments.Measure(p, opt)
	wall := a.now().Sub(begin)
	if err != nil {
		return nil, 0, usage(err, "try: tornpage list "+p.Scenario)
	}
	return m, wall, closeTrace()
}

// save writes a failing run's plan and gives the file's name, also where it
// could not be written: then a warning says so.
func (a *app) save(dir string, m *experiments.Measured) string {
	p := m.Expecting()
	file := planFile(dir, p.Scenario, p.Seed)
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(faults.Print(p)), 0o644)
	}
	if err != nil {
		a.warn("the plan is not saved: %v; give another directory with --out", err)
	}
	return file
}

// planFile is where a failing run's plan goes.
func planFile(dir, scenario string, seed uint64) string {
	name := fmt.Sprintf("%s-%d.plan", strings.ReplaceAll(scenario, "/", "-"), seed)
	return filepath.ToSlash(filepath.Join(dir, name))
}

// report prints a run: explained if it failed, then in numbers.
func (a *app) report(m *experiments.Measured, wall time.Duration, file string, w *watchFlags) error {
	if a.json {
		j := jsonOf(m, wall, file)
		if m.Load != nil {
			j.Load = jsonOfLoad(m.Load, &w.load)
		}
		return a.printJSON(j)
	}
	for _, l := range m.Explain(file) {
		fmt.Fprintln(a.out, l)
	}
	t := newTable()
	for _, row := range a.summary(m, wall) {
		t.AppendRow([]any{row[0], row[1]})
	}
	a.print(t)
	if m.Load != nil {
		a.printLoad(m.Load, &w.load)
	}
	for _, text := range warnings(m) {
		a.warn("%s", text)
	}
	return nil
}

// summary is a run in words and numbers.
func (a *app) summary(m *experiments.Measured, wall time.Duration) [][2]string {
	steps := plural(len(m.Plan.Steps), "step")
	if n := len(m.Unfired); n > 0 {
		steps += fmt.Sprintf(", %d never acted", n)
	}
	o := experiments.OutcomesOf(m.History)
	var struck, marks, checks []string
	for _, k := range kindsOf(m) {
		if m.Kinds[k] > 0 {
			struck = append(struck, fmt.Sprintf("%v %s", k, count(m.Kinds[k])))
		}
	}
	for _, name := range sortedKeys(m.Marks) {
		marks = append(marks, fmt.Sprintf("%s %s", name, count(m.Marks[name])))
	}
	for _, v := range m.Checks() {
		checks = append(checks, v.Check+" "+a.verdict(v.Result))
	}
	return [][2]string{
		{"scenario", fmt.Sprintf("%s, seed %d", m.Plan.Scenario, m.Plan.Seed)},
		{"plan", steps},
		{"time", fmt.Sprintf("%s simulated in %s, %s", span(m.Virtual), span(wall), speedUp(m.Virtual, wall))},
		{"events", count(m.Events)},
		{"operations", fmt.Sprintf("%s: %s committed, %s aborted, %s unknown, %s without an end",
			count(o.All()), count(o.Committed), count(o.Aborted), count(o.Unknown), count(o.Pending))},
		{"faults struck", wrap(struck)},
		{"crashes", fmt.Sprintf("%s, %s, %s, %s", plural(m.Kills, "kill"), plural(m.PowerOffs, "power-off"),
			plural(m.Torn, "torn page"), plural(len(m.Refusals), "refusal"))},
		{"marks", wrap(marks)},
		{"checks", wrap(checks)},
		{"hash", fmt.Sprintf("%016x", m.Hash)},
	}
}

// warnings say what a green run did not test.
func warnings(m *experiments.Measured) (lines []string) {
	for _, i := range m.Unfired {
		lines = append(lines, fmt.Sprintf("step %d never acted: %s", i+1, strings.Join(strings.Fields(m.Plan.Steps[i].String()), " ")))
	}
	var never []string
	for _, k := range kindsOf(m) {
		if m.Kinds[k] == 0 {
			never = append(never, k.String())
		}
	}
	if len(never) > 0 {
		lines = append(lines, "faults in the plan that never struck: "+strings.Join(never, ", "))
	}
	return lines
}

// kindsOf are the kinds of fault in a run's plan, in the order of faults.Kinds.
func kindsOf(m *experiments.Measured) []faults.Kind {
	return slices.DeleteFunc(faults.Kinds(), func(k faults.Kind) bool { _, ok := m.Kinds[k]; return !ok })
}

// wrapAt is the width of a table's second column.
const wrapAt = 90

// wrap puts words with commas into lines; of nothing it makes "none".
func wrap(words []string) string {
	var b strings.Builder
	width := 0
	for i, w := range words {
		switch {
		case i == 0:
		case width+len(w) > wrapAt:
			b.WriteString(",\n")
			width = 0
		default:
			b.WriteString(", ")
		}
		b.WriteString(w)
		width += len(w) + 2
	}
	if len(words) == 0 {
		return "none"
	}
	return b.String()
}
