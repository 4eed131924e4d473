package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"tornpage/experiments"
	"tornpage/faults"
)

// The JSON forms. Hashes are text, since 64 bits are above what JSON numbers
// keep; times are nanoseconds; wall_ns alone differs from run to run.

type verdictJSON struct {
	Check   string   `json:"check"`
	Result  string   `json:"result"`
	What    string   `json:"what,omitempty"`
	Details []string `json:"details,omitempty"`
	Ops     []int64  `json:"ops,omitempty"`
}

type outcomesJSON struct {
	All       uint64 `json:"all"`
	Committed uint64 `json:"committed"`
	Aborted   uint64 `json:"aborted"`
	Unknown   uint64 `json:"unknown"`
	Pending   uint64 `json:"pending"`
}

func outcomes(o experiments.Outcomes) outcomesJSON {
	return outcomesJSON{o.All(), o.Committed, o.Aborted, o.Unknown, o.Pending}
}

type runJSON struct {
	Scenario    string            `json:"scenario"`
	Seed        uint64            `json:"seed"`
	Result      string            `json:"result"`
	Answer      string            `json:"answer,omitempty"`
	Expected    string            `json:"expected,omitempty"`
	Verdicts    []verdictJSON     `json:"verdicts"`
	Explanation []string          `json:"explanation,omitempty"`
	PlanFile    string            `json:"plan_file,omitempty"`
	Hash        string            `json:"hash"`
	Events      uint64            `json:"events"`
	VirtualNS   int64             `json:"virtual_ns"`
	WallNS      int64             `json:"wall_ns"`
	Steps       int               `json:"steps"`
	Unfired     []int             `json:"unfired_steps"`
	Operations  outcomesJSON      `json:"operations"`
	Struck      map[string]uint64 `json:"faults_struck"`
	Kills       uint64            `json:"kills"`
	PowerOffs   uint64            `json:"power_offs"`
	Torn        uint64            `json:"torn_pages"`
	Refusals    int               `json:"refusals"`
	Marks       map[string]uint64 `json:"marks"`
	Warnings    []string          `json:"warnings,omitempty"`
	Load        []loadJSON        `json:"load,omitempty"`
}

func jsonOf(m *experiments.Measured, wall time.Duration, file string) *runJSON {
	j := &runJSON{
		Scenario: m.Plan.Scenario, Seed: m.Plan.Seed, Result: m.Worst().Result.String(),
		Explanation: m.Explain(file), PlanFile: file,
		Hash: fmt.Sprintf("%016x", m.Hash), Events: m.Events, VirtualNS: int64(m.Virtual), WallNS: int64(wall),
		Steps: len(m.Plan.Steps), Unfired: []int{}, Operations: outcomes(experiments.OutcomesOf(m.History)),
		Struck: map[string]uint64{}, Kills: m.Kills, PowerOffs: m.PowerOffs, Torn: m.Torn, Refusals: len(m.Refusals),
		Marks: m.Marks, Warnings: warnings(m),
	}
	for _, i := range m.Unfired {
		j.Unfired = append(j.Unfired, i+1)
	}
	for k, n := range m.Kinds {
		j.Struck[k.String()] = n
	}
	for _, v := range m.Checks() {
		j.Verdicts = append(j.Verdicts, verdictJSON{v.Check, v.Result.String(), v.What, v.Details, v.Ops})
	}
	return j
}

type groupJSON struct {
	Check  string   `json:"check"`
	Result string   `json:"result"`
	Seeds  []uint64 `json:"seeds"`
	First  []string `json:"first_explained"`
	Plan   string   `json:"first_plan,omitempty"`
}

type huntJSON struct {
	Scenario    string            `json:"scenario"`
	FirstSeed   uint64            `json:"first_seed"`
	Seeds       uint64            `json:"seeds"`
	Result      string            `json:"result"`
	Hash        string            `json:"hash"`
	Events      uint64            `json:"events"`
	VirtualNS   int64             `json:"virtual_ns"`
	WallNS      int64             `json:"wall_ns"`
	Operations  outcomesJSON      `json:"operations"`
	CrashPoints uint64            `json:"crash_points"`
	Torn        uint64            `json:"torn_pages"`
	Struck      []string          `json:"faults_struck"`
	NeverStruck []string          `json:"faults_never_struck"`
	Marks       map[string]uint64 `json:"marks"`
	Missed      []string          `json:"marks_missed"`
	Failures    []groupJSON       `json:"failures"`
}

func totalsJSON(sc experiments.Scenario, f *runFlags, t *experiments.Totals, wall time.Duration, failures []failure) *huntJSON {
	j := &huntJSON{
		Scenario: sc.Name, FirstSeed: f.seed, Seeds: t.Seeds, Result: t.Worst().String(),
		Hash: fmt.Sprintf("%016x", t.Hash), Events: t.Events, VirtualNS: int64(t.Virtual), WallNS: int64(wall),
		Operations: outcomes(t.Outcomes), CrashPoints: t.Kills + t.PowerOffs, Torn: t.Torn,
		Struck: names(t.Struck), NeverStruck: names(t.NeverStruck()), Marks: t.Marks,
		Missed: append([]string{}, t.Missed...), Failures: []groupJSON{},
	}
	for _, x := range failures {
		j.Failures = append(j.Failures, groupJSON{x.Check, x.Result.String(), x.Seeds, x.lines, x.file})
	}
	return j
}

func names(kinds []faults.Kind) []string {
	all := []string{}
	for _, k := range kinds {
		all = append(all, k.String())
	}
	return all
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func sortedSeeds[V any](m map[uint64]V) []uint64 { return slices.Sorted(maps.Keys(m)) }
