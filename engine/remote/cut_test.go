package remote_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/remote"
	"tornpage/engine/wal"
	"tornpage/sim"
	"tornpage/sim/draw"
)

const cutRel page.Rel = 16384

// pageAt is a page after the record that ended at lsn; absent: it was cut off.
type pageAt struct {
	lsn    wal.LSN
	absent bool
	p      page.Page
}

// cutter writes heap pages, marks them, cuts them off and makes them again,
// without a buffer pool, and knows every version and size that there was.
type cutter struct {
	w      *sim.World
	cfg    remote.Config
	st     *remote.Writer
	r      draw.Stream
	m      wal.MTR
	xid    uint32
	now    map[page.ID]*page.Page
	was    map[page.ID][]pageAt
	lsns   []wal.LSN // of all records
	blocks []uint32  // the size of cutRel after each
	checks int
	gone   int
}

func newCutter(tb testing.TB, seed uint64) *cutter {
	c := &cutter{r: draw.New(seed, "cut"), xid: 3, now: map[page.ID]*page.Page{}, was: map[page.ID][]pageAt{}}
	c.cfg = remote.Config{History: 1 << 30, Retry: time.Millisecond, Heartbeat: 2 * time.Millisecond}
	sc := sim.Config{Seed: seed, MaxEvents: 2_000_000}
	for name, boot := range map[string]func(host.Machine){
		"log":    func(m host.Machine) { remote.RunLog(m, c.cfg) },
		"pages":  func(m host.Machine) { remote.RunPages(m, c.cfg) },
		"writer": c.run,
	} {
		sc.Machines = append(sc.Machines, sim.Machine{Name: name, Disks: []sim.Disk{{Name: "log"}}})
		sc.Hosts = append(sc.Hosts, sim.Host{Name: name, Machine: name, Boot: boot})
	}
	byName := func(a, b string) int { return len(a) - len(b) }
	slices.SortFunc(sc.Machines, func(a, b sim.Machine) int { return byName(a.Name, b.Name) })
	slices.SortFunc(sc.Hosts, func(a, b sim.Host) int { return byName(a.Name, b.Name) })
	var err error
	c.w, err = sim.New(sc)
	require.NoError(tb, err)
	tb.Cleanup(c.w.Close)
	return c
}

// run is the writer's boot function. What the boot before did not see durable
// may be gone; it begins again from what storage has.
func (c *cutter) run(m host.Machine) {
	c.st = remote.NewWriter(m, c.cfg)
	state, err := c.st.Open()
	if err != nil {
		panic(err)
	}
	c.survived(state.Survived)
	for range 40 {
		c.step()
		if c.r.Chance(1, 4) {
			if err := c.st.WaitDurable(c.lsns[len(c.lsns)-1]); err != nil {
				panic(err)
			}
		}
		if c.r.Chance(1, 2) {
			c.check(c.lsns[c.r.N(uint64(len(c.lsns)))])
			c.check(0)
		}
	}
	c.w.Stop()
	for {
		m.Sleep(time.Hour)
	}
}

// survived forgets what is above end.
func (c *cutter) survived(end wal.LSN) {
	for len(c.lsns) > 0 && c.lsns[len(c.lsns)-1] > end {
		c.lsns, c.blocks = c.lsns[:len(c.lsns)-1], c.blocks[:len(c.blocks)-1]
	}
	for id, all := range c.was { // each page on its own
		for len(all) > 0 && all[len(all)-1].lsn > end {
			all = all[:len(all)-1]
		}
		c.was[id] = all
		delete(c.now, id)
		if n := len(all); n > 0 && !all[n-1].absent {
			p := all[n-1].p
			c.now[id] = &p
		}
	}
}

func (c *cutter) size() uint32 {
	if n := len(c.blocks); n > 0 {
		return c.blocks[n-1]
	}
	return 0
}

// step changes something.
func (c *cutter) step() {
	c.xid++
	n, size := c.r.N(10), c.size()
	switch {
	case n == 0 && size > 0:
		c.truncate(uint32(c.r.N(uint64(size))))
	case n < 4 || size == 0:
		id := page.ID{Rel: cutRel, Block: size}
		p := new(page.Page)
		p.Init(0)
		off, _ := p.InsertTuple(size, 0, page.NewTuple(nil, c.xid, 0, 1, []byte{byte(c.xid)}))
		wal.HeapInsert(&c.m, c.xid, id, p, off, 0, true)
		c.append(size+1, id, p)
	case n < 7:
		c.mark(uint32(c.r.N(uint64(size))))
	default:
		c.insert(uint32(c.r.N(uint64(size))))
	}
}

// mark marks a block all-visible.
func (c *cutter) mark(block uint32) {
	id, vmID := page.ID{Rel: cutRel, Block: block}, page.VMID(cutRel, block)
	p, vm := c.now[id], c.now[vmID]
	if vm == nil {
		vm = new(page.Page)
		page.InitVM(vm)
	}
	p.SetFlag(page.AllVisible, true)
	page.VMSet(vm, block, page.VMAllVisible)
	wal.HeapVisible(&c.m, id, p, vmID, vm, c.xid, page.VMAllVisible)
	c.append(c.size(), id, p, vmID, vm)
}

