package wal_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// realLength is one row of record-lengths.csv.
type realLength struct {
	kase, kind         string
	checksums          bool
	rec, tot           int
	images             int
	holeOff, holeLen   int
	off, newOff        int
	redirected, nDead  int
	unused             int
	twoBlocks, hasMore bool
}

func realLengths(t *testing.T) (out []realLength) {
	f, err := os.Open("testdata/pg15/record-lengths.csv")
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	num := func(s string) int {
		n, err := strconv.Atoi(s)
		require.True(t, err == nil || s == "", s)
		return n
	}
	for _, r := range rows[1:] {
		l := realLength{kase: r[0], checksums: r[1] == "on", kind: r[3] + "/" + r[4], rec: num(r[5]), tot: num(r[6]),
			twoBlocks: r[7] == "2", images: num(r[8]), holeOff: num(r[9]), holeLen: num(r[10]), hasMore: strings.Contains(r[11], "subxacts")}
		_, _ = fmt.Sscanf(r[11], "off %d", &l.off)
		_, _ = fmt.Sscanf(r[11], "nunused %d", &l.unused)
		if i := strings.Index(r[11], "new off "); i >= 0 {
			_, _ = fmt.Sscanf(r[11][i:], "new off %d", &l.newOff)
		}
		if i := strings.Index(r[11], "nredirected"); i >= 0 {
			_, err := fmt.Sscanf(r[11][i:], "nredirected %d ndead %d", &l.redirected, &l.nDead)
			require.NoError(t, err)
		}
		out = append(out, l)
	}
	return out
}

// userData is the data of a row of the case's table: (int,int);
// pgbench_accounts: three ints and char(84) with a one-byte length; two ints
// and text of 190 or 1,000 bytes with a four-byte length.
func userData(kase string) (data []byte, column int) {
	switch prefix, _, _ := strings.Cut(kase, "/"); prefix {
	case "acct":
		return make([]byte, 12+85), 8
	case "w200":
		return make([]byte, 8+4+190), 4
	case "w1000":
		return make([]byte, 8+4+1000), 4
	}
	return make([]byte, 8), 4
}

// floor makes the image decision come out as the row says.
func floor(l realLength) wal.LSN {
	if l.images > 0 {
		return 1 << 40
	}
	return 0
}

// withHole gives p the hole that the real page had when it was imaged.
func withHole(p *page.Page, l realLength) *page.Page {
	if l.images > 0 {
		p.SetLower(uint16(l.holeOff))
		p.SetUpper(uint16(l.holeOff + l.holeLen))
	}
	return p
}

// A record built here is as long as the same one of PostgreSQL, to the byte.
func TestLengthsAreARealServers(t *testing.T) {
	built := map[string]int{}
	for _, l := range realLengths(t) {
		t.Run(fmt.Sprintf("%s %s %d", l.kase, l.kind, l.rec), func(t *testing.T) {
			var m wal.MTR
			if !buildLike(t, &m, l) {
				return
			}
			m.Build(floor(l))
			images := 0
			rec := decodeBuilt(t, &m)
			for i := range rec.Blocks {
				images += len(rec.Blocks[i].Image)
			}
			require.Equal(t, l.kind, wal.OpName(rec.Rmgr, rec.Info))
			require.Equal(t, l.rec, int(rec.Len)-images, "without images")
			require.EqualValues(t, l.tot, rec.Len)
			built[l.kind]++
		})
	}
	require.Len(t, built, 18, "every kind was compared: %v", built)
	for kind, n := range built {
		require.Positive(t, n, kind)
	}
}

func decodeBuilt(t require.TestingT, m *wal.MTR) *wal.Record {
	b, crc := m.Finish(0x100, 77)
	var r wal.Record
	got, err := r.Decode(b, 0x200, 77)
	require.NoError(t, err)
	require.Equal(t, crc, got)
	require.EqualValues(t, len(b), m.Len())
	return &r
}

