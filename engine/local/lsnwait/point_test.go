package lsnwait

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/wal"
	"tornpage/sim"
)

// The queue gives waiters back in the order of rule N2.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lsns := rapid.SliceOfN(rapid.Uint64Range(1, 20), 1, 30).Draw(t, "lsns")
		var h queue
		for i, l := range lsns {
			push(&h, &waiter{lsn: wal.LSN(l), seq: uint64(i)})
		}
		last := waiter{}
		for range lsns {
			w := pop(&h)
			require.True(t, w.lsn > last.lsn || w.lsn == last.lsn && w.seq >= last.seq)
			last = *w
		}
	})
}

// run runs f as the boot function of a machine.
func run(t *testing.T, f func(m host.Machine)) {
	w, err := sim.New(sim.Config{
		Machines: []sim.Machine{{Name: "m", Zone: "a", Cores: 1}},
		Hosts:    []sim.Host{{Name: "p", Machine: "m", Boot: f}},
	})
	require.NoError(t, err)
	defer w.Close()
	w.BootAll()
	w.Run(time.Second)
	require.Nil(t, w.Failure())
}

// Nobody returns early, everybody in time, and who is left when the point is
// stopped gets the error.
func TestWait(t *testing.T) {
	stopped := errors.New("stopped")
	var woken []wal.LSN
	var errs []error
	run(t, func(m host.Machine) {
		p := New(m)
		for _, lsn := range []wal.LSN{30, 10, 20, 10, 99} {
			m.Go("waiter", func() {
				if err := p.Wait(lsn); err != nil {
					errs = append(errs, err)
					return
				}
				require.LessOrEqual(t, lsn, p.LSN())
				woken = append(woken, lsn)
			})
		}
		m.Sleep(time.Millisecond)
		for _, to := range []wal.LSN{5, 10, 25, 30} {
			p.Advance(to)
			m.Sleep(time.Millisecond)
		}
		require.NoError(t, p.Wait(30))
		p.Stop(stopped)
		p.Advance(100)
		require.Equal(t, wal.LSN(30), p.LSN())
		require.ErrorIs(t, p.Wait(31), stopped)
		require.NoError(t, p.Wait(7))
		m.Sleep(time.Millisecond)
	})
	require.Equal(t, []wal.LSN{10, 10, 20, 30}, woken)
	require.Equal(t, []error{stopped}, errs)
}

func TestRetreat(t *testing.T) {
	p := New(nil)
	p.Advance(10)
	defer func() {
		var v *invariant.Violation
		require.ErrorAs(t, recover().(error), &v)
		require.Equal(t, "N1", v.Rule)
	}()
	p.Advance(9)
}

// Callers are let in in the order of their arrival, and everybody once nothing
// is under way.
func TestGate(t *testing.T) {
	used := uint64(0)
	var in []int
	run(t, func(m host.Machine) {
		g := NewGate(m, 100, func() uint64 { return used })
		require.NoError(t, g.Admit(1000)) // nothing is under way
		g.Spent(1000)
		used = 90
		require.NoError(t, g.Admit(10))
		for _, n := range []int{30, 5, 1} {
			m.Go("caller", func() {
				if g.Admit(n) == nil {
					in = append(in, n)
				}
			})
			m.Sleep(time.Millisecond)
		}
		require.Empty(t, in)
		used = 60
		g.Open()
		m.Sleep(time.Millisecond)
		require.Equal(t, []int{30}, in, "10 and 30 are granted, 5 would be too much")
		g.Flush()
		g.Open()
		m.Sleep(time.Millisecond)
		require.ElementsMatch(t, []int{30, 5, 1}, in)
		used = 100
		m.Go("caller", func() { require.ErrorContains(t, g.Admit(1), "over") })
		m.Sleep(time.Millisecond)
		g.Stop(errors.New("over"))
		m.Sleep(time.Millisecond)
		require.ErrorContains(t, g.Admit(0), "over")
		require.EqualValues(t, 4, g.Held)
	})
}

// Who waits is turned away once, and the gate goes on.
func TestRefuse(t *testing.T) {
	full := errors.New("full")
	used := uint64(100)
	var got []error
	run(t, func(m host.Machine) {
		g := NewGate(m, 100, func() uint64 { return used })
		for range 2 {
			m.Go("held", func() { got = append(got, g.Admit(10)) })
		}
		m.Sleep(time.Millisecond)
		require.Empty(t, got)
		g.Refuse(full)
		m.Sleep(time.Millisecond)
		require.Equal(t, []error{full, full}, got)
		m.Go("held", func() { got = append(got, g.Admit(10)) })
		m.Sleep(time.Millisecond)
		require.Len(t, got, 2)
		used = 0
		g.Open()
		m.Sleep(time.Millisecond)
		require.Equal(t, []error{full, full, nil}, got)
		require.EqualValues(t, 3, g.Held)
	})
}
