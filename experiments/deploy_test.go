package experiments

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDeployLocal(t *testing.T) {
	t.Parallel()
	sc, err := Find("local/register")
	require.NoError(t, err)
	p, err := sc.KillPlan(1, 3)
	require.NoError(t, err)
	p, err = Set(p, "clients", "3")
	require.NoError(t, err)
	p, err = Set(p, "ops", "60")
	require.NoError(t, err)
	r, err := Deploy(t.Context(), p, DeployOptions{})
	require.NoError(t, err)
	t.Logf("%v", r)
	require.True(t, r.Green(), "%v", r)
}
