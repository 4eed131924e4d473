package sched

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/host"
)

// popSet takes the whole ready set of q, by the same choices each time.
func popSet(q *Queue, r *host.Rand) (at int64, refs []uint32) {
	at, n := q.Advance()
	for ; n > 0; n-- {
		it := q.Take(int(r.N(uint64(n))))
		refs = append(refs, it.Ref)
	}
	slices.Sort(refs)
	return at, refs
}

// TestQueueAgreesWithHeap: sets of equal times come out in the same order of
// times and with the same members as from a binary heap.
func TestQueueAgreesWithHeap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue
		var h Heap
		rnd := host.NewRand(rapid.Uint64().Draw(t, "key"))
		now, ref := int64(0), uint32(0)
		steps := rapid.IntRange(1, 200).Draw(t, "steps")
		for range steps {
			if rapid.Bool().Draw(t, "push") {
				ref++
				it := Item{At: now + rapid.Int64Range(0, 1<<rapid.IntRange(0, 40).Draw(t, "bits")).Draw(t, "delay"), Ref: ref}
				q.Push(it)
				h.Push(it)
				continue
			}
			probe := now + rapid.Int64Range(0, 1<<20).Draw(t, "probe")
			free := q.Before(probe)
			at, got := popSet(&q, &rnd)
			if free && len(got) > 0 {
				require.Greater(t, at, probe)
			}
			var want []uint32
			for len(want) < len(got) {
				it, ok := h.Pop()
				require.True(t, ok)
				require.Equal(t, at, it.At)
				want = append(want, it.Ref)
			}
			slices.Sort(want)
			require.Equal(t, want, got)
			now = max(now, at)
			require.Equal(t, h.Len(), q.Len())
		}
	})
}

// TestReadyInOrderOfPushing is promise Q2, against a heap that gives the oldest
// of equal times first and a plain list that takes as the queue does.
func TestReadyInOrderOfPushing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q Queue
		var h Heap
		var ready []uint32
		now := int64(0)
		for ref := range uint32(rapid.IntRange(1, 300).Draw(t, "steps")) {
			if rapid.Bool().Draw(t, "push") {
				it := Item{At: now + rapid.Int64Range(0, 3).Draw(t, "delay")<<rapid.IntRange(0, 20).Draw(t, "bits"), Ref: ref}
				q.Push(it)
				if len(ready) > 0 && it.At == now {
					ready = append(ready, ref)
				} else {
					h.Push(it)
				}
				continue
			}
			at, n := q.Advance()
			for len(ready) == 0 && h.Len() > 0 || h.Len() > 0 && h.items[0].At == at {
				it, _ := h.Pop()
				require.Equal(t, at, it.At)
				ready = append(ready, it.Ref)
			}
			require.Len(t, ready, n)
			if n > 0 {
				i := rapid.IntRange(0, n-1).Draw(t, "take")
				require.Equal(t, ready[i], q.Take(i).Ref)
				ready[i] = ready[n-1]
				ready = ready[:n-1]
				now = at
			}
		}
	})
}

func TestQueueRefusesThePast(t *testing.T) {
	var q Queue
	q.Push(Item{At: 10})
	q.Advance()
	require.PanicsWithError(t, "Q1 broken: event of kind 3 pushed at 9, before the queue's time 10",
		func() { q.Push(Item{At: 9, Kind: 3}) })
}

func benchQueue(b *testing.B, pending int) {
	var q Queue
	r := host.NewRand(1)
	for i := range pending {
		q.Push(Item{At: int64(r.N(1_000_000)), Ref: uint32(i)})
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		at, _ := q.Advance()
		it := q.Take(0)
		it.At = at + 1 + int64(r.N(1_000_000))
		q.Push(it)
	}
}

func BenchmarkQueue1k(b *testing.B)   { benchQueue(b, 1_000) }
func BenchmarkQueue100k(b *testing.B) { benchQueue(b, 100_000) }

func BenchmarkHeap1k(b *testing.B) {
	var h Heap
	r := host.NewRand(1)
	for range 1000 {
		h.Push(Item{At: int64(r.N(1_000_000))})
	}
	b.ReportAllocs()
	for range b.N {
		it, _ := h.Pop()
		it.At += 1 + int64(r.N(1_000_000))
		h.Push(it)
	}
}
