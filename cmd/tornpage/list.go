package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tornpage/experiments"
	"tornpage/faults"
)

type settingJSON struct {
	Key     string   `json:"key"`
	Default string   `json:"default"`
	Swarm   []string `json:"swarm_values,omitempty"`
	About   string   `json:"about"`
}

type scenarioJSON struct {
	Name   string        `json:"name"`
	About  string        `json:"about"`
	Params []settingJSON `json:"params"`
	Config []settingJSON `json:"config"`
	Budget []string      `json:"budget"`
	Must   []string      `json:"marks"`
}

func listCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list [SCENARIO]",
		Short: "List scenarios, their settings and budgets, and the kinds of fault",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			all := experiments.Scenarios()
			if len(args) == 1 {
				sc, err := experiments.Find(args[0])
				if err != nil {
					return usage(err, "try: tornpage list")
				}
				all = []experiments.Scenario{sc}
			}
			if a.json {
				return a.listJSON(all)
			}
			for _, sc := range all {
				a.scenario(describe(sc))
			}
			fmt.Fprintf(a.out, "kinds of fault\n  %s\n", indent(wrap(names(faults.Kinds())), 2))
			a.next("tornpage run %s --seed 1", all[0].Name)
			return nil
		},
	}
}

func (a *app) listJSON(all []experiments.Scenario) error {
	j := struct {
		Scenarios []scenarioJSON `json:"scenarios"`
		Kinds     []string       `json:"fault_kinds"`
	}{Kinds: names(faults.Kinds())}
	for _, sc := range all {
		j.Scenarios = append(j.Scenarios, describe(sc))
	}
	return a.printJSON(j)
}

// describe gathers what is known of a scenario.
func describe(sc experiments.Scenario) scenarioJSON {
	params, config := experiments.Keys(sc.Name)
	j := scenarioJSON{Name: sc.Name, About: sc.About, Must: sc.Must()}
	j.Params, j.Config = settings(params, sc.Space.Params), settings(config, sc.Space.Config)
	for _, c := range sc.Budget.Claims {
		s := join(c.Kinds)
		if len(c.On) > 0 {
			s += " on " + strings.Join(c.On, ", ")
		}
		if c.AtOnce > 0 {
			s += fmt.Sprintf("; at most %d at once", c.AtOnce)
		}
		if c.Forever {
			s += "; for ever, if need be"
		}
		j.Budget = append(j.Budget, s)
	}
	return j
}

func settings(keys []string, dims []faults.Dim) (all []settingJSON) {
	for _, k := range keys {
		s := settingJSON{Key: k, Default: known[k].value, About: known[k].about}
		if i := slices.IndexFunc(dims, func(d faults.Dim) bool { return d.Key == k }); i >= 0 {
			s.Swarm = dims[i].Values
		}
		all = append(all, s)
	}
	return all
}

// scenario prints one scenario.
func (a *app) scenario(j scenarioJSON) {
	fmt.Fprintf(a.out, "%s\n  %s\n\n", a.paint(green, j.Name), j.About)
	t := newTable("  setting", "line", "default", "drawn by seeds", "meaning")
	for _, part := range []struct {
		line string
		all  []settingJSON
	}{{"scenario", j.Params}, {"config", j.Config}} {
		for _, s := range part.all {
			t.AppendRow([]any{"  " + s.Key, part.line, s.Default, strings.Join(s.Swarm, " "), s.About})
		}
	}
	a.print(t)
	fmt.Fprintf(a.out, "\n  stays correct, and gets on once they end, under\n")
	for _, b := range j.Budget {
		fmt.Fprintf(a.out, "    %s\n", indent(wrap(strings.Split(b, ", ")), 4))
	}
	fmt.Fprintf(a.out, "  a set of runs must reach the marks\n    %s\n\n", indent(wrap(j.Must), 4))
}

// indent puts blanks before every line but the first.
func indent(s string, n int) string { return strings.ReplaceAll(s, "\n", "\n"+strings.Repeat(" ", n)) }
