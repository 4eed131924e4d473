package buffer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
	"tornpage/sim"
)

// slow is a store whose calls take drawn times, and whose disk may be full.
type slow struct {
	m     host.Machine
	r     host.Rand
	pages map[page.ID]*page.Page
	size  uint32 // blocks from here on are cut off
	full  bool
	says  bool // it tells the pool that it is full
}

func (s *slow) nap() { s.m.Sleep(time.Duration(s.r.N(40)) * time.Microsecond) }

func (s *slow) ReadPage(id page.ID, _, _ wal.LSN, p *page.Page) error {
	s.nap()
	old := s.pages[id]
	if old == nil || id.Block >= s.size {
		return engine.ErrNoPage
	}
	*p = *old
	s.nap()
	return nil
}

func (s *slow) Evict(id page.ID, p *page.Page) error {
	s.nap()
	if id.Block >= s.size {
		return nil // cut off meanwhile
	}
	if s.full && s.pages[id] == nil {
		return engine.ErrFull
	}
	c := *p
	s.pages[id] = &c
	s.nap()
	return nil
}

func (s *slow) Durable() wal.LSN          { return ^wal.LSN(0) }
func (s *slow) WaitDurable(wal.LSN) error { return nil }
func (s *slow) Full() bool                { return s.says && s.full }

// crowd is tasks of all kinds on one pool, and what each page must hold.
type crowd struct {
	w      *sim.World
	m      host.Machine
	pool   *Pool
	store  *slow
	pages  uint64
	want   map[page.ID]uint64
	met    map[page.ID]bool
	lsn    wal.LSN
	cut    *host.Latch // shared: blocks may be used
	failed string
	full   int // pins refused
	done   int // changes and reads
}

// wrong ends the test's run with what was seen.
func (c *crowd) wrong(format string, args ...any) {
	if c.failed == "" {
		c.failed = fmt.Sprintf(format, args...)
	}
	c.w.Stop()
}

// use changes or reads a page.
func (c *crowd) use(r *host.Rand) {
	c.cut.RLock()
	defer c.cut.RUnlock()
	i := id(int(r.N(c.pages)))
	pin := c.pool.Pin
	if !c.met[i] {
		pin = c.pool.PinNew
	}
	c.met[i] = true
	f, err := pin(i)
	if errors.Is(err, engine.ErrFull) {
		c.full++
		return
	}
	if err != nil {
		c.wrong("pin of %v: %v", i, err)
		return
	}
	defer c.pool.Unpin(f)
	if r.Chance(1, 2) {
		f.RLock()
		defer f.RUnlock()
	} else {
		f.Lock()
		defer f.Unlock()
	}
	if got := binary.LittleEndian.Uint64(f.Page()[1000:]); got != c.want[i] || f.ID() != i {
		c.wrong("%v, pinned as %v, has %d, want %d", f.ID(), i, got, c.want[i])
	}
	c.done++
	if f.latch.Held() {
		f.MarkDirty()
		c.m.Sleep(time.Duration(r.N(20)) * time.Microsecond)
		c.lsn++
		c.want[i] = uint64(c.lsn)
		binary.LittleEndian.PutUint64(f.Page()[1000:], uint64(c.lsn))
		f.Page().SetLSN(c.lsn)
	}
}

// odd does what is not a use of one page.
func (c *crowd) odd(r *host.Rand) {
	switch r.N(6) {
	case 0:
		c.cut.RLock()
		var ids []page.ID
		for range r.N(8) {
			ids = append(ids, id(int(r.N(c.pages))))
			c.met[ids[len(ids)-1]] = true
		}
		c.pool.Prefetch(ids...)
		c.cut.RUnlock()
	case 1:
		for _, i := range c.pool.Dirty(nil) {
			if err := c.pool.WriteBack(i); err != nil && !errors.Is(err, engine.ErrFull) {
				c.wrong("write %v: %v", i, err)
			}
		}
	case 2:
		c.cut.Lock() // storage cuts, and the pool forgets
		from := uint32(r.N(c.pages))
		for n := from; n < uint32(c.pages); n++ {
			delete(c.want, id(int(n)))
			delete(c.met, id(int(n)))
		}
		c.store.size = from
		c.pool.Drop(7, from)
		c.store.size = math.MaxUint32
		for n := from; n < uint32(c.pages); n++ {
			delete(c.store.pages, id(int(n)))
		}
		c.cut.Unlock()
	case 3:
		c.store.full = r.Chance(1, 2)
	}
}

