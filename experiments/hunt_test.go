package experiments

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/checkers"
	"tornpage/faults"
)

// small keeps a hunt's runs short.
func small(p faults.Plan) (faults.Plan, error) { return Set(p, "ops", "40") }

func hunt(t *testing.T, jobs int, change func(faults.Plan) (faults.Plan, error)) (*Totals, [][]string) {
	t.Helper()
	sc, err := Find("local/register")
	require.NoError(t, err)
	var rows [][]string
	h := Hunt{Scenario: sc, From: 5, Seeds: 12, Jobs: jobs, Change: change,
		Each: func(r *Row) error { rows = append(rows, r.Cells()); return nil }}
	totals, err := h.Run(context.Background())
	require.NoError(t, err)
	return totals, rows
}

// Worlds are independent: how many run at a time changes nothing.
func TestHuntDoesNotDependOnJobs(t *testing.T) {
	one, rows1 := hunt(t, 1, small)
	four, rows4 := hunt(t, 4, small)
	require.Equal(t, one, four)
	require.Equal(t, rows1, rows4)
	require.Equal(t, uint64(12), one.Seeds)
	require.NotZero(t, one.Kills+one.PowerOffs)

	require.Len(t, rows1, 12)
	for i, r := range rows1 {
		require.Len(t, r, len(Columns()))
		require.Equal(t, []string{"local/register", []string{"5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"}[i]}, r[:2])
	}
	cols := Columns()
	slices.Sort(cols)
	require.Len(t, slices.Compact(cols), len(rows1[0]), "no column twice")
}

func TestHuntGroupsFailures(t *testing.T) {
	change := func(p faults.Plan) (faults.Plan, error) {
		return planText(t, lying, p.Seed), nil
	}
	totals, _ := hunt(t, 2, change)
	require.Equal(t, checkers.Broken, totals.Worst())
	failed := 0
	for _, g := range totals.Failures {
		require.True(t, slices.IsSorted(g.Seeds))
		failed += len(g.Seeds)
	}
	require.LessOrEqual(t, failed, 12, "a seed is in one group")
	require.Contains(t, totals.Struck, faults.KindLostSync)
	require.Contains(t, totals.NeverStruck(), faults.KindKill)
}

func TestHuntEndsEarly(t *testing.T) {
	sc, err := Find("local/register")
	require.NoError(t, err)

	full := errors.New("disk full")
	n := 0
	h := Hunt{Scenario: sc, Seeds: 1000, Jobs: 2, Change: small, Each: func(*Row) error {
		if n++; n == 3 {
			return full
		}
		return nil
	}}
	totals, err := h.Run(context.Background())
	require.ErrorIs(t, err, full)
	require.Equal(t, uint64(3), totals.Seeds)

	ctx, cancel := context.WithCancel(context.Background())
	h.Each = func(*Row) error { cancel(); return nil }
	totals, err = h.Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NotZero(t, totals.Seeds)
	require.Less(t, totals.Seeds, uint64(1000))

	h.Change = func(p faults.Plan) (faults.Plan, error) {
		p.Config = []faults.KV{{Key: "pool.pages", Value: "many"}}
		return p, nil
	}
	_, err = h.Run(context.Background())
	require.ErrorContains(t, err, "local/register seed 0")
	require.ErrorContains(t, err, "pool.pages")
}

func TestMarksThatWereMissed(t *testing.T) {
	var row Row
	row.marks = map[string]uint64{"a": 2}
	var sum tally
	sum.Marks = map[string]uint64{}
	sum.add(&row)
	sum.add(&row)
	sum.finish([]string{"a", "b"})
	require.Equal(t, []string{"b"}, sum.Missed)
	require.Equal(t, uint64(4), sum.Marks["a"])
}

func TestSet(t *testing.T) {
	sc, err := Find("local/register")
	require.NoError(t, err)
	p := sc.Plan(1)
	before := faults.Print(p)

	q, err := Set(p, "ops", "7")
	require.NoError(t, err)
	q, err = Set(q, "fpw", "off")
	require.NoError(t, err)
	require.Equal(t, before, faults.Print(p), "the plan that was given stays as it was")
	s, err := SettingsOf(q)
	require.NoError(t, err)
	require.Equal(t, 7, s.Ops)
	require.False(t, s.Local.FullPageWrites)
	_, twice := faults.Lookup(q.Params, "fpw")
	require.False(t, twice, "fpw is a setting of the config line")

	_, err = Set(p, "checkpoint.record", "7")
	require.ErrorContains(t, err, `did you mean "checkpoint.records"?`)
	require.ErrorContains(t, err, "known: clients, group")
	_, err = Set(p, "fpw", "perhaps")
	require.ErrorContains(t, err, `"perhaps" is neither on nor off`)
}

func TestCheckPlan(t *testing.T) {
	p := planText(t, lying, 1)
	require.NoError(t, CheckPlan(p))
	p.Steps = append(p.Steps, faults.Step{Action: faults.Kill{Host: "nobody"}})
	require.ErrorContains(t, CheckPlan(p), "nobody")
	p.Scenario = "x"
	require.ErrorContains(t, CheckPlan(p), "no scenario is named")
}
