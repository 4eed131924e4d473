package txn

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/heap"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// TestWindow: what is not recorded any more has ended before the oldest
// snapshot, everything else is as it was put in, and once all has ended the
// memory is given back.
func TestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w window
		next := uint32(rapid.IntRange(3, 700).Draw(t, "first"))
		w.begin(next)
		require.Equal(t, endOld, w.end(next-1))
		ends := map[uint32]wal.LSN{}
		var open []uint32
		lsn, oldest := wal.LSN(10), wal.LSN(10)
		check := func() {
			for xid, want := range ends {
				got := w.end(xid)
				gone := got == endOld && (want == endAborted || want <= oldest)
				if got != want && !gone {
					t.Fatalf("XID %d: %v, want %v; oldest %v", xid, got, want, oldest)
				}
			}
			require.Equal(t, endRunning, w.end(next))
			require.True(t, slices.Equal(slices.Sorted(slices.Values(open)), w.running(nil, next)))
		}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			for range rapid.IntRange(0, 300).Draw(t, "begun") {
				w.add(next, nil)
				ends[next] = endRunning
				open = append(open, next)
				next++
			}
			for range rapid.IntRange(0, 20).Draw(t, "ended") {
				if len(open) == 0 {
					break
				}
				i := len(open) * rapid.IntRange(0, 7).Draw(t, "which") / 8
				end := endAborted
				if rapid.Bool().Draw(t, "commits") {
					lsn++
					end = lsn
				}
				n := min(len(open)-i, rapid.IntRange(1, 40).Draw(t, "at once"))
				for _, xid := range open[i : i+n] {
					ends[xid] = end
					w.leave(xid, end)
				}
				open = slices.Delete(open, i, i+n)
			}
			oldest += wal.LSN(rapid.IntRange(0, int(lsn-oldest)).Draw(t, "oldest"))
			w.trim(oldest)
			check()
		}
		for _, xid := range open {
			ends[xid] = endAborted
			w.leave(xid, endAborted)
		}
		open = nil
		oldest = lsn
		w.trim(oldest)
		check()
		require.LessOrEqual(t, w.recorded(), chunkXIDs)
		require.LessOrEqual(t, len(w.chunks), 1)
	})
}

// TestMemo: it knows what it was told since it was last emptied, and it is
// emptied only when it is full.
func TestMemo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m memo
		told := map[uint32]bool{}
		xid := rapid.Uint32Range(FirstXID, 1<<32-1<<16)
		for range rapid.IntRange(1, 20).Draw(t, "rounds") {
			n, stride := rapid.IntRange(0, 900).Draw(t, "XIDs"), rapid.Uint32Range(0, 64).Draw(t, "stride")
			if m.n+n > memoXIDs {
				clear(told)
			}
			m.reserve(n)
			first := xid.Draw(t, "first")
			for i := range uint32(n) {
				x := first + i*stride
				committed := x%3 == 0
				m.put(x, committed)
				told[x] = committed
			}
			require.Equal(t, len(told), m.n)
			for x, want := range told {
				if got, ok := m.get(x); !ok || got != want {
					t.Fatalf("XID %d: %t, known %t, want %t", x, got, ok, want)
				}
			}
			_, ok := m.get(first - 1)
			_, want := told[first-1]
			require.Equal(t, want, ok)
		}
	})
}

// TestResolvedStaysKnown: however small the shared cache, what an operation
// has resolved is at hand when it starts over.
func TestResolvedStaysKnown(t *testing.T) {
	k := newTalk(t, setup{cache: 1, first: 2000})
	defer k.w.Close()
	p := new(page.Page)
	page.InitStatus(p)
	var xids []uint32
	for xid := uint32(FirstXID); xid < 1000; xid++ {
		if xid%2 == 0 {
			page.SetStatus(p, xid, page.Committed)
		}
		xids = append(xids, xid)
	}
	page.Stamp(page.StatusID(1), p, 1)
	k.log.status[0] = p
	var v View
	v.Begin(k.t)
	v.Set(k.t.Take())
	k.m.Go("resolve", func() { require.NoError(t, v.Resolve(xids...)) })
	k.w.Run(k.w.Now() + time.Millisecond)
	require.Nil(t, k.w.Failure())
	for _, xid := range xids {
		verdict, fate := heap.No, heap.Aborted
		if xid%2 == 0 {
			verdict, fate = heap.Yes, heap.Gone
		}
		require.Equal(t, verdict, v.Sees(xid), "XID %d", xid)
		require.Equal(t, fate, v.Fate(xid), "XID %d", xid)
	}
	for xid, want := range []heap.Verdict{heap.No, heap.Yes, heap.Yes} { // none, bootstrap, frozen
		require.Equal(t, want, v.Sees(uint32(xid)))
	}
	v.Begin(newTalk(t, setup{}).t)
	require.Zero(t, v.memo.n, "what another boot's view knew is no more")
}

// item is a node whose hash says little.
type item struct {
	sum  uint32
	next *item
}

func (i *item) hash() uint32 { return i.sum }
func (i *item) link() **item { return &i.next }

func TestIndexAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newIndex[item, *item]()
		in := map[*item]bool{}
		var all []*item
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			if n := len(all); n > 0 && rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
				i := rapid.IntRange(0, n-1).Draw(t, "which")
				x.remove(all[i])
				delete(in, all[i])
				all = slices.Delete(all, i, i+1)
			} else {
				it := &item{sum: rapid.Uint32Range(0, 200).Draw(t, "hash")}
				x.add(it)
				in[it] = true
				all = append(all, it)
			}
			require.Equal(t, len(all), x.n)
		}
		found := 0
		for sum := range uint32(201) {
			for it := x.chain(sum); it != nil; it = it.next {
				if it.sum == sum {
					require.True(t, in[it])
					found++
				}
			}
		}
		require.Equal(t, len(in), found)
	})
}

// TestModes: the table of conflicts is PostgreSQL's, and symmetric.
func TestModes(t *testing.T) {
	for a := AccessShare; int(a) < modeSlots; a++ {
		for b := AccessShare; int(b) < modeSlots; b++ {
			require.Equal(t, conflict(a, b), a.Conflicts(b), "%v, %v", a, b)
			require.Equal(t, a.Conflicts(b), b.Conflicts(a), "%v, %v", a, b)
		}
	}
}

// TestStatusCache: what the cache answers was put into it last, the newest is
// there, and it has no more than its size.
func TestStatusCache(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 4, fineStatuses / 2, fineStatuses, 2 * fineStatuses}).Draw(t, "size")
		s := NewStatus(nil, nil, n)
		truth := map[uint32]bool{}
		xids := rapid.Uint32Range(FirstXID, FirstXID+uint32(rapid.SampledFrom([]int{n, 8 * n}).Draw(t, "span"))-1)
		for range rapid.IntRange(1, 300).Draw(t, "puts") {
			xid := xids.Draw(t, "xid")
			truth[xid] = rapid.Bool().Draw(t, "committed")
			s.put(xid, truth[xid])
			got, ok := s.get(xid)
			require.True(t, ok)
			require.Equal(t, truth[xid], got)
		}
		hits := 0
		for xid := uint32(FirstXID); xid < FirstXID+uint32(8*n); xid++ {
			want, put := truth[xid]
			if got, ok := s.get(xid); ok {
				hits++
				require.True(t, put, "%d was never put", xid)
				require.Equal(t, want, got, "%d", xid)
			}
		}
		require.LessOrEqual(t, hits, n)
		require.Positive(t, hits)
	})
}
