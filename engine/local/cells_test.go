package local_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine"
	"tornpage/engine/buffer"
	"tornpage/engine/host"
	"tornpage/engine/local"
	"tornpage/engine/page"
	"tornpage/engine/wal"
	"tornpage/sim"
	"tornpage/sim/simdisk"
)

// The smallest access method there is: pages of cells, each a number. A change
// sets some cells of some pages to its own number, in one mini-transaction.

const cellRel page.Rel = 16384

// cellRmgr is PostgreSQL's number for generic records, which the engine has none of.
const cellRmgr wal.Rmgr = 20

const (
	cellBytes = 10  // cell index, value
	cellsFrom = 512 // byte of cell 0: cells lie in different sectors
	cellStep  = 512
	cellCount = 14
)

// cell is one place.
type cell struct {
	page  uint32
	index uint16
}

func cellAt(p *page.Page, i uint16) []byte {
	at := cellsFrom + int(i)*cellStep
	return p[at : at+8]
}

// initCells makes p an empty page of cells: its whole middle is one item, so
// that an image has no hole.
func initCells(p *page.Page) {
	p.Init(0)
	p.SetUpper(cellsFrom - 512 + page.HeaderSize)
}

// redoCells replays a change of one page.
func redoCells(r *wal.Record, block int, p *page.Page) error {
	b := &r.Blocks[block]
	if b.WillInit {
		initCells(p)
	}
	if len(b.Data)%cellBytes != 0 {
		return fmt.Errorf("%d bytes of cells", len(b.Data))
	}
	for d := b.Data; len(d) > 0; d = d[cellBytes:] {
		i := binary.LittleEndian.Uint16(d)
		if i >= cellCount {
			return fmt.Errorf("cell %d of %d", i, cellCount)
		}
		copy(cellAt(p, i), d[2:cellBytes])
	}
	return nil
}

func cellRedo() *wal.Redo {
	r := wal.StandardRedo()
	r[cellRmgr] = redoCells
	return &r
}

// change is one mini-transaction that Append returned for: cells that were set,
// or a truncation to so many pages.
type change struct {
	id    uint64
	lsn   wal.LSN
	cells []cell
	cut   bool
	pages uint32
}

// apply makes the change in a map of all cells.
func (c *change) apply(cells map[cell]uint64) {
	for _, at := range c.cells {
		cells[at] = c.id
	}
	if c.cut {
		maps.DeleteFunc(cells, func(at cell, _ uint64) bool { return at.page >= c.pages })
	}
}

// engineUp is one boot of the engine.
type engineUp struct {
	m     host.Machine
	pool  *buffer.Pool
	store *local.Storage
	state engine.State
	w     *cells
	cut   *host.Latch // shared: pages may be used; exclusive: they are cut off

	refused int // changes refused because the disk was full
	done    int // changes made
	read    int // pages read
	shut    int // reads refused because the disk was full
}

// cells is the outside view of an engine over all its boots.
type cells struct {
	tb      testing.TB
	cfg     local.Config
	frames  int
	pages   uint32
	world   *sim.World
	up      *engineUp
	next    uint64
	history []change // of the log that is known to have survived, or may
	acked   wal.LSN
	opens   int
	refused error // of the last Open
	epoch   uint64
	boot    func(*engineUp)
	lenient bool // scripts show what is there instead of checking it
}

// newCells makes a world with one machine that boots the engine and then runs
// boot. Disks have sectors of 512 bytes, or as given.
func newCells(tb testing.TB, seed uint64, cfg local.Config, frames int, pages uint32, boot func(*engineUp)) *cells {
	tb.Helper()
	return newCellsOn(tb, sim.Config{Seed: seed}, 512, cfg, frames, pages, boot)
}

func newCellsOn(tb testing.TB, world sim.Config, sector int, cfg local.Config, frames int, pages uint32, boot func(*engineUp)) *cells {
	tb.Helper()
	return newCellsDisk(tb, world, simdisk.Config{Sector: sector}, cfg, frames, pages, boot)
}

