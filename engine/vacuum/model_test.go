package vacuum

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/host"
	"tornpage/sim"
)

// scene is one run: clients and vacuums over a table, with kills.
type scene struct {
	w       *world
	seed    uint64
	clients int
	ops     int
	pause   time.Duration // between two vacuums, at most
	kills   []time.Duration
	err     error
	total   Stats
	done    bool
}

// costs make every record and page take time, so that a kill finds any step.
func costs() sim.Costs {
	c := sim.DefaultCosts()
	c[host.WorkRecord], c[host.WorkPrune], c[host.WorkPageLookup] = 20_000, 5_000, 1_000
	return c
}

func (s *scene) run(t require.TestingT) map[string]uint64 {
	w, err := sim.New(sim.Config{Seed: s.seed, Machines: []sim.Machine{{Name: "m", Zone: "a"}}, Costs: costs(),
		Hosts: []sim.Host{{Name: "h", Machine: "m", Boot: s.boot}}})
	require.NoError(t, err)
	defer w.Close()
	for _, after := range s.kills {
		w.Boot("h")
		w.Run(w.Now() + after)
		s.fine(t, w)
		w.Kill("h")
	}
	w.Boot("h")
	w.Run(w.Now() + time.Minute)
	s.fine(t, w)
	require.True(t, s.done, "seed %d: the last boot did not end", s.seed)
	return w.Marks()
}

func (s *scene) fine(t require.TestingT, w *sim.World) {
	if f := w.Failure(); f != nil {
		require.Fail(t, f.Error(), "seed %d\n%s", s.seed, f.Stack)
	}
	require.NoError(t, s.err, "seed %d", s.seed)
}

// boot checks what the last boot left, lets clients and vacuum work, and ends
// with a vacuum that nobody disturbs.
func (s *scene) boot(m host.Machine) {
	s.done = false
	if err := s.work(m); err != nil {
		s.err = errors.Join(s.err, fmt.Errorf("boot %d at %v: %w", m.Boot(), m.Now(), err))
	}
	s.done = true
}

func (s *scene) work(m host.Machine) error {
	b, err := s.w.boot(m)
	if err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return fmt.Errorf("after the boot: %w", err)
	}
	left, ended := s.clients, m.NewCond(host.WaitWork)
	var first error
	task := func(name string, f func() error) {
		m.Go(name, func() {
			if err := f(); err != nil && first == nil {
				first = fmt.Errorf("%s: %w", name, err)
			}
			left--
			ended.Broadcast()
		})
	}
	for i := range s.clients {
		r := m.Rand("client", uint64(i))
		task(fmt.Sprint("client ", i), func() error { return b.client(&r, s.ops) })
	}
	r := m.Rand("vacuum", 0)
	for left > 0 && first == nil {
		if !ended.WaitFor(int64(r.N(uint64(s.pause)))) {
			st, err := b.vacuum()
			if err != nil {
				return err
			}
			s.add(st)
		}
	}
	if first != nil {
		return first
	}
	if err := b.check(); err != nil {
		return fmt.Errorf("after the work: %w", err)
	}
	st, err := b.vacuum()
	if err != nil {
		return err
	}
	s.add(st)
	if err := b.check(); err != nil {
		return fmt.Errorf("after the last vacuum: %w", err)
	}
	return b.checkClean(st.Skipped == 0)
}

func (s *scene) add(st Stats) {
	s.total.Reclaimed += st.Reclaimed
	s.total.Rests += st.Rests
	s.total.New += st.New
	s.total.Skipped += st.Skipped
	s.total.Index.Removed += st.Index.Removed
}

// client writes, and reads what it must find.
func (b *boot) client(r *host.Rand, ops int) error {
	for range ops {
		b.use()
		var err error
		switch key, what := int64(r.N(keySpace)), r.N(8); {
		case what == 0:
			err = b.readSome(r)
		case what < b.w.deletes:
			err = b.change(r, key, 0)
		default:
			b.w.value++
			err = b.change(r, key, b.w.value)
		}
		b.leave()
		if err != nil {
			return err
		}
		if r.N(3) == 0 {
			b.m.Sleep(time.Duration(r.N(300_000)))
		}
	}
	return nil
}

func (b *boot) change(r *host.Rand, key, value int64) error {
	x := b.begin(key)
	if x == nil {
		return nil
	}
	if err := b.write(x, value, int(r.N(12))); err != nil {
		return err
	}
	if x.value == 0 && value != 0 {
		return fmt.Errorf("key %d was not written", key)
	}
	return b.end(x, r.N(6) > 0)
}

