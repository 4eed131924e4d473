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

func TestCondAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var c clock
		var m condModel
		g := c.loop.NewGroup(&c)
		cond := g.NewCond(3)
		var log []string
		next := 0
		deadlines := map[int64]bool{} // each time-out its own moment
		start := func(d int64) {
			id := next
			next++
			g.Go(fmt.Sprint("waiter ", id), func() {
				signalled := true
				if d == 0 {
					cond.Wait()
				} else {
					signalled = cond.WaitFor(d)
				}
				log = append(log, fmt.Sprintf("%d %s", id, map[bool]string{true: "signalled", false: "timed out"}[signalled]))
			})
			c.runUntil(c.now)
			w := condWaiter{id: id}
			if d > 0 {
				w.at = c.now + d
			}
			m.waiting = append(m.waiting, w)
		}
		rt.Repeat(map[string]func(*rapid.T){
			"wait": func(*rapid.T) { start(0) },
			"waitFor": func(rt *rapid.T) {
				d := rapid.Int64Range(1, 50).Draw(rt, "d")
				for deadlines[c.now+d] {
					d++
				}
				deadlines[c.now+d] = true
				start(d)
			},
			"signal":    func(*rapid.T) { cond.Signal(); m.signal(); c.runUntil(c.now) },
			"broadcast": func(*rapid.T) { cond.Broadcast(); drain(&m); c.runUntil(c.now) },
			"twoSignals": func(*rapid.T) { // without a run in between
				cond.Signal()
				cond.Signal()
				m.signal()
				m.signal()
				c.runUntil(c.now)
			},
			"time": func(rt *rapid.T) {
				c.runUntil(c.now + rapid.Int64Range(1, 40).Draw(rt, "by"))
				m.expire(c.now)
			},
			"": func(rt *rapid.T) {
				require.Equal(rt, len(m.waiting), cond.Waiting())
				require.Equal(rt, m.log, log)
			},
		})
		g.Kill()
		require.Zero(rt, cond.Waiting())
		require.Equal(rt, m.log, log, "a killed waiter came back")
		require.Zero(rt, c.loop.Live())
		c.loop.Close()
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
