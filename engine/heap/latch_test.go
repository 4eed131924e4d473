package heap

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/buffer"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/sim"
)

// crowd runs tasks in one process with a heap in memory.
func crowd(t *testing.T, cfg Config, boot func(s *scene, wait func(tasks ...func()))) {
	s := &scene{t: t, frames: 64, cfg: cfg, txns: newTxns()}
	w, err := sim.New(sim.Config{Machines: []sim.Machine{{Name: "m", Zone: "a"}}, Costs: sim.DefaultCosts(),
		Hosts: []sim.Host{{Name: "db", Machine: "m", Boot: func(m host.Machine) {
			s.open(m)
			left, done := 0, m.NewCond(host.WaitWork)
			boot(s, func(tasks ...func()) {
				for i, f := range tasks {
					left++
					m.Go(fmt.Sprint("task ", i), func() {
						f()
						left--
						done.Broadcast()
					})
				}
				for left > 0 {
					done.Wait()
				}
			})
		}}}})
	require.NoError(t, err)
	defer w.Close()
	w.BootAll()
	w.Run(time.Hour)
	if f := w.Failure(); f != nil {
		require.Fail(t, f.Error(), f.Stack)
	}
	require.False(t, w.Up("db"), "tasks wait for each other")
}

// TestLatchOrder: two updates move rows from each one's page to the other's,
// while a third task has one of the pages (rule E6).
func TestLatchOrder(t *testing.T) {
	crowd(t, Config{LinesPerPage: 2}, func(s *scene, wait func(...func())) {
		x := s.txns.begin(s.m)
		var tids []page.TID
		for range 4 {
			tid, err := s.h.Insert(x, tuple(1, nil))
			s.must(err)
			tids = append(tids, tid)
		}
		x.end(true)
		move := func(from page.TID, to uint32) func() {
			return func() {
				h := New(s.pg, sceneRel, nil, s.cfg)
				h.target, h.aimed = to, true
				x := s.txns.begin(s.m)
				res, _, _, err := h.Update(x, from, tuple(1, nil), true)
				s.must(err)
				if res != Done || h.Stats.Moved != 1 {
					s.fail("%v, %+v", res, h.Stats)
				}
			}
		}
		f, err := s.pg.Pool().Pin(s.h.id(1))
		s.must(err)
		wait(hold(s.m, f), move(tids[0], 1), move(tids[2], 0), hold(s.m, f), move(tids[3], 0), move(tids[1], 1))
	})
}

// hold latches a pinned page for a while, again and again.
func hold(m host.Machine, f *buffer.Frame) func() {
	return func() {
		for range 20 {
			f.Lock()
			m.Sleep(10 * time.Microsecond)
			f.Unlock()
			m.Sleep(time.Microsecond)
		}
	}
}

// TestInsertersShare: those who find a page full at the same time add one page
// and not one each.
func TestInsertersShare(t *testing.T) {
	const clients, rows, lines = 16, 20, 8
	crowd(t, Config{LinesPerPage: lines}, func(s *scene, wait func(...func())) {
		var tasks []func()
		for range clients {
			tasks = append(tasks, func() {
				x := s.txns.begin(s.m)
				for range rows {
					_, err := s.h.Insert(x, tuple(1, nil))
					s.must(err)
				}
			})
		}
		wait(tasks...)
		n, err := s.pg.Blocks(sceneRel)
		s.must(err)
		if n != clients*rows/lines {
			s.fail("%d rows of %d a page are on %d pages, want %d", clients*rows, lines, n, clients*rows/lines)
		}
	})
}
