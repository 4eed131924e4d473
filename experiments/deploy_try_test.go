package experiments

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDeployTry(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("TRY"))
	name := "local/register"
	if v := os.Getenv("SC"); v != "" {
		name = v
	}
	for seed := range n {
		sc, err := Find(name)
		require.NoError(t, err)
		p, err := sc.KillPlan(uint64(seed), 4)
		require.NoError(t, err)
		r, err := Deploy(t.Context(), p, DeployOptions{Dir: os.Getenv("TRYDIR")})
		require.NoError(t, err)
		if !r.Green() {
			t.Errorf("seed %d: %v", seed, r)
		} else {
			t.Logf("%d: %d ops %d boots %v %v", seed, len(r.History.Ops), len(r.History.Boots), r.Killed, r.Wall)
		}
	}
}
