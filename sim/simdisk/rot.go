package simdisk

import (
	"fmt"
	"path"

	"tornpage/engine/host"
)

// Rot flips bits in persisted sectors of files whose name matches a pattern
// (path.Match), drawn evenly over their bytes, and returns how many sectors it
// hit. A page without unsynced changes leaves the cache with it, so that the
// next read meets the rot; elsewhere a power-off will show it, unless a sync
// overwrites it. Readers are told nothing.
func (d *Disk) Rot(pattern string, sectors, bits uint32) (uint32, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return 0, fmt.Errorf("disk: rot in %q: %w", pattern, err)
	}
	var total int64
	var files []*File
	for _, e := range d.names {
		if ok, _ := path.Match(pattern, e.name); ok && e.file.size > 0 {
			files = append(files, e.file)
			total += e.file.size
		}
	}
	if total == 0 {
		return 0, nil
	}
	for n := uint32(0); n < sectors; n++ {
		d.stats.Struck[Rot]++
		r := d.stream(siteRot, d.stats.Struck[Rot], d.crashes, 0)
		at := int64(r.N(uint64(total)))
		for _, f := range files {
			if at < f.size {
				f.rot(uint32(at>>d.geo.shift), bits, &r)
				break
			}
			at -= f.size
		}
	}
	return sectors, nil
}

// RotSector flips bits in one sector of a file (rule as Rot). Error:
// host.ErrNotExist for a sector that is not there.
func (d *Disk) RotSector(name string, sector int64, bits uint32) error {
	f := lookup(d.names, name)
	if f == nil || sector < 0 || sector >= (f.size+int64(d.geo.sector)-1)>>d.geo.shift {
		return fmt.Errorf("disk: rot in sector %d of %q: %w", sector, name, host.ErrNotExist)
	}
	d.stats.Struck[Rot]++
	r := d.stream(siteRot, d.stats.Struck[Rot], d.crashes, 0)
	f.rot(uint32(sector), bits, &r)
	return nil
}

func (f *File) rot(sector, bits uint32, r *host.Rand) {
	g := &f.d.geo
	c := f.chunkAt(sector >> g.chunkShift)
	page := sector & g.chunkMask >> g.pageShift
	if (c.dirty.page(g, page) | c.ghost.page(g, page)) == 0 {
		f.d.cache.evictClean(c, page)
	}
	span := min(int64(g.sector), f.size-int64(sector)<<g.shift)
	f.spoil(sector, func(b []byte) {
		// One bit in each of so many equal parts: no bit twice, which would heal.
		total := uint64(span) * 8
		part := max(total/max(uint64(bits), 1), 1)
		for n := uint64(0); n < min(uint64(bits), total); n++ {
			bit := n*part + r.N(part)
			b[bit>>3] ^= 1 << (bit & 7)
		}
	})
}
