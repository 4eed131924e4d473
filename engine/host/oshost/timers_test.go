package oshost

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/host/coop"
)

func TestTimersAgainstSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h timers
		var model []timer
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				at := rapid.Int64Range(0, 20).Draw(t, "at")
				h.add(timer{at: at, f: func() {}})
				model = append(model, timer{at: at, seq: h.seq})
			},
			"pop": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("no timer is set")
				}
				slices.SortStableFunc(model, func(a, b timer) int { return cmp.Compare(a.at, b.at) })
				got := h.pop()
				require.Equal(t, model[0].at, got.at)
				require.Equal(t, model[0].seq, got.seq)
				model = model[1:]
			},
			"sweep": func(*rapid.T) { h.sweep() },
			"": func(t *rapid.T) {
				at, ok := h.next()
				require.Equal(t, len(model) > 0, ok)
				for _, m := range model {
					require.LessOrEqual(t, at, m.at)
				}
			},
		})
	})
}

// Time-outs of waits that ended early do not pile up.
func TestStaleTimersAreSwept(t *testing.T) {
	var h timers
	live := &coop.Task{}
	for range 100 {
		h.add(timer{at: 50, task: live, gen: live.Gen()})
	}
	for i := range 1_000_000 {
		h.add(timer{at: int64(i), task: live, gen: live.Gen() + 1})
		require.LessOrEqual(t, len(h.heap), minSweep+1)
	}
	h.sweep()
	require.Len(t, h.heap, 100)
	for range 100 {
		require.Equal(t, int64(50), h.pop().at)
	}
}
