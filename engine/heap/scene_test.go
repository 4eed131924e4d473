package heap

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine"
	"tornpage/engine/buffer"
	"tornpage/engine/compute/computetest"
	"tornpage/engine/fsm"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/pager"
	"tornpage/sim"
)

const sceneRel page.Rel = 16384

// full refuses some changes.
type full struct {
	*computetest.Storage
	r     host.Rand
	every uint64
	n     *int
}

// Admit refuses one change of every so many.
func (f *full) Admit(n int) error {
	if f.every > 0 && f.r.N(f.every) == 0 {
		*f.n++
		return fmt.Errorf("data disk: %w", engine.ErrFull)
	}
	return f.Storage.Admit(n)
}

// scene is one run: clients change rows of one heap in transactions; the
// process is killed between boots. What is outside of a boot survives it.
type scene struct {
	t                        require.TestingT
	seed                     uint64
	clients, ops, boots      int
	keys                     uint64
	pad                      uint64
	frames                   int
	moves, refuse            uint64
	cfg                      Config
	mem                      computetest.Mem
	txns                     *txns
	rows                     map[int64][]committed
	unique                   uint64
	stats                    Stats
	refused, vacuums, mapped int
	marks                    map[string]int

	// Of one boot.
	m         host.Machine
	st        *full
	pg        *pager.Pager
	h         *Heap
	free      *fsm.Map
	index     map[int64][]page.TID
	locked    map[int64]*txn
	vacuuming bool
}

// change is what a transaction made of a row.
type change struct {
	value  []byte // nil: deleted
	how    Result // Updated, Deleted: what became first of the version before
	linked bool   // the version before leads to this value
}

// committed is what a row was from a commit on.
type committed struct {
	at int
	change
}

// asOf is the row in the snapshot of n commits.
func (s *scene) asOf(key int64, n int) []byte {
	list := s.rows[key]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].at <= n {
			return list[i].value
		}
	}
	return nil
}

