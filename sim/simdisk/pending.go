package simdisk

// list is a chain of pending sectors, oldest change first.
type list struct {
	head, tail int32
	n          int32
}

func (l *list) push(p *pool, i int32) {
	q := &p.pendings[i]
	q.next, q.prev = 0, l.tail
	if l.tail != 0 {
		p.pendings[l.tail].next = i
	} else {
		l.head = i
	}
	l.tail = i
	l.n++
}

func (l *list) remove(p *pool, i int32) {
	q := &p.pendings[i]
	if q.prev != 0 {
		p.pendings[q.prev].next = q.next
	} else {
		l.head = q.next
	}
	if q.next != 0 {
		p.pendings[q.next].prev = q.prev
	} else {
		l.tail = q.prev
	}
	l.n--
}

// mark records that write ver is about to change a sector: its present bytes
// become an old version. zero says that they are known to be zeros.
func (f *File) mark(c *chunk, sector uint32, ver Version, zero bool) {
	p := &f.d.pool
	s := sector & f.d.geo.chunkMask
	i := c.pend[s]
	if i == 0 {
		i = p.newPending()
		v := f.keep(c, s, 0, ver, zero)
		p.pendings[i] = pending{cur: ver, sector: sector, newest: v, base: v, count: 1}
		c.pend[s] = i
		f.setDirty(c, s, i)
		return
	}
	if c.ghost.has(s) {
		// What a device lost is no longer possible; the next sync may bring
		// down the new bytes.
		f.revive(c, s, i, ver)
		return
	}
	q := &p.pendings[i]
	if q.cur == ver {
		return
	}
	if q.count == MaxVersions {
		f.dropVersion(q)
	}
	v := f.keep(c, s, q.cur, ver, false)
	q = &p.pendings[i]
	p.versions[v].older = q.newest
	q.newest, q.cur = v, ver
	q.count++
}

// revive makes a ghost dirty again: it was written anew.
func (f *File) revive(c *chunk, s uint32, i int32, ver Version) {
	p := &f.d.pool
	f.ghosts.remove(p, i)
	c.ghost.unset(s)
	p.pendings[i].cur = ver
	f.setDirty(c, s, i)
}

// keep copies a sector's visible bytes into a new version.
func (f *File) keep(c *chunk, s uint32, from, until Version, zero bool) int32 {
	p := &f.d.pool
	v := p.newVersion()
	p.versions[v] = version{from: from, until: until, zero: zero}
	if !zero {
		copy(p.bytes(v), c.data[s<<f.d.geo.shift:])
	}
	return v
}

// dropVersion gives up one old version in between, drawn so that any may
// survive.
func (f *File) dropVersion(q *pending) {
	p := &f.d.pool
	r := f.d.stream(siteDrop, f.id, uint64(q.sector), uint64(q.cur))
	k := r.N(MaxVersions - 1) // 0: the newest of the old; the base stays
	if k == 0 {
		v := q.newest
		q.newest = p.versions[v].older
		p.freeChain(v, v)
	} else {
		above := q.newest
		for ; k > 1; k-- {
			above = p.versions[above].older
		}
		v := p.versions[above].older
		p.versions[above].older = p.versions[v].older
		p.freeChain(v, v)
	}
	q.count--
}

// setDirty puts a pending sector on the dirty list and counts runs of dirty
// pages, the number of device writes that a sync makes. Runs end at chunks.
func (f *File) setDirty(c *chunk, s uint32, i int32) {
	g := &f.d.geo
	page := s >> g.pageShift
	if c.dirty.page(g, page) == 0 {
		f.runs += 1 - f.neighbours(c, page)
	}
	c.dirty.set(s)
	f.dirty.push(&f.d.pool, i)
}

// unsetDirty takes a sector off the dirty list.
func (f *File) unsetDirty(c *chunk, s uint32, i int32) {
	g := &f.d.geo
	f.dirty.remove(&f.d.pool, i)
	c.dirty.unset(s)
	page := s >> g.pageShift
	if c.dirty.page(g, page) == 0 {
		f.runs -= 1 - f.neighbours(c, page)
	}
}

// neighbours counts the dirty pages beside a page, within its chunk.
func (f *File) neighbours(c *chunk, page uint32) int32 {
	g, n := &f.d.geo, int32(0)
	if page > 0 && c.dirty.page(g, page-1) != 0 {
		n++
	}
	if page+1 < chunkPages && c.dirty.page(g, page+1) != 0 {
		n++
	}
	return n
}

// settle makes a dirty sector's visible bytes the persisted ones.
func (f *File) settle(c *chunk, s uint32) {
	i := c.pend[s]
	f.unsetDirty(c, s, i)
	c.pend[s] = 0
	f.d.pool.freePending(i)
}

// lose makes a dirty sector a ghost: visible in the cache, taken for clean,
// and gone with the cache. Only its persisted version can come back.
func (f *File) lose(c *chunk, s uint32) {
	p := &f.d.pool
	i := c.pend[s]
	f.unsetDirty(c, s, i)
	q := &p.pendings[i]
	if q.newest != q.base {
		v := q.newest
		last := v
		for p.versions[last].older != q.base {
			last = p.versions[last].older
		}
		p.freeChain(v, last)
		q.newest, q.count = q.base, 1
	}
	c.ghost.set(s)
	f.ghosts.push(p, i)
}

// revert brings a ghost's persisted bytes back.
func (f *File) revert(c *chunk, s uint32) {
	p := &f.d.pool
	i := c.pend[s]
	f.put(c, i, p.pendings[i].base)
	f.ghosts.remove(p, i)
	c.ghost.unset(s)
	c.pend[s] = 0
	p.freePending(i)
}

// put makes a version's bytes the visible ones of pending sector i, as far as
// the file reaches.
func (f *File) put(c *chunk, i, v int32) {
	if c.shared {
		c.own()
	}
	p, g := &f.d.pool, &f.d.geo
	sector := p.pendings[i].sector
	b := c.data[(sector&g.chunkMask)<<g.shift:][:g.sector]
	if p.versions[v].zero {
		clear(b)
	} else {
		copy(b, p.bytes(v))
	}
	if past := f.size - int64(sector)<<g.shift; past < int64(g.sector) {
		clear(b[max(past, 0):])
	}
}
