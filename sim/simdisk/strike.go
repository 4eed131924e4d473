package simdisk

import "tornpage/engine/host"

// readFaults decides what meets a read: an error, or from where it is served.
func (f *File) readFaults(off int64, n int) (int64, error) {
	d := f.d
	if d.strikes(EIORead, f.id, f.reads) {
		return 0, f.fail("read", off, host.ErrIO)
	}
	if victim, ok := f.victim(off, n, f.reads); ok && d.strikes(MisdirectRead, f.id, f.reads) {
		return victim, nil
	}
	return off, nil
}

// writeStrike is what meets a write: its bytes are lost, and may have landed
// on a victim instead.
type writeStrike struct {
	lost      bool
	misplaced bool
	victim    int64 // bytes
}

func (f *File) writeFaults(off int64, n int) (w writeStrike, err error) {
	d := f.d
	if d.strikes(EIOWrite, f.id, f.writes) {
		return w, f.fail("write", off, host.ErrIO)
	}
	if d.strikes(LostWrite, f.id, f.writes) {
		w.lost = true
		return w, nil
	}
	if v, ok := f.victim(off, n, f.writes); ok && d.strikes(MisdirectWrite, f.id, f.writes) {
		return writeStrike{lost: true, misplaced: true, victim: v}, nil
	}
	return w, nil
}

// victim draws where a misdirected operation lands: whole pages away, inside
// the file. A file without such a place has no victim.
func (f *File) victim(off int64, n int, count uint64) (int64, bool) {
	page, in := off/PageSize, off%PageSize
	last := (f.size - in - int64(n)) / PageSize // last page from which n bytes fit
	if n == 0 || last < 1 && (last < 0 || page == 0) || f.size < in+int64(n) {
		return 0, false
	}
	places := uint64(last) + 1
	if page <= last {
		places--
	}
	if places == 0 {
		return 0, false
	}
	r := f.d.stream(siteVictim, f.id, count, 0)
	v := int64(r.N(places))
	if page <= last && v >= page {
		v++
	}
	return v*PageSize + in, true
}

// strikeWrite takes back from the device what a write has just changed: the
// cache shows it, a sync takes it for stored, and it goes with the cache. If it
// was misplaced, the device's sectors at the victim are these bytes now.
func (f *File) strikeWrite(off int64, n int, w writeStrike) {
	g := &f.d.geo
	shift := (w.victim - off) / int64(g.sector)
	first, last := off>>g.shift, (off+int64(n)-1)>>g.shift
	for sec := first; sec <= last; sec++ {
		c := f.chunks[sec>>g.chunkShift]
		s := uint32(sec) & g.chunkMask
		if i := c.pend[s]; i != 0 && c.dirty.has(s) && f.d.pool.pendings[i].cur == f.version {
			f.lose(c, s)
		}
	}
	for sec := first; w.misplaced && sec <= last; sec++ {
		c := f.chunks[sec>>g.chunkShift]
		if c.data == nil {
			continue
		}
		at := (uint32(sec) & g.chunkMask) << g.shift
		f.spoil(uint32(sec+shift), func(b []byte) { copy(b, c.data[at:int(at)+g.sector]) })
	}
}

// spoil changes a sector's persisted bytes behind the cache's back. If the
// cache has the page, it still shows the right ones.
func (f *File) spoil(sector uint32, change func(b []byte)) {
	d := f.d
	g, p := &d.geo, &d.pool
	index, s := sector>>g.chunkShift, sector&g.chunkMask
	c := f.chunkAt(index)
	if i := c.pend[s]; i != 0 {
		v := p.pendings[i].base
		if p.versions[v].zero {
			p.versions[v].zero = false
			clear(p.bytes(v))
		}
		change(p.bytes(v))
		return
	}
	if !d.cache.has(c, s>>g.pageShift) {
		b := c.data[s<<g.shift:][:g.sector]
		change(b)
		if past := f.size - int64(sector)<<g.shift; past < int64(g.sector) {
			clear(b[max(past, 0):])
		}
		return
	}
	i := p.newPending()
	v := f.keep(c, s, 0, f.version, false)
	p.pendings[i] = pending{cur: f.version, sector: sector, newest: v, base: v, count: 1}
	c.pend[s] = i
	c.ghost.set(s)
	f.ghosts.push(p, i)
	change(p.bytes(v))
}
