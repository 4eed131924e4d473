package simdisk

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"

	"tornpage/engine/host"
)

// Image is the content of a disk after a clean shutdown: visible names, sizes
// and bytes, all of them synced. It never changes, and any number of disks may
// start from it: they share its bytes until they write.
type Image struct {
	files []imageFile // sorted by name
}

type imageFile struct {
	name   string
	size   int64
	chunks []*[chunkSize]byte // nil: zeros
}

// Image takes an image of what is visible now. It copies nothing: chunks are
// copied when the disk next writes to them.
func (d *Disk) Image() *Image {
	m := &Image{files: make([]imageFile, 0, len(d.names))}
	for _, e := range d.names {
		f := imageFile{name: e.name, size: e.file.size}
		for i, c := range e.file.chunks {
			if c == nil || int64(i)<<chunkShift >= f.size {
				continue
			}
			for len(f.chunks) <= i {
				f.chunks = append(f.chunks, nil)
			}
			f.chunks[i] = c.data
			c.shared = true
		}
		m.files = append(m.files, f)
	}
	return m
}

// Start makes a disk that holds an image, synced, with a cold cache. Error:
// host.ErrNoSpace if it does not fit.
func (m *Image) Start(cfg Config, key uint64) (*Disk, error) {
	d := New(cfg, key)
	for i := range m.files {
		mf := &m.files[i]
		f := d.newFile(mf.name)
		f.size, f.synced, f.linked = mf.size, mf.size, true
		link(&d.names, mf.name, f)
		link(&d.kept, mf.name, f)
		f.chunks = make([]*chunk, len(mf.chunks))
		for j, data := range mf.chunks {
			if data != nil {
				f.chunks[j] = &chunk{data: data, shared: true}
			}
		}
		d.used += blocks(f.size)
	}
	if cfg.Size > 0 && d.used > cfg.Size {
		return nil, fmt.Errorf("disk image of %d bytes on a disk of %d: %w", d.used, cfg.Size, host.ErrNoSpace)
	}
	return d, nil
}

// Digest is a hash of the image: equal for equal names, sizes and bytes.
func (m *Image) Digest() uint64 {
	b := m.Encode()
	return binary.LittleEndian.Uint64(b[len(b)-8:])
}

// The codec, all integers little-endian: the magic, the number of files (4
// bytes); for each, in order of names, the name's length (2) and bytes, the size
// (8), the number of stored chunks (4); for each of those, in order, its number
// (4), a bit for each 4 KiB block that is not all zeros (2) and those blocks; at
// the end the Digest of all before (8). An image has one encoding.
const (
	imageMagic = "tornimg1"
	blockSize  = 4096
	// maxTable bounds the chunk tables of an image, 32 MiB of pointers, so that
	// a few bytes cannot ask for more: 256 GiB of holes.
	maxTable = 1 << 22
)

// Encode gives the image as bytes.
func (m *Image) Encode() []byte {
	b := append([]byte(nil), imageMagic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(m.files)))
	for i := range m.files {
		f := &m.files[i]
		b = binary.LittleEndian.AppendUint16(b, uint16(len(f.name)))
		b = append(b, f.name...)
		b = binary.LittleEndian.AppendUint64(b, uint64(f.size))
		at, n := len(b), uint32(0)
		b = binary.LittleEndian.AppendUint32(b, 0)
		for j, data := range f.chunks {
			if data == nil {
				continue
			}
			if used := usedBlocks(data); used != 0 {
				b = appendChunk(b, uint32(j), used, data)
				n++
			}
		}
		binary.LittleEndian.PutUint32(b[at:], n)
	}
	return binary.LittleEndian.AppendUint64(b, Digest(k0, b))
}

func usedBlocks(data *[chunkSize]byte) (used uint16) {
	var zeros [blockSize]byte
	for k := range chunkSize / blockSize {
		if [blockSize]byte(data[k*blockSize:]) != zeros {
			used |= 1 << k
		}
	}
	return used
}

func appendChunk(b []byte, index uint32, used uint16, data *[chunkSize]byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, index)
	b = binary.LittleEndian.AppendUint16(b, used)
	for k := range chunkSize / blockSize {
		if used&(1<<k) != 0 {
			b = append(b, data[k*blockSize:(k+1)*blockSize]...)
		}
	}
	return b
}

