package experiments

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/faults"
	"tornpage/faults/plangen"
)

// TestAnyPlanWithinTheBudget: plans that rapid makes, steps first so that a
// failing one shrinks well, leave every check green while they stay within the
// budget that the storage declares.
func TestAnyPlanWithinTheBudget(t *testing.T) {
	for _, name := range []string{"local/register", "remote/register"} {
		t.Run(name, func(t *testing.T) {
			sc, err := Find(name)
			require.NoError(t, err)
			rapid.Check(t, func(t *rapid.T) {
				p := plangen.Plan(sc.Space).Draw(t, "plan")
				if ok, _ := faults.Within(p, sc.Budget); !ok {
					return // plangen may go beyond; TestBeyondTheBudget is about that
				}
				r, err := Run(p, Options{})
				require.NoError(t, err)
				for _, v := range r.Verdicts {
					require.True(t, v.Green(), "%v\n%s", v, faults.Print(p))
				}
				require.Nil(t, r.Failure)
			})
		})
	}
}
