package heap

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine"
	"tornpage/engine/buffer"
	"tornpage/engine/fsm"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/pager"
	"tornpage/engine/wal"
	"tornpage/sim"
)

// null is a storage that keeps nothing: pages live in the pool.
type null struct {
	engine.Storage
	end wal.LSN
}

func (n *null) Admit(int) error                                      { return nil }
func (n *null) Floor() wal.LSN                                       { return 0 }
func (n *null) Size(page.Rel, wal.LSN) (uint32, error)               { return 0, nil }
func (n *null) ReadPage(page.ID, wal.LSN, wal.LSN, *page.Page) error { return engine.ErrNoPage }
func (n *null) Durable() wal.LSN                                     { return n.end }
func (n *null) WaitDurable(wal.LSN) error                            { return nil }
func (n *null) Evict(page.ID, *page.Page) error                      { return nil }
func (n *null) Append(m *wal.MTR, _ wal.LSN) (wal.LSN, error) {
	m.Finish(n.end, 0)
	n.end += wal.LSN(page.RoundUp(int(m.Len())))
	m.Stamp(n.end)
	return n.end, nil
}

// serial is transactions one after the other: all but the last are Gone.
type serial struct{ xid uint32 }

func (s *serial) Sees(uint32) Verdict     { return Yes }
func (s *serial) XID() (uint32, error)    { return s.xid, nil }
func (s *serial) Own(xid uint32) bool     { return xid == s.xid }
func (s *serial) Resolve(...uint32) error { return nil }
func (s *serial) Fate(xid uint32) Fate {
	if xid == s.xid {
		return Running
	}
	return Gone
}

// inProcess runs f in a process with a heap.
func inProcess(t testing.TB, f func(h *Heap, x *serial)) {
	w, err := sim.New(sim.Config{Machines: []sim.Machine{{Name: "m", Zone: "a"}},
		Hosts: []sim.Host{{Name: "db", Machine: "m", Boot: func(m host.Machine) {
			st := &null{end: 64}
			pool := buffer.New(m, buffer.Config{Frames: 4096})
			pool.Attach(st, 64)
			pg := pager.New(m, pool, nil)
			pg.Attach(st)
			f(New(pg, sceneRel, new(fsm.Map), Config{}), &serial{xid: 100})
		}}}})
	require.NoError(t, err)
	defer w.Close()
	w.BootAll()
	w.Run(1000 * time.Hour)
	if f := w.Failure(); f != nil {
		require.Fail(t, f.Error(), f.Stack)
	}
	require.False(t, w.Up("db"), "it did not end")
}

// fill inserts n rows, one transaction each.
func fill(h *Heap, x *serial, n int) (tids []page.TID) {
	t := tuple(1, make([]byte, 90))
	for range n {
		x.xid++
		tid, err := h.Insert(x, t)
		if err != nil {
			panic(err)
		}
		tids = append(tids, tid)
	}
	return tids
}

func BenchmarkInsert(b *testing.B) {
	inProcess(b, func(h *Heap, x *serial) {
		fill(h, x, 1000)
		t := tuple(1, make([]byte, 90))
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			x.xid++
			if _, err := h.Insert(x, t); err != nil {
				panic(err)
			}
			if h.target > 4000 { // begin anew: the pool holds no more
				b.StopTimer()
				h.rel++
				h.aimed, h.free = false, new(fsm.Map)
				b.StartTimer()
			}
		}
	})
}

func BenchmarkFetch(b *testing.B) {
	inProcess(b, func(h *Heap, x *serial) {
		tids := fill(h, x, 1000)
		var buf []byte
		b.ReportAllocs()
		b.ResetTimer()
		for i := range b.N {
			row, _, err := h.Fetch(x, tids[i%len(tids)], buf)
			if err != nil {
				panic(err)
			}
			buf = row.Tuple
		}
	})
}

// BenchmarkUpdate fetches rows and updates them; pages are pruned on the way.
func BenchmarkUpdate(b *testing.B) {
	inProcess(b, func(h *Heap, x *serial) {
		roots := fill(h, x, 1000)
		step := updater(h, x, roots)
		for i := range 3000 {
			step(i)
		}
		b.ReportAllocs()
		b.ResetTimer()
		for i := range b.N {
			step(i)
		}
		b.StopTimer()
		b.ReportMetric(float64(h.Stats.Hot)/float64(h.Stats.Updated), "hot/op")
	})
}

func updater(h *Heap, x *serial, roots []page.TID) func(int) {
	var buf []byte
	t := tuple(1, make([]byte, 90))
	return func(i int) {
		x.xid++
		i %= len(roots)
		row, found, err := h.Fetch(x, roots[i], buf)
		if err != nil || !found {
			panic(err)
		}
		buf = row.Tuple
		res, to, hot, err := h.Update(x, row.TID, t, true)
		if res != Done || err != nil {
			panic(err)
		}
		if !hot {
			roots[i] = to
		}
	}
}

func BenchmarkScan(b *testing.B) {
	inProcess(b, func(h *Heap, x *serial) {
		fill(h, x, 10000)
		x.xid++
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			if n := countRows(h, x); n != 10000 {
				panic(n)
			}
		}
	})
}

func countRows(h *Heap, x Xact) (n int) {
	s, err := h.Scan(x)
	if err != nil {
		panic(err)
	}
	defer s.Close()
	for {
		_, ok, err := s.Next()
		if err != nil {
			panic(err)
		}
		if !ok {
			return n
		}
		n++
	}
}

// TestWarm: no operation allocates once it is warm.
func TestWarm(t *testing.T) {
	inProcess(t, func(h *Heap, x *serial) {
		roots := fill(h, x, 2000)
		step := updater(h, x, roots)
		i := 0
		next := func() { step(i); i++ }
		for range 6000 {
			next()
		}
		require.Zero(t, testing.AllocsPerRun(1000, next), "fetch and update")
		require.Zero(t, testing.AllocsPerRun(3, func() { countRows(h, x) }), "scan")
		require.NotZero(t, h.Stats.Pruned)
		require.NotZero(t, h.Stats.Moved)
	})
}

// BenchmarkPlan plans the pruning of full pages on which one row of sixty was
// updated; there are too many of them for the processor's cache.
func BenchmarkPlan(b *testing.B) {
	pages := make([]page.Page, 4096)
	for i := range pages {
		p := &pages[i]
		p.Init(0)
		for n := uint32(0); ; n++ {
			if _, ok := p.InsertTuple(0, 0, page.NewTuple(nil, 3+n%50, 0, 4, make([]byte, 97))); !ok {
				break
			}
		}
		p.SupersedeTuple(uint16(i%50+1), page.Xmax{XID: 90}, page.TID{Block: 1, Offset: 1}, false)
	}
	plan := Plan{Indexed: true}
	x := &serial{xid: 100}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if plan.Make(&pages[i*61%len(pages)], x); len(plan.Dead) != 1 {
			b.Fatal(plan.Dead)
		}
	}
}
