package hosttest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"tornpage/engine/host"
)

func fileCases() []*Case {
	return []*Case{
		onFile("new-file-is-empty", "Disk.Open", "a created file has size 0 and reads as io.EOF", newFile),
		onFile("read-past-the-end", "File.ReadAt", "a read is short, with io.EOF, only at the end of the file", readPastEnd),
		onFile("sparse-write", "File.WriteAt", "what lies between the old end and a write beyond it is zeros", sparseWrite),
		onFile("truncate", "File.Truncate", "shrinking cuts, growing adds zeros, also where bytes were before", truncate),
		onFile("write-copies", "File.WriteAt", "the buffer is the caller's again when WriteAt returns", writeCopies),
		onFile("two-handles", "Disk.Open", "handles of one file see each other's writes; create keeps what is there", twoHandles),
		onFile("ranges-by-tasks", "File.WriteAt", "tasks that write different ranges do not disturb each other", rangesByTasks),
		onFile("read-by-tasks", "File.ReadAt", "tasks can read at the same time", readByTasks),
		onFile("sync-works", "File.Sync", "Sync and SyncDir work and change nothing that can be read", syncWorks),
		onFile("large-file", "File.WriteAt", "a write of a megabyte at an odd offset reads back in pieces", largeFile),
		onFile("random-file", "File", "random reads, writes and truncations agree with an array of bytes", randomFile),
		onFile("closed-file", "File.Close", "calls on a closed file give an error", closedFile),
	}
}

// onFile is a case of one host that has an empty file "f" open.
func onFile(name, rule, says string, f func(c *check, m host.Machine, file host.File)) *Case {
	return solo(name, rule, says, func(m host.Machine) error {
		file, err := m.Disk(Disk).Open("f", host.ClassData, true)
		if err != nil {
			return err
		}
		var c check
		f(&c, m, file)
		return c.err
	})
}

// holds checks size and content of a file.
func (c *check) holds(f host.File, want []byte, when string) {
	size, err := f.Size()
	c.works(err, "Size")
	c.that(size == int64(len(want)), "%s: size %d, want %d", when, size, len(want))
	got := make([]byte, len(want)+1)
	n, err := f.ReadAt(got, 0)
	c.that(n == len(want) && errors.Is(err, io.EOF), "%s: read %d bytes and error %v, want %d and io.EOF", when, n, err, len(want))
	if at := differs(got[:n], want); at >= 0 {
		c.that(false, "%s: byte %d is %d, want %d", when, at, got[at], want[at])
	}
}

// differs is the first index in which two equally long slices differ, or -1.
func differs(got, want []byte) int {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return i
		}
	}
	return -1
}

// write is WriteAt that has to work.
func (c *check) write(f host.File, b []byte, off int64) {
	n, err := f.WriteAt(b, off)
	c.that(n == len(b) && err == nil, "WriteAt of %d bytes at %d gave %d and error %v", len(b), off, n, err)
}

func newFile(c *check, m host.Machine, f host.File) {
	c.holds(f, nil, "a new file")
	n, err := f.ReadAt(nil, 0)
	c.that(n == 0 && (err == nil || errors.Is(err, io.EOF)), "reading nothing gave %d, %v", n, err)
}

func readPastEnd(c *check, m host.Machine, f host.File) {
	data := pattern(1000, 1)
	c.write(f, data, 0)
	for _, at := range []struct {
		off   int64
		n     int
		want  int
		atEnd bool
	}{
		{0, 1000, 1000, false}, {0, 1001, 1000, true}, {900, 100, 100, false}, {900, 200, 100, true},
		{999, 1, 1, false}, {1000, 1, 0, true}, {5000, 10, 0, true}, {1 << 40, 10, 0, true},
	} {
		b := make([]byte, at.n)
		n, err := f.ReadAt(b, at.off)
		c.that(n == at.want, "reading %d at %d gave %d bytes, want %d", at.n, at.off, n, at.want)
		if at.atEnd {
			c.is(err, io.EOF, fmt.Sprintf("reading %d at %d of 1000", at.n, at.off))
		} else {
			c.works(err, fmt.Sprintf("reading %d at %d of 1000", at.n, at.off))
		}
		if n > 0 {
			c.that(bytes.Equal(b[:n], data[at.off:at.off+int64(n)]), "reading at %d gave other bytes than written", at.off)
		}
	}
}

func sparseWrite(c *check, m host.Machine, f host.File) {
	c.write(f, []byte("head"), 0)
	c.write(f, []byte("tail"), 20_000)
	want := make([]byte, 20_004)
	copy(want, "head")
	copy(want[20_000:], "tail")
	c.holds(f, want, "after a write beyond the end")
}

func truncate(c *check, m host.Machine, f host.File) {
	data := pattern(10_000, 2)
	c.write(f, data, 0)
	c.works(f.Truncate(5_001), "Truncate")
	c.holds(f, data[:5_001], "after shrinking")
	c.works(f.Truncate(9_000), "Truncate")
	want := make([]byte, 9_000)
	copy(want, data[:5_001])
	c.holds(f, want, "after growing again")
	c.works(f.Truncate(0), "Truncate")
	c.holds(f, nil, "after truncation to 0")
	c.write(f, []byte("x"), 6_000)
	want = make([]byte, 6_001)
	want[6_000] = 'x'
	c.holds(f, want, "after a write beyond the end of a truncated file")
}

