package compute_test

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/buffer"
	"tornpage/engine/compute"
	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/engine/local"
	"tornpage/engine/row"
	"tornpage/sim"
	"tornpage/sim/simdisk"
)

// tpcb is pgbench's TPC-B-like load at scale 1 on storage local, in one
// simulated machine: clients are tasks beside the engine, without a network.
type tpcb struct {
	clients  int
	accounts int
	frames   int // of the buffer pool

	w       *sim.World
	eng     *compute.Engine
	ready   *host.Cond
	left    int // transactions to begin
	want    int // to have ended
	loaded  bool
	done    int
	refused int
}

const (
	tellers = 10
	filler  = 84
)

func (l *tpcb) tables() []*row.Table {
	keyed := func(name, id, balance string, fill int) *row.Table {
		t := &row.Table{Name: name, Columns: []row.Column{{Name: id, Type: row.Int4, NotNull: true}}}
		if name != "branches" {
			t.Columns = append(t.Columns, row.Column{Name: "bid", Type: row.Int4})
		}
		t.Columns = append(t.Columns, row.Column{Name: balance, Type: row.Int4}, row.Column{Name: "filler", Type: row.Char, Len: fill})
		t.Indexes = []row.Index{{Name: name + "_pkey", Columns: []row.IndexColumn{{Column: 0}}, Unique: true, Primary: true}}
		return t
	}
	return []*row.Table{
		keyed("branches", "bid", "bbalance", 88), keyed("tellers", "tid", "tbalance", 84), keyed("accounts", "aid", "abalance", filler),
		{Name: "history", Columns: []row.Column{{Name: "tid", Type: row.Int4}, {Name: "bid", Type: row.Int4}, {Name: "aid", Type: row.Int4},
			{Name: "delta", Type: row.Int4}, {Name: "mtime", Type: row.Timestamp}, {Name: "filler", Type: row.Char, Len: 22}}},
	}
}

func (l *tpcb) boot(m host.Machine) {
	eng, err := compute.New(m, compute.Config{
		Relational: true, Pool: buffer.Config{Frames: l.frames},
		Auto: compute.AutoConfig{Naptime: time.Second},
	})
	if err != nil {
		panic(err)
	}
	cfg := local.Default()
	cfg.CheckpointRecords = 40_000 // four and a half records a transaction: every 10,000
	if err := eng.Open(local.New(m, cfg, eng.Pool())); err != nil {
		panic(err)
	}
	l.eng = eng
	l.fill(m)
	l.loaded = true
	l.w.Stop()
	m.Sleep(time.Microsecond)
	l.ready = m.NewCond(host.WaitWork)
	for i := range l.clients {
		m.Go("client", func() { l.client(m, i) })
	}
	for {
		l.ready.Wait()
	}
}

// must executes statements that cannot fail.
func must(s db.Session, out *db.Results, stmts ...db.Stmt) {
	out.Reset(0)
	s.Execute(stmts, out)
	if r := out.Last(); r.Err != nil {
		panic(r.Err)
	}
}

func (l *tpcb) fill(m host.Machine) {
	s := l.eng.NewSession()
	var out db.Results
	for _, t := range l.tables() {
		must(s, &out, db.Stmt{Kind: db.CreateTable, Def: t})
	}
	blank := row.NewChar("")
	must(s, &out, db.Stmt{Kind: db.Insert, Table: "branches", Row: []row.Value{row.NewInt4(1), row.NewInt4(0), blank}})
	for i := range tellers {
		must(s, &out, db.Stmt{Kind: db.Insert, Table: "tellers", Row: []row.Value{row.NewInt4(int32(i + 1)), row.NewInt4(1), row.NewInt4(0), blank}})
	}
	for from := 1; from <= l.accounts; from += 1000 {
		must(s, &out, db.Stmt{Kind: db.Begin})
		for i := from; i < from+1000 && i <= l.accounts; i++ {
			must(s, &out, db.Stmt{Kind: db.Insert, Table: "accounts", Row: []row.Value{row.NewInt4(int32(i)), row.NewInt4(1), row.NewInt4(0), blank}})
		}
		must(s, &out, db.Stmt{Kind: db.Commit})
	}
	s.Close()
}

