package simdisk

import "slices"

// Memory is what ended disks leave for later ones, so that the worlds of a hunt
// do not ask for the same buffers again and again. It serves one goroutine at a
// time. No method of a disk shows whose memory it had before.
type Memory struct {
	pools []pool
}

// maxSpare is how many disks' memory is kept: more than the worlds of one hunt
// have at a time.
const maxSpare = 64

// take gives an ended disk's pool of that sector size, or a new one. m may be
// nil.
func (m *Memory) take(sector int) (p pool) {
	for i := 0; m != nil && i < len(m.pools); i++ {
		if m.pools[i].sector == sector {
			p = m.pools[i]
			m.pools = slices.Delete(m.pools, i, i+1)
			return p
		}
	}
	p.init(sector)
	return p
}

// End gives the disk's memory to m, which may be nil, but for what images share.
// Its files give ErrIO from now on; statistics and configuration stay.
func (d *Disk) End(m *Memory) {
	d.empty()
	if m != nil && len(m.pools) < maxSpare && len(d.pool.chunks)+len(d.pool.slabs) > 0 {
		d.pool.reset()
		m.pools = append(m.pools, d.pool)
		d.pool = (*Memory)(nil).take(d.cfg.Sector)
	}
}
