package simdisk

import "tornpage/engine/host"

// sizeChange is a size that a file has had since its last sync.
type sizeChange struct {
	version Version
	size    int64
}

// room says whether a file may grow to a size.
func (f *File) room(size int64) error {
	d := f.d
	if d.faults.full {
		d.stats.Struck[Full]++
		return host.ErrNoSpace
	}
	if size > MaxFile {
		return host.ErrNoSpace
	}
	if d.cfg.Size > 0 && d.used+blocks(size)-blocks(f.size) > d.cfg.Size {
		return host.ErrNoSpace
	}
	return nil
}

// setSize makes a size the visible one, under the present version. Like a
// sector's, the sizes in between are thinned by draws.
func (f *File) setSize(size int64) {
	if f.linked {
		f.d.used += blocks(size) - blocks(f.size)
	}
	f.size = size
	if len(f.sizes) == MaxVersions {
		r := f.d.stream(siteSize, f.id, uint64(f.version), 0)
		k := int(r.N(MaxVersions - 1))
		copy(f.sizes[k:], f.sizes[k+1:])
		f.sizes = f.sizes[:MaxVersions-1]
	}
	f.sizes = append(f.sizes, sizeChange{f.version, size})
}

// settleSize makes the newest size up to a cut the persisted one.
func (f *File) settleSize(cut Version) {
	k := 0
	for k < len(f.sizes) && f.sizes[k].version <= cut {
		f.synced = f.sizes[k].size
		k++
	}
	f.sizes = f.sizes[:copy(f.sizes, f.sizes[k:])]
}

// trim forgets chunks behind the end of the file that nothing waits in.
func (f *File) trim() {
	keep := int((f.size + chunkSize - 1) >> chunkShift)
	for i := len(f.chunks) - 1; i >= keep; i-- {
		if c := f.chunks[i]; c != nil {
			if c.dirty[0]|c.dirty[1]|c.ghost[0]|c.ghost[1] != 0 {
				return
			}
			f.release(c)
		}
		f.chunks = f.chunks[:i]
	}
}

// release gives a chunk's memory back.
func (f *File) release(c *chunk) {
	f.d.cache.forget(c)
	if !c.shared {
		f.d.pool.freeChunk(c.data)
	}
	c.data = nil
}

// discard gives all memory of a file back; nobody may use it again.
func (f *File) discard() {
	p := &f.d.pool
	for _, l := range [...]*list{&f.dirty, &f.ghosts} {
		for i := l.head; i != 0; {
			next := p.pendings[i].next
			p.freePending(i)
			i = next
		}
		*l = list{}
	}
	for _, c := range f.chunks {
		if c != nil {
			f.release(c)
		}
	}
	f.chunks, f.sizes, f.runs = nil, nil, 0
}
