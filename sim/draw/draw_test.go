package draw_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/sim/draw"
)

// Names are kept apart wherever they are cut.
func TestKeysSeparateNames(t *testing.T) {
	require.NotEqual(t, draw.Key(1, "ab", "c"), draw.Key(1, "a", "bc"))
	require.NotEqual(t, draw.Key(1, "a"), draw.Key(1, "a", ""))
	require.NotEqual(t, draw.Key(1, ""), draw.Key(1))
	require.NotEqual(t, draw.Key(0, ""), draw.Key(0), "the key 0 is where Mix stands still")
	require.NotEqual(t, draw.Key(0, "", ""), draw.Key(0, ""))
	require.NotEqual(t, draw.Key(1, "\x00"), draw.Key(1, "\x00\x00"))
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringN(0, 6, 6), 0, 4)
		a, b := names.Draw(t, "a"), names.Draw(t, "b")
		s, u := rapid.Uint64Range(0, 3).Draw(t, "seed a"), rapid.Uint64Range(0, 3).Draw(t, "seed b")
		same := s == u && len(a) == len(b)
		for i := 0; same && i < len(a); i++ {
			same = a[i] == b[i]
		}
		require.Equal(t, same, draw.Key(s, a...) == draw.Key(u, b...), "%d %q and %d %q", s, a, u, b)
	})
}

func TestFoldingIsKeyStepByStep(t *testing.T) {
	require.Equal(t, draw.Key(7, "net", "a"), draw.Fold(draw.Fold(draw.Key(7), "net"), "a"))
	k := draw.Key(7)
	seen := map[uint64]bool{}
	for n := range uint64(10_000) {
		seen[draw.FoldN(k, n)] = true
	}
	require.Len(t, seen, 10_000, "two numbers fold to the same key")
}

// A draw more in one place moves no draw elsewhere.
func TestStreamsAreIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		alone, mixed, other := draw.New(seed, "a", "x"), draw.New(seed, "a", "x"), draw.New(seed, "a", "y")
		for i := range rapid.IntRange(1, 30).Draw(t, "draws") {
			for range rapid.IntRange(0, 5).Draw(t, "elsewhere") {
				other.Uint64()
				o := draw.New(seed, "b")
				o.Uint64()
			}
			require.Equal(t, alone.Uint64(), mixed.Uint64(), "draw %d moved", i)
		}
	})
}

// The values are pinned: they must be the same on 32 and 64 bits, and a change
// of them changes every seed that anybody wrote down.
func TestGoldenValues(t *testing.T) {
	require.Equal(t, uint64(0xcd9d59c945243456), draw.Key(1, "disk", "m1", "data"))
	require.Equal(t, uint64(0x22d171bb00d788d), draw.FoldN(1, 1<<40))
	r := draw.New(8127, "sched")
	require.Equal(t, []uint64{0x72ee555bcbbc0658, 82750, 2}, []uint64{r.Uint64(), r.N(1_000_000), r.N(3)})
	r = draw.New(1, "net")
	q := draw.Quantiles{{0, 48_000}, {500_000, 60_000}, {950_000, 78_000}, {1_000_000, 600_000}}
	var got []int64
	for range 6 {
		got = append(got, q.Draw(&r))
	}
	require.Equal(t, []int64{55514, 65177, 62253, 48112, 61486, 57424}, got)
}

// quantiles draws a valid distribution.
func quantiles(t *rapid.T) draw.Quantiles {
	n := rapid.IntRange(0, 6).Draw(t, "inner quantiles")
	v := rapid.Int64Range(-1<<40, 1<<40).Draw(t, "first")
	q := draw.Quantiles{{PPM: 0, Value: v}}
	for range n {
		last := q[len(q)-1]
		q = append(q, draw.Quantile{
			PPM:   rapid.Uint32Range(last.PPM, 1_000_000).Draw(t, "ppm"),
			Value: last.Value + rapid.Int64Range(0, 1<<rapid.IntRange(0, 31).Draw(t, "bits")-1).Draw(t, "rise"),
		})
	}
	last := q[len(q)-1]
	return append(q, draw.Quantile{PPM: 1_000_000, Value: last.Value + rapid.Int64Range(0, 1<<31-1).Draw(t, "last rise")})
}

