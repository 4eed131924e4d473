package btree

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/compute/computetest"
)

func drawScene(t *rapid.T) *scene {
	s := &scene{
		mem: &computetest.Mem{WithFloor: rapid.Bool().Draw(t, "floor"), FlushTime: time.Duration(rapid.SampledFrom([]int{1, 100}).Draw(t, "flush")) * time.Microsecond,
			ReadTime: time.Duration(rapid.IntRange(0, 2).Draw(t, "read")) * 50 * time.Microsecond},
		cfg:     Config{ItemsPerPage: rapid.SampledFrom([]int{3, 4, 5, 0}).Draw(t, "items"), Fill: rapid.SampledFrom([]int{50, 90, 100}).Draw(t, "fill")},
		frames:  rapid.SampledFrom([]int{8, 9, 30}).Draw(t, "frames"),
		moves:   uint64(rapid.SampledFrom([]int{0, 3, 20}).Draw(t, "moves")),
		tasks:   rapid.IntRange(1, 6).Draw(t, "tasks"),
		ops:     rapid.IntRange(5, 60).Draw(t, "ops"),
		keys:    uint64(rapid.SampledFrom([]int{3, 40, 400}).Draw(t, "keys")),
		vacuums: rapid.Bool().Draw(t, "vacuum"),
		full:    uint64(rapid.SampledFrom([]int{0, 0, 5, 50}).Draw(t, "full")),
	}
	if s.cfg.ItemsPerPage == 0 {
		s.pad = rapid.SampledFrom([]int{500, 1500, 2688}).Draw(t, "pad")
	}
	return s
}

// TestModel holds random work by several tasks, with crashes, against the
// model: see judge and settle.
func TestModel(t *testing.T) {
	total := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t)
		s.fail = func(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
		kills := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.IntRange(1, 8000).Draw(t, "us")) * time.Microsecond
		}), 0, 3).Draw(t, "kills")
		s.play(t, rapid.Uint64().Draw(t, "seed"), kills)
		total["vacuumed"] += s.vacuumed
		total["pages"] += s.pages
		total["refused"] += s.refused
		for k, v := range s.counts {
			total[k] += v
		}
	})
	t.Logf("%v", total)
	for _, what := range []string{"vacuumed", "pages", "incomplete", "refused"} {
		require.NotZero(t, total[what], "no run had any: %s", what)
	}
}
