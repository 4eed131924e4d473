package txn

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// inTask runs f as the only task of a world.
func inTask(t testing.TB, k *talk, f func()) {
	done := false
	k.m.Go("bench", func() {
		f()
		done = true
	})
	for !done && k.w.Failure() == nil {
		k.w.Run(k.w.Now() + time.Second)
	}
	if v := k.w.Failure(); v != nil {
		t.Fatalf("%v", v.Value)
	}
}

// durableLog is a log that is durable at once.
type durableLog struct{ lsn wal.LSN }

func (l *durableLog) Durable() wal.LSN          { return l.lsn }
func (l *durableLog) WaitDurable(wal.LSN) error { return nil }

// bench is a talk whose commits need not wait.
func newBench(tb testing.TB, running int) (*talk, *durableLog) {
	k := newTalk(tb, setup{batch: 1 << 20})
	tb.Cleanup(k.w.Close)
	log := &durableLog{lsn: 1000}
	k.q = NewQueue(k.m, k.t, log, nil)
	inTask(tb, k, func() {
		for range running {
			_, err := k.t.Begin()
			require.NoError(tb, err)
		}
	})
	return k, log
}

// load is what a transaction of a benchmark does.
type load struct {
	name                      string
	running, savepoints, rows int
}

// transact is one transaction with a table lock, savepoints that write, row
// locks, and a commit.
func (n load) transact(k *talk, log *durableLog) error {
	x, err := k.t.Start(ReadCommitted)
	if err != nil {
		return err
	}
	x.Statement()
	if err := n.write(k, x); err != nil {
		return err
	}
	x.EndStatement()
	xid, subs := x.Tree()
	log.lsn += 8
	k.q.Lock()
	c := k.q.Enter(xid, log.lsn, subs...)
	k.q.Unlock()
	if err := k.q.Wait(c); err != nil {
		return err
	}
	x.End()
	return nil
}

func (n load) write(k *talk, x *Xact) error {
	_, err := x.XID()
	if err == nil {
		err = k.table.Acquire(x.Owner(), TableLock(1), RowExclusive)
	}
	for i := 0; i < n.savepoints && err == nil; i++ {
		if err = x.Savepoint("s"); err == nil {
			_, err = x.XID()
		}
		if err == nil {
			err = x.Release("s")
		}
	}
	for i := 0; i < n.rows && err == nil; i++ {
		err = k.table.Acquire(x.Owner(), RowLock(1, page.TID{Block: uint32(i), Offset: 1}), Exclusive)
	}
	return err
}

func BenchmarkTransaction(b *testing.B) {
	for _, n := range []load{
		{"alone", 0, 0, 1},
		{"among 1000", 1000, 0, 1},
		{"among 1000, 8 savepoints", 1000, 8, 1},
		{"alone, 100 rows", 0, 0, 100},
	} {
		b.Run(n.name, func(b *testing.B) {
			k, log := newBench(b, n.running)
			inTask(b, k, func() {
				for i := -300; i < b.N; i++ {
					if i == 0 {
						b.ReportAllocs()
						b.ResetTimer()
					}
					if err := n.transact(k, log); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

func BenchmarkLock(b *testing.B) {
	k, _ := newBench(b, 0)
	o := k.table.NewOwner("o")
	b.ReportAllocs()
	inTask(b, k, func() {
		for range b.N {
			id := RowLock(1, page.TID{Block: 7, Offset: 1})
			if err := k.table.Acquire(o, id, Exclusive); err != nil {
				b.Error(err)
			}
			k.table.Release(o, id, Exclusive)
		}
	})
}

// A table lock that a thousand others hold in the same mode.
func BenchmarkLockShared(b *testing.B) {
	k, _ := newBench(b, 0)
	o := k.table.NewOwner("o")
	b.ReportAllocs()
	inTask(b, k, func() {
		for range 1000 {
			if err := k.table.Acquire(k.table.NewOwner("other"), TableLock(1), RowExclusive); err != nil {
				b.Error(err)
			}
		}
		b.ResetTimer()
		for range b.N {
			if err := k.table.Acquire(o, TableLock(1), RowExclusive); err != nil {
				b.Error(err)
			}
			k.table.ReleaseAll(o)
		}
	})
}

// A wait behind so many others for one row: the search for a cycle.
func BenchmarkDeadlockSearch(b *testing.B) {
	k, _ := newBench(b, 0)
	id := RowLock(1, page.TID{Block: 7, Offset: 1})
	for range 1000 {
		o := k.table.NewOwner("o")
		k.m.Go("waits", func() { _ = k.table.Acquire(o, id, Exclusive) })
	}
	k.w.Run(k.w.Now() + time.Millisecond)
	last := k.table.parked[len(k.table.parked)-1]
	b.ReportAllocs()
	for b.Loop() {
		if k.table.closes(last, false) {
			b.Fatal("a cycle")
		}
	}
}

func BenchmarkSees(b *testing.B) {
	k, _ := newBench(b, 1000)
	x, err := k.t.Start(RepeatableRead)
	require.NoError(b, err)
	x.Statement()
	i := uint32(0)
	for b.Loop() {
		x.Sees(100 + i&511)
		i++
	}
}

// TestWarmIsFree: no allocation once the memory of earlier transactions can be
// used again, with savepoints and row locks.
func TestWarmIsFree(t *testing.T) {
	k, log := newBench(t, 100)
	n := load{savepoints: 2, rows: 10}
	inTask(t, k, func() {
		transact := func() {
			if err := n.transact(k, log); err != nil {
				t.Error(err)
			}
		}
		for range 600 {
			transact()
		}
		if perRun := testing.AllocsPerRun(300, transact); perRun != 0 {
			t.Errorf("%v allocations a transaction", perRun)
		}
	})
	require.Zero(t, k.table.Held())
}
