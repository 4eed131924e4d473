package simdisk

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// naive is a file of the slowest kind: for each sector the set of what a
// power-off may leave there.
type naive struct {
	sector  int
	visible []byte
	legal   map[int][]held // the persisted content first; missing: zeros alone
	sizes   []heldSize
	clock   int
	past    [][]byte // the visible bytes after each change
	cut     bool     // was ever truncated
}

type held struct {
	at    int
	bytes []byte
}

type heldSize struct {
	at   int
	size int
}

func newNaive(sector int) *naive {
	return &naive{sector: sector, legal: map[int][]held{}, sizes: []heldSize{{}}, past: [][]byte{nil}}
}

// content is sector s of some bytes, padded with zeros.
func (n *naive) content(b []byte, s int) []byte {
	p := make([]byte, n.sector)
	if s*n.sector < len(b) {
		copy(p, b[s*n.sector:])
	}
	return p
}

// become makes b the visible bytes, one change later.
func (n *naive) become(b []byte) {
	n.clock++
	for s := range (max(len(b), len(n.visible)) + n.sector - 1) / n.sector {
		was, is := n.content(n.visible, s), n.content(b, s)
		if bytes.Equal(was, is) {
			continue
		}
		if n.legal[s] == nil {
			n.legal[s] = []held{{0, was}}
		}
		n.legal[s] = append(n.legal[s], held{n.clock, is})
	}
	if len(b) != len(n.visible) {
		n.sizes = append(n.sizes, heldSize{n.clock, len(b)})
	}
	n.visible = b
	n.past = append(n.past, b)
}

func (n *naive) write(b []byte, off int) {
	v := slices.Clone(n.visible)
	if need := off + len(b) - len(v); need > 0 {
		v = append(v, make([]byte, need)...)
	}
	copy(v[off:], b)
	n.become(v)
}

func (n *naive) truncate(size int) {
	v := make([]byte, size)
	copy(v, n.visible)
	n.cut = true
	n.become(v)
}

// sync gives up all that was replaced at or before a time.
func (n *naive) sync(at int) {
	for s, l := range n.legal {
		for len(l) > 1 && l[1].at <= at {
			l = l[1:]
		}
		n.legal[s] = l
	}
	for len(n.sizes) > 1 && n.sizes[1].at <= at {
		n.sizes = n.sizes[1:]
	}
}

// evict persists the newest of every sector, but no size.
func (n *naive) evict() {
	for s, l := range n.legal {
		n.legal[s] = l[len(l)-1:]
	}
}

// check says what is wrong with an image, which becomes the state.
func (n *naive) check(t require.TestingT, got []byte, torn []int64) {
	require.True(t, slices.ContainsFunc(n.sizes, func(h heldSize) bool { return h.size == len(got) }),
		"size %d is none of %v", len(got), n.sizes)
	for s := range (len(got) + n.sector - 1) / n.sector {
		is := n.content(got, s)
		end := min(n.sector, len(got)-s*n.sector)
		l := n.legal[s]
		if l == nil {
			l = []held{{0, n.content(n.visible, s)}}
		}
		require.True(t, slices.ContainsFunc(l, func(h held) bool { return bytes.Equal(h.bytes[:end], is[:end]) }),
			"sector %d is none of its %d versions", s, len(l))
	}
	for page := 0; (page+1)*PageSize <= len(got); page++ {
		in := func(b []byte) bool {
			p := make([]byte, PageSize)
			if page*PageSize < len(b) {
				copy(p, b[page*PageSize:])
			}
			return bytes.Equal(p, got[page*PageSize:(page+1)*PageSize])
		}
		was := slices.ContainsFunc(n.past, in)
		if slices.Contains(torn, int64(page)) {
			require.True(t, n.cut || !was, "page %d is called torn and is as it was at some moment", page)
		} else {
			require.True(t, was, "page %d is torn and was not called so", page)
		}
	}
	*n = *newNaive(n.sector)
	n.visible, n.past[0] = got, got
	n.sizes[0].size = len(got)
}

// all reads a whole file.
func all(t require.TestingT, f *File) []byte {
	b := make([]byte, f.Size()+1)
	n, err := f.ReadAt(b, 0)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, int(f.Size()), n)
	return b[:n:n]
}

func open(t require.TestingT, d *Disk, name string) *File {
	f, err := d.Open(name, true)
	require.NoError(t, err)
	return f
}

// twin is a file and the naive one beside it.
type twin struct {
	d     *Disk
	f     *File
	n     *naive
	count uint64
	syncs []begun
}

// begun is a sync that has not ended.
type begun struct {
	cut Version
	at  int
}

// write writes bytes that no other write has in any sector.
func (w *twin) write(t *rapid.T) {
	off := rapid.IntRange(0, 80_000).Draw(t, "off")
	if rapid.Bool().Draw(t, "page") {
		off &^= PageSize - 1
	}
	b := make([]byte, rapid.SampledFrom([]int{1, 100, 512, 1000, 4096, 8192, 20_000}).Draw(t, "n"))
	w.count++
	for i := range b {
		b[i] = byte(i)
	}
	for i := 0; i+8 <= len(b); i += 256 {
		binary.LittleEndian.PutUint64(b[i:], w.count)
	}
	_, err := w.f.WriteAt(b, int64(off))
	require.NoError(t, err)
	w.n.write(b, off)
}

