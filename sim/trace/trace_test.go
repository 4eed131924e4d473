package trace_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/sim/trace"
)

func drawEvent(t *rapid.T) trace.Event {
	return trace.Event{
		At:   rapid.Int64Min(0).Draw(t, "at"),
		Kind: trace.Kind(rapid.IntRange(0, int(trace.Note)).Draw(t, "kind")),
		Who:  rapid.Uint32().Draw(t, "who"),
		A:    rapid.Uint64().Draw(t, "a"),
		B:    rapid.Uint64().Draw(t, "b"),
		Data: rapid.Uint64().Draw(t, "data"),
	}
}

func add(l *trace.Log, e trace.Event) { l.Add(e.At, e.Kind, e.Who, e.A, e.B, e.Data) }

func hashOf(events []trace.Event) uint64 {
	var l trace.Log
	for _, e := range events {
		add(&l, e)
	}
	return l.Hash()
}

// Promise T1: one changed field of one event changes the hash of the run.
func TestEveryFieldCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(rapid.Custom(drawEvent), 1, 20).Draw(t, "events")
		want := hashOf(events)
		require.Equal(t, want, hashOf(events))
		other := slices.Clone(events)
		e := &other[rapid.IntRange(0, len(events)-1).Draw(t, "which")]
		flip := uint64(1) << rapid.IntRange(0, 62).Draw(t, "bit")
		switch rapid.IntRange(0, 5).Draw(t, "field") {
		case 0:
			e.At ^= int64(flip)
		case 1:
			e.Kind = (e.Kind + 1 + trace.Kind(flip%21)) % (trace.Note + 1)
		case 2:
			e.Who ^= 1 << (flip % 31)
		case 3:
			e.A ^= flip
		case 4:
			e.B ^= flip
		default:
			e.Data ^= flip
		}
		require.NotEqual(t, events, other)
		require.NotEqual(t, want, hashOf(other))
	})
}

// So does an event more, an event less, and another order.
func TestOrderAndNumberCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfNDistinct(rapid.Custom(drawEvent), 2, 20, func(e trace.Event) trace.Event { return e }).Draw(t, "events")
		want := hashOf(events)
		i := rapid.IntRange(0, len(events)-1).Draw(t, "which")
		require.NotEqual(t, want, hashOf(slices.Delete(slices.Clone(events), i, i+1)), "one less")
		require.NotEqual(t, want, hashOf(slices.Insert(slices.Clone(events), i, events[i])), "one twice")
		j := rapid.IntRange(0, len(events)-2).Draw(t, "swap")
		events[j], events[j+1] = events[j+1], events[j]
		require.NotEqual(t, want, hashOf(events), "two swapped")
	})
}

// Fields do not stand in for each other.
func TestFieldsAreNotMixedUp(t *testing.T) {
	one := func(a, b, data uint64) uint64 { return hashOf([]trace.Event{{A: a, B: b, Data: data}}) }
	all := []uint64{one(0, 0, 0), one(1, 0, 0), one(0, 1, 0), one(0, 0, 1), one(1, 1, 0), one(0, 1, 1), one(1, 0, 1), one(1, 1, 1)}
	slices.Sort(all)
	require.Len(t, slices.Compact(all), 8)
}

func TestBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "bytes")
		h := rapid.Uint64().Draw(t, "before")
		want := trace.Bytes(h, b)
		require.Equal(t, want, trace.Bytes(h, slices.Clone(b)))
		require.NotEqual(t, want, trace.Bytes(h, append(slices.Clone(b), 0)), "a zero more")
		require.NotEqual(t, want, trace.Bytes(h^1, b), "another hash before")
		if len(b) > 0 {
			bit := rapid.IntRange(0, len(b)*8-1).Draw(t, "bit")
			c := slices.Clone(b)
			c[bit/8] ^= 1 << (bit % 8)
			require.NotEqual(t, want, trace.Bytes(h, c), "bit %d of %d bytes", bit, len(b))
			require.NotEqual(t, want, trace.Bytes(h, b[:len(b)-1]), "a byte less")
		}
	})
	seen := map[uint64]int{}
	for n := range 200 {
		seen[trace.Bytes(0, make([]byte, n))] = n
	}
	require.Len(t, seen, 200, "zeros of different length")
}

