package faults_test

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"tornpage/faults"
)

// Steps in; within the budget or, in words, why not.
func TestWithin(t *testing.T) {
	budgets := map[string]faults.Budget{
		"local": faults.LocalBudget(), "quorum": faults.QuorumBudget(),
		"lake": faults.LakeBudget(), "any": faults.AnyBudget(),
		"pair": {Storage: "pair", Claims: []faults.Claim{
			{Kinds: []faults.Kind{faults.KindLose}, On: []string{"b2-m/data"}},
			{Kinds: []faults.Kind{faults.KindKill}, AtOnce: 1},
		}},
	}
	datadriven.Walk(t, "testdata/budget", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			b, ok := budgets[d.Cmd]
			require.True(t, ok, d.Cmd)
			p, err := faults.Parse("p", head+d.Input)
			require.NoError(t, err)
			when := "faults stop at no known time"
			if at, ok := p.QuietAt(); ok {
				when = "faults stop at " + faults.FormatDuration(at)
			}
			if ok, why := faults.Within(p, b); !ok {
				return fmt.Sprintf("beyond: %s\n%s", why, when)
			}
			return "within\n" + when
		})
	})
}