// readSome holds a snapshot for a while and reads keys in it.
func (b *boot) readSome(r *host.Rand) error {
	n := len(b.w.states) - 1
	b.held[n]++
	defer func() {
		if b.held[n]--; b.held[n] == 0 {
			delete(b.held, n)
		}
	}()
	for range 4 {
		key := int64(r.N(keySpace))
		_, got, found, err := b.find(key, n, int(r.N(12)))
		if err != nil {
			return err
		}
		if want, there := b.w.states[n][key]; got != want || found != there {
			return fmt.Errorf("key %d in the snapshot of %d commits: %d (%t), want %d (%t)", key, n, got, found, want, there)
		}
		b.w.reads++
		b.m.Sleep(time.Duration(r.N(400_000)))
	}
	return nil
}

// drawScene varies everything that a run depends on.
func drawScene(t *rapid.T) *scene {
	w := newWorld()
	w.mem.WithFloor = rapid.Bool().Draw(t, "images")
	w.mem.ReadTime = rapid.SampledFrom([]time.Duration{0, 30 * time.Microsecond}).Draw(t, "read time")
	w.mem.FlushTime = rapid.SampledFrom([]time.Duration{20 * time.Microsecond, 300 * time.Microsecond}).Draw(t, "flush time")
	w.moves = rapid.SampledFrom([]uint64{0, 3}).Draw(t, "floor moves")
	w.frames = rapid.IntRange(8, 12).Draw(t, "frames")
	w.indexes = rapid.IntRange(0, 2).Draw(t, "indexes")
	w.lines = rapid.SampledFrom([]int{6, 100}).Draw(t, "lines")
	w.deletes = rapid.SampledFrom([]uint64{2, 3, 6}).Draw(t, "deletes") // below 2: reads
	w.pad = rapid.SampledFrom([]int{0, 1500, 2500}).Draw(t, "pad")
	w.cfg = Config{
		All:           rapid.Bool().Draw(t, "all"),
		SkipRun:       rapid.SampledFrom([]uint32{1, 3, 0}).Draw(t, "skip run"),
		DeadTIDs:      rapid.SampledFrom([]int{1, 4, 0}).Draw(t, "dead TIDs"),
		BypassPercent: -1, TruncateBlocks: 1, LockTries: 3, LockWait: 20 * time.Microsecond,
		CostDelay: rapid.SampledFrom([]time.Duration{0, 50 * time.Microsecond}).Draw(t, "cost delay"),
		CostLimit: 20,
	}
	s := &scene{w: w, seed: rapid.Uint64Range(0, 1<<20).Draw(t, "seed"), clients: rapid.IntRange(1, 4).Draw(t, "clients"),
		ops: rapid.IntRange(5, 40).Draw(t, "ops"), pause: rapid.SampledFrom([]time.Duration{time.Millisecond, 10 * time.Millisecond}).Draw(t, "pause")}
	for range rapid.IntRange(0, 3).Draw(t, "kills") {
		s.kills = append(s.kills, time.Duration(rapid.IntRange(100, 60_000).Draw(t, "kill at"))*time.Microsecond)
	}
	return s
}

// TestRuns: clients and vacuums at once, kills at any moment: every row of
// every snapshot stays reachable by every index, no entry leads astray, and the
// map never says too much.
func TestRuns(t *testing.T) {
	var total Stats
	marks, reads := map[string]uint64{}, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t)
		for name, n := range s.run(t) {
			marks[name] += n
		}
		total.Reclaimed += s.total.Reclaimed
		total.Rests += s.total.Rests
		total.Skipped += s.total.Skipped
		total.Index.Removed += s.total.Index.Removed
		reads += s.w.reads
	})
	t.Logf("%+v, %d reads, marks %v", total, reads, marks)
	require.NotZero(t, reads)
	require.NotZero(t, total.Reclaimed)
	require.NotZero(t, total.Rests)
	require.NotZero(t, total.Index.Removed)
	// Cuts and skipped blocks are rarer: the conversations have them for sure.
	for _, mark := range []string{"vacuum.pruned", "vacuum.reclaimed", "vacuum.visible", "vacuum.another-round", "vacuum.fate-asked"} {
		require.NotZero(t, marks[mark], "no run came to %s", mark)
	}
}
