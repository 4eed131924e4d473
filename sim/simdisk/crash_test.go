package simdisk

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// sectorsOf gives the first byte of each sector.
func sectorsOf(t require.TestingT, f *File) string {
	b := all(t, f)
	var s []byte
	for i := 0; i < len(b); i += f.d.geo.sector {
		s = append(s, b[i]|' ')
	}
	return string(s)
}

func fill(t require.TestingT, f *File, c byte, off int64, n int) {
	_, err := f.WriteAt(bytes.Repeat([]byte{c}, n), off)
	require.NoError(t, err)
}

// TestEveryCombination: D2. Three sectors with three versions each: all 27
// combinations occur, and the modes are drawn as often as they should be.
func TestEveryCombination(t *testing.T) {
	seen, modeSeen := map[string]int{}, map[Mode]int{}
	const keys = 3000
	for key := range uint64(keys) {
		d := New(Config{}, key)
		f := open(t, d, "f")
		fill(t, f, 'a', 0, 1536)
		require.NoError(t, f.Sync())
		require.NoError(t, d.SyncDir())
		fill(t, f, 'b', 0, 1536)
		fill(t, f, 'c', 0, 1536)
		rep := d.PowerOff()
		got := sectorsOf(t, open(t, d, "f"))
		seen[got]++
		fr := rep.Files[0]
		modeSeen[fr.Mode]++
		require.Equal(t, 3, fr.New+fr.Old+fr.Between)
		require.Equal(t, got != "aaa" && got != "bbb" && got != "ccc", len(fr.Torn) == 1, got)
	}
	require.Len(t, seen, 27)
	for m, n := range modeSeen {
		want := keys / 8
		if m == KeepCoin {
			want = 3 * keys / 8
		}
		require.InDelta(t, want, n, keys/40, "mode %v", m)
	}
	require.Len(t, modeSeen, int(modes))
	require.Greater(t, seen["aaa"], keys/8)
	require.Greater(t, seen["ccc"], keys/8)
}

// TestVersionsAreThinned: of many versions the first and the last stay
// possible, and so does any in between.
func TestVersionsAreThinned(t *testing.T) {
	seen := map[string]int{}
	for key := range uint64(2000) {
		d := New(Config{}, key)
		f := open(t, d, "f")
		require.NoError(t, d.SyncDir())
		for c := byte('a'); c <= 't'; c++ {
			fill(t, f, c, 0, 512)
			if c == 'a' {
				require.NoError(t, f.Sync())
			}
		}
		d.PowerOff()
		seen[sectorsOf(t, open(t, d, "f"))]++
	}
	require.Len(t, seen, 20)
}

// TestSizeAtRisk: a grown file may be long with zeros in it, or short.
func TestSizeAtRisk(t *testing.T) {
	seen := map[string]bool{}
	for key := range uint64(500) {
		d := New(Config{}, key)
		f := open(t, d, "f")
		fill(t, f, 'a', 0, 512)
		require.NoError(t, f.Sync())
		require.NoError(t, d.SyncDir())
		fill(t, f, 'b', 512, 512)
		d.PowerOff()
		f = open(t, d, "f")
		got := fmt.Sprintf("%d %q", f.Size(), sectorsOf(t, f))
		// What lay behind the end must not come back by growing.
		_, err := f.Truncate(2048)
		require.NoError(t, err)
		require.Equal(t, byte(0), all(t, f)[1024])
		seen[got] = true
	}
	require.Equal(t, map[string]bool{`512 "a"`: true, `1024 "ab"`: true, `1024 "a "`: true}, seen)
}

// story is a run on one disk, with or without a second file beside it.
func story(t *testing.T, key uint64, beside bool) (string, Report) {
	d := New(Config{}, key)
	if beside {
		g := open(t, d, "beside")
		fill(t, g, 'x', 0, 5000)
	}
	f := open(t, d, "f")
	require.NoError(t, d.SyncDir())
	for c := byte('a'); c < 'd'; c++ {
		fill(t, f, c, 0, 16384)
		if beside {
			fill(t, open(t, d, "beside"), c, int64(c)*512, 5000)
		}
	}
	rep := d.PowerOff()
	return sectorsOf(t, open(t, d, "f")), rep
}

