package simdisk

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
)

// oldFile is 4 synced pages of a, b, c and d under a synced name.
func oldFile(t *testing.T, cfg Config) (*Disk, *File) {
	d := New(cfg, 7)
	f := open(t, d, "f")
	for i := range int64(4) {
		fill(t, f, byte('a'+i), i*PageSize, PageSize)
	}
	require.NoError(t, f.Sync())
	require.NoError(t, d.SyncDir())
	return d, f
}

// firstOf is the first byte of each page.
func firstOf(t *testing.T, f *File) string {
	b := all(t, f)
	var s []byte
	for i := 0; i < len(b); i += PageSize {
		s = append(s, b[i])
	}
	return string(s)
}

func again(t *testing.T, d *Disk) *File {
	d.PowerOff()
	return open(t, d, "f")
}

func TestFailSync(t *testing.T) {
	d, f := oldFile(t, Config{})
	d.Set(FailSync, Rate{Next: 1})
	fill(t, f, 'x', 0, PageSize)
	err := f.Sync()
	require.ErrorIs(t, err, host.ErrIO)
	require.ErrorContains(t, err, `"f"`)
	require.NoError(t, f.Sync(), "the next one succeeds")
	require.Equal(t, "xbcd", firstOf(t, f), "visible in the cache")
	f.Evict()
	require.Equal(t, "abcd", firstOf(t, f), "evicted")
	require.Equal(t, uint64(16), d.Stats().Reverted)

	// A power-off does the same; writing the same bytes again helps.
	for _, retry := range []bool{false, true} {
		d.Set(FailSync, Rate{Next: 1})
		fill(t, f, 'y', 0, PageSize)
		require.Error(t, f.Sync())
		if retry {
			fill(t, f, 'y', 0, PageSize)
		}
		require.NoError(t, f.Sync())
		f = again(t, d)
		require.Equal(t, map[bool]string{false: "abcd", true: "ybcd"}[retry], firstOf(t, f))
	}
	require.Equal(t, uint64(3), d.Stats().Struck[FailSync])
}

// TestFailSyncSparesLaterWrites: what was written after the sync began is
// dirty, not lost.
func TestFailSyncSparesLaterWrites(t *testing.T) {
	d, f := oldFile(t, Config{})
	d.Set(FailSync, Rate{Next: 1})
	fill(t, f, 'x', 0, PageSize)
	cut := f.SyncPoint()
	fill(t, f, 'y', PageSize, PageSize)
	require.Error(t, f.SyncTo(cut))
	require.NoError(t, f.Sync())
	require.Equal(t, "aycd", firstOf(t, again(t, d)))
}

func TestLostSync(t *testing.T) {
	seen := map[string]bool{}
	for key := range uint64(100) {
		d := New(Config{}, key)
		f := open(t, d, "f")
		require.NoError(t, d.SyncDir())
		fill(t, f, 'x', 0, 512)
		d.Set(LostSync, Rate{PPM: million})
		require.NoError(t, f.Sync())
		require.Equal(t, uint64(1), d.Stats().Struck[LostSync])
		d.Set(LostSync, Rate{})
		d.PowerOff()
		seen[sectorsOf(t, open(t, d, "f"))] = true
	}
	require.Equal(t, map[string]bool{"": true, "x": true, " ": true}, seen)
}

func TestLostWrite(t *testing.T) {
	d, f := oldFile(t, Config{})
	d.Set(LostWrite, Rate{Next: 1})
	fill(t, f, 'x', 0, PageSize)
	fill(t, f, 'y', PageSize, PageSize)
	require.NoError(t, f.Sync())
	require.Equal(t, "xycd", firstOf(t, f))
	require.Equal(t, "aycd", firstOf(t, again(t, d)))
	require.Equal(t, uint64(1), d.Stats().Struck[LostWrite])
}

