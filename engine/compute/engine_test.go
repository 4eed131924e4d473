package compute_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine"
	"tornpage/engine/buffer"
	"tornpage/engine/compute"
	"tornpage/engine/compute/computetest"
	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
	"tornpage/sim"
)

const port host.Port = 9

// inWorld runs f as the main task of a process.
func inWorld(t *testing.T, f func(w *sim.World, m host.Machine)) {
	ended := false
	var w *sim.World
	w, err := sim.New(sim.Config{Machines: []sim.Machine{{Name: "m", Zone: "a"}, {Name: "c", Zone: "a"}},
		Hosts: []sim.Host{{Name: "writer", Machine: "m", Boot: func(m host.Machine) {
			f(w, m)
			ended = true
		}}}})
	require.NoError(t, err)
	defer w.Close()
	w.BootAll()
	w.Run(time.Minute)
	if f := w.Failure(); f != nil {
		require.Fail(t, f.Error(), f.Stack)
	}
	require.True(t, ended, "something waits for ever")
}

func values(vs ...string) *db.Values {
	v := new(db.Values)
	for _, s := range vs {
		v.Add([]byte(s))
	}
	return v
}

func get(t *testing.T, e *compute.Engine, key int64) string {
	var v db.Values
	o := e.Read([]int64{key}, 0, &v)
	require.Equal(t, db.Committed, o.Status, "%v", o)
	if v.At(0) == nil {
		return "absent"
	}
	return string(v.At(0))
}

func TestOutcomes(t *testing.T) {
	inWorld(t, func(_ *sim.World, m host.Machine) {
		e, err := compute.New(m, compute.Config{Rows: 10, ValueBytes: 50})
		require.NoError(t, err)
		require.Equal(t, db.WhyClosed, e.Put(1, []byte("a")).Why)
		require.False(t, e.Serving())
		mem := &computetest.Mem{}
		require.NoError(t, e.Open(mem.Boot(m)))
		require.True(t, e.Serving())

		require.Equal(t, "absent", get(t, e, 1))
		first := e.Put(1, []byte("a"))
		require.Equal(t, db.Committed, first.Status)
		require.Equal(t, first.Token, e.Published())
		require.Equal(t, "a", get(t, e, 1))

		var held db.Values
		o := e.CompareAndSet(1, nil, []byte("b"), &held)
		require.Equal(t, db.WhyMismatch, o.Why)
		require.Equal(t, "a", string(held.At(0)))
		o = e.CompareAndSet(1, []byte("a"), []byte("b"), &held)
		require.Equal(t, db.Committed, o.Status)
		require.Greater(t, o.Token, first.Token)
		require.Equal(t, db.Committed, e.CompareAndSet(2, nil, []byte(""), &held).Status)
		require.Equal(t, "", get(t, e, 2))

		require.Equal(t, db.Committed, e.MultiPut([]int64{9, 3}, values("nine", "three"), false).Status)
		require.Equal(t, db.WhyRollback, e.MultiPut([]int64{9, 3}, values("x", "y"), true).Why)
		require.Equal(t, "nine", get(t, e, 9))
		require.Equal(t, db.Committed, e.Put(9, nil).Status)
		require.Equal(t, "absent", get(t, e, 9))
		gone := e.Put(9, nil)
		require.Equal(t, db.Committed, gone.Status, "deleting what is absent commits")
		require.Equal(t, gone.Token, e.Published())

		require.Contains(t, e.Put(10, []byte("a")).Text, "key 10 is not in the table: its keys are 0 to 9")
		require.Contains(t, e.Put(1, make([]byte, 51)).Text, "value of 51 bytes for key 1, at most 50")
		require.Contains(t, e.MultiPut([]int64{3, 3}, values("x", "y"), false).Text, "key 3 twice")
		require.Equal(t, db.WhyBehind, e.Read([]int64{1}, e.Published()+1, &held).Why)
		s := e.Stats()
		require.EqualValues(t, 6, s.Committed)
		require.EqualValues(t, 1, s.Aborted)
		require.EqualValues(t, 1, s.Mismatched)
		require.Empty(t, e.Running().XIDs)
	})
}