func (w *twin) truncate(t *rapid.T) {
	if !rapid.Bool().Draw(t, "really") {
		t.Skip()
	}
	size := rapid.IntRange(0, 100_000).Draw(t, "size")
	_, err := w.f.Truncate(int64(size))
	require.NoError(t, err)
	w.n.truncate(size)
}

func (w *twin) syncEnds(t *rapid.T) {
	if len(w.syncs) == 0 {
		t.Skip()
	}
	require.NoError(t, w.f.SyncTo(w.syncs[0].cut))
	w.n.sync(w.syncs[0].at)
	w.syncs = w.syncs[1:]
}

func (w *twin) powerOff(t *rapid.T) {
	rep := w.d.PowerOff()
	var torn []int64
	for _, fr := range rep.Files {
		torn = fr.Torn
	}
	w.f = open(t, w.d, "f")
	w.syncs = nil
	w.n.check(t, all(t, w.f), torn)
}

// TestAgainstNaive: D1, D2 (that what comes back is legal), D3, and that torn
// pages are named, against the naive disk.
func TestAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sector := rapid.SampledFrom([]int{512, 4096, 8192}).Draw(t, "sector")
		evict := rapid.Bool().Draw(t, "evict")
		w := &twin{d: New(Config{Sector: sector}, rapid.Uint64().Draw(t, "key")), n: newNaive(sector)}
		w.f = open(t, w.d, "f")
		require.NoError(t, w.d.SyncDir())
		t.Repeat(map[string]func(*rapid.T){
			"write":       w.write,
			"truncate":    w.truncate,
			"sync begins": func(t *rapid.T) { w.syncs = append(w.syncs, begun{w.f.SyncPoint(), w.n.clock}) },
			"sync ends":   w.syncEnds,
			"evict": func(t *rapid.T) {
				if !evict {
					t.Skip()
				}
				w.f.Evict()
				w.n.evict()
			},
			"power-off": w.powerOff,
			"": func(t *rapid.T) {
				require.Equal(t, len(w.n.visible), int(w.f.Size()))
				require.True(t, bytes.Equal(w.n.visible, all(t, w.f)), "the visible bytes differ")
				checkCounts(t, w.f)
			},
		})
	})
}

// checkCounts holds what is counted on the way against a recount.
func checkCounts(t require.TestingT, f *File) {
	g, p := &f.d.geo, &f.d.pool
	var dirty, ghosts, runs int32
	for _, c := range f.chunks {
		if c == nil {
			continue
		}
		was := false
		for page := range uint32(chunkPages) {
			is := c.dirty.page(g, page) != 0
			if is && !was {
				runs++
			}
			was = is
		}
		for s := range g.chunkMask + 1 {
			require.Equal(t, c.pend[s] != 0, c.dirty.has(s) || c.ghost.has(s))
			if c.dirty.has(s) {
				dirty++
			}
			if c.ghost.has(s) {
				ghosts++
			}
			if i := c.pend[s]; i != 0 {
				q := &p.pendings[i]
				n := int32(1)
				for v := q.newest; v != q.base; v = p.versions[v].older {
					n++
				}
				require.Equal(t, q.count, n)
				require.LessOrEqual(t, n, int32(MaxVersions))
			}
		}
	}
	require.Equal(t, dirty, f.dirty.n)
	require.Equal(t, ghosts, f.ghosts.n)
	require.Equal(t, runs, f.runs)
}

// TestSmallCache: with a cache of a few pages what is visible stays right,
// evicted or not, and counts agree.
func TestSmallCache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pages := rapid.IntRange(1, 5).Draw(t, "pages")
		d := New(Config{CachePages: pages}, rapid.Uint64().Draw(t, "key"))
		files := []*File{open(t, d, "a"), open(t, d, "b")}
		want := [2][]byte{}
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				i := rapid.IntRange(0, 1).Draw(t, "file")
				off := rapid.IntRange(0, 70_000).Draw(t, "off")
				b := bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, rapid.IntRange(1, 20_000).Draw(t, "n"))
				_, err := files[i].WriteAt(b, int64(off))
				require.NoError(t, err)
				if need := off + len(b) - len(want[i]); need > 0 {
					want[i] = append(want[i], make([]byte, need)...)
				}
				copy(want[i][off:], b)
			},
			"read": func(t *rapid.T) {
				i := rapid.IntRange(0, 1).Draw(t, "file")
				files[i].ReadDone(0, int64(rapid.IntRange(0, 70_000).Draw(t, "off")), 9000)
			},
			"truncate": func(t *rapid.T) {
				i := rapid.IntRange(0, 1).Draw(t, "file")
				size := rapid.IntRange(0, 80_000).Draw(t, "size")
				_, err := files[i].Truncate(int64(size))
				require.NoError(t, err)
				b := make([]byte, size)
				copy(b, want[i])
				want[i] = b
			},
			"sync": func(t *rapid.T) { require.NoError(t, files[rapid.IntRange(0, 1).Draw(t, "file")].Sync()) },
			"": func(t *rapid.T) {
				resident := 0
				for i, f := range files {
					require.True(t, bytes.Equal(want[i], all(t, f)), "file %d", i)
					checkCounts(t, f)
					resident += f.Resident()
				}
				require.LessOrEqual(t, resident, pages)
				require.Equal(t, resident+len(d.cache.free), len(d.cache.frames))
			},
		})
	})
}
