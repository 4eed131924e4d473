package wal_test

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

func gunzip(t testing.TB, name string) []byte {
	f, err := os.Open("testdata/pg15/" + name)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	b, err := io.ReadAll(z)
	require.NoError(t, err)
	return b
}

// pieces is a log of which only some ranges are there.
type pieces map[wal.LSN][]byte

func (p pieces) read(b []byte, at wal.LSN) (int, error) {
	for start, have := range p {
		if at >= start && at < start+wal.LSN(len(have)) {
			return copy(b, have[at-start:]), nil
		}
	}
	return 0, io.EOF
}

// dumped is one record as pg_waldump prints it.
type dumped struct {
	lsn, prev   wal.LSN
	rmgr, op    string
	xid         uint32
	rec, tot    uint32
	blocks      []page.ID
	holes, offs []int // -1: no image
}

var (
	recordLine = regexp.MustCompile(`^rmgr: (\S+)\s+len \(rec/tot\):\s+(\d+)/\s*(\d+), tx:\s+(\d+), lsn: 0/([0-9A-F]+), prev 0/([0-9A-F]+), desc: (\S+)`)
	blockLine  = regexp.MustCompile(`blkref #\d+: rel 1663/5/(\d+) fork main blk (\d+)( \(FPW\); hole: offset: (\d+), length: (\d+))?`)
)

func parseDump(t testing.TB, text string) (out []dumped) {
	num := func(s string, base int) uint64 {
		n, err := strconv.ParseUint(s, base, 64)
		require.NoError(t, err)
		return n
	}
	for sc := bufio.NewScanner(strings.NewReader(text)); sc.Scan(); {
		if m := recordLine.FindStringSubmatch(sc.Text()); m != nil {
			out = append(out, dumped{rmgr: m[1], op: m[7], xid: uint32(num(m[4], 10)), rec: uint32(num(m[2], 10)),
				tot: uint32(num(m[3], 10)), lsn: wal.LSN(num(m[5], 16)), prev: wal.LSN(num(m[6], 16))})
		} else if m := blockLine.FindStringSubmatch(sc.Text()); m != nil {
			d := &out[len(out)-1]
			d.blocks = append(d.blocks, page.ID{Rel: page.Rel(num(m[1], 10)), Block: uint32(num(m[2], 10))})
			off, hole := -1, -1
			if m[3] != "" {
				off, hole = int(num(m[4], 10)), int(num(m[5], 10))
			}
			d.offs, d.holes = append(d.offs, off), append(d.holes, hole)
		}
	}
	return out
}

// The reader decodes a real server's log and says of every record what
// pg_waldump says; redo replays its heap records on real pages.
func TestRealLog(t *testing.T) {
	for _, c := range []struct {
		name   string
		starts []wal.LSN
		seen   []string
	}{
		{"fpw-off", []wal.LSN{0x81F8000}, []string{"Heap/UPDATE", "Heap/HOT_UPDATE", "Heap/LOCK", "Heap2/PRUNE", "Transaction/COMMIT"}},
		{"fpw-on", []wal.LSN{0x8180000}, []string{"Heap/INSERT+INIT", "Heap2/PRUNE", "Heap/UPDATE"}},
		{"switch", []wal.LSN{0x8432000, 0x8500000}, []string{"XLOG/SWITCH"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := pieces{}
			for _, at := range c.starts {
				log[at] = gunzip(t, c.name+"-"+strings.ToUpper(strconv.FormatUint(uint64(at)|1<<32, 16))[1:]+".wal.gz")
			}
			want := parseDump(t, string(gunzip(t, c.name+".waldump.gz")))
			r := wal.NewUnchainedReader(wal.Layout{SegSize: 1 << 20}, log.read, want[0].lsn)
			pages := map[page.ID]*page.Page{}
			kinds := map[string]bool{}
			for _, w := range want {
				rec, err := r.Next()
				require.NoError(t, err)
				checkDumped(t, w, rec)
				kinds[wal.OpName(rec.Rmgr, rec.Info)] = true
				replayReal(t, pages, rec)
			}
			for _, kind := range c.seen {
				require.Contains(t, kinds, kind)
			}
			for err := error(nil); err == nil; { // the rest, up to the piece's end
				_, err = r.Next()
				var end *wal.EndOfLog
				require.True(t, err == nil || errors.As(err, &end), "%v", err)
			}
		})
	}
}