// TestRecords: the records of a transaction, as the log has them.
func TestRecords(t *testing.T) {
	inWorld(t, func(_ *sim.World, m host.Machine) {
		mem := &computetest.Mem{}
		e, err := compute.Open(m, mem.Boot(m), compute.Config{Rows: 10, ValueBytes: 50})
		require.NoError(t, err)
		require.Equal(t, db.Committed, e.Put(1, []byte("a")).Status)
		require.Equal(t, db.Committed, e.MultiPut([]int64{1, 2}, values("b", "c"), false).Status)
		require.Equal(t, db.WhyRollback, e.MultiPut([]int64{1}, values("b"), true).Why)
		require.Equal(t, db.Committed, e.Put(2, nil).Status)
		records, err := mem.Records()
		require.NoError(t, err)
		var names []string
		for i := range records {
			names = append(names, wal.OpName(records[i].Rmgr, records[i].Info))
		}
		require.Equal(t, []string{"XLOG/NEXTXID", "Heap/INSERT+INIT", "CLOG/ZEROPAGE", "Transaction/COMMIT",
			"Heap/HOT_UPDATE", "Heap/INSERT", "Transaction/COMMIT",
			"Heap/HOT_UPDATE", "Transaction/ABORT", "Heap/DELETE", "Transaction/COMMIT"}, names)
	})
}

// TestStorageFails: what was appended and not known to be durable is unknown,
// what was not appended is aborted, and the boot is over (rules C5, C6).
func TestStorageFails(t *testing.T) {
	inWorld(t, func(_ *sim.World, m host.Machine) {
		mem := &computetest.Mem{FlushTime: 10 * time.Millisecond}
		st := mem.Boot(m)
		e, err := compute.Open(m, st, compute.Config{Rows: 10, ValueBytes: 50})
		require.NoError(t, err)
		require.Equal(t, db.Committed, e.Put(1, []byte("a")).Status)
		var unknown, waiting db.Outcome
		m.Go("commits", func() { unknown = e.Put(1, []byte("b")) })
		m.Sleep(time.Millisecond)
		m.Go("waits for its lock", func() { waiting = e.Put(1, []byte("c")) })
		m.Sleep(5 * time.Millisecond)
		require.Equal(t, "a", get(t, e, 1), "C4: not published")
		broken := errors.New("the log is lost")
		st.Fail(broken)
		require.ErrorIs(t, e.Wait(), broken)
		m.Sleep(time.Millisecond)
		require.Equal(t, db.Unknown, unknown.Status)
		require.Equal(t, db.Aborted, waiting.Status)
		require.False(t, e.Serving())
		var v db.Values
		require.Equal(t, db.WhyClosed, e.Read([]int64{1}, 0, &v).Why)
		require.ErrorIs(t, e.Pool().WriteBack(page.ID{Rel: e.Rel()}), buffer.ErrFailed)
	})
}

// TestAppendFails: an error of Append leaves the commit record in the log or
// not, and the client is told so; the heap record's leaves it out for certain.
func TestAppendFails(t *testing.T) {
	for n, want := range map[int]db.Status{1: db.Aborted, 2: db.Unknown} { // heap record, commit record
		inWorld(t, func(_ *sim.World, m host.Machine) {
			mem := &computetest.Mem{}
			st := mem.Boot(m)
			e, err := compute.Open(m, st, compute.Config{})
			require.NoError(t, err)
			require.Equal(t, db.Committed, e.Put(1, []byte("a")).Status)
			st.Betray = n
			require.Equal(t, want, e.Put(1, []byte("b")).Status)
			require.ErrorIs(t, e.Wait(), computetest.ErrBetrayed)
			m.Sleep(time.Millisecond)

			next, err := compute.Open(m, mem.Boot(m), compute.Config{})
			require.NoError(t, err)
			if want == db.Unknown {
				require.Equal(t, "b", get(t, next, 1), "here it did commit")
			} else {
				require.Equal(t, "a", get(t, next, 1))
			}
		})
	}
}

// TestEvictFails: a page that cannot be written ends the boot.
func TestEvictFails(t *testing.T) {
	inWorld(t, func(_ *sim.World, m host.Machine) {
		st := new(computetest.Mem).Boot(m)
		e, err := compute.Open(m, st, compute.Config{Rows: 40, RowsPerPage: 1, Pool: buffer.Config{Frames: 2}})
		require.NoError(t, err)
		require.Equal(t, db.Committed, e.Put(1, []byte("a")).Status)
		st.EvictErr = host.ErrNoSpace
		for k := range int64(5) {
			e.Put(k, []byte("b"))
		}
		require.ErrorIs(t, e.Wait(), host.ErrNoSpace)
		require.False(t, e.Serving())
	})
}