// Neither alignment nor spare capacity of the slice counts.
func TestBytesAreContent(t *testing.T) {
	text := bytes.Repeat([]byte("tornpage "), 12)
	want := trace.Bytes(5, text)
	for shift := range 9 {
		buf := append(make([]byte, shift, 300), text...)
		require.Equal(t, want, trace.Bytes(5, buf[shift:]))
	}
}

// The values are pinned: equal on every architecture, changed only on purpose.
func TestGoldenValues(t *testing.T) {
	long := make([]byte, 77)
	for i := range long {
		long[i] = byte(i * 7)
	}
	var got []uint64
	for _, n := range []int{0, 1, 7, 8, 31, 32, 77} {
		got = append(got, trace.Bytes(1, long[:n]))
	}
	require.Equal(t, []uint64{
		0xffd1cc2fa2dc41f2, 0xe6d24d7e0390ae94, 0x8b269a0d123ea0fb, 0xf5afdfc0cbbd0b08,
		0xc03da03437865032, 0xe365b35c5ba65590, 0x6081f5292d20a23c,
	}, got)
	require.Equal(t, uint64(0x204bd48f525bd495), hashOf([]trace.Event{
		{At: 5, Kind: trace.Boot, Who: 1, A: 1},
		{At: 1 << 50, Kind: trace.Write, Who: 1 << 31, A: 1 << 40, B: 8192, Data: 1 << 63},
	}))
}

// Promise T2, and the ring: the latest events come back whole, oldest first.
func TestLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 700).Draw(t, "events")
		ask := rapid.IntRange(0, 400).Draw(t, "ask")
		var l trace.Log
		all := []trace.Event{}
		for i := range n {
			e := trace.Event{N: uint64(i + 1), At: int64(i / 3), Kind: trace.Kind(i % 23), Who: uint32(i) << 20, A: uint64(i), B: ^uint64(i), Data: uint64(i) << 32}
			add(&l, e)
			all = append(all, e)
			require.Equal(t, e.N, l.N())
		}
		got := l.Last(ask)
		require.Len(t, got, min(ask, n, 256))
		require.Equal(t, all[n-len(got):], got)
	})
}

// Promise T3: a full trace sees every event and changes nothing.
func TestFull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(rapid.Custom(drawEvent), 0, 20).Draw(t, "events")
		var l trace.Log
		full := []trace.Event{}
		l.Full = func(e *trace.Event) {
			require.Equal(t, l.N(), e.N)
			full = append(full, *e)
		}
		for i := range events {
			events[i].N = uint64(i + 1)
			add(&l, events[i])
		}
		require.Equal(t, events, full)
		require.Equal(t, hashOf(events), l.Hash())
	})
}

func TestPrint(t *testing.T) {
	e := trace.Event{N: 17, At: 1_500_000, Kind: trace.PowerOff, Who: 3, A: 1, B: 2, Data: 0xabc}
	var b strings.Builder
	require.NoError(t, e.Print(&b, func(who uint32) string { return "writer" }))
	require.Equal(t, "17 1.5ms writer power-off a=1 b=2 data=0000000000000abc\n", b.String())
	names := map[string]bool{}
	for k := trace.None; k <= trace.Note; k++ {
		names[k.String()] = true
	}
	require.Len(t, names, int(trace.Note)+1, "every kind has a name of its own")
	require.Equal(t, "?", trace.Kind(200).String())
}

func TestRecordingDoesNotAllocate(t *testing.T) {
	var l trace.Log
	payload := make([]byte, 8192)
	require.Zero(t, testing.AllocsPerRun(500, func() { l.Add(1, trace.Send, 2, 3, 4, trace.Bytes(5, payload)) }))
	l.Full = func(*trace.Event) {}
	require.LessOrEqual(t, testing.AllocsPerRun(500, func() { l.Add(1, trace.Send, 2, 3, 4, 5) }), 1.0, "with a full trace")
}

func BenchmarkAdd(b *testing.B) {
	var l trace.Log
	b.ReportAllocs()
	for b.Loop() {
		l.Add(1, trace.Send, 2, 3, 4, 5)
	}
}

func BenchmarkBytes8K(b *testing.B) {
	page := make([]byte, 8192)
	b.SetBytes(8192)
	b.ReportAllocs()
	for b.Loop() {
		trace.Bytes(1, page)
	}
}
