package coop_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/host/coop"
)

func TestSignalWithoutWaiters(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	g := c.loop.NewGroup(&c)
	cond := g.NewCond(3)
	cond.Signal()
	cond.Broadcast()
	got := true
	g.Go("waiter", func() { got = cond.WaitFor(10) })
	c.run()
	require.False(t, got, "a signal from before the wait was kept")
	closed(0)
}

func TestWaitForNothing(t *testing.T) {
	var c clock
	closed := leakCheck(t, &c)
	g := c.loop.NewGroup(&c)
	cond := g.NewCond(3)
	order := ""
	g.Go("waiter", func() {
		require.False(t, cond.WaitFor(0))
		require.False(t, cond.WaitFor(-5))
		order += "waiter "
	})
	g.Go("other", func() { order += "other " })
	c.run()
	require.Equal(t, "other waiter ", order, "WaitFor(0) is a switch point")
	require.Zero(t, cond.Waiting())
	closed(0)
}

// condModel is what a condition should be: a list of who waits, with deadlines
// (0: none), and the log of who came back and why.
type condModel struct {
	waiting []condWaiter
	log     []string
}

type condWaiter struct {
	id int
	at int64
}

func (m *condModel) signal() {
	if len(m.waiting) > 0 {
		m.log = append(m.log, fmt.Sprintf("%d signalled", m.waiting[0].id))
		m.waiting = m.waiting[1:]
	}
}

// expire lets the time-outs up to now happen, in their order.
func (m *condModel) expire(now int64) {
	var due []condWaiter
	for _, w := range m.waiting {
		if w.at != 0 && w.at <= now {
			due = append(due, w)
		}
	}
	slices.SortStableFunc(due, func(a, b condWaiter) int { return int(a.at - b.at) })
	for _, w := range due {
		m.log = append(m.log, fmt.Sprintf("%d timed out", w.id))
	}
	m.waiting = slices.DeleteFunc(m.waiting, func(w condWaiter) bool { return w.at != 0 && w.at <= now })
}

// condRun is a real condition beside its model.
type condRun struct {
	c         clock
	m         condModel
	g         *coop.Group
	cond      *coop.Cond
	log       []string
	next      int
	deadlines map[int64]bool // each time-out has its own moment
}

// start starts a task that waits, for at most d unless that is 0.
func (r *condRun) start(d int64) {
	id := r.next
	r.next++
	r.g.Go(fmt.Sprint("waiter ", id), func() {
		why := "signalled"
		if d == 0 {
			r.cond.Wait()
		} else if !r.cond.WaitFor(d) {
			why = "timed out"
		}
		r.log = append(r.log, fmt.Sprintf("%d %s", id, why))
	})
	r.c.runUntil(r.c.now)
	w := condWaiter{id: id}
	if d > 0 {
		w.at = r.c.now + d
	}
	r.m.waiting = append(r.m.waiting, w)
}

// signal signals n times before anyone runs.
func (r *condRun) signal(n int) {
	for range n {
		r.cond.Signal()
		r.m.signal()
	}
	r.c.runUntil(r.c.now)
}

func TestCondAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := &condRun{deadlines: map[int64]bool{}}
		r.g = r.c.loop.NewGroup(&r.c)
		r.cond = r.g.NewCond(3)
		rt.Repeat(map[string]func(*rapid.T){
			"wait": func(*rapid.T) { r.start(0) },
			"waitFor": func(rt *rapid.T) {
				d := rapid.Int64Range(1, 50).Draw(rt, "d")
				for r.deadlines[r.c.now+d] {
					d++
				}
				r.deadlines[r.c.now+d] = true
				r.start(d)
			},
			"signal":    func(rt *rapid.T) { r.signal(rapid.IntRange(1, 3).Draw(rt, "n")) },
			"broadcast": func(*rapid.T) { r.cond.Broadcast(); drain(&r.m); r.c.runUntil(r.c.now) },
			"time": func(rt *rapid.T) {
				r.c.runUntil(r.c.now + rapid.Int64Range(1, 40).Draw(rt, "by"))
				r.m.expire(r.c.now)
			},
			"": func(rt *rapid.T) {
				require.Equal(rt, len(r.m.waiting), r.cond.Waiting())
				require.Equal(rt, r.m.log, r.log)
			},
		})
		r.g.Kill()
		require.Zero(rt, r.cond.Waiting())
		require.Equal(rt, r.m.log, r.log, "a killed waiter came back")
		require.Zero(rt, r.c.loop.Live())
		r.c.loop.Close()
	})
}

func drain(m *condModel) {
	for len(m.waiting) > 0 {
		m.signal()
	}
}

func BenchmarkPingPong(b *testing.B) {
	var c clock
	g := c.loop.NewGroup(&c)
	ping, pong := g.NewCond(1), g.NewCond(2)
	side := func(mine, theirs *coop.Cond) func() {
		return func() {
			for {
				mine.Wait()
				theirs.Signal()
			}
		}
	}
	g.Go("ping", side(ping, pong))
	g.Go("pong", side(pong, ping))
	c.run()
	ping.Signal()
	b.ReportAllocs()
	for b.Loop() {
		c.step(c.now)
	}
	g.Kill()
	c.loop.Close()
}
