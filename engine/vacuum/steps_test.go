package vacuum

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
	"tornpage/sim"
)

// steps is one table, vacuumed with a crash after record number at.
type steps struct {
	w       *world
	crashed bool
	err     error
	before  uint32 // blocks before the vacuum
	cut     bool
}

// prepare leaves all that vacuum works on: chains to prune, dead rows on
// several pages, an aborted row, an empty tail.
func (s *steps) prepare(b *boot) error {
	do := func(key, value int64, how int, commit bool) error {
		x := b.begin(key)
		if err := b.write(x, value, how); err != nil {
			return err
		}
		return b.end(x, commit)
	}
	type op struct {
		key, value int64
		how        int // even: heap-only if there is room
		commit     bool
	}
	var ops []op
	for key := range int64(5) {
		ops = append(ops, op{key, 100 + key, 0, true})
	}
	ops = append(ops, op{0, 200, 0, true}, op{0, 201, 0, true}, op{1, 202, 1, true}, op{2, 0, 0, true},
		op{3, 203, 0, false}, op{4, 204, 1, false}, op{1, 205, 1, false})
	for key := int64(5); key < keySpace; key++ {
		ops = append(ops, op{key, 100 + key, 0, true})
	}
	for key := int64(5); key < keySpace; key++ {
		ops = append(ops, op{key, 0, 0, true})
	}
	for _, o := range ops {
		if err := do(o.key, o.value, o.how, o.commit); err != nil {
			return err
		}
	}
	return nil
}

func (s *steps) boot(m host.Machine) {
	if err := s.work(m); err != nil {
		s.err = fmt.Errorf("boot %d: %w", m.Boot(), err)
	}
}

func (s *steps) work(m host.Machine) error {
	b, err := s.w.boot(m)
	if err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return err
	}
	if m.Boot() == 1 {
		if err := s.prepare(b); err != nil {
			return err
		}
		if s.before, err = b.pg.Blocks(tableRel); err != nil {
			return err
		}
		st, err := b.vacuum() // here it crashes
		if err != nil {
			return err
		}
		s.cut = st.Truncated > 0
		return b.checkClean(st.Skipped == 0)
	}
	s.crashed = true
	n, err := b.pg.Blocks(tableRel)
	if err != nil {
		return err
	}
	s.cut = n < s.before
	for key := range int64(keySpace) { // line pointers and cut blocks are used again
		x := b.begin(key)
		if err := b.write(x, 300+key, int(key%2)); err != nil {
			return err
		}
		if err := b.end(x, true); err != nil {
			return err
		}
	}
	if err := b.check(); err != nil {
		return fmt.Errorf("after new rows: %w", err)
	}
	st, err := b.vacuum()
	if err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return fmt.Errorf("after the second vacuum: %w", err)
	}
	return b.checkClean(st.Skipped == 0)
}

// TestEveryStep crashes a vacuum after each of its records in turn, of the
// table's and of the indexes', and lets the next boot go on.
func TestEveryStep(t *testing.T) {
	for _, c := range []struct {
		name    string
		indexes int
		dead    int
	}{{"no index", 0, 0}, {"two indexes", 2, 0}, {"two indexes, a round a page", 2, 1}} {
		at, crashed, cuts := 0, true, 0
		for crashed {
			at++
			s := &steps{w: newWorld()}
			s.w.indexes, s.w.pad, s.w.crash = c.indexes, 1800, at
			s.w.cfg = Config{BypassPercent: -1, TruncateBlocks: 1, DeadTIDs: c.dead}
			s.w.mem.WithFloor = at%2 == 0
			w, err := sim.New(sim.Config{Seed: uint64(at), Machines: []sim.Machine{{Name: "m", Zone: "a"}},
				Hosts: []sim.Host{{Name: "h", Machine: "m", Boot: s.boot}}})
			require.NoError(t, err)
			for range 2 {
				w.Boot("h")
				w.Run(w.Now() + time.Minute)
				if f := w.Failure(); f != nil {
					require.Fail(t, f.Error(), "%s, crash after record %d\n%s", c.name, at, f.Stack)
				}
				require.NoError(t, s.err, "%s, crash after record %d", c.name, at)
				if s.w.crash > 0 {
					break // it came through
				}
				require.False(t, w.Up("h"))
			}
			crashed = s.crashed
			if s.cut {
				cuts++
			}
			w.Close()
		}
		t.Logf("%s: %d records", c.name, at-1)
		require.Greater(t, at, 6+4*c.indexes, c.name)
		require.NotZero(t, cuts, c.name)
	}
}
