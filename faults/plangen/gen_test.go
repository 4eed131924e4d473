package plangen_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/faults"
	"tornpage/faults/plangen"
)

func space() faults.Space {
	return faults.Space{
		Names: faults.Names{
			Hosts:    []string{"db", "c1"},
			Machines: []string{"db-m"},
			Zones:    []string{"a"},
			Disks:    []faults.DiskName{{Machine: "db-m", Disk: "data"}},
			Marks:    []string{"checkpoint.begun"},
		},
		Scenario: "s",
		Config:   []faults.Dim{{Key: "pool.pages", Values: []string{"8", "64"}}},
		Horizon:  time.Second,
		Quiet:    100 * time.Millisecond,
	}
}

// Every kind, every trigger and every cure is drawn sooner or later.
func TestPlanReachesAllOfItsSpace(t *testing.T) {
	kinds := map[faults.Kind]bool{}
	triggers := map[faults.TriggerKind]bool{}
	cures := map[string]bool{}
	gen := plangen.Plan(space())
	for seed := range 300 {
		p := gen.Example(seed)
		require.NoError(t, p.Check())
		for _, s := range p.Steps {
			triggers[s.Trigger.Kind] = true
			for _, k := range s.Action.Kinds() {
				kinds[k] = true
			}
			switch s.Action.(type) {
			case faults.Boot, faults.Heal, faults.Quiet:
				cures[s.Action.String()] = true
			}
		}
	}
	require.Len(t, kinds, len(faults.Kinds()))
	require.Len(t, triggers, 3)
	require.Contains(t, cures, "boot db")
	require.Contains(t, cures, "boot db-m")
	require.Contains(t, cures, "quiet")
	require.Contains(t, cures, "heal db <-> c1")
}

// Only the kinds of the space are drawn, and a space without targets gives
// plans without faults.
func TestPlanKeepsToItsSpace(t *testing.T) {
	s := space()
	s.Kinds = []faults.Kind{faults.KindKill, faults.KindRot}
	gen := plangen.Plan(s)
	empty := plangen.Plan(faults.Space{Scenario: "s", Horizon: time.Second})
	for seed := range 100 {
		for _, step := range gen.Example(seed).Steps {
			for _, k := range step.Action.Kinds() {
				require.Contains(t, s.Kinds, k)
			}
		}
		require.Len(t, empty.Example(seed).Steps, 1)
	}
}
