package host_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/host"
	"tornpage/engine/host/coop"
	"tornpage/engine/invariant"
)

// fifo drives tasks in the order in which they become ready; time stands still.
type fifo struct {
	loop  coop.Loop
	ready []func()
}

func (f *fifo) Now() int64 { return 0 }
func (f *fifo) Wake(t *coop.Task, gen uint32, _ int64) {
	f.ready = append(f.ready, func() { f.loop.Resume(t, gen) })
}
func (f *fifo) Compute(t *coop.Task, gen uint32, _ int64) { f.Wake(t, gen, 0) }
func (f *fifo) run() {
	for len(f.ready) > 0 {
		next := f.ready[0]
		f.ready = f.ready[1:]
		next()
	}
}

// latchMachine is as much of a machine as latches need.
type latchMachine struct {
	host.Machine
	group *coop.Group
}

func (m latchMachine) NewCond(ev host.WaitEvent) *host.Cond { return m.group.NewCond(ev) }

// latchModel is the latch as a list: who holds it and who waits, in order.
type latchModel struct {
	holders []latchUser
	waiting []latchUser
}

type latchUser struct {
	id        int
	exclusive bool
}

func (m *latchModel) fits(u latchUser) bool {
	return len(m.holders) == 0 || !u.exclusive && !m.holders[0].exclusive
}

func (m *latchModel) lock(u latchUser) {
	m.waiting = append(m.waiting, u)
	m.settle()
}

// settle lets waiters in, first come first served.
func (m *latchModel) settle() {
	for len(m.waiting) > 0 && m.fits(m.waiting[0]) {
		m.holders = append(m.holders, m.waiting[0])
		m.waiting = m.waiting[1:]
	}
}

func (m *latchModel) unlock(i int) latchUser {
	u := m.holders[i]
	m.holders = append(m.holders[:i:i], m.holders[i+1:]...)
	m.settle()
	return u
}

// latchRun is the real latch with its users, who hold it until told to release.
type latchRun struct {
	f       fifo
	group   *coop.Group
	latch   *host.Latch
	holding map[int]bool // to exclusive
	release map[int]*host.Cond
	told    map[int]bool
	next    int
}

func newLatchRun() *latchRun {
	r := &latchRun{holding: map[int]bool{}, release: map[int]*host.Cond{}, told: map[int]bool{}}
	r.group = r.f.loop.NewGroup(&r.f)
	r.latch = host.NewLatch(latchMachine{group: r.group}, host.WaitBufferContent)
	return r
}

// user starts a task that takes the latch, with CPU debt or without.
func (r *latchRun) user(exclusive bool, debt int64) latchUser {
	id := r.next
	r.next++
	r.release[id] = r.group.NewCond(host.WaitWork)
	r.group.Go(fmt.Sprint("user ", id), func() {
		r.group.Charge(debt)
		if exclusive {
			r.latch.Lock()
			defer r.latch.Unlock()
		} else {
			r.latch.RLock()
			defer r.latch.RUnlock()
		}
		r.holding[id] = exclusive
		r.group.TakeDebt()
		for !r.told[id] {
			r.release[id].Wait()
		}
		delete(r.holding, id)
	})
	return latchUser{id, exclusive}
}

func TestLatchAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r, m := newLatchRun(), &latchModel{}
		lock := func(exclusive bool) func(*rapid.T) {
			return func(rt *rapid.T) {
				m.lock(r.user(exclusive, rapid.SampledFrom([]int64{0, 0, 5}).Draw(rt, "debt")))
				r.f.run()
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"lock":   lock(true),
			"rlock":  lock(false),
			"rlock2": lock(false),
			"unlock": func(rt *rapid.T) {
				if len(m.holders) == 0 {
					rt.Skip("nobody holds the latch")
				}
				u := m.unlock(rapid.IntRange(0, len(m.holders)-1).Draw(rt, "who"))
				r.told[u.id] = true
				r.release[u.id].Signal()
				r.f.run()
			},
			"try": func(rt *rapid.T) {
				free := len(m.holders) == 0 && len(m.waiting) == 0
				require.Equal(rt, free, r.latch.TryLock())
				if free {
					require.True(rt, r.latch.Held())
					r.latch.Unlock()
				}
			},
			"": func(rt *rapid.T) {
				want := map[int]bool{}
				for _, u := range m.holders {
					want[u.id] = u.exclusive
				}
				require.Equal(rt, want, r.holding)
				require.Equal(rt, len(m.holders) == 1 && m.holders[0].exclusive, r.latch.Held())
			},
		})
		r.group.Kill()
		require.Zero(rt, r.f.loop.Live())
		r.f.loop.Close()
	})
}

func TestLatchMisuse(t *testing.T) {
	broken := func(what string, f func()) {
		defer func() {
			v, ok := recover().(*invariant.Violation)
			require.True(t, ok, what)
			require.Equal(t, "H-latch", v.Rule)
		}()
		f()
	}
	r := newLatchRun()
	broken("Unlock of a free latch", r.latch.Unlock)
	broken("RUnlock of a free latch", r.latch.RUnlock)
	require.True(t, r.latch.TryLock())
	broken("RUnlock of an exclusive hold", r.latch.RUnlock)
	r.latch.Unlock()
	r.latch.RLock()
	broken("Unlock of a shared hold", r.latch.Unlock)
	r.latch.RUnlock()
	r.f.loop.Close()
}

func BenchmarkFreeLatch(b *testing.B) {
	r := newLatchRun()
	b.ReportAllocs()
	for b.Loop() {
		if r.latch.TryLock() {
			r.latch.Unlock()
		}
	}
}
