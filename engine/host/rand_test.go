package host_test

import (
	"math/bits"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/host"
)

// A key that changes makes every saved plan replay differently, so the
// derivation is pinned by values, computed by a second implementation.
func TestRandKeyIsPinned(t *testing.T) {
	for want, key := range map[uint64]uint64{
		0x552d806a62b97855: host.RandKey(0, "", 0, "", 0),
		0x9b0bf1d935fe0dbf: host.RandKey(7, "writer", 1, "wal.delay", 0),
		0xe6400646406e4c90: host.RandKey(7, "writer", 2, "wal.delay", 0),
		0x762ab0c73afe3131: host.RandKey(7, "a-longer-name", 1, "a.longer.site", 12345),
	} {
		require.Equalf(t, want, key, "key %#x", key)
	}
	r := host.NewRand(1)
	require.Equal(t, host.Mix(1+0x9e3779b97f4a7c15), r.Uint64())
}

type randParts struct {
	seed, boot, entity uint64
	name, site         string
}

func TestRandKeyTellsTuplesApart(t *testing.T) {
	word := rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64())
	text := rapid.OneOf(rapid.StringMatching(`[ab]{0,3}`), rapid.StringN(0, 20, -1),
		rapid.SampledFrom([]string{"\x00", "\x00\x00", "12345678", "12345678\x00", strings.Repeat("\x00", 8)}))
	parts := rapid.Custom(func(t *rapid.T) randParts {
		return randParts{word.Draw(t, "seed"), word.Draw(t, "boot"), word.Draw(t, "entity"), text.Draw(t, "name"), text.Draw(t, "site")}
	})
	key := func(p randParts) uint64 { return host.RandKey(p.seed, p.name, p.boot, p.site, p.entity) }
	rapid.Check(t, func(t *rapid.T) {
		a, b := parts.Draw(t, "a"), parts.Draw(t, "b")
		require.Equal(t, a == b, key(a) == key(b), "%x and %x", key(a), key(b))
		moved := a // what stands in one part must not count in the next
		moved.name, moved.site = a.name+a.site, ""
		require.Equal(t, moved == a, key(moved) == key(a))
	})
}

func TestRandDraws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.Uint64().Draw(t, "key")
		n := rapid.Uint64().Draw(t, "n")
		a, b := host.NewRand(key), host.NewRand(key)
		for range 5 {
			got := a.N(n)
			require.True(t, got < n || n == 0 && got == 0, "N(%d) gave %d", n, got)
			hi, _ := bits.Mul64(b.Uint64(), n)
			require.Equal(t, hi, got)
		}
		copied := a
		require.Equal(t, a.Uint64(), copied.Uint64(), "a copy keeps the position")
		require.False(t, a.Chance(0, 10))
		require.True(t, a.Chance(10, 10))
	})
}

// Each bit of a stream should be set about half of the time, and small ranges
// be hit evenly: 4,000 draws give a standard deviation of 0.8 %.
func TestRandIsEven(t *testing.T) {
	r := host.NewRand(host.RandKey(1, "even", 1, "test", 0))
	var ones [64]int
	var hits [10]int
	const draws = 4000
	for range draws {
		x := r.Uint64()
		for bit := range ones {
			ones[bit] += int(x >> bit & 1)
		}
		hits[r.N(10)]++
	}
	for bit, n := range ones {
		require.InDelta(t, draws/2, n, draws/20, "bit %d", bit)
	}
	for v, n := range hits {
		require.InDelta(t, draws/10, n, draws/40, "value %d", v)
	}
}

func TestEventNames(t *testing.T) {
	seen := map[string]bool{}
	last := host.WaitCPU
	for ev := host.WaitCPU; host.EventName(ev) != "?"; ev++ {
		name := host.EventName(ev)
		last = ev
		require.Regexp(t, `^(CPU|[A-Za-z]+:[A-Za-z]+)$`, name)
		require.False(t, seen[name], "%s is the name of two events", name)
		seen[name] = true
	}
	require.GreaterOrEqual(t, last, host.WaitSpace, "the last event has a name")
	for _, class := range []host.FileClass{host.ClassData, host.ClassWAL, host.ClassControl} {
		for _, ev := range []host.WaitEvent{class.ReadEvent(), class.WriteEvent(), class.SyncEvent()} {
			require.Contains(t, host.EventName(ev), "IO:")
		}
	}
	works := map[string]bool{}
	for w := range host.Works {
		works[w.String()] = true
	}
	require.Len(t, works, int(host.Works))
	require.Equal(t, "?", host.Works.String())
}

func BenchmarkRand(b *testing.B) {
	r := host.NewRand(1)
	b.ReportAllocs()
	for b.Loop() {
		r.N(100)
	}
}

func BenchmarkRandKey(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		host.RandKey(7, "writer", 1, "wal.delay", 3)
	}
}
