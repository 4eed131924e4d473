package wal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/wal"
)

// memLog is a log in memory, from LSN 0 on.
type memLog struct {
	wal.Layout
	bytes []byte
	pos   wal.Position
	m     wal.MTR
}

func newMemLog(seg uint32) *memLog {
	l := &memLog{Layout: wal.Layout{SegSize: seg, SystemID: 42}}
	l.pos.End = l.First()
	l.bytes = make([]byte, l.pos.End)
	return l
}

func (l *memLog) read(b []byte, at wal.LSN) (int, error) {
	if at >= wal.LSN(len(l.bytes)) {
		return 0, io.EOF
	}
	return copy(b, l.bytes[at:]), nil
}

// write appends a record with the given main data and returns its place. Bytes
// behind it stay as they were, as in a recycled file.
func (l *memLog) write(main []byte) (start, end wal.LSN) {
	l.m.Reset(wal.RmgrXLOG, wal.InfoNextXID, 7)
	l.m.SetMain(main)
	l.m.Build(0)
	start, end = l.Next(l.pos.End, l.m.Len())
	raw, crc := l.m.Finish(l.pos.Prev, l.pos.CRC)
	out, got := l.Append(nil, l.pos.End, raw)
	if got != end || int(end-l.pos.End) != len(out) {
		panic(fmt.Sprintf("Next says %v, Append %v with %d bytes", end, got, len(out)))
	}
	if n := int(end) - len(l.bytes); n > 0 {
		l.bytes = append(l.bytes, make([]byte, n)...)
	}
	copy(l.bytes[l.pos.End:], out)
	l.pos = wal.Position{End: end, Prev: start, CRC: crc}
	return start, end
}

// Whatever is written is read back, with records that cross pages and
// segments, from the start and from any record on.
func TestStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seg := rapid.SampledFrom([]uint32{16384, 32768, 1 << 20}).Draw(t, "segment")
		l := newMemLog(seg)
		var starts []wal.LSN
		var mains [][]byte
		positions := []wal.Position{l.pos}
		for range rapid.IntRange(1, 30).Draw(t, "records") {
			n := rapid.SampledFrom([]int{0, 1, 50, 300, 8100, 8192, 20000, 50000}).Draw(t, "size")
			n += rapid.IntRange(0, 40).Draw(t, "more")
			main := make([]byte, n)
			for i := range main {
				main[i] = byte(i * (len(mains) + 1))
			}
			start, _ := l.write(main)
			starts, mains, positions = append(starts, start), append(mains, main), append(positions, l.pos)
		}
		from := rapid.IntRange(0, len(mains)).Draw(t, "from")
		r := wal.NewReader(l.Layout, l.read, positions[from])
		for i := from; i < len(mains); i++ {
			rec, err := r.Next()
			require.NoError(t, err)
			require.Equal(t, starts[i], rec.LSN)
			require.Equal(t, positions[i+1].End, rec.End)
			require.Equal(t, positions[i+1], r.Position())
			require.Equal(t, string(mains[i]), string(rec.Main))
		}
		for range 2 {
			_, err := r.Next()
			var end *wal.EndOfLog
			require.ErrorAs(t, err, &end)
			require.Equal(t, l.pos.End, end.LSN)
		}
		l.write([]byte("grown"))
		rec, err := r.Next()
		require.NoError(t, err, "a reader at the end sees what comes after")
		require.Equal(t, "grown", string(rec.Main))
	})
}

// Cut and damaged anywhere, the log gives a prefix of its records and then
// ends: never a record that was not written.
func TestDamagedStreamGivesAPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newMemLog(16384)
		var mains []string
		for i := range 20 {
			main := strings.Repeat(string(rune('a'+i)), rapid.IntRange(1, 3000).Draw(t, "size"))
			l.write([]byte(main))
			mains = append(mains, main)
		}
		at := rapid.IntRange(int(l.First()), len(l.bytes)-1).Draw(t, "at")
		switch rapid.SampledFrom([]string{"cut", "flip", "zero sector"}).Draw(t, "damage") {
		case "cut":
			l.bytes = l.bytes[:at]
		case "flip":
			l.bytes[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		case "zero sector":
			at &^= 511
			clear(l.bytes[at:min(at+512, len(l.bytes))])
		}
		r := wal.NewReader(l.Layout, l.read, wal.Position{End: l.First()})
		n := 0
		for {
			rec, err := r.Next()
			var end *wal.EndOfLog
			if errors.As(err, &end) {
				break
			}
			require.NoError(t, err)
			require.Equal(t, mains[n], string(rec.Main))
			n++
		}
		require.LessOrEqual(t, n, len(mains))
	})
}