func (c *crowd) run(m host.Machine, frames, users int) {
	c.m = m
	c.cut = host.NewLatch(m, host.WaitRelation)
	c.store.m, c.store.r = m, m.Rand("test.store", 0)
	c.pool = New(m, Config{Frames: frames, Remember: 4})
	c.pool.Attach(c.store, 0)
	cfg := WriterConfig{Delay: 200 * time.Microsecond, MaxPages: 3}
	m.Go("writer", func() { c.pool.RunWriter(cfg) })
	for i := range users {
		m.Go("user", func() {
			r := m.Rand("test.user", uint64(i))
			for {
				c.use(&r)
				m.Sleep(time.Duration(r.N(30)) * time.Microsecond)
			}
		})
	}
	r := m.Rand("test.odd", 0)
	for {
		c.odd(&r)
		m.Sleep(time.Duration(r.N(100)) * time.Microsecond)
	}
}

// TestCrowd: whatever is written, dropped, read ahead and refused meanwhile, a
// page holds its last change, and what was cut holds nothing.
func TestCrowd(t *testing.T) {
	marks := map[string]uint64{}
	full := 0
	rapid.Check(t, func(t *rapid.T) {
		c := &crowd{pages: rapid.Uint64Range(3, 30).Draw(t, "pages"), want: map[page.ID]uint64{}, met: map[page.ID]bool{}}
		c.store = &slow{pages: map[page.ID]*page.Page{}, size: math.MaxUint32, says: rapid.Bool().Draw(t, "store tells")}
		frames := rapid.IntRange(4, 16).Draw(t, "frames")
		users := rapid.IntRange(1, 6).Draw(t, "users")
		w, err := sim.New(sim.Config{Seed: rapid.Uint64().Draw(t, "seed"),
			Machines: []sim.Machine{{Name: "m", Zone: "a"}}, Costs: sim.DefaultCosts(),
			Hosts: []sim.Host{{Name: "h", Machine: "m", Boot: func(m host.Machine) { c.run(m, frames, users) }}}})
		require.NoError(t, err)
		defer w.Close()
		c.w = w
		w.BootAll()
		w.Run(10 * time.Millisecond)
		require.Nil(t, w.Failure(), "%v", w.Failure())
		require.Empty(t, c.failed)
		require.Positive(t, c.done)
		full += c.full
		for k, n := range w.Marks() {
			marks[k] += n
		}
	})
	require.Positive(t, full, "no pin was refused")
	for _, k := range []string{"buffer.cleaned", "buffer.prefetched", "buffer.refused", "buffer.evicted-dirty"} {
		require.Positive(t, marks[k], k)
	}
}

// BenchmarkPin is a pin of a page that is there, its latch, and the way back.
func BenchmarkPin(b *testing.B) {
	k := &talk{}
	k.boot(b)
	defer k.w.Close()
	const pages = 512
	k.frames(pages, 0)
	k.m.Go("bench", func() {
		b.ReportAllocs()
		for i := range pages + b.N {
			if i == pages {
				b.ResetTimer() // warm
			}
			f, err := k.pool.Pin(id(i % pages))
			if err != nil {
				panic(err)
			}
			f.RLock()
			if f.Page().LSN() != 0 {
				b.Fatal("who wrote it?")
			}
			f.RUnlock()
			k.pool.Unpin(f)
		}
		b.StopTimer()
		k.w.Stop()
	})
	k.w.Run(k.w.Now() + time.Hour)
}

// BenchmarkVictim is a pin that takes the frame of another page, clean.
func BenchmarkVictim(b *testing.B) {
	k := &talk{}
	k.boot(b)
	defer k.w.Close()
	k.frames(512, 0)
	k.pool.Attach(&slow{pages: map[page.ID]*page.Page{}, m: k.m, r: k.m.Rand("bench", 0)}, 0)
	k.m.Go("bench", func() {
		b.ReportAllocs()
		for i := range 2048 + b.N {
			if i == 2048 {
				b.ResetTimer()
			}
			f, err := k.pool.PinNew(id(i % 2048))
			if err != nil {
				panic(err)
			}
			k.pool.Unpin(f)
		}
		b.StopTimer()
		k.w.Stop()
	})
	k.w.Run(k.w.Now() + time.Hour)
}
