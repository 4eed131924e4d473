package simdisk

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/host"
)

const second = 1000 * ms

func onProfile(t *testing.T, name string, cache int) (*Disk, *File) {
	p, err := ProfileByName(name)
	require.NoError(t, err)
	d := New(Config{Profile: p, CachePages: cache}, 3)
	f := open(t, d, "f")
	for i := range int64(128) {
		fill(t, f, byte(i)+1, i*PageSize, PageSize)
	}
	require.NoError(t, f.Sync())
	require.NoError(t, d.SyncDir())
	return d, f
}

// TestProfiles: all are valid, and known by name.
func TestProfiles(t *testing.T) {
	require.True(t, slices.IsSorted(Profiles()))
	for _, n := range Profiles() {
		p, err := ProfileByName(n)
		require.NoError(t, err)
		require.Equal(t, n, p.Name)
		require.NoError(t, p.Check())
	}
	_, err := ProfileByName("floppy")
	require.ErrorContains(t, err, "gp3")
	p := gp3
	p.Depth = 65
	require.ErrorContains(t, p.Check(), "65")
	p = gp3
	p.Read[3] = 1
	require.ErrorContains(t, p.Check(), "quantile 3")
	require.Error(t, Config{Sector: 1000}.Check())
	require.Error(t, Config{Size: -1}.Check())
	require.Error(t, Config{CachePages: -1}.Check())
	require.NoError(t, Config{Sector: 4096, Profile: nvme}.Check())
	require.Panics(t, func() { New(Config{Sector: 7}, 1) })
}

// TestGP3Limits: however deep the queue, 3,000 operations a second and 125
// MiB a second.
func TestGP3Limits(t *testing.T) {
	d, f := onProfile(t, "gp3", 0)
	d.PowerOff() // cold
	last := int64(0)
	for i := range int64(128) {
		last = max(last, f.ReadDone(0, i*PageSize, PageSize))
	}
	require.Greater(t, last, 127*second/3000)
	require.Less(t, last, 127*second/3000+20*ms)

	d, f = onProfile(t, "gp3", 0)
	big := make([]byte, 8<<20)
	for i := 0; i < len(big); i += 512 {
		big[i] = 1
	}
	_, err := f.WriteAt(big, 1<<20)
	require.NoError(t, err)
	done := f.SyncDone(0)
	require.Greater(t, done, 8*second/125)
	require.Less(t, done, 8*second/125+50*ms)
	require.Zero(t, d.Stats().WrittenBack)
}

// TestLatencyQuantiles: draws follow the anchors.
func TestLatencyQuantiles(t *testing.T) {
	var l latency
	l.init(gp3.Read)
	const n = 400_000
	draws := make([]int64, n)
	r := host.NewRand(5)
	for i := range draws {
		draws[i] = l.draw(r.Uint64())
	}
	slices.Sort(draws)
	require.GreaterOrEqual(t, draws[0], gp3.Read[0])
	require.LessOrEqual(t, draws[n-1], gp3.Read[6])
	for i, q := range []int{n / 2, n * 9 / 10, n * 99 / 100, n * 999 / 1000} {
		require.InEpsilon(t, gp3.Read[i+1], draws[q], 0.12)
	}
	require.Equal(t, gp3.Read[1], l.median())
}

// TestOrderOfProfiles: a random read and a small commit get faster from disk to
// flash, and the cache is faster than all.
func TestOrderOfProfiles(t *testing.T) {
	var reads, syncs []int64
	for _, n := range []string{"hdd", "gp3", "sata-ssd", "nvme"} {
		d, f := onProfile(t, n, 0)
		d.PowerOff()
		now, m := int64(0), int64(0)
		for i := range int64(50) {
			done := f.ReadDone(now, (i*37&127)*PageSize, PageSize)
			m += done - now
			now = done + second
		}
		reads = append(reads, m/50)
		m = 0
		for i := range 50 {
			fill(t, f, byte(i), 0, 512)
			now = f.WriteDone(now, 512)
			done := f.SyncDone(now)
			require.NoError(t, f.Sync())
			m += done - now
			now = done + second
		}
		syncs = append(syncs, m/50)
		hit := f.ReadDone(now, 0, PageSize) - now
		require.Equal(t, osCall+PageSize*osByte/1000, hit)
		require.Equal(t, osCall, f.SyncDone(now)-now, "nothing to sync")
	}
	require.IsDecreasing(t, reads)
	require.Greater(t, reads[0], 8*ms)
	require.Less(t, reads[3], 300*us)
	require.Less(t, syncs[3], syncs[2])
	require.Less(t, syncs[1], syncs[0])
	require.Less(t, syncs[1], 2*ms)
}

// TestSequentialDisk: an hdd reads on where it is much faster than elsewhere.
func TestSequentialDisk(t *testing.T) {
	d, f := onProfile(t, "hdd", 0)
	d.PowerOff()
	now := f.ReadDone(0, 0, PageSize)
	start := now
	for i := int64(1); i < 64; i++ {
		now = f.ReadDone(now, i*PageSize, PageSize)
	}
	require.Less(t, now-start, 63*ms)
	start = now
	for i := int64(64); i < 128; i += 8 {
		now = f.ReadDone(now, (i^5)*PageSize, PageSize)
	}
	require.Greater(t, now-start, 30*ms)
}

