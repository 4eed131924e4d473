package btree

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine"
	"tornpage/engine/buffer"
	"tornpage/engine/compute/computetest"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/pager"
	"tornpage/sim"
)

const testRel page.Rel = 16384

// tupleOf is an index tuple of one int8 column, with padding behind it.
func tupleOf(dst []byte, key int64, pad int) page.IndexTuple {
	dst = append(dst[:0], make([]byte, page.IndexHeader)...)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(key))
	dst = append(dst, make([]byte, page.RoundUp(pad))...)
	binary.LittleEndian.PutUint16(dst[6:], uint16(len(dst)))
	return dst
}

func keyOf(tuple []byte) int64 {
	if len(tuple) < page.IndexHeader+8 {
		return -1 << 62
	}
	return int64(binary.LittleEndian.Uint64(tuple[page.IndexHeader:]))
}

func compareKeys(a, b []byte) int { return cmp.Compare(keyOf(a), keyOf(b)) }

// boot is one boot of the process under test.
type boot struct {
	m    host.Machine
	st   *computetest.Storage
	pg   *pager.Pager
	tree *Tree
	full uint64 // one Admit of so many says that the disk is full; 0: none
	rand host.Rand
}

// crowded is a storage whose disk is full at times.
type crowded struct {
	*computetest.Storage
	b *boot
}

func (c crowded) Admit(n int) error {
	if c.b.full > 0 && c.b.rand.N(c.b.full) == 0 {
		return fmt.Errorf("disk d: %w", engine.ErrFull)
	}
	return c.Storage.Admit(n)
}

// start opens storage, pool and tree; create makes the index if storage is
// empty.
func start(m host.Machine, mem *computetest.Mem, frames int, moves uint64, cfg Config) *boot {
	st := mem.Boot(m)
	st.Moves = moves
	state, err := st.Open()
	if err != nil {
		panic(err)
	}
	pool := buffer.New(m, buffer.Config{Frames: frames, Remember: 64})
	pg := pager.New(m, pool, nil)
	pool.Attach(st, state.End)
	b := &boot{m: m, st: st, pg: pg, rand: m.Rand("full", 0)}
	pg.Attach(crowded{st, b})
	if cfg.Compare == nil {
		cfg.Compare = compareKeys
	}
	b.tree = New(pg, testRel, cfg)
	if n, err := pg.Blocks(testRel); err != nil {
		panic(err)
	} else if n == 0 {
		if err := b.tree.Create(); err != nil {
			panic(err)
		}
	}
	return b
}

// costs let time pass wherever work is paid for, so that tasks meet and a crash
// can come between any two records. In nanoseconds.
var costs = sim.Costs{host.WorkRecord: 4000, host.WorkTuple: 1000, host.WorkPageLookup: 1000}

// world makes a world of one process.
func world(t require.TestingT, seed uint64, f func(m host.Machine)) *sim.World {
	w, err := sim.New(sim.Config{Seed: seed, MaxEvents: 1 << 62, Costs: costs,
		Machines: []sim.Machine{{Name: "m", Zone: "a"}},
		Hosts:    []sim.Host{{Name: "h", Machine: "m", Boot: f}}})
	require.NoError(t, err)
	return w
}

// run boots a process that does f and ends.
func run(t require.TestingT, f func(m host.Machine)) {
	w := world(t, 1, f)
	defer w.Close()
	w.BootAll()
	w.Run(w.Now() + 100*time.Hour)
	if f := w.Failure(); f != nil {
		require.Fail(t, f.Error(), "%s", f.Stack)
	}
	require.False(t, w.Up("h"), "the process did not finish")
}

// findings runs Check.
func (b *boot) findings() (s CheckStats, out []string) {
	s, err := b.tree.Check(func(f Finding) { out = append(out, f.String()) })
	if err != nil {
		out = append(out, err.Error())
	}
	return s, out
}