func writeCopies(c *check, m host.Machine, f host.File) {
	b := make([]byte, 600)
	want := []byte{}
	for i := range byte(10) {
		copy(b, pattern(600, i))
		want = append(want, b...)
		c.write(f, b, int64(i)*600)
		clear(b)
	}
	c.holds(f, want, "after writes from one buffer")
}

func twoHandles(c *check, m host.Machine, f host.File) {
	c.write(f, []byte("first"), 0)
	g, err := m.Disk(Disk).Open("f", host.ClassWAL, true)
	c.works(err, "Open of an open file")
	if err != nil {
		return
	}
	c.holds(g, []byte("first"), "the second handle")
	c.write(g, []byte("second"), 2)
	c.holds(f, []byte("fisecond"), "the first handle")
	c.works(g.Close(), "Close")
	c.holds(f, []byte("fisecond"), "the first handle, the second being closed")
	c.works(f.Close(), "Close")
	h, err := m.Disk(Disk).Open("f", host.ClassControl, false)
	c.works(err, "Open of a file that exists")
	if err == nil {
		c.holds(h, []byte("fisecond"), "a third handle")
	}
}

func rangesByTasks(c *check, m host.Machine, f host.File) {
	const each, size = 10, 700 // not a multiple of a sector: ranges share sectors
	all := newCrew(m)
	want := make([]byte, 8*each*size)
	for i := range 8 {
		all.run("writer", func() {
			for j := range each {
				at := (j*8 + i) * size
				data := pattern(size, byte(i*each+j))
				copy(want[at:], data)
				c.write(f, data, int64(at))
				if j%4 == 0 {
					c.works(f.Sync(), "Sync")
				}
			}
		})
	}
	all.wait()
	c.holds(f, want, "after writes by eight tasks")
}

func readByTasks(c *check, m host.Machine, f host.File) {
	data := pattern(40_000, 5)
	c.write(f, data, 0)
	all := newCrew(m)
	for i := range 10 {
		all.run("reader", func() {
			b := make([]byte, 3000)
			for j := range 5 {
				at := i*3500 + j*100
				n, err := f.ReadAt(b, int64(at))
				c.that(n == len(b) && err == nil, "ReadAt gave %d, %v", n, err)
				c.that(bytes.Equal(b, data[at:at+len(b)]), "a task read what another one asked for")
			}
		})
	}
	all.wait()
}

func syncWorks(c *check, m host.Machine, f host.File) {
	data := pattern(3000, 7)
	for range 3 {
		c.works(f.Sync(), "Sync")
		c.write(f, data, 0)
		c.works(f.Sync(), "Sync")
		c.works(m.Disk(Disk).SyncDir(), "SyncDir")
		c.holds(f, data, "after Sync")
	}
}

func largeFile(c *check, m host.Machine, f host.File) {
	data := pattern(1<<20, 9)
	c.write(f, data, 777)
	for at := 0; at < len(data); at += 99_991 {
		b := make([]byte, min(5000, len(data)-at))
		n, err := f.ReadAt(b, int64(777+at))
		c.that(n == len(b) && err == nil, "ReadAt at %d gave %d, %v", 777+at, n, err)
		c.that(bytes.Equal(b, data[at:at+len(b)]), "the bytes at %d are not those written", 777+at)
	}
}

func randomFile(c *check, m host.Machine, f host.File) {
	r := m.Rand("hosttest.file", 0)
	var want []byte
	for step := range 120 {
		switch r.N(8) {
		case 0:
			size := int(r.N(30_000))
			c.works(f.Truncate(int64(size)), "Truncate")
			if size > len(want) {
				want = append(want, make([]byte, size-len(want))...)
			}
			want = want[:size:size]
		case 1:
			c.works(f.Sync(), "Sync")
		default:
			off, b := int(r.N(25_000)), pattern(int(r.N(9_000)), byte(step))
			c.write(f, b, int64(off))
			if end := off + len(b); len(b) > 0 && end > len(want) {
				want = append(want, make([]byte, end-len(want))...)
			}
			if len(b) > 0 {
				copy(want[off:], b)
			}
		}
		if step%10 == 9 {
			c.holds(f, want, fmt.Sprint("after step ", step))
		}
		if c.err != nil {
			return
		}
	}
}

func closedFile(c *check, m host.Machine, f host.File) {
	c.works(f.Close(), "Close")
	b := make([]byte, 1)
	_, err := f.ReadAt(b, 0)
	c.is(err, host.ErrClosed, "ReadAt of a closed file")
	_, err = f.WriteAt(b, 0)
	c.is(err, host.ErrClosed, "WriteAt of a closed file")
	c.is(f.Sync(), host.ErrClosed, "Sync of a closed file")
	c.is(f.Truncate(0), host.ErrClosed, "Truncate of a closed file")
}