func checkDumped(t *testing.T, w dumped, rec *wal.Record) {
	require.Equal(t, w.lsn, rec.LSN)
	require.Equal(t, w.prev, rec.Prev)
	require.Equal(t, w.rmgr, rec.Rmgr.String())
	require.Equal(t, w.xid, rec.XID)
	require.Equal(t, w.tot, rec.Len)
	if w.rmgr != "Btree" && w.rmgr != "Standby" {
		require.Equal(t, w.rmgr+"/"+w.op, wal.OpName(rec.Rmgr, rec.Info))
	}
	require.Len(t, rec.Blocks, len(w.blocks))
	images := 0
	for i := range rec.Blocks {
		b := &rec.Blocks[i]
		require.Equal(t, w.blocks[i], b.ID)
		require.Equal(t, w.holes[i] >= 0, b.HasImage)
		if b.HasImage {
			images += len(b.Image)
			require.EqualValues(t, w.holes[i], b.HoleLen)
			require.EqualValues(t, w.offs[i], b.HoleOff)
			var p page.Page
			require.NoError(t, b.RestoreImage(&p))
			require.NoError(t, page.Verify(b.ID, &p, false), "a real page has a sane header")
		}
	}
	require.EqualValues(t, w.rec, int(rec.Len)-images)
}

// replayReal replays what can be: pages begin with an image or an init record.
func replayReal(t *testing.T, pages map[page.ID]*page.Page, rec *wal.Record) {
	if rec.Rmgr == wal.RmgrBtree {
		return
	}
	for _, ref := range rec.Pages(nil) {
		if ref.Block == wal.ImpliedBlock {
			continue
		}
		p := pages[ref.ID]
		if p == nil && !ref.Init {
			continue
		} else if p == nil {
			p = new(page.Page)
			pages[ref.ID] = p
		}
		changed, err := wal.Apply(rec, ref.Block, p)
		require.NoError(t, err)
		require.True(t, changed)
		require.Equal(t, rec.End, p.LSN())
		require.NoError(t, page.ValidateItems(ref.ID, p))
	}
}

// The switch leaves a segment's rest empty, and the log's end is told apart.
func TestRealLogEnds(t *testing.T) {
	log := pieces{0x8432000: gunzip(t, "switch-08432000.wal.gz"), 0x8500000: gunzip(t, "switch-08500000.wal.gz")}
	r := wal.NewUnchainedReader(wal.Layout{SegSize: 1 << 20}, log.read, 0x84338F0)
	rec, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, "XLOG/SWITCH", wal.OpName(rec.Rmgr, rec.Info))
	require.Equal(t, wal.LSN(0x8500000), rec.End)
	rec, err = r.Next()
	require.NoError(t, err)
	require.Equal(t, "XLOG/CHECKPOINT_SHUTDOWN", wal.OpName(rec.Rmgr, rec.Info))
	c, err := rec.Checkpoint()
	require.NoError(t, err)
	require.Equal(t, rec.LSN, c.Redo, "a shutdown checkpoint's redo point is itself")
	require.EqualValues(t, 6776, c.NextXID)
	require.False(t, c.FullPageWrites)
	_, err = r.Next()
	var end *wal.EndOfLog
	require.ErrorAs(t, err, &end)
	require.Equal(t, rec.End, end.LSN)
	require.Contains(t, end.Error(), "log ends at 0/85000A0: at 0/85000A0 (000000010000000000000085 offset 160): length 0")
}
