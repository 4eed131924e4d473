package simdisk

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// benchPages are few enough for all to stay in the processor's caches.
const benchPages = 16

// benchFile is a file of benchPages with everything warm.
func benchFile(b *testing.B, cfg Config) *File {
	d := New(cfg, 1)
	f, err := d.Open("data", true)
	require.NoError(b, err)
	page := make([]byte, PageSize)
	for i := range int64(benchPages) {
		page[0] = byte(i) + 1
		_, err := f.WriteAt(page, i*PageSize)
		require.NoError(b, err)
	}
	require.NoError(b, f.Sync())
	return f
}

func BenchmarkWrite8K2Sectors(b *testing.B) {
	for _, sector := range []int{512, 4096} {
		b.Run(fmt.Sprint(sector), func(b *testing.B) {
			f := benchFile(b, Config{Sector: sector})
			page := make([]byte, PageSize)
			b.ReportAllocs()
			n := int64(0)
			for b.Loop() {
				n++
				page[n&7+64] = byte(n)
				page[4096+n&63] = byte(n >> 3)
				_, _ = f.WriteAt(page, n&(benchPages-1)*PageSize)
				if n&63 == 63 {
					_ = f.Sync()
				}
			}
		})
	}
}

func BenchmarkWrite8KAllChanged(b *testing.B) {
	f := benchFile(b, Config{})
	page := make([]byte, PageSize)
	b.ReportAllocs()
	n := int64(0)
	for b.Loop() {
		n++
		for i := 0; i < PageSize; i += 512 {
			page[i]++
		}
		_, _ = f.WriteAt(page, n&(benchPages-1)*PageSize)
		if n&63 == 63 {
			_ = f.Sync()
		}
	}
}

func BenchmarkWrite512(b *testing.B) {
	f := benchFile(b, Config{})
	page := make([]byte, 512)
	b.ReportAllocs()
	n := int64(0)
	for b.Loop() {
		n++
		page[0]++
		_, _ = f.WriteAt(page, n&(16*benchPages-1)*512)
		if n&63 == 63 {
			_ = f.Sync()
		}
	}
}

func BenchmarkRead8K(b *testing.B) {
	f := benchFile(b, Config{})
	page := make([]byte, PageSize)
	b.ReportAllocs()
	n := int64(0)
	for b.Loop() {
		n++
		_, _ = f.ReadAt(page, n&(benchPages-1)*PageSize)
	}
}

// BenchmarkWrite512Sync is a write of one sector and its sync; BenchmarkWrite512
// has the write almost alone.
func BenchmarkWrite512Sync(b *testing.B) {
	f := benchFile(b, Config{})
	page := make([]byte, 512)
	b.ReportAllocs()
	n := int64(0)
	for b.Loop() {
		n++
		page[0]++
		_, _ = f.WriteAt(page, n&(16*benchPages-1)*512)
		_ = f.Sync()
	}
}

func BenchmarkDone(b *testing.B) {
	gp3, err := ProfileByName("gp3")
	require.NoError(b, err)
	f := benchFile(b, Config{Profile: gp3})
	now := int64(0)
	b.Run("read-hit", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			now = f.ReadDone(now, 8192, PageSize)
		}
	})
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			now = f.WriteDone(now, PageSize)
		}
	})
	b.Run("sync", func(b *testing.B) {
		_, _ = f.WriteAt([]byte{1, 2, 3}, 100)
		b.ReportAllocs()
		for b.Loop() {
			now = f.SyncDone(now)
		}
	})
	b.Run("read-miss", func(b *testing.B) {
		f := benchFile(b, Config{Profile: gp3, CachePages: 8})
		b.ReportAllocs()
		n := int64(0)
		for b.Loop() {
			n++
			now = f.ReadDone(now, n&(benchPages-1)*PageSize, PageSize)
		}
	})
}

// BenchmarkPowerOff is a power-off with so many sectors at risk, and the writes before it.
func BenchmarkPowerOff(b *testing.B) {
	for _, sectors := range []int64{1, 100, 1000} {
		b.Run(fmt.Sprint(sectors), func(b *testing.B) {
			f := benchFile(b, Config{})
			require.NoError(b, f.d.SyncDir())
			var x [8]byte
			b.ReportAllocs()
			for b.Loop() {
				x[0]++
				for i := range sectors {
					_, _ = f.WriteAt(x[:], i*512)
				}
				f.d.PowerOff()
			}
		})
	}
}

func BenchmarkDigest(b *testing.B) {
	for _, n := range []int{16, 64, 512, 8192} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := make([]byte, n)
			b.SetBytes(int64(n))
			h := uint64(0)
			for b.Loop() {
				h = Digest(h, p)
			}
		})
	}
}