// buildLike builds the row's operation; false where the row is of something
// that this engine does not write (or of a table whose rows are not known).
func buildLike(t *testing.T, m *wal.MTR, l realLength) bool {
	id := page.ID{Rel: 16384}
	data, column := userData(l.kase)
	known := !strings.HasPrefix(l.kase, "btree/") && !strings.HasPrefix(l.kase, "ddl/")
	switch l.kind {
	case "Transaction/COMMIT":
		wal.Commit(m, 738, 817072393912606)
		if l.hasMore {
			wal.CommitTree(m, 936, []uint32{937, 938}, 817072399930179)
		}
	case "Transaction/ABORT":
		wal.Abort(m, 738, 1)
	case "XLOG/CHECKPOINT_ONLINE", "XLOG/CHECKPOINT_SHUTDOWN":
		wal.CheckpointRecord(m, wal.Checkpoint{Redo: 99}, l.kind == "XLOG/CHECKPOINT_SHUTDOWN")
	case "XLOG/FPW_CHANGE":
		wal.FPWChange(m, true)
	case "XLOG/FPI":
		wal.FPI(m, id, withHole(tablePage(t, data, 1), l))
	case "XLOG/FPI_FOR_HINT":
		wal.FPIForHint(m, id, withHole(tablePage(t, data, 1), l))
	case "Heap/INSERT", "Heap/INSERT+INIT":
		p := tablePage(t, data, 3)
		wal.HeapInsert(m, 738, id, p, 3, 0, l.kind == "Heap/INSERT+INIT")
		withHole(p, l)
		return known || l.images > 0
	case "Heap/DELETE":
		p := tablePage(t, data, 3)
		wal.HeapDelete(m, 738, id, p, 1, 0)
		withHole(p, l)
	case "Heap/LOCK":
		p := tablePage(t, data, 3)
		wal.HeapLock(m, 738, id, p, 1)
		withHole(p, l)
	case "Heap/INPLACE":
		p := tablePage(t, data, 3)
		if l.images == 0 { // pg_class rows; their data is what is left of the record
			p = tablePage(t, make([]byte, l.rec-48), 1)
		}
		wal.HeapInplace(m, 0, id, p, 1)
		withHole(p, l)
	case "Heap/UPDATE", "Heap/HOT_UPDATE":
		buildUpdateLike(t, m, l, data, column)
	case "Heap2/PRUNE":
		p := tablePage(t, data, 3)
		unused := (l.rec-54)/2 - 2*l.redirected - l.nDead
		if l.images > 0 {
			unused = 0
		}
		wal.HeapPrune(m, id, p, 9, make([]uint16, 2*l.redirected), make([]uint16, l.nDead), make([]uint16, unused))
		withHole(p, l)
	case "Heap2/VACUUM":
		p := tablePage(t, data, 3)
		wal.HeapVacuum(m, id, p, make([]uint16, l.unused))
	case "Heap2/VISIBLE":
		var vm page.Page
		page.InitVM(&vm)
		wal.HeapVisible(m, id, tablePage(t, data, 3), page.VMID(id.Rel, id.Block), &vm, 998, page.VMAllVisible)
		return l.images == 0 // map pages have no images here
	case "Storage/CREATE":
		wal.Create(m, id.Rel)
	default:
		t.Fatalf("no builder for %s", l.kind)
	}
	return true
}

func tablePage(t require.TestingT, data []byte, rows int) *page.Page {
	var p page.Page
	p.Init(0)
	for range rows {
		_, ok := p.InsertTuple(0, 0, page.NewTuple(nil, 7, 0, 2, data))
		require.True(t, ok)
	}
	p.SetLSN(0x100)
	return &p
}

// buildUpdateLike changes the int in column by one, its lowest byte that is,
// or, where the real update changed a column so that only a prefix stayed
// (non-HOT updates of narrow rows), its highest byte.
func buildUpdateLike(t *testing.T, m *wal.MTR, l realLength, data []byte, column int) {
	id := page.ID{Rel: 16384}
	old := tablePage(t, data, 2)
	data[column]++
	if l.rec == 72 { // two bytes of the int changed, or no suffix of three is left
		data[column+1]++
	}
	u := wal.UpdateArgs{XID: 738, Old: id, New: id, OldPage: old, NewPage: old, OldOff: 1, NewOff: 3, Hot: l.kind == "Heap/HOT_UPDATE"}
	if l.twoBlocks {
		u.New.Block, u.NewPage, u.NewOff = 1, tablePage(t, data, 4), 4
	} else {
		_, ok := old.InsertTuple(0, 0, page.NewTuple(nil, 738, 0, 2, data))
		require.True(t, ok)
	}
	wal.HeapUpdate(m, floor(l), u)
	if l.twoBlocks {
		// The LOCK record before it has taken the old page's image.
		u.OldPage.SetLSN(1 << 41)
	}
	withHole(u.NewPage, l)
}