// insert adds a row to a block, which is all-visible no longer.
func (c *cutter) insert(block uint32) {
	id, vmID := page.ID{Rel: cutRel, Block: block}, page.VMID(cutRel, block)
	p := c.now[id]
	off, ok := p.InsertTuple(block, 0, page.NewTuple(nil, c.xid, 0, 1, []byte{byte(c.xid)}))
	if !ok {
		panic("small pages are not full")
	}
	if p.Flags()&page.AllVisible == 0 {
		wal.HeapInsert(&c.m, c.xid, id, p, off, 0, false)
		c.append(c.size(), id, p)
		return
	}
	p.SetFlag(page.AllVisible, false)
	page.VMSet(c.now[vmID], block, 0)
	wal.HeapInsert(&c.m, c.xid, id, p, off, wal.AllVisibleCleared, false)
	wal.ImplyVM(&c.m, 1, vmID, c.now[vmID])
	c.append(c.size(), id, p, vmID, c.now[vmID])
}

func (c *cutter) truncate(blocks uint32) {
	from := c.size()
	wal.Truncate(&c.m, cutRel, blocks)
	c.append(blocks)
	for b := blocks; b < from; b++ {
		id := page.ID{Rel: cutRel, Block: b}
		c.was[id] = append(c.was[id], pageAt{lsn: c.lsns[len(c.lsns)-1], absent: true})
		delete(c.now, id)
		// Now, whether the page host has heard of it or not.
		if err := c.st.ReadPage(id, 0, 0, new(page.Page)); !errors.Is(err, engine.ErrNoPage) {
			panic(fmt.Sprintf("%v was cut off just now: %v", id, err))
		}
	}
	if n, err := c.st.Size(cutRel, 0); err != nil || n != blocks {
		panic(fmt.Sprintf("cut to %d blocks just now, size %d (%v)", blocks, n, err))
	}
}

// append appends the record and remembers what is so from then on.
func (c *cutter) append(blocks uint32, changed ...any) {
	c.m.Build(0)
	lsn, err := c.st.Append(&c.m, 0)
	if err != nil {
		panic(err)
	}
	c.lsns, c.blocks = append(c.lsns, lsn), append(c.blocks, blocks)
	for i := 0; i < len(changed); i += 2 {
		id, p := changed[i].(page.ID), changed[i+1].(*page.Page)
		c.now[id] = p
		c.was[id] = append(c.was[id], pageAt{lsn: lsn, p: *p})
	}
}

// check reads all pages, and the size, as of at (0: now).
func (c *cutter) check(at wal.LSN) {
	as := at
	if at == 0 {
		as = c.lsns[len(c.lsns)-1]
	}
	i, _ := slices.BinarySearch(c.lsns, as)
	n, err := c.st.Size(cutRel, at)
	if err != nil || n != c.blocks[i] {
		panic(fmt.Sprintf("size at %v is %d (%v), want %d", at, n, err, c.blocks[i]))
	}
	for _, id := range slices.SortedFunc(maps.Keys(c.was), func(a, b page.ID) int {
		return cmp.Or(cmp.Compare(a.Rel, b.Rel), cmp.Compare(a.Block, b.Block))
	}) {
		all := c.was[id]
		want := (*pageAt)(nil)
		for j := range all {
			if all[j].lsn <= as {
				want = &all[j]
			}
		}
		changedBy := wal.LSN(0)
		if want != nil && !want.absent {
			changedBy = want.lsn
		}
		var p page.Page
		err := c.st.ReadPage(id, changedBy, at, &p)
		c.checks++
		switch absent := want == nil || want.absent; {
		case absent && errors.Is(err, engine.ErrNoPage):
			c.gone++
		case absent || err != nil || p != want.p:
			panic(fmt.Sprintf("%v at %v: %v, LSN %v; want %+v", id, at, err, page.LSNOf(id, &p), want != nil && !want.absent))
		}
	}
}

// Pages that were cut off can be read as of before, not as of after, until
// they are made again; map pages lose and get bits; on every boot of any
// process.
func TestCuts(t *testing.T) {
	checks, gone, marks := 0, 0, uint64(0)
	for seed := range uint64(12) {
		c := newCutter(t, seed)
		for _, name := range []string{"log", "pages", "writer"} {
			c.w.Boot(name)
		}
		for range 4 {
			why := c.w.Run(c.w.Now() + time.Duration(1+c.r.N(30))*time.Millisecond)
			if x := c.w.Failure(); x != nil {
				t.Fatalf("seed %d: %v\n%s", seed, x, x.Stack)
			}
			require.NotEqual(t, sim.TooMany, why)
			name := []string{"pages", "writer", "log"}[c.r.N(3)]
			c.w.Kill(name)
			c.w.Boot(name)
		}
		checks, gone, marks = checks+c.checks, gone+c.gone, marks+c.w.Marks()["remote.cut"]
	}
	require.Greater(t, checks, 1000)
	require.Greater(t, gone, 50)
	require.Greater(t, marks, uint64(10))
}