var errDisk = errors.New("disk on fire")

func TestSourceErrorIsNoEnd(t *testing.T) {
	l := newMemLog(16384)
	l.write([]byte("a"))
	fail := true
	r := wal.NewReader(l.Layout, func(b []byte, at wal.LSN) (int, error) {
		if fail {
			return 0, errDisk
		}
		return l.read(b, at)
	}, wal.Position{End: l.First()})
	_, err := r.Next()
	require.ErrorIs(t, err, errDisk)
	require.ErrorContains(t, err, "reading the log at 0/4000 (000000010000000000000001 offset 0)")
	fail = false
	_, err = r.Next()
	require.NoError(t, err)
}

func TestReaderDoesNotAllocate(t *testing.T) {
	l := newMemLog(1 << 20)
	for range 200 {
		l.write(make([]byte, 300))
	}
	r := wal.NewReader(l.Layout, l.read, wal.Position{End: l.First()})
	_, err := r.Next()
	require.NoError(t, err)
	for range 60 { // past the first record that crosses a page
		_, err = r.Next()
		require.NoError(t, err)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}))
}

// Scenarios of a log's end: see testdata/stream.
func TestEndOfLog(t *testing.T) {
	datadriven.Walk(t, "testdata/stream", func(t *testing.T, path string) {
		var l *memLog
		saved := map[string]wal.Position{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return streamCommand(t, d, &l, saved)
		})
	})
}

func streamCommand(t *testing.T, d *datadriven.TestData, log **memLog, saved map[string]wal.Position) string {
	l := *log
	var at, n int
	d.MaybeScanArgs(t, "at", &at)
	d.MaybeScanArgs(t, "len", &n)
	switch d.Cmd {
	case "log": // a new log with segments of this many bytes
		*log = newMemLog(uint32(n))
		return ""
	case "write": // one record for each line, of that many bytes of data, zeros or as told
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			size, fill := 0, byte(0)
			n, err := fmt.Sscanf(line, "%d fill=%d", &size, &fill)
			require.True(t, n >= 1, "%q: %v", line, err)
			start, end := l.write(bytes.Repeat([]byte{fill}, size))
			fmt.Fprintf(&out, "%v to %v\n", start, end)
		}
		return out.String()
	case "save": // remember the position under a name
		saved[d.CmdArgs[0].Key] = l.pos
		return ""
	case "back": // go on writing from a position; what is behind it stays
		l.pos = saved[d.CmdArgs[0].Key]
		return ""
	case "zero":
		clear(l.bytes[at : at+n])
		return ""
	case "put": // overwrite with the bytes that lie at another place
		var from int
		d.ScanArgs(t, "from", &from)
		copy(l.bytes[at:at+n], l.bytes[from:from+n])
		return ""
	case "set":
		var to int
		d.ScanArgs(t, "to", &to)
		l.bytes[at] = byte(to)
		return ""
	case "grow": // zeros behind
		l.bytes = append(l.bytes, make([]byte, n)...)
		return ""
	case "cut":
		l.bytes = l.bytes[:at]
		return ""
	case "read":
		return readAll(l)
	}
	t.Fatalf("unknown command %s", d.Cmd)
	return ""
}

func readAll(l *memLog) string {
	r := wal.NewReader(l.Layout, l.read, wal.Position{End: l.First()})
	for n := 0; ; n++ {
		if _, err := r.Next(); err != nil {
			return fmt.Sprintf("%d records; %v\n", n, err)
		}
	}
}
