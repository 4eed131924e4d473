package remote_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/buffer"
	"tornpage/engine/compute"
	"tornpage/engine/db"
	"tornpage/engine/heap"
	"tornpage/engine/host"
	"tornpage/engine/remote"
	"tornpage/engine/wal"
	"tornpage/sim"
	"tornpage/sim/simdisk"
)

const dbPort host.Port = 5

const (
	rows    = 24
	perPage = 2
)

// machines, each with one process of the same name. The writer has a spare: a
// second machine that may take over.
var machines = []string{"writer", "spare", "log", "pages", "follower", "client"}

// fixture is a world with all four processes and some clients. Client i owns
// keys i and rows/2+i, on different pages, which it writes together: always the
// same number, one more each time.
type fixture struct {
	tb       testing.TB
	w        *sim.World
	cfg      remote.Config
	frames   int
	statuses int // at hand in the writer
	clients  int
	owners   []*owner
	epochs   []uint64
	exits    []error
	views    int
	behind   int
	engine   *compute.Engine
	client   func(m host.Machine) // instead of clients that run for ever
}

// owner is what is known of one client's pair of keys.
type owner struct {
	tried  uint64
	acked  uint64
	token  wal.LSN // of acked
	viewed uint64  // by a view: later views show at least that
	seen   uint64  // by any read: what was read is durable and never goes away
}

func newFixture(tb testing.TB, seed uint64, cfg remote.Config, frames, clients int) *fixture {
	tb.Helper()
	geo, err := heap.NewGeometry(rows, perPage, 200)
	require.NoError(tb, err)
	cfg.Geometry, cfg.Rel, cfg.DBPort = geo, compute.DefaultRel, dbPort
	f := &fixture{tb: tb, cfg: cfg, frames: frames, statuses: 2, clients: clients, owners: make([]*owner, clients)}
	for i := range f.owners {
		f.owners[i] = &owner{}
	}
	// What is cut is noticed soon, so that runs are short.
	sc := sim.Config{Seed: seed, MaxEvents: 5_000_000, Net: sim.Net{Retransmit: time.Millisecond, BreakAfter: 10 * time.Millisecond}}
	disk := simdisk.Config{}
	if seed%2 == 0 {
		disk.Profile, _ = simdisk.ProfileByName("gp3") // slow syncs: power-off hits them
	}
	boots := map[string]func(host.Machine){
		"writer": f.writer, "spare": f.writer, "client": f.load,
		"log":      func(m host.Machine) { remote.RunLog(m, f.cfg) },
		"pages":    func(m host.Machine) { remote.RunPages(m, f.cfg) },
		"follower": func(m host.Machine) { remote.RunFollower(m, f.cfg) },
	}
	for _, name := range machines {
		sc.Machines = append(sc.Machines, sim.Machine{Name: name, Zone: "a",
			Disks: []sim.Disk{{Name: "log", Config: disk}}})
		sc.Hosts = append(sc.Hosts, sim.Host{Name: name, Machine: name, Boot: boots[name]})
	}
	sc.Log = func(at time.Duration, process, line string) {
		if testing.Verbose() {
			tb.Logf("%v %s: %s", at, process, line)
		}
	}
	f.w, err = sim.New(sc)
	require.NoError(tb, err)
	tb.Cleanup(f.w.Close)
	return f
}

// boot boots all but the spare.
func (f *fixture) boot() {
	for _, name := range machines {
		if name != "spare" {
			f.w.Boot(name)
		}
	}
}

// writer is the boot function of both writers.
func (f *fixture) writer(m host.Machine) {
	e, err := compute.New(m, compute.Config{Rows: rows, RowsPerPage: perPage, ValueBytes: 200,
		Pool: buffer.Config{Frames: f.frames}, XIDBatch: 8, StatusCache: f.statuses})
	if err == nil {
		err = e.Open(remote.NewWriter(m, f.cfg))
	}
	if err != nil {
		f.exits = append(f.exits, err)
		m.Exit(err)
	}
	f.epochs = append(f.epochs, e.State().Epoch)
	f.engine = e
	db.Serve(m, dbPort, e)
	err = e.Wait()
	f.exits = append(f.exits, err)
	m.Exit(err)
}

// load is the boot function of the clients' machine.
func (f *fixture) load(m host.Machine) {
	if f.client != nil {
		f.client(m)
		return
	}
	for i := range f.clients {
		m.Go("owner", func() { f.own(m, i) })
		m.Go("reader", func() { f.view(m, i) })
	}
	for {
		m.Sleep(time.Hour)
	}
}

