package simdisk

// cache is which pages the operating system holds in memory. Bytes are not
// here: a chunk has the visible ones whether its pages are resident or not.
// Eviction is by clock: a hand goes round, spares what was used since its last
// pass, and so costs O(1) a page (Corbató, "A Paging Experiment with the
// Multics System", 1968).
type cache struct {
	capacity int
	frames   []frame
	hand     int
	free     []int32 // frames whose page was forgotten
	epoch    uint64  // marks in chunks of an earlier epoch are void

	evicted    uint64
	writeRuns  int32 // device writes for evicted pages that nobody waited for yet
	writeBytes int64
}

// frame is where a resident page hangs on the clock.
type frame struct {
	f    *File
	c    *chunk
	page uint32 // of the chunk
}

func (k *cache) init(capacity int) {
	k.capacity = capacity
	k.epoch = 1
}

// clear makes the cache cold.
func (k *cache) clear() {
	k.epoch++
	clear(k.frames)
	k.frames, k.free, k.hand = k.frames[:0], k.free[:0], 0
	k.writeRuns, k.writeBytes = 0, 0
}

func (k *cache) sight(c *chunk) {
	if c.epoch != k.epoch {
		c.epoch, c.resident, c.used = k.epoch, 0, 0
	}
}

// has reports whether a page is resident.
func (k *cache) has(c *chunk, page uint32) bool {
	return c.epoch == k.epoch && c.resident&(1<<page) != 0
}

// bringIn makes the pages of n bytes at offset at of a chunk resident and
// returns how many were not, and in how many runs.
func (f *File) bringIn(c *chunk, index, at uint32, n int) (missed, runs int32) {
	k := &f.d.cache
	k.sight(c)
	last := (at + uint32(n) - 1) / PageSize
	was := true
	for page := at / PageSize; page <= last; page++ {
		bit := uint8(1) << page
		if c.resident&bit != 0 {
			c.used |= bit
			was = true
			continue
		}
		if k.capacity > 0 {
			k.admit(f, c, page)
		}
		c.resident |= bit
		missed++
		if was {
			runs++
		}
		was = false
	}
	return missed, runs
}

// admit finds a frame for a page.
func (k *cache) admit(f *File, c *chunk, page uint32) {
	i := int32(len(k.frames))
	switch {
	case len(k.free) > 0:
		i = k.free[len(k.free)-1]
		k.free = k.free[:len(k.free)-1]
	case len(k.frames) < k.capacity:
		k.frames = append(k.frames, frame{})
	default:
		i = k.turn()
	}
	k.frames[i] = frame{f, c, page}
	c.frame[page] = i
	c.used &^= 1 << page
}

// turn moves the clock's hand to a page that was not used again and evicts it.
func (k *cache) turn() int32 {
	for {
		i := k.hand
		k.hand++
		if k.hand == len(k.frames) {
			k.hand = 0
		}
		fr := &k.frames[i]
		bit := uint8(1) << fr.page
		if fr.c.used&bit != 0 {
			fr.c.used &^= bit
			continue
		}
		k.evict(fr)
		return int32(i)
	}
}

// evict takes a page out of the cache. Its dirty sectors are written to the
// device first, and so persisted; its ghosts were never stored, and what the
// device has becomes visible.
func (k *cache) evict(fr *frame) {
	c, f := fr.c, fr.f
	c.resident &^= 1 << fr.page
	k.evicted++
	g := &f.d.geo
	dirty, ghost := c.dirty.page(g, fr.page), c.ghost.page(g, fr.page)
	if dirty|ghost == 0 {
		return
	}
	first := fr.page << g.pageShift
	for s := first; s < first+1<<g.pageShift; s++ {
		switch {
		case c.dirty.has(s):
			f.settle(c, s)
			k.writeBytes += int64(g.sector)
		case c.ghost.has(s):
			f.revert(c, s)
			f.d.stats.Reverted++
		}
	}
	if dirty != 0 {
		k.writeRuns++
	}
}

// evictClean makes a page that has nothing pending leave the cache.
func (k *cache) evictClean(c *chunk, page uint32) {
	if !k.has(c, page) {
		return
	}
	c.resident &^= 1 << page
	if k.capacity > 0 {
		k.unframe(c.frame[page])
	}
}

// unframe frees a frame. The hand may meet it: it points to a chunk that is
// never used, so that the next round takes it.
func (k *cache) unframe(i int32) {
	k.frames[i] = frame{}
	k.free = append(k.free, i)
}

// forget takes all pages of a chunk out, whose bytes nobody will read again.
func (k *cache) forget(c *chunk) {
	if c.epoch != k.epoch {
		return
	}
	if k.capacity > 0 {
		for page := range uint32(chunkPages) {
			if c.resident&(1<<page) != 0 {
				k.unframe(c.frame[page])
			}
		}
	}
	c.resident = 0
}

// Resident counts the pages of a file in the cache.
func (f *File) Resident() int {
	n := 0
	for _, c := range f.chunks {
		for page := range uint32(chunkPages) {
			if c != nil && f.d.cache.has(c, page) {
				n++
			}
		}
	}
	return n
}

// Evict takes every page of the file out of the cache, as memory pressure
// would: dirty sectors are written back, and what was never stored is gone.
func (f *File) Evict() {
	k := &f.d.cache
	for _, c := range f.chunks {
		for page := range uint32(chunkPages) {
			if c == nil || !k.has(c, page) {
				continue
			}
			fr := frame{f, c, page}
			k.evict(&fr)
			if k.capacity > 0 {
				k.unframe(c.frame[page])
			}
		}
	}
}
