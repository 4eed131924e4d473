package btree

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/engine/compute/computetest"
	"tornpage/engine/host"
	"tornpage/engine/page"
)

// Many entries in random order on real-sized pages come back in order, both
// ways, by key and by range; vacuum removes them and the pages.
func TestManyEntries(t *testing.T) {
	const n = 20_000
	run(t, func(m host.Machine) {
		mem := &computetest.Mem{}
		b := start(m, mem, 1000, 0, Config{})
		r := rand.New(rand.NewPCG(1, 2))
		var buf page.IndexTuple
		for _, i := range r.Perm(n) {
			buf = tupleOf(buf, int64(i/3), 0)
			require.NoError(t, b.tree.Insert(7, buf, page.TID{Block: uint32(i), Offset: 1}))
		}
		s, bad := b.findings()
		require.Empty(t, bad)
		require.Equal(t, n, s.Entries)
		require.Equal(t, 2, s.Levels)

		for _, desc := range []bool{false, true} {
			c := b.tree.Scan(Range{Desc: desc})
			for i := range n {
				if desc {
					i = n - 1 - i
				}
				tuple, tid, ok, err := c.Next()
				require.NoError(t, err)
				require.True(t, ok)
				require.EqualValues(t, i/3, keyOf(tuple))
				require.EqualValues(t, i, tid.Block)
			}
			_, _, ok, err := c.Next()
			require.NoError(t, err)
			require.False(t, ok)
			c.Close()
		}
		for _, k := range []int64{0, 17, 3000, n / 3} {
			got, err := b.tree.Lookup(tupleOf(buf, k, 0), nil)
			require.NoError(t, err)
			require.Len(t, got, int(min(3, n-3*k)))
		}
		st, err := b.tree.Vacuum(func(id page.TID) bool { return id.Block%1000 != 0 })
		require.NoError(t, err)
		require.Equal(t, n-20, st.Deleted)
		require.Greater(t, st.Pages, 30)
		s, bad = b.findings()
		require.Empty(t, bad)
		require.Equal(t, 20, s.Entries)
		require.Equal(t, st.Pages, s.Free)
		blocks, err := b.pg.Blocks(testRel)
		require.NoError(t, err)
		for i := range n {
			require.NoError(t, b.tree.Insert(7, tupleOf(buf, int64(i), 0), page.TID{Block: uint32(i), Offset: 2}))
		}
		s, bad = b.findings()
		require.Empty(t, bad, s)
		grown, err := b.pg.Blocks(testRel)
		require.NoError(t, err)
		require.Less(t, grown, blocks+30, "deleted pages were used again")
		_, _, err = mem.Replay()
		require.NoError(t, err)
	})
}

// What callers do wrong is refused in words.
func TestRefusals(t *testing.T) {
	var exists, missing, twice, long, pivot error
	run(t, func(m host.Machine) {
		b := start(m, &computetest.Mem{}, 20, 0, Config{})
		exists = b.tree.Create()
		one := tupleOf(nil, 1, 0)
		must(b.tree.Insert(7, one, page.TID{Block: 3, Offset: 1}))
		must(b.tree.Insert(7, one, page.TID{Block: 3, Offset: 2}))
		twice = b.tree.Insert(7, one, page.TID{Block: 3, Offset: 1})
		long = b.tree.Insert(7, tupleOf(nil, 1, page.MaxIndexTuple-8), page.TID{Block: 4, Offset: 1})
		pivot = b.tree.Insert(7, page.AppendPivot(nil, one, 1, nil), page.TID{Block: 4, Offset: 1})
		_, missing = New(b.pg, testRel+1, Config{Compare: compareKeys}).Lookup(one, nil)
	})
	require.ErrorIs(t, exists, ErrExists)
	require.ErrorIs(t, missing, ErrMissing)
	require.ErrorIs(t, twice, ErrDuplicate)
	require.ErrorContains(t, twice, "rel 16384 block 1 item 1, row (3,1)")
	require.ErrorContains(t, long, "index tuple of 2712 bytes")
	require.ErrorContains(t, pivot, "index tuple of 16 bytes")
}

// PostgreSQL 15 splits where this tree does: its record SPLIT_R of the first
// leaf of 407 rising keys says firstrightoff 367, newitemoff 408; of a full
// leaf in the middle, 205 (reference lengths in engine/wal/testdata/btree).
func TestSplitPointsArePostgres(t *testing.T) {
	tree := &Tree{cfg: Config{Compare: compareKeys, Fill: 90}}
	var items [][]byte
	for i := range int64(408) {
		items = append(items, tupleOf(nil, i, 0))
	}
	var p page.Page
	require.Equal(t, 366, tree.chooseSplit(items, page.IndexOpaque{Flags: page.IndexLeaf}, &p))
	p.InitIndex(page.IndexOpaque{Next: 5, Flags: page.IndexLeaf})
	require.True(t, p.InsertItemAt(1, page.AppendPivot(nil, items[0], 1, nil)))
	q, _ := p.IndexOpaque()
	require.Equal(t, 205-2, tree.chooseSplit(items[:407], q, &p))
}