// TestKeyed: D6, D8. The same key gives the same image; another file moves
// nothing; another key gives another image.
func TestKeyed(t *testing.T) {
	different := 0
	for key := range uint64(100) {
		a, repA := story(t, key, false)
		b, repB := story(t, key, false)
		require.Equal(t, a, b)
		require.Equal(t, repA, repB)
		c, _ := story(t, key, true)
		require.Equal(t, a, c)
		if e, _ := story(t, key+1000, false); e != a {
			different++
		}
	}
	require.Greater(t, different, 50)
}

// TestGoldenImage holds one crash for ever: on every machine and in every
// version the same key must give the same choices (change it only with a
// change of the model).
func TestGoldenImage(t *testing.T) {
	got, rep := story(t, 3, false)
	require.Equal(t, golden, fmt.Sprintf("%s %016x", got, rep.Digest))
}

const golden = " caa a aca  ac cbcabc ccb cbaaab 834ae72de072ba2c"

// TestSyncCoversItsBegin: D3. What is written while a sync runs stays at risk,
// and what was written before is not lost with it.
func TestSyncCoversItsBegin(t *testing.T) {
	seen := map[string]bool{}
	for key := range uint64(200) {
		d := New(Config{}, key)
		f := open(t, d, "f")
		require.NoError(t, d.SyncDir())
		fill(t, f, 'a', 0, 1024)
		cut := f.SyncPoint()
		fill(t, f, 'b', 0, 512)
		require.NoError(t, f.SyncTo(cut))
		d.PowerOff()
		seen[sectorsOf(t, open(t, d, "f"))] = true
	}
	require.Equal(t, map[string]bool{"aa": true, "ba": true}, seen)
}

// TestUnchangedBytesAreNotAtRisk: rewriting a sector with its own bytes is no
// version, and says so in the digest.
func TestUnchangedBytesAreNotAtRisk(t *testing.T) {
	d := New(Config{}, 1)
	f := open(t, d, "f")
	fill(t, f, 'a', 0, 8192)
	require.NoError(t, f.Sync())
	page := bytes.Repeat([]byte{'a'}, 8192)
	same, err := f.WriteAt(page, 0)
	require.NoError(t, err)
	dirty, _ := f.AtRisk()
	require.Zero(t, dirty)
	page[600], page[8191] = 'b', 'b'
	changed, err := f.WriteAt(page, 0)
	require.NoError(t, err)
	require.NotEqual(t, same, changed)
	dirty, _ = f.AtRisk()
	require.Equal(t, 2, dirty)
}

// TestWriteDigest: it tells offsets, lengths, bytes and files apart, and is the
// same for the same history.
func TestWriteDigest(t *testing.T) {
	one := func(name string, c byte, off int64, n int) uint64 {
		f := open(t, New(Config{}, 1), name)
		d, err := f.WriteAt(bytes.Repeat([]byte{c}, n), off)
		require.NoError(t, err)
		return d
	}
	seen := map[uint64]bool{}
	for _, name := range []string{"a", "b"} {
		for _, c := range "xy" {
			for _, off := range []int64{0, 1, 512, 65_000, 1 << 20} {
				for _, n := range []int{1, 2, 512, 8192} {
					h := one(name, byte(c), off, n)
					require.Equal(t, h, one(name, byte(c), off, n))
					seen[h] = true
				}
			}
		}
	}
	require.Len(t, seen, 2*2*5*4)
}

// TestLoss: an empty disk, and dead handles.
func TestLoss(t *testing.T) {
	d := New(Config{Size: 1 << 20, CachePages: 4}, 1)
	f := open(t, d, "f")
	fill(t, f, 'a', 0, 100_000)
	d.Loss()
	require.Empty(t, d.List())
	require.Zero(t, d.Used())
	_, err := f.WriteAt([]byte{1}, 0)
	require.Error(t, err)
	require.Error(t, f.Sync())
	f.Close()
	fill(t, open(t, d, "f"), 'b', 0, 100_000)
	require.Equal(t, uint64(1), d.Stats().Losses)
}
