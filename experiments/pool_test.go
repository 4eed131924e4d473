package experiments

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/sim"
)

// TestReuseChangesNothing: worlds that use each other's coroutines and memory run
// as worlds of their own do, and the pool gives all of them back.
func TestReuseChangesNothing(t *testing.T) {
	sc, err := Find("remote/register")
	require.NoError(t, err)
	before := runtime.NumGoroutine()
	var pool sim.Reuse
	for seed := range uint64(6) {
		alone, err := Run(sc.Plan(seed), Options{})
		require.NoError(t, err)
		lent, err := Run(sc.Plan(seed), Options{Reuse: &pool})
		require.NoError(t, err)
		require.Equal(t, alone.Hash, lent.Hash, "seed %d", seed)
		require.Equal(t, alone.Events, lent.Events)
	}
	require.Greater(t, runtime.NumGoroutine(), before, "the pool keeps coroutines")
	pool.Close()
	// Goroutines that tests before have left may end meanwhile.
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}
