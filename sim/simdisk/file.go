package simdisk

import (
	"bytes"
	"fmt"
	"io"

	"tornpage/engine/host"
)

// File is an open file, or one that was opened: all handles of a file are the
// same. Its name may be gone (see Remove).
type File struct {
	d      *Disk
	id     uint64 // keys its draws; from the name it was created under
	name   string // for messages: the last name
	refs   int32  // names, kept names, pending name operations and handles
	open   int32  // handles
	linked bool   // has a visible name, so that it counts against the capacity
	gone   bool   // lost with its disk, or forgotten

	size    int64
	synced  int64        // the size that is persisted
	sizes   []sizeChange // since then
	version Version      // of the last write
	chunks  []*chunk

	dirty  list  // sectors that a sync must bring down
	ghosts list  // sectors that no sync will
	runs   int32 // runs of dirty pages
	cut    bool  // truncated since the last sync

	reads, writes, syncs uint64 // key the draws of faults
	names                uint64 // name operations, key theirs
}

// Name is the file's last name.
func (f *File) Name() string { return f.name }

// ID tells the files of a disk apart: no two that exist share one. It comes from
// the name that the file was created under, so a later file may have it again.
func (f *File) ID() uint64 { return f.id }

// Size is the visible size in bytes.
func (f *File) Size() int64 { return f.size }

// AtRisk is how many sectors may change at a power-off: those that a sync would
// bring down, and those that are visible in the cache alone.
func (f *File) AtRisk() (dirty, lost int) { return int(f.dirty.n), int(f.ghosts.n) }

// Close gives a handle back. It does not sync.
func (f *File) Close() {
	if f.open > 0 && !f.gone {
		f.open--
		f.d.unref(f)
	}
}

// fail wraps an error with the place; a negative offset stands for the file.
func (f *File) fail(op string, off int64, err error) error {
	if off < 0 {
		return fmt.Errorf("disk: %s %q: %w", op, f.name, err)
	}
	return fmt.Errorf("disk: %s %q at offset %d: %w", op, f.name, off, err)
}

// ReadAt reads visible bytes: len(b) of them, or fewer and io.EOF at the end of
// the file. Errors: host.ErrIO. Ask ReadDone first, and read once that time
// has come.
func (f *File) ReadAt(b []byte, off int64) (int, error) {
	f.reads++
	if f.gone || off < 0 {
		return 0, f.fail("read", off, host.ErrIO)
	}
	d := f.d
	d.stats.Reads++
	from := off
	if d.faults.active {
		var err error
		if from, err = f.readFaults(off, len(b)); err != nil {
			return 0, err
		}
	}
	if off >= f.size {
		return 0, io.EOF
	}
	n, err := len(b), error(nil)
	if left := f.size - off; int64(n) > left {
		n, err = int(left), io.EOF
	}
	d.stats.ReadBytes += uint64(n)
	f.copyOut(b[:n], from)
	return n, err
}

// copyOut copies visible bytes; beyond the file they are zeros.
func (f *File) copyOut(b []byte, off int64) {
	for len(b) > 0 {
		at := int(off & (chunkSize - 1))
		n := min(chunkSize-at, len(b))
		if c := f.peek(uint32(off >> chunkShift)); c != nil {
			copy(b[:n], c.data[at:])
		} else {
			clear(b[:n])
		}
		b = b[n:]
		off += int64(n)
	}
}

// WriteAt writes all of b, visible at once, or gives an error and writes
// nothing. Sectors whose bytes changed are at risk until a sync; a sector that
// is rewritten with its own bytes is not. Errors: host.ErrNoSpace, host.ErrIO.
//
// The digest is of what changed: offset, length, and number and new bytes of
// each sector that changed. With the history before it, it determines the file.
func (f *File) WriteAt(b []byte, off int64) (digest uint64, err error) {
	f.writes++
	if f.gone || off < 0 {
		return 0, f.fail("write", off, host.ErrIO)
	}
	d := f.d
	end := off + int64(len(b))
	if end > f.size {
		if err := f.room(end); err != nil {
			return 0, f.fail("write", off, err)
		}
	}
	var strike writeStrike
	if d.faults.active {
		if strike, err = f.writeFaults(off, len(b)); err != nil {
			return 0, err
		}
	}
	d.stats.Writes++
	d.stats.WrittenBytes += uint64(len(b))
	f.version++
	digest = f.write(b, off)
	if end > f.size && len(b) > 0 {
		f.setSize(end)
	}
	if strike.lost {
		f.strikeWrite(off, len(b), strike)
	}
	return digest, nil
}

