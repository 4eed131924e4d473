package local_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// raw opens a file of the machine from outside.
func (s *script) raw(disk, name string) interface {
	io.ReaderAt
	Sync() error
	WriteAt([]byte, int64) (uint64, error)
} {
	d, err := s.w.world.Disk("m", disk)
	require.NoError(s.t, err)
	f, err := d.Open(name, false)
	require.NoError(s.t, err)
	return f
}

func (s *script) keep(a []string) string {
	id := block(a)
	b := make([]byte, page.Size)
	_, err := s.raw("data", "rel-16384").ReadAt(b, int64(id.Block)*page.Size)
	require.NoError(s.t, err)
	s.kept[id.Block] = b
	return ""
}

func (s *script) tear(a []string) string {
	id := block(a)
	n, _ := strconv.Atoi(a[1])
	f := s.raw("data", "rel-16384")
	_, err := f.WriteAt(s.kept[id.Block][n*512:], int64(id.Block)*page.Size+int64(n)*512)
	require.NoError(s.t, err)
	require.NoError(s.t, f.Sync())
	return ""
}

func (s *script) lose(a []string) string {
	f := s.raw("data", "rel-16384")
	_, err := f.WriteAt(make([]byte, page.Size), int64(block(a).Block)*page.Size)
	require.NoError(s.t, err)
	require.NoError(s.t, f.Sync())
	return ""
}

func (s *script) spoil(a []string) string {
	at, _ := strconv.ParseInt(a[1], 0, 64)
	disk := "data"
	if len(a[0]) == 24 {
		disk = "wal"
	}
	f := s.raw(disk, a[0])
	b := make([]byte, 1)
	_, err := f.ReadAt(b, at)
	require.NoError(s.t, err)
	_, err = f.WriteAt([]byte{b[0] ^ 0xFF}, at)
	require.NoError(s.t, err)
	require.NoError(s.t, f.Sync())
	return ""
}

func (s *script) cells([]string) string {
	return s.do(func(up *engineUp) string {
		var out strings.Builder
		for n := range up.w.pages {
			f, err := up.pool.Pin(page.ID{Rel: cellRel, Block: n})
			if err != nil {
				fmt.Fprintf(&out, "page %d: %v\n", n, err)
				continue
			}
			if !f.Page().IsZero() {
				fmt.Fprintf(&out, "page %d:", n)
				for i := range uint16(cellCount) {
					if v := binary.LittleEndian.Uint64(cellAt(f.Page(), i)); v != 0 {
						fmt.Fprintf(&out, " %d=%d", i, v)
					}
				}
				out.WriteByte('\n')
			}
			up.pool.Unpin(f)
		}
		return out.String()
	})
}

// log reads the log as recovery would.
func (s *script) log([]string) string {
	b := make([]byte, wal.ControlSpacing+wal.ControlSlot)
	_, err := s.raw("data", "control").ReadAt(b, 0)
	if err != nil {
		require.ErrorIs(s.t, err, io.EOF)
	}
	c, _, err := wal.ChooseControl(b[:wal.ControlSlot], b[wal.ControlSpacing:])
	require.NoError(s.t, err)
	l := c.Layout()
	d, err := s.w.world.Disk("m", "wal")
	require.NoError(s.t, err)
	r := wal.NewReader(l, func(b []byte, at wal.LSN) (int, error) {
		f, err := d.Open(l.SegmentName(l.Segment(at)), false)
		if err != nil {
			return 0, io.EOF
		}
		return f.ReadAt(b, l.Offset(at))
	}, c.RedoPosition())
	var out strings.Builder
	fmt.Fprintf(&out, "%v, epoch %d\n", c.State, c.Epoch)
	for {
		rec, err := r.Next()
		if err != nil {
			fmt.Fprintf(&out, "%v\n", err)
			return out.String()
		}
		fmt.Fprintf(&out, "%v\n", rec)
	}
}

func (s *script) files([]string) string {
	var out strings.Builder
	for _, name := range []string{"wal", "data"} {
		d, err := s.w.world.Disk("m", name)
		require.NoError(s.t, err)
		fmt.Fprintf(&out, "%s: %s\n", name, strings.Join(d.List(), " "))
	}
	return out.String()
}

func (s *script) mark(a []string) string {
	return fmt.Sprintf("%s: %d\n", a[0], s.w.world.Marks()[a[0]])
}

func (s *script) stats([]string) string {
	return s.do(func(up *engineUp) string {
		return strings.ReplaceAll(strings.Trim(fmt.Sprintf("%+v", up.store.Stats()), "{}"), " ", "\n") + "\n"
	})
}
