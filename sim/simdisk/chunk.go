package simdisk

// chunk is 64 KiB of a file: the visible bytes, and for each sector whether
// they are persisted. A nil chunk is a hole of zeros.
type chunk struct {
	data   *[chunkSize]byte
	shared bool // data belongs to an image too: copy before writing

	dirty bitmap // sectors that a sync must bring down
	ghost bitmap // sectors that no sync will: visible in the cache alone
	pend  [chunkSize / 512]int32

	epoch    uint64 // of the cache when resident and used were right
	resident uint8  // pages in the cache
	used     uint8  // pages read again since the clock's hand passed
	frame    [chunkPages]int32
}

// bitmap has a bit for each sector of a chunk; sectors of a page share a word.
type bitmap [2]uint64

func (b *bitmap) set(s uint32)      { b[s>>6] |= 1 << (s & 63) }
func (b *bitmap) unset(s uint32)    { b[s>>6] &^= 1 << (s & 63) }
func (b *bitmap) has(s uint32) bool { return b[s>>6]&(1<<(s&63)) != 0 }

// page is the bits of one page's sectors, moved down to bit 0.
func (b *bitmap) page(g *geometry, page uint32) uint64 {
	first := page << g.pageShift
	return b[first>>6] >> (first & 63) & g.pageBits
}

// chunkAt gives chunk i for writing, made or copied if need be.
func (f *File) chunkAt(i uint32) *chunk {
	for int(i) >= len(f.chunks) {
		f.chunks = append(f.chunks, nil)
	}
	c := f.chunks[i]
	if c == nil {
		c = &chunk{data: f.d.pool.newChunk()}
		f.chunks[i] = c
	} else if c.shared {
		c.own()
	}
	return c
}

// own gives the chunk bytes of its own, before the first write after an image
// was taken or loaded. Its size is that of a pool buffer, which it may become.
func (c *chunk) own() {
	b := new([chunkSize]byte)
	*b = *c.data
	c.data, c.shared = b, false
}

// peek gives chunk i or nil, for reading.
func (f *File) peek(i uint32) *chunk {
	if int(i) < len(f.chunks) {
		return f.chunks[i]
	}
	return nil
}
