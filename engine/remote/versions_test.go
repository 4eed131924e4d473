package remote

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// Whatever was folded, a page as of any LSN from the floor on is what replay
// of the whole log up to there makes of it.
func TestVersions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		redo := wal.StandardRedo()
		c := newChain()
		v := versions{id: page.StatusID(3)}
		var all []change
		floor := firstLSN
		n := rapid.IntRange(1, 15).Draw(t, "records")
		for i := range n {
			var m wal.MTR
			switch xid := uint32(3 + rapid.IntRange(0, 9).Draw(t, "xid")); {
			case i == 0:
				wal.StatusZeroPage(&m, 0)
			case rapid.Bool().Draw(t, "commit"):
				wal.Commit(&m, xid, 0)
			default:
				wal.Abort(&m, xid, 0)
			}
			m.Build(0)
			b, _ := m.Finish(c.pos.Prev, c.pos.CRC)
			b = append(b[:len(b):len(b)], make([]byte, pad(uint32(len(b)))-len(b))...)
			require.NoError(t, c.check(b, func(r *wal.Record) {
				all = append(all, change{r.Clone(), wal.ImpliedBlock})
			}))
			v.changes = append(v.changes, all[i])
			if rapid.IntRange(0, 4).Draw(t, "fold") == 0 {
				floor = wal.LSN(rapid.Uint64Range(uint64(floor), uint64(c.pos.End)).Draw(t, "floor"))
				_, err := v.fold(&redo, floor)
				require.NoError(t, err)
			}
			at := wal.LSN(rapid.Uint64Range(uint64(floor), uint64(c.pos.End)).Draw(t, "at"))
			var want, got page.Page
			exists := false
			for _, x := range all {
				if x.rec.End <= at {
					_, err := redo.Apply(x.rec, x.block, &want)
					require.NoError(t, err)
					exists = true
				}
			}
			ok, _, err := v.at(&redo, at, &got)
			require.NoError(t, err)
			require.Equal(t, exists, ok)
			require.Equal(t, want, got)
		}
	})
}

func TestSizeAt(t *testing.T) {
	sizes := []size{{10, 1}, {20, 3}, {30, 7}}
	for at, want := range map[wal.LSN]uint32{9: 0, 10: 1, 19: 1, 20: 3, 29: 3, 30: 7, 99: 7} {
		require.Equal(t, want, sizeAt(sizes, at), "at %v", at)
	}
}
