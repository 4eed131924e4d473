package simdisk

// pool has the reusable parts of a disk: the buffers of chunks, the pending
// sectors and their old versions. Slot 0 of both slabs is nobody's, so that 0
// can mean none.
type pool struct {
	sector   int
	chunks   []*[chunkSize]byte // free buffers, all zeros or not: takers clear
	pendings []pending
	freePend int32
	versions []version
	freeVer  int32
	slabs    [][]byte // bytes of versions, slabVersions each
}

// slabVersions is how many versions share one allocation.
const slabVersions = 64

// maxFreeChunks bounds what is held for reuse, 16 MiB: a large file's removal
// must not keep its memory for the rest of the run.
const maxFreeChunks = 256

// pending is a sector whose visible bytes differ from the persisted ones.
type pending struct {
	cur        Version // made the visible bytes
	sector     uint32  // of the file
	next, prev int32   // in the file's list
	newest     int32   // newest old version; older ones hang on it
	base       int32   // the persisted version, the last of them
	count      int32   // of old versions
}

// version is what a sector held from one write until another.
type version struct {
	from, until Version
	older       int32 // the version before; in the free list, the next free one
	zero        bool  // all zeros, without bytes in a slab
}

func (p *pool) init(sector int) {
	p.sector = sector
	p.pendings = make([]pending, 1)
	p.versions = make([]version, 1)
}

// reset frees every pending sector and version at once.
func (p *pool) reset() {
	p.pendings, p.freePend = p.pendings[:1], 0
	p.versions, p.freeVer = p.versions[:1], 0
}

// bytes is the content of a version that is not zero.
func (p *pool) bytes(v int32) []byte {
	i := int(v%slabVersions) * p.sector
	return p.slabs[v/slabVersions][i : i+p.sector : i+p.sector]
}

func (p *pool) newVersion() int32 {
	v := p.freeVer
	if v != 0 {
		p.freeVer = p.versions[v].older
		return v
	}
	v = int32(len(p.versions))
	p.versions = append(p.versions, version{})
	for int(v/slabVersions) >= len(p.slabs) {
		p.slabs = append(p.slabs, make([]byte, slabVersions*p.sector))
	}
	return v
}

// freeChain frees the versions from newest down to oldest.
func (p *pool) freeChain(newest, oldest int32) {
	p.versions[oldest].older = p.freeVer
	p.freeVer = newest
}

func (p *pool) newPending() int32 {
	i := p.freePend
	if i != 0 {
		p.freePend = p.pendings[i].next
		return i
	}
	p.pendings = append(p.pendings, pending{})
	return int32(len(p.pendings) - 1)
}

// freePending frees a pending sector with all its versions.
func (p *pool) freePending(i int32) {
	q := &p.pendings[i]
	p.freeChain(q.newest, q.base)
	q.next = p.freePend
	p.freePend = i
}

// newChunk gives a buffer of zeros.
func (p *pool) newChunk() *[chunkSize]byte {
	n := len(p.chunks)
	if n == 0 {
		return new([chunkSize]byte)
	}
	b := p.chunks[n-1]
	p.chunks = p.chunks[:n-1]
	clear(b[:])
	return b
}

// freeChunk takes back a buffer that nobody else has.
func (p *pool) freeChunk(b *[chunkSize]byte) {
	if len(p.chunks) < maxFreeChunks {
		p.chunks = append(p.chunks, b)
	}
}
