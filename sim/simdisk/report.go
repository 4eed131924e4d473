package simdisk

// Report says what a power-off did. It belongs to the caller.
type Report struct {
	Crash       uint64 // which power-off of the disk, from 1
	NamesAtRisk int    // name operations since the last directory sync
	NamesKept   int    // those that persisted
	Files       []FileReport
	Digest      uint64 // of every choice made, for the trace
}

// FileReport is a file that had something at risk, in order of creation.
type FileReport struct {
	Name       string
	Mode       Mode
	AtRisk     int // sectors that a sync would have brought down
	New        int // of them and of Lost: kept the newest bytes,
	Old        int // went back to the persisted ones,
	Between    int // or became a version in between
	Lost       int // sectors that were visible in the cache alone: Old, all of them
	SizeBefore int64
	Size       int64
	Torn       []int64 // pages (8 KiB, from 0) that are a mixture of versions
}

// Torn counts the torn pages of all files.
func (r *Report) Torn() int {
	n := 0
	for i := range r.Files {
		n += len(r.Files[i].Torn)
	}
	return n
}

// Stats counts what a disk did since New.
type Stats struct {
	Reads, Writes, Syncs, DirSyncs uint64 // calls
	ReadBytes, WrittenBytes        uint64 // of the calls
	CacheHits                      uint64 // reads that the cache served
	DeviceReads                    uint64 // pages read from the device
	Evicted                        uint64 // pages pushed out of the cache
	WrittenBack                    uint64 // bytes of dirty sectors among them
	Reverted                       uint64 // sectors that showed old bytes after eviction
	PowerOffs, Losses              uint64
	Struck                         [numFaults]uint64 // faults that struck, by kind
}

// Stats gives the counters.
func (d *Disk) Stats() Stats {
	s := d.stats
	s.Evicted = d.cache.evicted
	s.Struck[Stall] += d.dev.struckStall
	s.Struck[Slow] += d.dev.struckSlow
	return s
}
