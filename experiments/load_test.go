package experiments

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
)

// TestLoadIsInvisible: a run that is sampled has the same hash, and its samples
// cover it without a gap. No boot waits longer than its tasks have lived.
func TestLoadIsInvisible(t *testing.T) {
	sc, err := Find("local/register")
	require.NoError(t, err)
	for seed := uint64(1); seed <= 10; seed++ {
		plain, err := Run(sc.Plan(seed), Options{})
		require.NoError(t, err)
		sampled, err := Run(sc.Plan(seed), Options{Load: 10 * time.Millisecond})
		require.NoError(t, err)
		require.Equal(t, plain.Hash, sampled.Hash, "seed %d", seed)
		require.Equal(t, plain.Events, sampled.Events, "seed %d", seed)

		l := sampled.Load
		require.NotEmpty(t, l.Samples)
		at, synced, boots := time.Duration(0), time.Duration(0), uint64(0)
		for _, s := range l.Samples {
			require.Equal(t, at, s.From)
			require.Greater(t, s.To, s.From)
			at = s.To
			boots += s.Boots
			synced += s.Waited[host.WaitWALSync]
			for ev := range s.Waited {
				require.GreaterOrEqual(t, s.Waited[ev], time.Duration(0), "%s at %v", host.EventName(host.WaitEvent(ev)), s.From)
			}
		}
		require.Equal(t, sampled.Virtual, at, "seed %d", seed)
		require.Greater(t, synced, time.Duration(0), "a load that commits waits for the log")
		require.Greater(t, boots, uint64(1), "the run ends with a power-off")
	}
}

// TestLoadActive: a wait as long as the interval is one active session.
func TestLoadActive(t *testing.T) {
	s := LoadSample{From: time.Second, To: 3 * time.Second}
	s.Waited[host.WaitTuple] = 3 * time.Second
	require.InDelta(t, 1.5, s.Active(host.WaitTuple), 1e-9)
	require.Zero(t, (&LoadSample{}).Active(host.WaitTuple))
}
