package pager_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine"
	"tornpage/engine/buffer"
	"tornpage/engine/compute/computetest"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/pager"
	"tornpage/engine/wal"
	"tornpage/sim"
)

const rel page.Rel = 20000

// full is a storage whose disk is full while it says so.
type full struct {
	*computetest.Storage
	full  bool
	asked []int // by Admit
}

func (f *full) Admit(n int) error {
	f.asked = append(f.asked, n)
	if f.full {
		return fmt.Errorf("disk data: %w", engine.ErrFull)
	}
	return f.Storage.Admit(n)
}

// with runs f in a task of a process that has a pager over a storage in memory.
func with(t *testing.T, moves uint64, f func(pg *pager.Pager, st *full)) {
	mem := &computetest.Mem{WithFloor: true}
	done := false
	w, err := sim.New(sim.Config{Machines: []sim.Machine{{Name: "m", Zone: "a"}},
		Hosts: []sim.Host{{Name: "h", Machine: "m", Boot: func(m host.Machine) {
			pool := buffer.New(m, buffer.Config{Frames: 8})
			pg := pager.New(m, pool, nil)
			st := &full{Storage: mem.Boot(m)}
			st.Moves = moves
			state, err := st.Open()
			require.NoError(t, err)
			pool.Attach(st, state.End)
			pg.Attach(st)
			f(pg, st)
			done = true
			m.Exit(errors.New("done"))
		}}}})
	require.NoError(t, err)
	defer w.Close()
	w.BootAll()
	w.Run(time.Minute)
	require.Nil(t, w.Failure())
	require.True(t, done)
}

// insert puts one tuple on a page of its own or on one that has room.
func insert(t *testing.T, pg *pager.Pager, id page.ID) wal.LSN {
	require.NoError(t, pg.Admit(1, 100))
	f, err := pg.Pool().Pin(id)
	require.NoError(t, err)
	defer pg.Pool().Unpin(f)
	f.Lock()
	defer f.Unlock()
	f.MarkDirty()
	fresh := f.Page().IsZero()
	if fresh {
		f.Page().Init(0)
	}
	off, ok := f.Page().InsertTuple(id.Block, 0, page.NewTuple(nil, 3, 0, 1, []byte("value")))
	require.True(t, ok)
	m := pg.MTR()
	defer pg.Done(m)
	wal.HeapInsert(m, 3, id, f.Page(), off, 0, fresh)
	lsn, err := pg.Append(m)
	require.NoError(t, err)
	require.Equal(t, lsn, f.Page().LSN())
	return lsn
}

// TestExtend is rule P6: numbers follow each other, and a block is new until a
// record makes it, whoever writes that.
func TestExtend(t *testing.T) {
	with(t, 0, func(pg *pager.Pager, _ *full) {
		a, err := pg.Extend(rel)
		require.NoError(t, err)
		b, err := pg.Extend(rel)
		require.NoError(t, err)
		require.Equal(t, [2]uint32{0, 1}, [2]uint32{a.Block, b.Block})
		require.True(t, pg.Unmade(a) && pg.Unmade(b))
		insert(t, pg, b)
		require.True(t, pg.Unmade(a))
		require.False(t, pg.Unmade(b), "a record has made it")
		require.False(t, pg.Unmade(page.ID{Rel: rel, Block: 2}), "nobody extended by it")
		n, err := pg.Blocks(rel)
		require.NoError(t, err)
		require.Equal(t, uint32(2), n)

		pg.Truncated(rel, 0)
		require.False(t, pg.Unmade(a), "cut off")
		again, err := pg.Extend(rel)
		require.NoError(t, err)
		require.Equal(t, uint32(0), again.Block)
	})
}

// TestBlocksAfterABoot: what a record has made counts, what was only extended
// does not.
func TestBlocksAfterABoot(t *testing.T) {
	with(t, 0, func(pg *pager.Pager, st *full) {
		id, err := pg.Extend(rel)
		require.NoError(t, err)
		insert(t, pg, id)
		_, err = pg.Extend(rel)
		require.NoError(t, err)
		n, err := st.Size(rel, 0)
		require.NoError(t, err)
		require.Equal(t, uint32(1), n)
	})
}

// TestFloorMoves: a record whose images were decided for a floor that has moved
// is built again, and says so.
func TestFloorMoves(t *testing.T) {
	with(t, 2, func(pg *pager.Pager, _ *full) {
		id, err := pg.Extend(rel)
		require.NoError(t, err)
		for range 40 {
			insert(t, pg, id)
		}
		require.Equal(t, uint64(40), pg.Stats.Records)
		require.Positive(t, pg.Stats.Rebuilt)
		require.Positive(t, pg.Stats.Images)
	})
}

// TestFullIsNotTheEnd is rule P5: a full disk refuses the change, and every
// other error ends the boot.
func TestFullIsNotTheEnd(t *testing.T) {
	with(t, 0, func(pg *pager.Pager, st *full) {
		id, err := pg.Extend(rel)
		require.NoError(t, err)
		insert(t, pg, id)
		st.full = true
		require.ErrorIs(t, pg.Admit(1, 100), engine.ErrFull)
		require.NoError(t, pg.Failed())
		require.Equal(t, uint64(1), pg.Stats.Full)
		st.full = false
		insert(t, pg, id)
		require.Greater(t, st.asked[0], page.Size, "an image may be wanted")

		broken := errors.New("broken")
		st.Fail(broken)
		require.ErrorIs(t, pg.Admit(0, 0), broken)
		require.ErrorIs(t, pg.Failed(), broken)
		require.ErrorIs(t, pg.Admit(0, 0), broken, "it stays so")
		m := pg.MTR()
		wal.NextXID(m, 100)
		_, err = pg.Append(m)
		require.ErrorIs(t, err, broken)
	})
}
