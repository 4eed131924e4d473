package btree

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/engine/buffer"
	"tornpage/engine/compute/computetest"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/pager"
)

var errBench = errors.New("done")

// bench runs f on a tree of 100,000 entries, keys 0, 2, 4 and so on, all of it
// in the pool.
func bench(tb testing.TB, f func(m host.Machine, tree *Tree)) {
	b, timed := tb.(*testing.B)
	if timed {
		b.ReportAllocs()
	}
	w := world(tb, 1, func(m host.Machine) {
		st := &computetest.Instant{End: 8}
		pool := buffer.New(m, buffer.Config{Frames: 1 << 13})
		pg := pager.New(m, pool, nil)
		pool.Attach(st, st.End)
		pg.Attach(st)
		tree := New(pg, testRel, Config{Compare: compareKeys})
		if err := tree.Create(); err != nil {
			panic(err)
		}
		var buf page.IndexTuple
		for i := range uint32(100_000) {
			buf = tupleOf(buf, 2*int64(i), 0)
			if err := tree.Insert(1, buf, page.TID{Block: i, Offset: 1}); err != nil {
				panic(err)
			}
		}
		if timed {
			b.ResetTimer()
		}
		f(m, tree)
		m.Exit(errBench)
	})
	defer w.Close()
	w.BootAll()
	w.Run(1 << 62)
	if f := w.Failure(); f != nil {
		tb.Fatal(f)
	}
	require.ErrorIs(tb, w.LastExit("h"), errBench)
}

func BenchmarkLookup(b *testing.B) {
	bench(b, func(_ host.Machine, tree *Tree) {
		r := rand.New(rand.NewPCG(1, 2))
		var buf page.IndexTuple
		var ids []page.TID
		for range b.N {
			buf = tupleOf(buf, 2*r.Int64N(100_000), 0)
			var err error
			if ids, err = tree.Lookup(buf, ids[:0]); err != nil || len(ids) != 1 {
				panic("not found")
			}
		}
	})
}

func BenchmarkInsertRandom(b *testing.B) {
	bench(b, func(_ host.Machine, tree *Tree) {
		r := rand.New(rand.NewPCG(1, 2))
		var buf page.IndexTuple
		for i := range b.N {
			buf = tupleOf(buf, r.Int64N(200_000), 0)
			if err := tree.Insert(1, buf, page.TID{Block: 1<<20 + uint32(i), Offset: 1}); err != nil {
				panic(err)
			}
		}
	})
}

func BenchmarkInsertRising(b *testing.B) {
	bench(b, func(_ host.Machine, tree *Tree) {
		var buf page.IndexTuple
		for i := range b.N {
			buf = tupleOf(buf, 1_000_000+int64(i), 0)
			if err := tree.Insert(1, buf, page.TID{Block: uint32(i), Offset: 1}); err != nil {
				panic(err)
			}
		}
	})
}

func BenchmarkScan(b *testing.B) {
	bench(b, func(_ host.Machine, tree *Tree) {
		c := tree.Scan(Range{})
		for range b.N {
			_, _, ok, err := c.Next()
			if err != nil {
				panic(err)
			}
			if !ok {
				c.Close()
				c = tree.Scan(Range{})
			}
		}
	})
}

// Warm, lookups, scans and inserts that split nothing do not allocate.
func TestNoAllocations(t *testing.T) {
	got := map[string]float64{}
	bench(t, func(_ host.Machine, tree *Tree) {
		var buf page.IndexTuple
		var ids []page.TID
		n := uint32(0)
		got["lookup"] = testing.AllocsPerRun(300, func() {
			n++
			buf = tupleOf(buf, 2*int64(n), 0)
			ids, _ = tree.Lookup(buf, ids[:0])
		})
		got["insert"] = testing.AllocsPerRun(100, func() {
			n++
			buf = tupleOf(buf, int64(1000*n+1), 0)
			_ = tree.Insert(1, buf, page.TID{Block: n, Offset: 2})
		})
		got["scan"] = testing.AllocsPerRun(100, func() {
			buf = tupleOf(buf, 5000, 0)
			c := tree.Scan(Range{From: Bound{Tuple: buf, Inclusive: true}})
			for range 500 {
				_, _, _, _ = c.Next()
			}
			c.Close()
		})
	})
	require.Equal(t, map[string]float64{"lookup": 0, "insert": 0, "scan": 0}, got)
}