// DecodeImage reads an image. It needs memory of at most 16 times the bytes,
// and 32 MiB.
func DecodeImage(b []byte) (*Image, error) {
	n := len(b) - 8
	if n < len(imageMagic)+4 || string(b[:len(imageMagic)]) != imageMagic {
		return nil, fmt.Errorf("disk image of %d bytes does not begin with %q: is it a disk image?", len(b), imageMagic)
	}
	if got, want := Digest(k0, b[:n]), binary.LittleEndian.Uint64(b[n:]); got != want {
		return nil, fmt.Errorf("disk image of %d bytes: checksum %016x, want %016x; it was cut or changed, take another copy", len(b), got, want)
	}
	r := reader{b: b[:n], at: len(imageMagic)}
	m := &Image{}
	for count := r.uint(4); count > 0 && r.err == nil; count-- {
		m.files = append(m.files, r.file(m))
	}
	if r.err == nil && r.at != n {
		r.fail("%d bytes behind the last file", n-r.at)
	}
	if r.err != nil {
		return nil, r.err
	}
	return m, nil
}

// reader takes an image apart; after an error all it gives is zero.
type reader struct {
	b     []byte
	at    int
	table int // chunk table entries so far
	err   error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("disk image at offset %d: %s; take another copy", r.at, fmt.Sprintf(format, args...))
	}
}

func (r *reader) take(n int) []byte {
	if r.err == nil && n > len(r.b)-r.at {
		r.fail("%d bytes needed, %d left", n, len(r.b)-r.at)
	}
	if r.err != nil {
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

// uint reads an integer of n bytes.
func (r *reader) uint(n int) uint64 {
	var v uint64
	for i, c := range r.take(n) {
		v |= uint64(c) << (8 * i)
	}
	return v
}

func (r *reader) file(m *Image) imageFile {
	f := imageFile{name: string(r.take(int(r.uint(2))))}
	if r.err == nil && (f.name == "" || len(f.name) > maxName || strings.ContainsAny(f.name, "/\x00")) {
		r.fail("name %.300q: want 1 to %d bytes without / and NUL", f.name, maxName)
	}
	if k := len(m.files); k > 0 && f.name <= m.files[k-1].name {
		r.fail("name %q after %q: want ascending", f.name, m.files[k-1].name)
	}
	size := r.uint(8)
	if size > MaxFile {
		r.fail("file %q of %d bytes: want at most %d", f.name, size, int64(MaxFile))
		return f
	}
	f.size = int64(size)
	for count := r.uint(4); count > 0 && r.err == nil; count-- {
		r.chunk(&f)
	}
	return f
}

func (r *reader) chunk(f *imageFile) {
	index, used := r.uint(4), uint16(r.uint(2))
	start := int64(index) << chunkShift
	if r.err == nil && (start >= f.size || index < uint64(len(f.chunks)) || used == 0) {
		r.fail("chunk %d of %q with blocks %04x: want one at or after %d, before byte %d, with a block",
			index, f.name, used, len(f.chunks), f.size)
	}
	blocks := r.take(bits.OnesCount16(used) * blockSize)
	if r.err != nil {
		return
	}
	r.table += int(index) + 1 - len(f.chunks)
	if r.table > maxTable {
		r.fail("files reach over %d chunks: want at most %d", r.table, maxTable)
		return
	}
	data := new([chunkSize]byte)
	for k := range chunkSize / blockSize {
		if used&(1<<k) != 0 {
			blocks = blocks[copy(data[k*blockSize:(k+1)*blockSize], blocks):]
		}
	}
	if usedBlocks(data) != used {
		r.fail("chunk %d of %q has a block of zeros", index, f.name)
	}
	for i := max(f.size-start, 0); i < chunkSize; i++ {
		if data[i] != 0 {
			r.fail("file %q has bytes at %d, behind its end at %d", f.name, start+i, f.size)
			break
		}
	}
	for uint64(len(f.chunks)) <= index {
		f.chunks = append(f.chunks, nil)
	}
	f.chunks[index] = data
}