func number(n uint64) []byte {
	b := make([]byte, 100+n%50)
	binary.LittleEndian.PutUint64(b, n)
	return b
}

func read(b []byte) uint64 {
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// dial tries both writers.
func dial(m host.Machine, n int, servers ...string) *db.Client {
	for ; ; n++ {
		c, err := db.Dial(m, servers[n%len(servers)], dbPort, 40*time.Millisecond)
		if err == nil {
			return c
		}
		m.Sleep(3 * time.Millisecond)
	}
}

func pair(i int) []int64 { return []int64{int64(i), int64(rows/2 + i)} }

// own writes and reads client i's pair for ever.
func (f *fixture) own(m host.Machine, i int) {
	o := f.owners[i]
	r := m.Rand("test.own", uint64(i))
	keys := pair(i)
	for n := 0; ; n++ {
		c := dial(m, n, "writer", "spare")
		for c.Broken() == nil {
			f.write(c, o, keys, r.Chance(1, 8))
			if r.Chance(1, 3) {
				f.check(c, o, keys)
			}
			m.Sleep(time.Duration(r.N(uint64(time.Millisecond))))
		}
	}
}

func (f *fixture) write(c *db.Client, o *owner, keys []int64, rollback bool) {
	o.tried++
	v := [][]byte{number(o.tried), number(o.tried)}
	if rollback {
		v = [][]byte{number(1 << 60), number(1 << 60)} // nobody may read it
		c.Rollback(keys, v)
		o.tried--
		return
	}
	if out := c.MultiPut(keys, v); out.Status == db.Committed {
		o.acked, o.token = o.tried, out.Token
	}
}

// check reads the pair from the writer. Requests of one owner do not overlap.
func (f *fixture) check(c *db.Client, o *owner, keys []int64) {
	seen := o.seen
	v, _, err := c.MultiGet(keys)
	if err != nil {
		return
	}
	a, b := read(v.At(0)), read(v.At(1))
	if a != b || a < o.acked || a < seen || a > o.tried {
		panic(fmt.Sprintf("keys %v hold %d and %d; acknowledged %d, seen %d, tried %d", keys, a, b, o.acked, seen, o.tried))
	}
	o.seen = max(o.seen, a)
}

// view reads all pairs from the follower for ever.
func (f *fixture) view(m host.Machine, i int) {
	r := m.Rand("test.view", uint64(i))
	var keys []int64
	for j := range f.owners {
		keys = append(keys, pair(j)...)
	}
	for n := 0; ; n++ {
		c := dial(m, n, "follower")
		for c.Broken() == nil {
			token, acked := f.owners[i].token, f.owners[i].acked
			if r.Chance(1, 2) {
				token, acked = 0, 0
			}
			var seen []uint64
			for _, o := range f.owners {
				seen = append(seen, o.viewed)
			}
			v, _, err := c.View(keys, token)
			switch refused := (*db.Refused)(nil); {
			case errors.As(err, &refused) && refused.Outcome.Why == db.WhyBehind:
				f.behind++
			case err != nil:
			default:
				f.views++
				f.checkView(v, seen, i, acked)
			}
			m.Sleep(time.Duration(r.N(uint64(time.Millisecond))))
		}
	}
}

func (f *fixture) checkView(v *db.Values, seen []uint64, i int, acked uint64) {
	for j, o := range f.owners {
		a, b := read(v.At(2*j)), read(v.At(2*j+1))
		if a != b || a > o.tried || a < seen[j] || j == i && a < acked {
			panic(fmt.Sprintf("view of pair %d: %d and %d; tried %d, seen before %d; token of %d for pair %d",
				j, a, b, o.tried, seen[j], acked, i))
		}
		o.seen, o.viewed = max(o.seen, a), max(o.viewed, a)
	}
}

// let runs the world for d.
func (f *fixture) let(d time.Duration) {
	f.tb.Helper()
	why := f.w.Run(f.w.Now() + d)
	if x := f.w.Failure(); x != nil {
		f.tb.Fatalf("%v\n%s", x, x.Stack)
	}
	require.NotEqual(f.tb, sim.TooMany, why)
}

func (f *fixture) acked() (n uint64) {
	for _, o := range f.owners {
		n += o.acked
	}
	return n
}