// exact is the quantile at p millionths, computed with big integers: rounded
// down, and where several quantiles share a share, by the highest of them.
func exact(q draw.Quantiles, p uint32) int64 {
	for i := 1; i < len(q); i++ {
		if lo, hi := q[i-1], q[i]; p < hi.PPM && hi.PPM > lo.PPM {
			v := new(big.Int).Mul(big.NewInt(int64(p-lo.PPM)), big.NewInt(hi.Value-lo.Value))
			v.Div(v, big.NewInt(int64(hi.PPM-lo.PPM)))
			return lo.Value + v.Int64()
		}
	}
	return q[len(q)-1].Value
}

// Draw is the exact interpolation at the same draw, or one less: its slope is
// rounded down to 2^-32, over at most a million steps.
func TestDrawIsTheExactInterpolation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := quantiles(t)
		require.True(t, q.Valid(), "%v", q)
		key := rapid.Uint64().Draw(t, "seed")
		table := q.Table()
		a, b, c := draw.New(key), draw.New(key), draw.New(key)
		for range 50 {
			p := uint32(a.N(1_000_000))
			got, want := table.Draw(&b), exact(q, p)
			require.Contains(t, []int64{want, want - 1}, got, "at %d ppm of %v", p, q)
			require.GreaterOrEqual(t, got, q[0].Value)
			require.LessOrEqual(t, got, q[len(q)-1].Value)
			require.Equal(t, got, q.Draw(&c), "Table and Quantiles draw alike")
		}
	})
}

func TestShares(t *testing.T) {
	q := draw.Quantiles{{0, 100}, {250_000, 200}, {250_000, 1000}, {900_000, 2000}, {1_000_000, 50_000}}
	table, r := q.Table(), draw.New(3, "shares")
	const n = 200_000
	var low, body, tail int
	for range n {
		switch v := table.Draw(&r); {
		case v < 200:
			low++
		case v < 1000:
			require.Fail(t, "a value in the gap", "%d", v)
		case v < 2000:
			body++
		default:
			tail++
		}
	}
	require.InDelta(t, n/4, low, n/100)
	require.InDelta(t, n*65/100, body, n/100)
	require.InDelta(t, n/10, tail, n/100)
}

func TestConstantAndEmpty(t *testing.T) {
	r := draw.New(1)
	require.Equal(t, int64(42), draw.Quantiles{{0, 42}}.Draw(&r))
	require.Zero(t, draw.Quantiles{}.Draw(&r))
	require.True(t, draw.Quantiles{}.Valid())
	require.True(t, draw.Quantiles{{0, -5}}.Valid())
}

func TestInvalid(t *testing.T) {
	for name, q := range map[string]draw.Quantiles{
		"starts late":        {{1, 5}, {1_000_000, 6}},
		"ends early":         {{0, 5}, {999_999, 6}},
		"beyond a million":   {{0, 5}, {1_000_001, 6}},
		"shares fall":        {{0, 5}, {600_000, 6}, {500_000, 7}, {1_000_000, 8}},
		"values fall":        {{0, 10}, {1_000_000, 5}},
		"values fall inside": {{0, 1}, {500_000, 10}, {600_000, 9}, {1_000_000, 20}},
		"values fall at one": {{0, 1}, {500_000, 10}, {500_000, 9}, {1_000_000, 20}},
		"rise too steep":     {{0, 0}, {1_000_000, 1 << 31}},
		"rise overflows":     {{0, math.MinInt64}, {1_000_000, math.MaxInt64}},
	} {
		require.False(t, q.Valid(), name)
	}
	require.True(t, draw.Quantiles{{0, 0}, {1_000_000, 1<<31 - 1}}.Valid())
	require.True(t, draw.Quantiles{{0, 5}, {500_000, 5}, {1_000_000, 5}}.Valid())
}

func TestDrawingDoesNotAllocate(t *testing.T) {
	q := draw.Quantiles{{0, 1}, {500_000, 5}, {1_000_000, 100}}
	table, r := q.Table(), draw.New(1)
	require.Zero(t, testing.AllocsPerRun(100, func() { table.Draw(&r) }))
}

func BenchmarkTableDraw(b *testing.B) {
	q := draw.Quantiles{{0, 1}, {500_000, 5}, {950_000, 9}, {999_000, 30}, {1_000_000, 100}}
	table, r := q.Table(), draw.New(1)
	b.ReportAllocs()
	for b.Loop() {
		table.Draw(&r)
	}
}
