package computetest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine"
	"tornpage/engine/compute/computetest"
	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/wal"
	"tornpage/sim"
)

const rel page.Rel = 16384

// on runs f in a process of its own, to its end, and reports a panic of it.
func on(t *testing.T, f func(m host.Machine)) error {
	ended := false
	w, err := sim.New(sim.Config{Seed: 1, MaxEvents: 100_000,
		Machines: []sim.Machine{{Name: "db"}},
		Hosts:    []sim.Host{{Name: "db", Machine: "db", Boot: func(m host.Machine) { f(m); ended = true }}}})
	require.NoError(t, err)
	defer w.Close()
	w.Boot("db")
	w.Run(time.Second)
	if x := w.Failure(); x != nil {
		return x
	}
	require.True(t, ended)
	return nil
}

// boot opens a storage on what d has.
func boot(t *testing.T, m host.Machine, d *computetest.Mem) *computetest.Storage {
	s := d.Boot(m)
	_, err := s.Open()
	require.NoError(t, err)
	return s
}

// grow makes block n.
func grow(t *testing.T, s *computetest.Storage, n uint32) (page.ID, *page.Page) {
	id, p := page.ID{Rel: rel, Block: n}, new(page.Page)
	p.Init(0)
	off, ok := p.InsertTuple(n, 0, page.NewTuple(nil, 3, 0, 1, []byte("row")))
	require.True(t, ok)
	var m wal.MTR
	wal.HeapInsert(&m, 3, id, p, off, 0, true)
	m.Build(0)
	_, err := s.Append(&m, 0)
	require.NoError(t, err)
	return id, p
}

func cut(t *testing.T, s *computetest.Storage, n uint32) wal.LSN {
	var m wal.MTR
	wal.Truncate(&m, rel, n)
	m.Build(0)
	lsn, err := s.Append(&m, 0)
	require.NoError(t, err)
	return lsn
}

func size(t *testing.T, s *computetest.Storage) uint32 {
	n, err := s.Size(rel, 0)
	require.NoError(t, err)
	return n
}

// A cut takes effect with its Append, and only survives if it was durable.
func TestCut(t *testing.T) {
	for _, durable := range []bool{true, false} {
		d := &computetest.Mem{}
		require.NoError(t, on(t, func(m host.Machine) {
			s := boot(t, m, d)
			var ids [4]page.ID
			var pages [4]*page.Page
			for n := range ids {
				ids[n], pages[n] = grow(t, s, uint32(n))
			}
			require.EqualValues(t, 4, size(t, s), "before anything was evicted")
			require.NoError(t, s.WaitDurable(d.End()))
			for n := range ids {
				require.NoError(t, s.Evict(ids[n], pages[n]))
			}
			lsn := cut(t, s, 2)
			require.EqualValues(t, 2, size(t, s))
			var p page.Page
			require.NoError(t, s.ReadPage(ids[1], 0, 0, &p))
			require.ErrorIs(t, s.ReadPage(ids[2], 0, 0, &p), engine.ErrNoPage)
			require.NoError(t, s.Evict(ids[3], pages[3]), "a write that was on its way")
			require.ErrorIs(t, s.ReadPage(ids[3], 0, 0, &p), engine.ErrNoPage)
			if durable {
				require.NoError(t, s.WaitDurable(lsn))
				grow(t, s, 2)
				require.EqualValues(t, 3, size(t, s))
				require.ErrorIs(t, s.ReadPage(ids[2], 0, 0, &p), engine.ErrNoPage, "made again, not evicted")
				require.NoError(t, s.WaitDurable(d.End()))
			}
		}))
		require.NoError(t, on(t, func(m host.Machine) {
			s := boot(t, m, d)
			want := uint32(4)
			if durable {
				want = 3
			}
			require.Equal(t, want, size(t, s))
			var p page.Page
			require.NoError(t, s.ReadPage(page.ID{Rel: rel, Block: 2}, 0, 0, &p))
			require.Equal(t, durable, errors.Is(s.ReadPage(page.ID{Rel: rel, Block: 3}, 0, 0, &p), engine.ErrNoPage))
		}))
	}
}

// A record that clears a map bit on a page that its mini-transaction does not
// touch is caught.
func TestPagesMustBeTouched(t *testing.T) {
	require.NoError(t, on(t, func(m host.Machine) {
		s := boot(t, m, &computetest.Mem{})
		id, p := grow(t, s, 0)
		p.DeleteTuple(0, 1, page.Xmax{XID: 3})
		var mtr wal.MTR
		wal.HeapDelete(&mtr, 3, id, p, 1, wal.AllVisibleCleared)
		mtr.Build(0)
		defer func() {
			v, ok := recover().(*invariant.Violation)
			require.True(t, ok)
			require.Equal(t, "W7", v.Rule)
		}()
		_, _ = s.Append(&mtr, 0)
	}))
}
