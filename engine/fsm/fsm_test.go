package fsm_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/fsm"
)

// naive is the slow twin: free bytes in a slice, searched in a circle.
type naive struct {
	free []int // as Set noted it
	next int
}

// promised is what a block with so many free bytes is sure to have room for:
// PostgreSQL rounds down to 32 bytes, and keeps 8,160 apart.
func promised(free int) int {
	switch {
	case free >= 8160:
		return 8160
	case free >= 254*32:
		return 254 * 32
	case free < 0:
		return 0
	}
	return free / 32 * 32
}

func (n *naive) find(need int) (uint32, bool) {
	if need > 8160 {
		return 0, false
	}
	for i := range n.free {
		b := (n.next + i) % len(n.free)
		if promised(n.free[b]) >= max(need, 1) {
			n.next = (b + 1) % len(n.free)
			return uint32(b), true
		}
	}
	return 0, false
}

// TestModel: every answer is the slow twin's, whatever was set, cut or asked.
func TestModel(t *testing.T) {
	var found, none, cut int
	rapid.Check(t, func(t *rapid.T) {
		var m fsm.Map
		n := naive{}
		top := rapid.SampledFrom([]int{3, 9, 70, 700}).Draw(t, "blocks")
		size := rapid.OneOf(rapid.SampledFrom([]int{0, 1, 31, 32, 33, 8127, 8128, 8159, 8160, 8161, 8164}), rapid.IntRange(-3, 8200))
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				b, free := rapid.IntRange(0, top).Draw(t, "block"), size.Draw(t, "free")
				if b >= len(n.free) {
					n.free = append(n.free, make([]int, b+1-len(n.free))...)
				}
				n.free[b] = free
				m.Set(uint32(b), free)
			},
			"find": func(t *rapid.T) {
				need := size.Draw(t, "need")
				block, ok := m.Find(need)
				wantBlock, wantOK := n.find(need)
				require.Equal(t, wantOK, ok, "find %d", need)
				require.Equal(t, wantBlock, block, "find %d", need)
				if !ok {
					none++
					return
				}
				found++
				require.GreaterOrEqual(t, m.Free(block), need)
			},
			"truncate": func(t *rapid.T) {
				b := rapid.IntRange(0, top+1).Draw(t, "to")
				m.Truncate(uint32(b))
				if b < len(n.free) {
					cut++
					n.free = n.free[:b]
					if n.next >= b {
						n.next = 0
					}
				}
			},
			"": func(t *rapid.T) {
				require.Equal(t, uint32(len(n.free)), m.Len())
				for b, free := range n.free {
					require.Equal(t, promised(free), m.Free(uint32(b)), "block %d", b)
				}
				require.Zero(t, m.Free(m.Len()))
			},
		})
	})
	require.NotZero(t, found)
	require.NotZero(t, none)
	require.NotZero(t, cut)
}

// TestSpread: searches that follow each other visit all blocks with room
// before one comes again (rule F2).
func TestSpread(t *testing.T) {
	var m fsm.Map
	for b := range uint32(10) {
		m.Set(b, 100*int(b%2))
	}
	for range 3 {
		for _, want := range []uint32{1, 3, 5, 7, 9} {
			got, ok := m.Find(96)
			require.True(t, ok)
			require.Equal(t, want, got)
		}
	}
	_, ok := m.Find(97)
	require.False(t, ok, "100 bytes promise 96")
	m.Truncate(6)
	for _, want := range []uint32{1, 3, 5, 1} {
		got, _ := m.Find(1)
		require.Equal(t, want, got)
	}
}

// TestEmptyPage: a page without tuples has room for the largest one.
func TestEmptyPage(t *testing.T) {
	var m fsm.Map
	m.Set(4, 8164) // page size less header and one line pointer
	b, ok := m.Find(fsm.MaxRequest)
	require.True(t, ok)
	require.Equal(t, uint32(4), b)
	_, ok = m.Find(fsm.MaxRequest + 1)
	require.False(t, ok)
}

// TestWarm: no allocation once the map has its size.
func TestWarm(t *testing.T) {
	var m fsm.Map
	m.Set(999, 50)
	b := uint32(0)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		b = (b + 7) % 1000
		m.Set(b, int(b)*8)
		m.Find(int(b) * 7)
		m.Truncate(500)
		m.Set(999, 50)
		m.Truncate(0)
		m.Set(999, 50)
	}))
}

func benchMap(blocks uint32) *fsm.Map {
	var m fsm.Map
	m.Set(blocks-1, 0)
	for b := uint32(0); b < blocks; b += 97 {
		m.Set(b, 8000)
	}
	return &m
}

func BenchmarkFind(b *testing.B) {
	m := benchMap(1 << 20) // 8 GiB of pages
	b.ReportAllocs()
	for b.Loop() {
		m.Find(4000)
	}
}

func BenchmarkSet(b *testing.B) {
	m := benchMap(1 << 20)
	b.ReportAllocs()
	i := uint32(0)
	for b.Loop() {
		i = (i + 12345) & (1<<20 - 1)
		m.Set(i, int(i&8191))
	}
}
