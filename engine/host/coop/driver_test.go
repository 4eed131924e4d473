package coop_test

import (
	"bytes"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host/coop"
)

// wake is a wake-up to come.
type wake struct {
	at   int64
	task *coop.Task
	gen  uint32
}

// clock is the simplest driver: virtual time, wake-ups in order of time and,
// at one time, in the order in which they were asked for.
type clock struct {
	loop  coop.Loop
	now   int64
	wakes []wake
}

func (c *clock) Now() int64 { return c.now }

func (c *clock) Wake(t *coop.Task, gen uint32, at int64) {
	i := slices.IndexFunc(c.wakes, func(w wake) bool { return w.at > at })
	if i < 0 {
		i = len(c.wakes)
	}
	c.wakes = slices.Insert(c.wakes, i, wake{at, t, gen})
}

func (c *clock) Compute(t *coop.Task, gen uint32, debt int64) { c.Wake(t, gen, c.now+debt) }

// step resumes the next task that is due until the time limit.
func (c *clock) step(limit int64) bool {
	if len(c.wakes) == 0 || c.wakes[0].at > limit {
		return false
	}
	w := c.wakes[0]
	c.wakes = slices.Delete(c.wakes, 0, 1)
	c.now = max(c.now, w.at)
	c.loop.Resume(w.task, w.gen)
	return true
}

// runUntil runs all that is due up to a time, which then is now.
func (c *clock) runUntil(limit int64) {
	for c.step(limit) {
	}
	c.now = max(c.now, limit)
}

// run runs until nothing is left to happen.
func (c *clock) run() {
	for c.step(1 << 62) {
	}
}

// coroutines counts those that exist. (runtime.NumGoroutine also counts what
// the test framework starts and ends.)
func coroutines() int {
	stacks := make([]byte, 1<<20)
	return bytes.Count(stacks[:runtime.Stack(stacks, true)], []byte("[coroutine"))
}

// leakCheck returns a function that checks that all coroutines ended with
// Close, but for lost ones (tasks that called Goexit).
func leakCheck(t *testing.T, c *clock) func(lost int) {
	t.Helper()
	before := coroutines()
	return func(lost int) {
		t.Helper()
		require.Zero(t, c.loop.Live(), "tasks that have not ended")
		c.loop.Close()
		require.Equal(t, before+lost, coroutines(), "coroutines were left behind")
	}
}