func TestStallAndSlow(t *testing.T) {
	d, f := onProfile(t, "nvme", 0)
	d.PowerOff()
	d.SetStall(5 * second)
	require.Greater(t, f.ReadDone(second, 0, PageSize), 5*second)
	d.SetStall(0)
	require.Less(t, f.ReadDone(6*second, 0, PageSize), 7*second)
	healthy := f.ReadDone(10*second, 20*PageSize, PageSize) - 10*second
	d.SetSlow(1000)
	slow := f.ReadDone(20*second, 30*PageSize, PageSize) - 20*second
	require.Greater(t, slow, healthy*50)
	d.SetSlow(0)
	require.Less(t, f.ReadDone(40*second, 40*PageSize, PageSize), 41*second)
	s := d.Stats()
	require.Equal(t, uint64(1), s.Struck[Stall])
	require.Equal(t, uint64(1), s.Struck[Slow])
	require.Equal(t, uint64(4), s.DeviceReads)
	require.Equal(t, uint64(1), s.CacheHits)
}

// TestStallWithoutEnd: the queue is as if nothing had been asked.
func TestStallWithoutEnd(t *testing.T) {
	d, f := onProfile(t, "nvme", 0)
	d.PowerOff()
	d.SetStall(Forever)
	require.True(t, d.Stalled())
	require.Equal(t, Forever, f.ReadDone(second, 0, PageSize))
	require.Equal(t, Forever, d.SyncDirDone(second))
	d.SetStall(0)
	require.False(t, d.Stalled())
	require.Less(t, f.ReadDone(2*second, PageSize, PageSize), 3*second)
	require.Less(t, d.SyncDirDone(2*second), 3*second)
}

// TestEvictionWritesBack: a writer that fills the cache with dirty pages waits
// for the device, and what left the cache survives without a sync.
func TestEvictionWritesBack(t *testing.T) {
	d, f := onProfile(t, "gp3", 4)
	f.Evict()
	before := f.SyncDone(0) // takes what is still to be written
	start := d.Stats().WrittenBack
	slowest := int64(0)
	for i := range int64(8) {
		fill(t, f, 'x', i*PageSize, PageSize)
		slowest = max(slowest, f.WriteDone(before, PageSize)-before)
	}
	require.Greater(t, slowest, 250*us)
	require.Equal(t, 4, f.Resident())
	require.Equal(t, uint64(4*PageSize), d.Stats().WrittenBack-start)
	dirty, _ := f.AtRisk()
	require.Equal(t, 4*16, dirty)
	d.PowerOff()
	require.Equal(t, "xxxx", firstOf(t, open(t, d, "f"))[:4])
}

// TestClockSparesUsed: pages that are read again outlive a scan.
func TestClockSparesUsed(t *testing.T) {
	d, _ := onProfile(t, "fast", 8)
	d.PowerOff()
	f := open(t, d, "f")
	for i := range int64(60) {
		f.ReadDone(0, 0, PageSize)
		f.ReadDone(0, 0, PageSize)
		f.ReadDone(0, (i+1)*PageSize, PageSize)
	}
	require.Equal(t, uint64(61), d.Stats().DeviceReads, "page 0 once")
	require.Equal(t, 8, f.Resident())
}

// TestTimesMove: no operation completes before it is issued, and the same calls
// give the same times.
func TestTimesMove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := ProfileByName(rapid.SampledFrom(Profiles()).Draw(t, "profile"))
		require.NoError(t, err)
		ops := rapid.SliceOfN(rapid.IntRange(0, 1<<20), 1, 40).Draw(t, "ops")
		run := func() (times []int64) {
			d := New(Config{Profile: p, CachePages: 5}, 9)
			f := open(t, d, "f")
			now := int64(0)
			for _, o := range ops {
				off, n := int64(o%90_000), o%7*3000+1
				var done int64
				switch o % 5 {
				case 0, 1:
					fill(t, f, byte(o), off, n)
					done = f.WriteDone(now, n)
				case 2:
					done = f.ReadDone(now, off, n)
				case 3:
					done = f.SyncDone(now)
					require.NoError(t, f.Sync())
				default:
					done = d.SyncDirDone(now)
					require.Less(t, now, d.NameDone(now))
				}
				require.Greater(t, done, now)
				times = append(times, done)
				if o%3 > 0 {
					now = done
				}
			}
			return times
		}
		require.Equal(t, run(), run())
	})
}

// TestDigest: golden values, the same on every machine; and each bit matters.
func TestDigest(t *testing.T) {
	b := make([]byte, 200)
	for i := range b {
		b[i] = byte(i*7 + 1)
	}
	seen := map[uint64]bool{}
	for n := range 200 {
		seen[Digest(1, b[:n])] = true
		seen[Digest(2, b[:n])] = true
		seen[Digest(1, make([]byte, n))] = true
	}
	require.Equal(t, 599, len(seen), "no bytes and no zeros are the same")
	for n := range 200 * 8 {
		c := slices.Clone(b)
		c[n/8] ^= 1 << (n % 8)
		seen[Digest(1, c)] = true
	}
	require.Equal(t, 599+1600, len(seen))
	var all [8]byte
	binary.LittleEndian.PutUint64(all[:], Digest(Digest(7, b), b[:13]))
	require.Equal(t, goldenDigest, all)
}

var goldenDigest = [8]byte{0xcd, 0xbc, 0xa3, 0xd2, 0x99, 0xfb, 0x2b, 0x4d}
