package vacuum

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/heap"
	"tornpage/engine/page"
)

// TestDue: PostgreSQL's thresholds, which have to be exceeded.
func TestDue(t *testing.T) {
	for _, c := range []struct {
		why  string
		p    Policy
		c    Counters
		want bool
	}{
		{"nothing happened", Policy{}, Counters{}, false},
		{"50 dead of none live", Policy{}, Counters{Dead: 50}, false},
		{"51 dead of none live", Policy{}, Counters{Dead: 51}, true},
		{"250 dead of 1,000 live", Policy{}, Counters{Live: 1000, Dead: 250}, false},
		{"251 dead of 1,000 live", Policy{}, Counters{Live: 1000, Dead: 251}, true},
		{"1,000 inserted into nothing", Policy{}, Counters{Inserted: 1000}, false},
		{"1,001 inserted into nothing", Policy{}, Counters{Inserted: 1001}, true},
		{"1,200 inserted, 1,000 live", Policy{}, Counters{Live: 1000, Inserted: 1200}, false},
		{"1,201 inserted, 1,000 live", Policy{}, Counters{Live: 1000, Inserted: 1201}, true},
		{"inserts do not count", Policy{InsertThreshold: -1}, Counters{Inserted: 1 << 40}, false},
		{"no scale", Policy{Percent: -1}, Counters{Live: 1 << 40, Dead: 51}, true},
		{"own numbers", Policy{Threshold: 1, Percent: 50}, Counters{Live: 3, Dead: 2}, false},
		{"own numbers", Policy{Threshold: 1, Percent: 50}, Counters{Live: 3, Dead: 3}, true},
		{"counters at their end", Policy{}, Counters{Live: 1<<64 - 1, Dead: 1 << 62}, true},
	} {
		require.Equal(t, c.want, c.p.Due(c.c), "%s: %+v", c.why, c.c)
	}
}

// TestCounters: what transactions and vacuums do to the counters.
func TestCounters(t *testing.T) {
	var c Counters
	c.Ended(10, 0, 0, true)
	require.Equal(t, Counters{Live: 10, Inserted: 10}, c)
	c.Ended(2, 3, 4, true)
	require.Equal(t, Counters{Live: 8, Inserted: 12, Dead: 7}, c)
	c.Ended(5, 1, 1, false) // what it inserted is dead, what it deleted lives
	require.Equal(t, Counters{Live: 8, Inserted: 17, Dead: 13}, c)
	c.Ended(0, 0, 100, true)
	require.Zero(t, c.Live)
	c.Pruned(3)
	require.Equal(t, uint64(110), c.Dead)
	c.Pruned(1000)
	require.Zero(t, c.Dead)

	c.Vacuumed(Stats{Blocks: 10, Scanned: 10, Live: 100, Recent: 2, LeftDead: 1, Truncated: 2})
	require.Equal(t, Counters{Live: 100, Dead: 3, Pages: 8}, c)
	c.Vacuumed(Stats{Blocks: 8, Scanned: 6, Live: 60})
	require.Equal(t, Counters{Live: 85, Pages: 8}, c, "two skipped blocks hold a quarter of the 100")
}

// TestPause: rest in proportion to the cost, at most four times the delay.
func TestPause(t *testing.T) {
	c := Config{CostDelay: 2 * time.Millisecond}.withDefaults()
	for _, x := range []struct {
		balance, left int
		rest          time.Duration
	}{{199, 199, 0}, {200, 0, 2 * time.Millisecond}, {300, 0, 3 * time.Millisecond}, {9999, 0, 8 * time.Millisecond}} {
		rest, left := c.pause(x.balance)
		require.Equal(t, x.rest, rest, "balance %d", x.balance)
		require.Equal(t, x.left, left, "balance %d", x.balance)
	}
	c.CostDelay = 0
	rest, left := c.pause(9999)
	require.Zero(t, rest)
	require.Equal(t, 9999, left)
}

// TestDeadList: membership and order against a map.
func TestDeadList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d deadList
		in := map[page.TID]bool{}
		blocks := rapid.SliceOfNDistinct(rapid.Uint32Range(0, 12), 0, 8, rapid.ID[uint32]).Draw(t, "blocks")
		is := map[uint32]bool{}
		for _, b := range blocks {
			is[b] = true
		}
		pages := uint32(0)
		for b := range uint32(13) {
			if !is[b] {
				continue
			}
			var offs []uint16
			for off := uint16(1); off < 6; off++ {
				if rapid.Bool().Draw(t, "dead") {
					offs = append(offs, off)
					in[page.TID{Block: b, Offset: off}] = true
				}
			}
			if len(offs) > 0 {
				d.add(b, offs)
				pages++
			}
		}
		require.Equal(t, pages, d.pages)
		for range 60 {
			tid := page.TID{Block: rapid.Uint32Range(0, 13).Draw(t, "block"), Offset: rapid.Uint16Range(0, 7).Draw(t, "offset")}
			require.Equal(t, in[tid], d.has(tid), "%v", tid)
		}
		seen := 0
		for i := 0; i < len(d.tids); {
			var b uint32
			var offs []uint16
			b, offs, i = d.block(i, nil)
			for _, off := range offs {
				require.True(t, in[page.TID{Block: b, Offset: off}])
				seen++
			}
		}
		require.Len(t, in, seen)
		d.reset()
		require.False(t, d.has(page.TID{Block: 1, Offset: 1}))
	})
}

func BenchmarkDead(b *testing.B) {
	var d deadList
	for block := range uint32(10000) {
		d.add(block, []uint16{1, 3, 5, 7, 9})
	}
	b.ReportAllocs()
	i := uint32(0)
	for b.Loop() {
		i = (i + 7919) % 10000
		d.has(page.TID{Block: i, Offset: uint16(i % 11)})
	}
}

// gone is a world in which everybody sees everything.
type gone struct{}

func (gone) Fate(uint32) heap.Fate { return heap.Gone }

func BenchmarkLook(b *testing.B) {
	var p page.Page
	p.Init(0)
	for n := range uint32(60) {
		if _, ok := p.InsertTuple(0, 0, page.NewTuple(nil, 10+n, 0, 2, make([]byte, 97))); !ok {
			b.Fatal("no room")
		}
	}
	p.SetItemID(7, page.MakeItemID(0, page.Dead, 0))
	var s sight
	b.ReportAllocs()
	for b.Loop() {
		s.look(&p, gone{}, page.MaxHeapTuples)
	}
	require.Equal(b, uint64(59), s.live)
	require.Equal(b, []uint16{7}, s.dead)
}