func newCellsDisk(tb testing.TB, world sim.Config, disk simdisk.Config, cfg local.Config, frames int, pages uint32, boot func(*engineUp)) *cells {
	tb.Helper()
	w := &cells{tb: tb, cfg: cfg, frames: frames, pages: pages, boot: boot}
	w.cfg.Redo = cellRedo()
	world.MaxEvents = 3_000_000
	world.Machines = []sim.Machine{{Name: "m", Zone: "a", Disks: []sim.Disk{{Name: "wal", Config: disk}, {Name: "data", Config: disk}}}}
	world.Hosts = []sim.Host{{Name: "pg", Machine: "m", Boot: w.run}}
	world.Log = func(at time.Duration, _, line string) {
		if testing.Verbose() {
			tb.Logf("%v %s", at, line)
		}
	}
	var err error
	w.world, err = sim.New(world)
	require.NoError(tb, err)
	tb.Cleanup(w.world.Close)
	return w
}

// run is the boot function of the engine.
func (w *cells) run(m host.Machine) {
	w.up = nil
	pool := buffer.New(m, buffer.Config{Frames: w.frames})
	store := local.New(m, w.cfg, pool)
	st, err := store.Open()
	if err != nil {
		w.refused = err
		m.Exit(err)
	}
	pool.Attach(store, st.End)
	w.refused = nil
	w.opens++
	up := &engineUp{m: m, pool: pool, store: store, state: st, w: w, cut: host.NewLatch(m, host.WaitRelation)}
	if !w.lenient {
		w.check(up)
	}
	w.up = up
	w.boot(up)
}

// check compares every cell with the history: what survived is a prefix of
// what was appended, and everything acknowledged is in it (S2, S3).
func (w *cells) check(up *engineUp) {
	found := map[cell]uint64{}
	for n := range w.pages {
		f, err := up.pool.Pin(page.ID{Rel: cellRel, Block: n})
		if err != nil {
			panic(fmt.Sprintf("page %d after recovery: %v", n, err))
		}
		f.RLock()
		if !f.Page().IsZero() {
			for i := range uint16(cellCount) {
				if v := binary.LittleEndian.Uint64(cellAt(f.Page(), i)); v != 0 {
					found[cell{n, i}] = v
				}
			}
		}
		f.RUnlock()
		up.pool.Unpin(f)
	}
	slices.SortFunc(w.history, func(a, b change) int { return int(int64(a.lsn) - int64(b.lsn)) })
	seen := map[uint64]bool{}
	for _, v := range found {
		seen[v] = true
	}
	keep := 0
	for i, c := range w.history {
		if seen[c.id] || c.lsn <= w.acked {
			keep = i + 1
		}
	}
	want := map[cell]uint64{}
	for i := range w.history[:keep] {
		w.history[i].apply(want)
	}
	// A truncation shows in what is missing only: it may have survived, too.
	first := want
	for ; !maps.Equal(found, want); keep++ {
		if keep == len(w.history) {
			panic(fmt.Sprintf("boot %d: %s (history of %d, acknowledged to %v)",
				up.m.Boot(), w.difference(found, first), len(w.history), w.acked))
		}
		want = maps.Clone(want)
		w.history[keep].apply(want)
	}
	w.history = w.history[:keep]
	if up.state.Epoch <= w.epoch {
		panic(fmt.Sprintf("epoch %d after %d", up.state.Epoch, w.epoch))
	}
	w.epoch = up.state.Epoch
}

// difference names the first cell that is not as it should be.
func (w *cells) difference(found, want map[cell]uint64) string {
	for n := range w.pages {
		for i := range uint16(cellCount) {
			if at := (cell{n, i}); found[at] != want[at] {
				return fmt.Sprintf("cell %v is %d, want %d", at, found[at], want[at])
			}
		}
	}
	return "no difference"
}

// let runs the world for d, and fails the test if a task panicked.
func (w *cells) let(d time.Duration) {
	w.tb.Helper()
	why := w.world.Run(w.world.Now() + d)
	if f := w.world.Failure(); f != nil {
		w.tb.Fatalf("%v\n%s", f, f.Stack)
	}
	require.NotEqual(w.tb, sim.TooMany, why)
}