// TestLostWriteWithinAPage: half a page lost and half stored is a torn page,
// and the report says so.
func TestLostWriteWithinAPage(t *testing.T) {
	d, f := oldFile(t, Config{})
	d.Set(LostWrite, Rate{Next: 1})
	fill(t, f, 'x', 0, 512)
	fill(t, f, 'y', 512, 512)
	require.NoError(t, f.Sync())
	fill(t, f, 'z', PageSize-512, 512)
	rep := d.PowerOff()
	require.Equal(t, 1, rep.Files[0].Lost)
	require.Equal(t, 1, rep.Files[0].AtRisk)
	got := sectorsOf(t, open(t, d, "f"))[:16]
	require.Equal(t, "ayaaaaaaaaaaaaa", got[:15])
	require.Equal(t, got[15] == 'z', rep.Torn() == 1)
}

func TestEIO(t *testing.T) {
	d, f := oldFile(t, Config{})
	d.Set(EIORead, Rate{Next: 1})
	_, err := f.ReadAt(make([]byte, 10), 100)
	require.ErrorIs(t, err, host.ErrIO)
	require.ErrorContains(t, err, "offset 100")
	d.Set(EIOWrite, Rate{Next: 2})
	for range 2 {
		_, err = f.WriteAt([]byte("x"), 0)
		require.ErrorIs(t, err, host.ErrIO)
	}
	require.Equal(t, "abcd", firstOf(t, f), "nothing was stored")
	require.False(t, d.faults.active)
	fill(t, f, 'x', 0, 1)
	require.Equal(t, uint64(2), d.Stats().Struck[EIOWrite])
	require.Equal(t, uint64(1), d.Stats().Struck[EIORead])
}

// TestRates: a rate in a million strikes about as often, by draws that do not
// depend on what happens to other files.
func TestRates(t *testing.T) {
	strikes := func(beside bool) (list []int) {
		d, f := oldFile(t, Config{})
		g := open(t, d, "g")
		d.Set(EIORead, Rate{PPM: 100_000})
		for i := range 5000 {
			if beside {
				_, _ = g.ReadAt(make([]byte, 1), 0)
			}
			if _, err := f.ReadAt(make([]byte, 1), 0); err != nil {
				list = append(list, i)
			}
		}
		return list
	}
	a := strikes(false)
	require.InDelta(t, 500, len(a), 80)
	require.Equal(t, a, strikes(true))
}

func TestMisdirectedRead(t *testing.T) {
	d, f := oldFile(t, Config{})
	d.Set(MisdirectRead, Rate{PPM: million})
	seen := map[byte]bool{}
	for range 100 {
		b := make([]byte, 100)
		n, err := f.ReadAt(b, PageSize+50)
		require.NoError(t, err)
		require.Equal(t, 100, n)
		require.Equal(t, b[0], b[99])
		seen[b[0]] = true
	}
	require.Equal(t, map[byte]bool{'a': true, 'c': true, 'd': true}, seen)
	d.Set(MisdirectRead, Rate{})
	require.Equal(t, "abcd", firstOf(t, f))

	one := open(t, d, "one")
	fill(t, one, 'x', 0, PageSize)
	d.Set(MisdirectRead, Rate{PPM: million})
	require.Equal(t, "x", firstOf(t, one), "a file of one page has no other")
	require.Equal(t, uint64(100), d.Stats().Struck[MisdirectRead])
}

func TestMisdirectedWrite(t *testing.T) {
	seen := map[string]bool{}
	for key := range uint64(50) {
		d := New(Config{}, key)
		f := open(t, d, "f")
		for i := range int64(4) {
			fill(t, f, byte('a'+i), i*PageSize, PageSize)
		}
		require.NoError(t, f.Sync())
		require.NoError(t, d.SyncDir())
		d.Set(MisdirectWrite, Rate{Next: 1})
		fill(t, f, 'x', PageSize, PageSize)
		require.NoError(t, f.Sync())
		require.Equal(t, "axcd", firstOf(t, f), "the cache shows what was meant")
		require.Equal(t, uint64(1), d.Stats().Struck[MisdirectWrite])
		seen[firstOf(t, again(t, d))] = true
	}
	require.Equal(t, map[string]bool{"xbcd": true, "abxd": true, "abcx": true}, seen)
}

