package simdisk

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestMemoryCannotBeSeen: a disk in another one's memory gives the bytes,
// digests, times and reports of a disk in memory of its own.
func TestMemoryCannotBeSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m Memory
		sector := rapid.SampledFrom([]int{512, 4096}).Draw(t, "sector")
		cfg := Config{Sector: sector, CachePages: rapid.IntRange(0, 3).Draw(t, "cache")}
		for round := range 3 {
			key := rapid.Uint64().Draw(t, "key")
			alone, lent := New(cfg, key), NewIn(&m, cfg, key)
			for range rapid.IntRange(1, 40).Draw(t, "steps") {
				step(t, alone, lent)
			}
			if rapid.Bool().Draw(t, "image") { // which keeps what it shares
				image := lent.Image()
				want := alone.Image().Digest()
				require.Equal(t, want, image.Digest(), "round %d", round)
				defer func() { require.Equal(t, want, image.Digest(), "an image changed") }()
			}
			lent.End(&m)
			_, err := lent.Open("a", false)
			require.Error(t, err, "an ended disk is empty")
			require.Zero(t, lent.Used())
		}
	})
}

// step does the same to two disks.
func step(t *rapid.T, a, b *Disk) {
	name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")
	if rapid.IntRange(0, 9).Draw(t, "crash") == 0 {
		require.Equal(t, a.PowerOff(), b.PowerOff())
		return
	}
	fa, errA := a.Open(name, true)
	fb, errB := b.Open(name, true)
	require.NoError(t, errA)
	require.NoError(t, errB)
	defer fa.Close()
	defer fb.Close()
	off := rapid.Int64Range(0, 200_000).Draw(t, "off")
	buf := rapid.SliceOfN(rapid.Byte(), 1, 9000).Draw(t, "bytes")
	switch rapid.IntRange(0, 4).Draw(t, "what") {
	case 0:
		require.Equal(t, fa.Sync(), fb.Sync())
	case 1:
		da, errA := fa.Truncate(off)
		db, errB := fb.Truncate(off)
		require.Equal(t, errA, errB)
		require.Equal(t, da, db)
	case 2:
		got := make([]byte, len(buf))
		require.Equal(t, fa.ReadDone(7, off, len(buf)), fb.ReadDone(7, off, len(buf)))
		na, errA := fa.ReadAt(buf, off)
		nb, errB := fb.ReadAt(got, off)
		require.Equal(t, errA, errB)
		require.Equal(t, buf[:na], got[:nb])
	default:
		da, errA := fa.WriteAt(buf, off)
		db, errB := fb.WriteAt(buf, off)
		require.Equal(t, errA, errB)
		require.Equal(t, da, db)
	}
}

// TestMemoryIsUsed: what one disk gave, the next one takes.
func TestMemoryIsUsed(t *testing.T) {
	var m Memory
	write := func(d *Disk) {
		f, err := d.Open("a", true)
		require.NoError(t, err)
		for range 3 {
			_, err = f.WriteAt(make([]byte, 3*chunkSize), 0)
			require.NoError(t, err)
			require.NoError(t, f.Sync())
		}
	}
	for range 2 {
		d := NewIn(&m, Config{}, 1)
		require.Empty(t, m.pools)
		write(d)
		d.End(&m)
		require.Len(t, m.pools, 1)
		require.Len(t, m.pools[0].chunks, 3)
	}
}