func (s *scene) fail(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func (s *scene) must(err error) {
	if err != nil {
		panic(err)
	}
}

func (s *scene) run() {
	s.txns, s.rows, s.marks = newTxns(), map[int64][]committed{}, map[string]int{}
	s.txns.asking = uint32(s.seed % 4)
	w, err := sim.New(sim.Config{Seed: s.seed, Machines: []sim.Machine{{Name: "m", Zone: "a"}},
		Costs: sim.DefaultCosts(),
		Hosts: []sim.Host{{Name: "db", Machine: "m", Boot: s.boot}}})
	require.NoError(s.t, err)
	defer w.Close()
	for i := range s.boots {
		w.Boot("db")
		w.Run(w.Now() + time.Duration(1+i)*4*time.Millisecond)
		s.ended(w)
		w.Kill("db")
		s.txns.crash()
	}
	w.Boot("db")
	w.Run(w.Now() + time.Minute)
	s.ended(w)
	require.False(s.t, w.Up("db"), "seed %d: the last boot did not finish its work", s.seed)
	for mark, n := range w.Marks() {
		s.marks[mark] += int(n)
	}
}

func (s *scene) ended(w *sim.World) {
	if f := w.Failure(); f != nil {
		require.Fail(s.t, f.Error(), "seed %d\n%s", s.seed, f.Stack)
	}
}

// open opens the heap.
func (s *scene) open(m host.Machine) {
	s.m = m
	s.st = &full{Storage: s.mem.Boot(m), r: m.Rand("full", 0), every: s.refuse, n: &s.refused}
	s.st.Moves = s.moves
	state, err := s.st.Open()
	s.must(err)
	pool := buffer.New(m, buffer.Config{Frames: s.frames})
	pool.Attach(s.st, state.End)
	s.pg = pager.New(m, pool, nil)
	s.pg.Attach(s.st)
	s.free = new(fsm.Map)
	s.h = New(s.pg, sceneRel, s.free, s.cfg)
}

// boot looks at what the last boot left, lets clients work, and looks again.
func (s *scene) boot(m host.Machine) {
	s.open(m)
	s.index, s.locked, s.vacuuming = map[int64][]page.TID{}, map[int64]*txn{}, false
	s.reindex()
	s.quiet()
	left, done := s.clients, m.NewCond(host.WaitWork)
	for i := range s.clients {
		m.Go(fmt.Sprint("client ", i), func() {
			c := &client{scene: s, r: m.Rand("client", uint64(i))}
			for range s.ops {
				c.transaction()
			}
			left--
			done.Broadcast()
		})
	}
	for left > 0 {
		done.Wait()
	}
	s.quiet()
	s.compare()
	s.stats.add(&s.h.Stats)
}

// reindex makes the index from the heap, for all versions.
func (s *scene) reindex() {
	n, err := s.pg.Blocks(sceneRel)
	s.must(err)
	for b := range n {
		f, err := s.h.read(b)
		s.must(err)
		for off := uint16(1); off <= f.Page().MaxOffset(); off++ {
			c := beginChain(f.Page(), off)
			if _, t := c.next(); t != nil && (!c.first) {
				key, _, ok := ParseRow(t.Data())
				if !ok {
					s.fail("(%d,%d) is no row", b, off)
				}
				s.index[key] = append(s.index[key], page.TID{Block: b, Offset: off})
			}
		}
		s.h.done(f)
	}
}

// quiet checks everything while nothing runs.
func (s *scene) quiet() {
	x := s.txns.begin(s.m)
	defer x.end(false)
	s.must(s.h.Check(x, s.txns.next, func(err error) { s.fail("check: %v", err) }))
	c := &client{scene: s, x: x, own: map[int64]change{}}
	c.scan()
	for key := range int64(s.keys) {
		c.read(key)
	}
}

// compare holds the pages against redo of the log.
func (s *scene) compare() {
	s.must(s.st.WaitDurable(s.mem.End()))
	pages, _, err := s.mem.Replay()
	s.must(err)
	n, err := s.pg.Blocks(sceneRel)
	s.must(err)
	for b := range n {
		f, err := s.h.read(b)
		s.must(err)
		want := pages[s.h.id(b)]
		if want == nil {
			want = new(page.Page)
		}
		s.must(computetest.Equal(s.h.id(b), f.Page(), want))
		flag, id := f.Page().Flags()&page.AllVisible, page.VMID(sceneRel, b)
		s.h.done(f)
		vm, err := s.pg.Pool().Pin(id)
		s.must(err)
		bits, redone := page.VMGet(vm.Page(), b), uint8(0)
		if pages[id] != nil {
			redone = page.VMGet(pages[id], b)
		}
		s.pg.Pool().Unpin(vm)
		if want.Flags()&page.AllVisible != flag || bits != redone {
			s.fail("block %d: all-visible flag %x, map %x; after redo %x, %x", b, flag, bits, want.Flags()&page.AllVisible, redone)
		}
	}
}

// client is one session.
type client struct {
	*scene
	r   host.Rand
	x   *txn
	own map[int64]change // by x
	buf []byte
	// Of a vacuum.
	dead []uint16
}

// transaction does some operations and ends.
func (c *client) transaction() {
	c.x, c.own = c.txns.begin(c.m), map[int64]change{}
	for range 1 + c.r.N(6) {
		key := int64(c.r.N(c.keys))
		switch c.r.N(13) {
		case 0, 1:
			c.read(key)
		case 2:
			c.scan()
		case 3:
			c.savepoint()
		case 4:
			if c.r.N(4) == 0 && len(c.x.live) == 0 {
				c.vacuum()
			}
		default:
			c.change(key)
		}
		if c.r.N(4) == 0 {
			c.m.Sleep(time.Duration(c.r.N(200_000)))
		}
	}
	commit := c.r.N(5) > 0
	if commit && len(c.x.live) > 0 {
		c.must(c.st.WaitDurable(c.mem.End()))
	}
	c.x.end(commit)
	for _, key := range slices.Sorted(maps.Keys(c.own)) {
		if commit {
			c.rows[key] = append(c.rows[key], committed{c.txns.commits, c.own[key]})
		}
	}
	maps.DeleteFunc(c.locked, func(_ int64, x *txn) bool { return x == c.x })
}

// savepoint changes rows and rolls that back.
func (c *client) savepoint() {
	own, n := maps.Clone(c.own), len(c.x.live)
	c.x.fresh = true
	for range 1 + c.r.N(2) {
		c.change(int64(c.r.N(c.keys)))
	}
	if c.r.N(2) == 0 {
		c.x.rollbackTo(n)
		c.own = own
	}
	c.x.fresh = true
}

// expected is the row as x should see it.
func (c *client) expected(key int64) []byte {
	if v, ok := c.own[key]; ok {
		return v.value
	}
	return c.asOf(key, c.x.snap)
}

// find gives the one version that x sees.
func (c *client) find(key int64) (row Row, found bool) {
	for _, root := range slices.Clone(c.index[key]) {
		r, ok, err := c.h.Fetch(c.x, root, c.buf)
		c.must(err)
		if !ok {
			continue
		}
		if found {
			c.fail("key %d is visible twice to the snapshot of %d commits: %v and %v", key, c.x.snap, row.TID, r.TID)
		}
		k, v, ok := ParseRow(r.Tuple.Data())
		if !ok || k != key || r.Root != root {
			c.fail("entry %v of key %d leads to a row of %d, root %v", root, key, k, r.Root)
		}
		if want := c.expected(key); string(v) != string(want) || want == nil {
			c.fail("key %d is %x in the snapshot of %d commits (version %v), want %x", key, v, c.x.snap, r.TID, want)
		}
		row, found = r, true
		c.buf = nil
	}
	if !found && c.expected(key) != nil {
		c.fail("key %d is absent in the snapshot of %d commits, want %x", key, c.x.snap, c.expected(key))
	}
	return row, found
}

func (c *client) read(key int64) { c.find(key) }

// scan compares the whole table.
func (c *client) scan() {
	got := map[int64]string{}
	sc, err := c.h.Scan(c.x)
	c.must(err)
	defer sc.Close()
	for {
		row, ok, err := sc.Next()
		c.must(err)
		if !ok {
			break
		}
		key, v, _ := ParseRow(row.Tuple.Data())
		if _, twice := got[key]; twice {
			c.fail("scan: key %d twice", key)
		}
		if !slices.Contains(c.index[key], row.Root) {
			c.fail("scan: key %d at %v has root %v, entries %v", key, row.TID, row.Root, c.index[key])
		}
		got[key] = string(v)
	}
	for key := range int64(c.keys) {
		v, there := got[key]
		if want := c.expected(key); there != (want != nil) || v != string(want) {
			c.fail("scan: key %d is %x in the snapshot of %d commits, want %x", key, v, c.x.snap, want)
		}
	}
}

// value makes a new one.
func (c *client) value() []byte {
	c.unique++
	v := le.AppendUint64(nil, c.unique)
	return append(v, make([]byte, c.r.N(c.pad+1))...)
}

// done: true; false: refused for want of space.
func (c *client) done(err error) bool {
	if errors.Is(err, engine.ErrFull) {
		return false
	}
	c.must(err)
	return true
}
