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
				all = append(all, change{rec: r.Clone(), block: wal.ImpliedBlock})
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

// Subtransactions run until the record that ends their transaction, or the
// savepoint's own.
func TestChainEndsSubtransactions(t *testing.T) {
	c := newChain()
	var p page.Page
	p.Init(0)
	p.InsertTuple(0, 0, page.NewTuple(nil, 10, 0, 1, []byte("row")))
	step := func(build func(m *wal.MTR), running ...uint32) {
		var m wal.MTR
		build(&m)
		m.Build(0)
		b, _ := m.Finish(c.pos.Prev, c.pos.CRC)
		b = append(b[:len(b):len(b)], make([]byte, pad(uint32(len(b)))-len(b))...)
		require.NoError(t, c.check(b, nil))
		require.Equal(t, running, c.state().XIDs)
	}
	insert := func(xid uint32) func(m *wal.MTR) {
		return func(m *wal.MTR) { wal.HeapInsert(m, xid, page.ID{Rel: 16384}, &p, 1, 0, true) }
	}
	step(insert(10), 10)
	step(insert(12), 10, 12)
	step(insert(11), 10, 11, 12)
	step(insert(20), 10, 11, 12, 20)
	step(func(m *wal.MTR) { wal.AbortTree(m, 12, nil, 0) }, 10, 11, 20)
	step(func(m *wal.MTR) { wal.CommitTree(m, 10, []uint32{11, 30}, 0) }, 20)
	require.EqualValues(t, 31, c.next)
	step(func(m *wal.MTR) { wal.AbortTree(m, 20, []uint32{21}, 0) }, []uint32{}...)

	bad := wal.Record{LSN: 0x500, Rmgr: wal.RmgrTransaction, Info: wal.InfoCommit, XID: 9, Main: []byte{1}}
	require.ErrorContains(t, c.note(&bad), "Transaction/COMMIT at 0/500: main data of 1 bytes")
}

// A page that was cut off is none until it is made again, and what is folded
// below that is forgotten.
func TestVersionsOfACutPage(t *testing.T) {
	redo := wal.StandardRedo()
	var m wal.MTR
	wal.StatusZeroPage(&m, 0)
	m.Build(0)
	b, _ := m.Finish(0, 0)
	zero := func(at wal.LSN) change {
		r, _, err := wal.Decode(b, at, 0)
		require.NoError(t, err)
		return change{rec: &r, block: wal.ImpliedBlock}
	}
	v := versions{id: page.StatusID(3)}
	made, again := zero(0x100), zero(0x300)
	cut := change{rec: &wal.Record{End: 0x200}, cut: true}
	v.changes = []change{made, cut, again}
	check := func(at wal.LSN, want bool) {
		var p page.Page
		exists, _, err := v.at(&redo, at, &p)
		require.NoError(t, err)
		require.Equal(t, want, exists, "at %v", at)
		require.Equal(t, !want, p.IsZero())
	}
	check(0xFF, false)
	check(made.rec.End, true)
	check(0x200, false)
	check(again.rec.End, true)
	_, err := v.fold(&redo, 0x200)
	require.NoError(t, err)
	require.Len(t, v.changes, 1)
	check(0x200, false)
	check(again.rec.End, true)
}
