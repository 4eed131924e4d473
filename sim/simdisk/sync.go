package simdisk

import "tornpage/engine/host"

// SyncPoint is the cut of a sync that begins now: writes up to here are covered
// by it, later ones are not.
func (f *File) SyncPoint() Version { return f.version }

// Sync is a sync that takes no time: SyncTo the present SyncPoint.
func (f *File) Sync() error { return f.SyncTo(f.version) }

// SyncTo ends a sync that began at a cut: what was written up to it, and the
// size as of then, survive power-off from now on. Until this call all of it is
// at risk, and later writes stay so. Take the cut (SyncPoint) and the time
// (SyncDone) when the sync begins, and call SyncTo when it ends.
//
// Error: host.ErrIO from the failed-sync fault, after which the sectors count as
// clean although they were never stored (rule D4).
func (f *File) SyncTo(cut Version) error {
	f.syncs++
	if f.gone {
		return f.fail("sync", -1, host.ErrIO)
	}
	d := f.d
	d.stats.Syncs++
	if d.faults.active {
		if d.strikes(FailSync, f.id, f.syncs) {
			f.loseAll(cut)
			return f.fail("sync", -1, host.ErrIO)
		}
		if d.strikes(LostSync, f.id, f.syncs) {
			return nil
		}
	}
	f.settleSize(cut)
	if f.dirty.n > 0 {
		f.settleTo(cut)
	}
	if f.cut {
		f.cut = len(f.sizes) > 0
		f.trim()
	}
	return nil
}

// settleTo brings the dirty sectors down to a cut.
func (f *File) settleTo(cut Version) {
	p, g := &f.d.pool, &f.d.geo
	if cut < f.version {
		f.settlePart(cut)
		return
	}
	for i := f.dirty.head; i != 0; {
		q := &p.pendings[i]
		next := q.next
		c := f.chunks[q.sector>>g.chunkShift]
		s := q.sector & g.chunkMask
		c.pend[s] = 0
		c.dirty.unset(s)
		p.freePending(i)
		i = next
	}
	f.dirty, f.runs = list{}, 0
}

// settlePart does so where some sectors were written after the cut.
func (f *File) settlePart(cut Version) {
	p, g := &f.d.pool, &f.d.geo
	for i := f.dirty.head; i != 0; {
		q := &p.pendings[i]
		next := q.next
		if q.cur <= cut {
			f.settle(f.chunks[q.sector>>g.chunkShift], q.sector&g.chunkMask)
		} else {
			q.narrow(p, cut)
		}
		i = next
	}
}

// narrow makes the newest old version up to a cut the persisted one.
func (q *pending) narrow(p *pool, cut Version) {
	v, n := q.newest, int32(1)
	for v != q.base && p.versions[v].from > cut {
		v = p.versions[v].older
		n++
	}
	if v != q.base {
		p.freeChain(p.versions[v].older, q.base)
		q.base, q.count = v, n
	}
}

// loseAll is a failed sync: dirty pages are marked clean without being stored.
func (f *File) loseAll(cut Version) {
	p, g := &f.d.pool, &f.d.geo
	for i := f.dirty.head; i != 0; {
		q := &p.pendings[i]
		next := q.next
		if q.cur <= cut {
			f.lose(f.chunks[q.sector>>g.chunkShift], q.sector&g.chunkMask)
		}
		i = next
	}
}
