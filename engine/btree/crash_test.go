package btree

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/compute/computetest"
)

// A crash at any moment around a step that others have to complete leaves a
// sound tree, and the next boots complete it. The sweep goes over the first
// steps of each kind, and over the time after each.
func TestCrashSweep(t *testing.T) {
	total, marks := map[string]int{}, map[string]uint64{}
	for _, mark := range []string{"btree.split", "btree.root-split", "btree.page-half-dead", "btree.page-deleted", "btree.page-reused"} {
		for count := uint64(1); count <= 2; count++ {
			for after := time.Duration(1); after <= 25; after += 6 {
				s := &scene{
					mem:    &computetest.Mem{WithFloor: count%2 == 0, FlushTime: time.Microsecond, ReadTime: time.Duration(count%3) * 20 * time.Microsecond},
					cfg:    Config{ItemsPerPage: 3},
					frames: 8, tasks: 3, ops: 40, keys: 60, vacuums: true,
				}
				s.fail = func(format string, args ...any) {
					panic(fmt.Sprintf("%s %d, %d us: ", mark, count, after) + fmt.Sprintf(format, args...))
				}
				s.sweep(t, mark, count, after*time.Microsecond)
				for k, v := range s.counts {
					total[k] += v
				}
				for k, v := range s.marks {
					marks[k] += v
				}
			}
		}
	}
	t.Logf("%v %v", total, marks)
	for _, what := range []string{"incomplete", "half-dead"} {
		require.NotZero(t, total[what], "no crash left any: %s", what)
	}
	for _, what := range []string{"split", "root-split", "split-completed", "split-raced", "moved-right", "page-half-dead", "page-deleted",
		"page-reused", "half-dead-completed", "scan-again"} {
		require.NotZero(t, marks["btree."+what], "no run had any: %s", what)
	}
}

// sweep kills the process so long after a mark, and lets the next boot end.
func (s *scene) sweep(t require.TestingT, mark string, count uint64, after time.Duration) {
	s.begin()
	w := world(t, count, s.boot)
	defer w.Close()
	w.OnMark(mark, "h", count, func() {
		w.At(w.Now()+after, func() { w.Kill("h") })
	})
	for range 3 {
		w.Boot("h")
		w.Run(w.Now() + time.Hour)
		s.failed(w)
	}
	if w.Up("h") || w.Boots("h") != 3 {
		s.fail("boot %d did not finish its work", w.Boots("h"))
	}
	s.marks = w.Marks()
}
