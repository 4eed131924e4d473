package simdisk

import (
	"slices"

	"tornpage/engine/host"
	"tornpage/engine/invariant"
)

// Version numbers the writes (and truncations) of a file, from 1: a cut in that
// order says which of them a sync covers.
type Version uint64

// Disk is the state of one simulated disk and of the page cache above it. It
// never blocks and keeps no time: the world calls it, asks the Done methods how
// long that took, and lets the task wait.
type Disk struct {
	cfg Config
	key uint64
	geo geometry

	names   []entry // visible, sorted by name
	kept    []entry // as of the last directory sync, sorted by name
	ops     []nameOp
	opCount uint64
	files   []*File // every file that is not gone, in order of creation
	crashes uint64
	used    int64 // bytes of files, each rounded up to 4 KiB

	pool   pool
	cache  cache
	dev    device
	faults faultState
	stats  Stats
}

// geometry is what follows from the sector size.
type geometry struct {
	sector     int    // bytes
	shift      uint   // log2 of it
	chunkShift uint   // log2 of the sectors of a chunk
	chunkMask  uint32 // sectors of a chunk - 1
	pageShift  uint   // log2 of the sectors of a page
	pageBits   uint64 // that many ones
}

func newGeometry(sector int) geometry {
	g := geometry{sector: sector}
	for 1<<g.shift < sector {
		g.shift++
	}
	g.chunkShift = chunkShift - g.shift
	g.chunkMask = 1<<g.chunkShift - 1
	per := uint(PageSize / sector)
	for 1<<g.pageShift < per {
		g.pageShift++
	}
	g.pageBits = 1<<per - 1
	return g
}

// New makes an empty disk. key is the base of all its draws: derive it from
// the seed, the machine and the disk. A wrong configuration panics: Check it.
func New(cfg Config, key uint64) *Disk { return NewIn(nil, cfg, key) }

// NewIn is New with memory of a disk that has ended, if m has some; m may be nil.
func NewIn(m *Memory, cfg Config, key uint64) *Disk {
	if err := cfg.Check(); err != nil {
		invariant.Broken("D-config", "%v", err)
	}
	cfg = cfg.withDefaults()
	d := &Disk{cfg: cfg, key: host.Mix(key ^ k0), geo: newGeometry(cfg.Sector)}
	d.pool = m.take(cfg.Sector)
	d.cache.init(cfg.CachePages)
	d.dev.init(cfg.Profile, host.Mix(d.key^siteLatency))
	return d
}

// Config is the configuration with its defaults filled in.
func (d *Disk) Config() Config { return d.cfg }

// Sites keep the draws of different decisions apart (rule D6).
const (
	siteLatency uint64 = 0x51_0001 + iota
	siteMode
	siteSector
	siteSize
	siteName
	siteDrop
	siteRot
	siteVictim
	siteFault // + the Fault
)

// stream is the random stream of one decision.
func (d *Disk) stream(site, a, b, c uint64) host.Rand {
	k := fold(d.key^site*k1, a^k2)
	k = fold(k^k3, b^k4)
	return host.NewRand(host.Mix(k + c*k1))
}

// Crashes counts the power-offs so far.
func (d *Disk) Crashes() uint64 { return d.crashes }

// Used is how many bytes of the capacity are taken.
func (d *Disk) Used() int64 { return d.used }

// blocks is what a file of that size takes of the capacity: file systems give
// out blocks of 4 KiB.
func blocks(size int64) int64 { return (size + 4095) &^ 4095 }

// Loss is total loss: everything on the disk is gone, an empty one takes its
// place. Files that were open give ErrIO from now on. Fault switches stay: they
// are the plan's, not the device's.
func (d *Disk) Loss() {
	d.empty()
	d.stats.Losses++
}

// empty forgets all files.
func (d *Disk) empty() {
	for _, f := range d.files {
		f.discard()
		f.gone = true
	}
	d.names, d.kept, d.ops, d.files = nil, nil, nil, nil
	d.used = 0
	d.cache.clear()
}

// drop forgets a file that no name, no pending operation and no handle has.
func (d *Disk) drop(f *File) {
	f.discard()
	f.gone = true
	i := slices.Index(d.files, f)
	d.files = slices.Delete(d.files, i, i+1)
}