// write stores b chunk by chunk under the present version.
func (f *File) write(b []byte, off int64) uint64 {
	h := fold(uint64(off)^f.id, uint64(len(b))^k2)
	for len(b) > 0 {
		i, at := uint32(off>>chunkShift), uint32(off&(chunkSize-1))
		n := min(chunkSize-int(at), len(b))
		c := f.chunkAt(i)
		f.bringIn(c, i, at, n)
		h = f.writeChunk(c, i, at, b[:n], h)
		b = b[n:]
		off += int64(n)
	}
	return h
}

// compareAt is how many bytes are compared in one go until some differ: a call
// of bytes.Equal costs as much as some hundred bytes.
const compareAt = 2048

// writeChunk stores b at offset at of a chunk and folds what changed into h.
func (f *File) writeChunk(c *chunk, index, at uint32, b []byte, h uint64) uint64 {
	g := &f.d.geo
	ghosts := c.ghost[0]|c.ghost[1] != 0
	for len(b) > 0 {
		m := min(compareAt, uint32(len(b)))
		if !ghosts && (m == compareAt || int(m) > g.sector) && bytes.Equal(c.data[at:at+m], b[:m]) {
			at += m
			b = b[m:]
			continue
		}
		// One by one, as far as small sectors that differ lie together.
		for same, found := false, false; len(b) > 0 && !(found && (same || g.sector > compareAt)); {
			s := at >> g.shift
			n := min((s+1)<<g.shift-at, uint32(len(b)))
			old := c.data[at : at+n]
			same = bytes.Equal(old, b[:n]) && !(ghosts && c.ghost.has(s))
			if !same {
				found = true
				sector := index<<g.chunkShift | s
				f.mark(c, sector, f.version, int64(sector)<<g.shift >= f.size)
				copy(old, b)
				h = Digest(h+uint64(sector)*k1, b[:n])
			}
			at += n
			b = b[n:]
		}
	}
	return h
}

// Truncate sets the size; growing adds zeros. It is at risk like a write: the
// old size may come back, and with it each sector that was cut off. Errors:
// host.ErrNoSpace, host.ErrIO.
func (f *File) Truncate(size int64) (digest uint64, err error) {
	if f.gone || size < 0 {
		return 0, f.fail("truncate", size, host.ErrIO)
	}
	if size > f.size {
		if err := f.room(size); err != nil {
			return 0, f.fail("truncate", size, err)
		}
	}
	digest = fold(f.id^k3, uint64(size)^k4)
	if size == f.size {
		return digest, nil
	}
	f.version++
	if size < f.size {
		f.cutOff(size)
	}
	f.setSize(size)
	return digest, nil
}

// cutOff makes zeros of the bytes from size on.
func (f *File) cutOff(size int64) {
	g := &f.d.geo
	f.cut = true
	for i := uint32(size >> chunkShift); int(i) < len(f.chunks); i++ {
		c, start := f.chunks[i], int64(i)<<chunkShift
		if c == nil || start >= f.size {
			continue
		}
		if c.shared {
			c.own()
		}
		at := uint32(max(size-start, 0))
		stop := uint32(min(f.size-start, chunkSize))
		if at < stop {
			f.bringIn(c, i, at, int(stop-at))
		}
		for at < stop {
			s := at >> g.shift
			next := (s + 1) << g.shift
			f.mark(c, i<<g.chunkShift|s, f.version, false)
			clear(c.data[at:next])
			at = next
		}
	}
}