// client runs transactions until none is left.
func (l *tpcb) client(m host.Machine, i int) {
	r := m.Rand("tpcb", uint64(i))
	s := l.eng.NewSession()
	defer s.Close()
	var out db.Results
	var v [12]row.Value
	add := func(at int) []db.Set { return []db.Set{{Column: at, Add: true, Value: row.NewInt4(1)}} }
	accounts, others, branches := add(2), add(2), add(1)
	stmts := []db.Stmt{
		{Kind: db.Begin},
		{Kind: db.Update, Table: "accounts", Key: v[0:1], Sets: accounts},
		{Kind: db.Get, Table: "accounts", Key: v[0:1]},
		{Kind: db.Update, Table: "tellers", Key: v[1:2], Sets: others},
		{Kind: db.Update, Table: "branches", Key: v[2:3], Sets: branches},
		{Kind: db.Insert, Table: "history", Row: v[3:9]},
		{Kind: db.Commit},
	}
	for {
		for l.left == 0 {
			l.ready.WaitFor(int64(100 * time.Microsecond))
		}
		l.left--
		aid, tid, delta := int32(r.N(uint64(l.accounts)))+1, int32(r.N(tellers))+1, int32(r.N(10001))-5000
		v[0], v[1], v[2] = row.NewInt4(aid), row.NewInt4(tid), row.NewInt4(1)
		v[3], v[4], v[5], v[6], v[7], v[8] = row.NewInt4(tid), row.NewInt4(1), row.NewInt4(aid), row.NewInt4(delta), row.NewTimestamp(int64(m.Now())), row.Null()
		accounts[0].Value.N, others[0].Value.N, branches[0].Value.N = int64(delta), int64(delta), int64(delta)
		out.Reset(0)
		s.Execute(stmts, &out)
		if last := out.Last(); last.Err != nil || last.Outcome.Status != db.Committed {
			l.refused++
			if out.State != db.Idle {
				must(s, &out, db.Stmt{Kind: db.Rollback})
			}
		} else {
			l.done++
		}
		if l.done+l.refused == l.want {
			l.w.Stop()
		}
	}
}

// open makes the world, and fills the tables.
func (l *tpcb) open(t testing.TB) {
	profile, err := simdisk.ProfileByName("nvme")
	require.NoError(t, err)
	disk := simdisk.Config{Profile: profile}
	l.w, err = sim.New(sim.Config{
		Seed: 1,
		Machines: []sim.Machine{{Name: "m", Zone: "a", Cores: 1, Disks: []sim.Disk{
			{Name: "wal", Config: disk}, {Name: "data", Config: disk}}}},
		Hosts:     []sim.Host{{Name: "writer", Machine: "m", Boot: l.boot}},
		MaxEvents: 1 << 40,
	})
	require.NoError(t, err)
	l.w.Boot("writer")
	for !l.loaded {
		require.Equal(t, sim.Stopped, l.w.Run(l.w.Now()+time.Hour), "%v", l.w.Failure())
	}
}

// run runs so many transactions.
func (l *tpcb) run(t testing.TB, n int) {
	l.left, l.want = n, l.done+l.refused+n
	for l.done+l.refused < l.want {
		if why := l.w.Run(l.w.Now() + time.Hour); why == sim.Failed {
			t.Fatal(l.w.Failure())
		}
	}
}

// benchTPCB reports the processor time of a transaction beside the wall time,
// which other processes lengthen. Filling the tables counts in neither.
func benchTPCB(b *testing.B, clients, frames int) {
	l := &tpcb{clients: clients, accounts: 100_000, frames: frames, left: 0}
	l.open(b)
	defer l.w.Close()
	runtime.GC()
	b.ReportAllocs()
	b.ResetTimer()
	start := cpu(b)
	l.run(b, b.N)
	used := cpu(b) - start
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tx/s")
	b.ReportMetric(float64(used)/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(l.refused), "refused")
}

// cpu is the processor time that this process has used.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTPCB: everything is in the pool.
func BenchmarkTPCB(b *testing.B) { benchTPCB(b, 32, 8192) }

// BenchmarkTPCBAlone: one client, so that nobody waits for a row.
func BenchmarkTPCBAlone(b *testing.B) { benchTPCB(b, 1, 8192) }

// BenchmarkTPCBSmallPool: the pool holds a fifth of the data.
func BenchmarkTPCBSmallPool(b *testing.B) { benchTPCB(b, 32, 2000/5) }
