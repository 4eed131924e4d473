package btree

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
	"tornpage/engine/page"
)

// must panics with what went wrong in a task.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// between reports rows of withTree's keys from to to, whose row is the key / 10.
func between(from, to uint32) func(page.TID) bool {
	return func(id page.TID) bool { return id.Block >= from/10 && id.Block <= to/10 }
}

// grow inserts rising keys from 1000 on, which splits the last leaf again and
// again.
func grow(b *boot, n int) {
	for i := range n {
		must(b.tree.Insert(7, tupleOf(nil, 1000+int64(i), 0), page.TID{Block: 1000 + uint32(i), Offset: 1}))
	}
}

// A cursor that waits between two leaves does not follow its link to a page
// that was deleted and made anew elsewhere (rule X6).
func TestCursorAndReusedPage(t *testing.T) {
	for _, desc := range []bool{false, true} {
		var keys []int64
		var s Stats
		var free int
		withTree(t, func(b *boot) {
			c := b.tree.Scan(Range{Desc: desc})
			defer c.Close()
			next := func() bool {
				tuple, _, ok, err := c.Next()
				must(err)
				if ok {
					keys = append(keys, keyOf(tuple))
				}
				return ok
			}
			next() // 0, or 390; the cursor holds a copy of that leaf
			var err error
			if desc {
				s, err = b.tree.Vacuum(between(200, 350))
			} else {
				s, err = b.tree.Vacuum(between(40, 190))
			}
			must(err)
			grow(b, 40)
			free = len(b.tree.free)
			for next() {
			}
		})
		require.Greater(t, s.Pages, 1)
		require.Less(t, free, s.Pages, "pages were made anew")
		for i := 1; i < len(keys); i++ {
			require.Equal(t, desc, keys[i] < keys[i-1], "%v", keys)
		}
		for k := int64(0); k < 400; k += 10 {
			switch {
			case !desc && k >= 40 && k <= 190, desc && k >= 200 && k <= 350:
			default:
				require.Contains(t, keys, k, "descending %t", desc)
			}
		}
	}
}

// A page that an operation is on the way to is not made anew before the
// operation has ended (rule X6).
func TestReuseWaitsForOperations(t *testing.T) {
	var s Stats
	var during, after int
	var bad []string
	withTree(t, func(b *boot) {
		done := false
		ended := b.m.NewCond(host.WaitWork)
		b.m.Go("late", func() {
			// The third visit, of the leaf, pays for the work of a long time. The
			// task knows the leaf's number by then.
			b.m.Charge(host.WorkTuple, 50_000)
			b.tree.visits = payEvery - 3
			must(b.tree.Insert(7, tupleOf(nil, 55, 0), page.TID{Block: 5000, Offset: 1}))
			done = true
			ended.Broadcast()
		})
		b.m.Sleep(time.Millisecond)
		var err error
		s, err = b.tree.Vacuum(between(40, 190))
		must(err)
		grow(b, 40)
		if done {
			panic("the operation was not late")
		}
		during = len(b.tree.free)
		for !done {
			ended.Wait()
		}
		for i := range int64(40) {
			must(b.tree.Insert(7, tupleOf(nil, 2000+i, 0), page.TID{Block: 2000 + uint32(i), Offset: 1}))
		}
		after = len(b.tree.free)
		_, bad = b.findings()
	})
	require.Greater(t, s.Pages, 1)
	require.Equal(t, s.Pages, during, "nothing was made anew while the operation ran")
	require.Less(t, after, during)
	require.Empty(t, bad)
}