// TestMisdirectedWriteMeetsDirtyPage: the victim's own unsynced bytes still
// come down with the next sync.
func TestMisdirectedWriteMeetsDirtyPage(t *testing.T) {
	d := New(Config{}, 1)
	f := open(t, d, "f")
	fill(t, f, 'a', 0, 2*PageSize)
	require.NoError(t, f.Sync())
	require.NoError(t, d.SyncDir())
	fill(t, f, 'y', PageSize, PageSize)
	d.Set(MisdirectWrite, Rate{Next: 1})
	fill(t, f, 'x', 0, PageSize)
	require.NoError(t, f.Sync())
	require.Equal(t, "ay", firstOf(t, again(t, d)))
}

func TestFull(t *testing.T) {
	d, f := oldFile(t, Config{})
	d.SetFull(true)
	_, err := f.WriteAt([]byte("x"), 4*PageSize)
	require.ErrorIs(t, err, host.ErrNoSpace)
	_, err = f.Truncate(5 * PageSize)
	require.ErrorIs(t, err, host.ErrNoSpace)
	_, err = d.Open("g", true)
	require.ErrorIs(t, err, host.ErrNoSpace)
	fill(t, f, 'x', 0, 10)
	require.Equal(t, uint64(3), d.Stats().Struck[Full])
	d.SetFull(false)
	fill(t, f, 'x', 4*PageSize, 10)

	_, err = f.WriteAt([]byte("x"), MaxFile)
	require.ErrorIs(t, err, host.ErrNoSpace)
}

func TestRot(t *testing.T) {
	flipped := func(f *File, g *File) (n int) {
		a, b := all(t, f), all(t, g)
		for i := range a {
			n += bits.OnesCount8(a[i] ^ b[i])
		}
		return n
	}
	_, clean := oldFile(t, Config{})
	d, f := oldFile(t, Config{CachePages: 2})
	n, err := d.Rot("f*", 1, 3)
	require.NoError(t, err)
	require.Equal(t, uint32(1), n)
	require.Equal(t, 3, flipped(f, clean), "a clean page is read again")
	n, err = d.Rot("none", 1, 3)
	require.NoError(t, err)
	require.Zero(t, n)
	_, err = d.Rot("[", 1, 1)
	require.Error(t, err)

	// Under unsynced bytes rot waits: a sync overwrites it, a loss shows it.
	d, f = oldFile(t, Config{})
	fill(t, f, 'b', 0, 512)
	require.NoError(t, d.RotSector("f", 0, 5))
	require.NoError(t, f.Sync())
	require.Equal(t, "b", sectorsOf(t, f)[:1])
	d.Set(LostWrite, Rate{Next: 1})
	fill(t, f, 'a', 0, 512)
	require.NoError(t, d.RotSector("f", 0, 5))
	f.Evict()
	require.NotEqual(t, 0, flipped(f, clean))
	require.ErrorIs(t, d.RotSector("f", 64, 1), host.ErrNotExist)
	require.Equal(t, uint64(2), d.Stats().Struck[Rot])
}

func TestSwitchesSurvive(t *testing.T) {
	d, _ := oldFile(t, Config{})
	d.Set(LostWrite, Rate{PPM: 5, Next: 2})
	d.PowerOff()
	d.Loss()
	require.Equal(t, Rate{PPM: 5, Next: 2}, d.RateOf(LostWrite))
	d.Set(Rot, Rate{PPM: 5})
	require.Equal(t, Rate{}, d.RateOf(Rot), "it has no rate")
	for _, k := range Faults() {
		require.NotContains(t, k.String(), "fault ")
	}
	require.Equal(t, "fault 200", Fault(200).String())
}