// TestFenced: a second boot on the same storage ends the first at its next
// commit.
func TestFenced(t *testing.T) {
	inWorld(t, func(_ *sim.World, m host.Machine) {
		mem := &computetest.Mem{}
		old, err := compute.Open(m, mem.Boot(m), compute.Config{})
		require.NoError(t, err)
		require.Equal(t, db.Committed, old.Put(1, []byte("a")).Status)
		next, err := compute.Open(m, mem.Boot(m), compute.Config{})
		require.NoError(t, err)
		require.Equal(t, db.Aborted, old.Put(1, []byte("b")).Status)
		require.ErrorIs(t, old.Failed(), engine.ErrFenced)
		require.Equal(t, db.Committed, next.Put(1, []byte("c")).Status)
		require.Equal(t, "c", get(t, next, 1))
	})
}

// TestPageFull: a reader that holds an old snapshot keeps a page full; the
// writer waits, and goes on once the reader has ended. It never waits for
// itself.
func TestPageFull(t *testing.T) {
	inWorld(t, func(_ *sim.World, m host.Machine) {
		mem := &computetest.Mem{ReadTime: 20 * time.Millisecond}
		e, err := compute.Open(m, mem.Boot(m), compute.Config{Rows: 40, RowsPerPage: 1, ValueBytes: 1200,
			Pool: buffer.Config{Frames: 4}})
		require.NoError(t, err)
		big := make([]byte, 1200)
		for range 20 {
			require.Equal(t, db.Committed, e.Put(0, big).Status)
		}
		require.NotZero(t, e.Stats().Pruned)
		require.Zero(t, e.Stats().PageFull, "without readers there is always room")

		keys, all := []int64{}, new(db.Values)
		for k := range int64(40) {
			keys = append(keys, k)
		}
		read := false
		m.Go("reader", func() {
			require.Equal(t, db.Committed, e.Read(keys, 0, all).Status) // 40 cold pages
			read = true
		})
		m.Sleep(time.Millisecond)
		for range 20 {
			require.Equal(t, db.Committed, e.Put(0, big).Status)
		}
		require.NotZero(t, e.Stats().PageFull)
		require.Less(t, e.Stats().PageFull, uint64(100), "waiting must not be a busy loop")
		require.True(t, read, "the writer had to wait for the reader's end")
	})
}

// TestOverNetwork: clients on another machine, a writer that dies and comes
// back; acknowledged writes are there afterwards.
func TestOverNetwork(t *testing.T) {
	mem := &computetest.Mem{WithFloor: true}
	acked, ended := map[int64]string{}, false
	var w *sim.World
	w, err := sim.New(sim.Config{Seed: 7,
		Machines: []sim.Machine{{Name: "m", Zone: "a"}, {Name: "c", Zone: "b"}},
		Hosts: []sim.Host{{Name: "writer", Machine: "m", Boot: func(m host.Machine) {
			e, err := compute.New(m, compute.Config{Rows: 20, RowsPerPage: 3, Pool: buffer.Config{Frames: 3}})
			if err != nil {
				m.Exit(err)
			}
			db.Serve(m, port, e)
			m.Sleep(5 * time.Millisecond) // not open yet
			if err := e.Open(mem.Boot(m)); err != nil {
				m.Exit(err)
			}
			m.Exit(e.Wait())
		}}, {Name: "client", Machine: "c", Boot: func(m host.Machine) {
			var c *db.Client
			for i := 0; i < 200; {
				var err error
				if c == nil || c.Broken() != nil {
					if c, err = db.Dial(m, "writer", port, 50*time.Millisecond); err != nil {
						m.Sleep(time.Millisecond)
						continue
					}
				}
				key, text := int64(i%20), string(rune('a'+i%26))
				o := c.Put(key, []byte(text))
				if o.Status == db.Committed {
					acked[key] = text
					i++
				}
				if o.Why == db.WhyBroken || o.Why == db.WhyNotSent {
					m.Sleep(time.Millisecond)
				}
			}
			for k, want := range acked {
				got, _, err := c.Get(k)
				if err != nil || string(got) != want {
					panic(fmt.Errorf("key %d is %q, want %q: %v", k, got, want, err))
				}
			}
			ended = true
		}}}})
	require.NoError(t, err)
	defer w.Close()
	w.BootAll()
	for range 5 {
		w.Run(w.Now() + 20*time.Millisecond)
		w.Kill("writer")
		w.Boot("writer")
	}
	w.Run(time.Minute)
	if f := w.Failure(); f != nil {
		require.Fail(t, f.Error(), f.Stack)
	}
	require.True(t, ended)
	_, _, err = mem.Replay()
	require.NoError(t, err)
}
