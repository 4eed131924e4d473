package btree

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/engine/compute/computetest"
	"tornpage/engine/host"
	"tornpage/engine/page"
)

// TestResume: a scan that begins at an entry goes on there, among entries of one
// key too, whose pivots have TIDs or lack them.
func TestResume(t *testing.T) {
	const n, equal = 300, 40
	run(t, func(m host.Machine) {
		b := start(m, &computetest.Mem{}, 64, 0, Config{ItemsPerPage: 4})
		for i := range uint32(n) {
			i = i * 7 % n
			require.NoError(t, b.tree.Insert(7, tupleOf(nil, int64(i/equal), 0), page.TID{Block: i, Offset: 1}))
		}
		for _, desc := range []bool{false, true} {
			for _, inclusive := range []bool{false, true} {
				for i := range n {
					at := tupleOf(nil, int64(i/equal), 0)
					at.SetTID(page.TID{Block: uint32(i), Offset: 1})
					end := Bound{Tuple: at, Exact: true, Inclusive: inclusive}
					r := Range{From: end}
					if desc {
						r = Range{To: end, Desc: true}
					}
					requireOn(t, b.tree.Scan(r), i, n, desc, inclusive)
				}
			}
		}
	})
}

// requireOn holds a scan that goes on at entry i of n against all that follow.
func requireOn(t *testing.T, c *Cursor, i, n int, desc, inclusive bool) {
	defer c.Close()
	step, left := 1, n-i
	if desc {
		step, left = -1, i+1
	}
	if !inclusive {
		i += step
		left--
	}
	for range left {
		_, tid, ok, err := c.Next()
		require.NoError(t, err)
		require.True(t, ok)
		require.EqualValues(t, i, tid.Block)
		i += step
	}
	_, _, ok, err := c.Next()
	require.NoError(t, err)
	require.False(t, ok)
}
