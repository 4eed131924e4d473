package wal_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// A record that was built for no image, built again under a newer floor, and
// one whose compressed ends were decided under another floor, both replay.
func TestRebuildUnderAnotherFloor(t *testing.T) {
	for _, floors := range [][2]wal.LSN{{0, 1 << 40}, {1 << 40, 0}} {
		p := tablePage(t, []byte("0123456789abcdef"), 1)
		before := *p
		off, _ := p.InsertTuple(0, 0, page.NewTuple(nil, 8, 0, 2, []byte("0123456x89abcdef")))
		id := page.ID{Rel: heapRel}
		p.SupersedeTuple(1, page.Xmax{XID: 8}, page.TID{Offset: off}, true)
		var m wal.MTR
		wal.HeapUpdate(&m, floors[0], wal.UpdateArgs{XID: 8, Old: id, New: id, OldPage: p, NewPage: p, OldOff: 1, NewOff: off, Hot: true})
		m.Build(floors[0])
		require.Equal(t, floors[1] > 0, m.Stale(floors[1]))
		m.Build(floors[1])
		rec := decodeBuilt(t, &m)
		changed, err := wal.Apply(rec, 0, &before)
		require.NoError(t, err)
		require.True(t, changed)
		m.Stamp(rec.End)
		require.Equal(t, *p, before)
	}
}

func TestRedoErrorsNamePlaceAndLeaveThePage(t *testing.T) {
	id := page.ID{Rel: heapRel}
	src := tablePage(t, []byte("0123456789abcdef"), 3)
	build := map[string]func(m *wal.MTR){
		"no tuple at item 2 of 0 to delete":             func(m *wal.MTR) { wal.HeapDelete(m, 8, id, src, 2, 0) },
		"no tuple at item 2 of 0 to lock":               func(m *wal.MTR) { wal.HeapLock(m, 8, id, src, 2) },
		"no place for a tuple of 40 bytes at item 3":    func(m *wal.MTR) { wal.HeapInsert(m, 8, id, src, 3, 0, false) },
		"no tuple with 16 bytes of data at item 1 of 0": func(m *wal.MTR) { wal.HeapInplace(m, 8, id, src, 1) },
		"not among the page's 0":                        func(m *wal.MTR) { wal.HeapPrune(m, id, src, 8, nil, []uint16{1}, nil) },
		"no tuple at item 1 of 0 to update": func(m *wal.MTR) {
			wal.HeapUpdate(m, 0, wal.UpdateArgs{XID: 8, Old: id, New: id, OldPage: src, NewPage: src, OldOff: 1, NewOff: 2})
		},
		"resource manager has no redo function": func(m *wal.MTR) {
			m.Reset(wal.RmgrStandby, 0, 8)
			m.Touch(0, id, src, wal.Standard)
		},
		"item 1 of 0 is not a dead line pointer": func(m *wal.MTR) { wal.HeapVacuum(m, id, src, []uint16{1}) },
		"operation 50 is not known": func(m *wal.MTR) {
			m.Reset(wal.RmgrHeap2, 0x50, 8)
			m.Touch(0, id, src, wal.Standard)
		},
	}
	for want, f := range build {
		var m wal.MTR
		f(&m)
		m.Build(0)
		rec := decodeBuilt(t, &m)
		var p page.Page
		p.Init(0)
		before := p
		changed, err := wal.Apply(rec, 0, &p)
		require.False(t, changed)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "at 0/200 on rel 16384 block 0")
		require.Equal(t, before, p)
	}
	var r wal.Record
	_, err := wal.Apply(&r, 3, new(page.Page))
	require.ErrorContains(t, err, "no block 3 of 0")
}

// Other packages plug in their own redo; a WillInit page is zeros for it.
func TestRedoOfOthers(t *testing.T) {
	redo := wal.StandardRedo()
	redo[wal.RmgrBtree] = func(r *wal.Record, block int, p *page.Page) error {
		p.Init(16)
		p.InsertItemAt(1, r.Blocks[block].Data)
		return nil
	}
	var m wal.MTR
	m.Reset(wal.RmgrBtree, 0, 8)
	m.Touch(0, page.ID{Rel: 5}, new(page.Page), wal.WillInit)
	m.AddData(0, []byte("key"))
	m.Build(0)
	rec := decodeBuilt(t, &m)
	p := page.Page(bytes.Repeat([]byte{0xEE}, page.Size))
	changed, err := redo.Apply(rec, 0, &p)
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, []byte("key"), p.Item(1))
	require.Equal(t, rec.End, p.LSN())
}

func TestStatusRedo(t *testing.T) {
	var m wal.MTR
	var p page.Page
	apply := func(lsn wal.LSN) []wal.PageRef {
		m.Build(0)
		raw, _ := m.Finish(0, 0)
		r, _, err := wal.Decode(raw, lsn, 0)
		require.NoError(t, err)
		refs := r.Pages(nil)
		changed, err := wal.Apply(&r, refs[0].Block, &p)
		require.NoError(t, err)
		require.True(t, changed)
		return refs
	}
	xid := uint32(page.StatusXIDs + 5)
	wal.StatusZeroPage(&m, 1)
	refs := apply(0x100)
	require.EqualValues(t, 30, m.Len())
	require.Equal(t, []wal.PageRef{{ID: page.StatusID(xid), Block: wal.ImpliedBlock, Init: true}}, refs)
	wal.Commit(&m, xid, 1)
	apply(0x300)
	wal.Abort(&m, xid+1, 1)
	apply(0x200)
	require.Equal(t, page.Committed, page.Status(&p, xid))
	require.Equal(t, page.Aborted, page.Status(&p, xid+1), "replayed though the page's LSN is higher")
	require.Equal(t, page.InProgress, page.Status(&p, xid+2))
	require.Equal(t, wal.LSN(0x300+40), page.LSNOf(refs[0].ID, &p), "the LSN only rises")
}

// A hint's record without an image changes nothing but the page's LSN.
func TestHintWithoutImage(t *testing.T) {
	p := tablePage(t, []byte("data"), 1)
	want := *p
	var m wal.MTR
	wal.FPIForHint(&m, page.ID{Rel: heapRel}, p)
	m.Build(0)
	rec := decodeBuilt(t, &m)
	changed, err := wal.Apply(rec, 0, p)
	require.NoError(t, err)
	require.True(t, changed)
	want.SetLSN(rec.End)
	require.Equal(t, want, *p)
	rec.Info = wal.InfoFPI
	p.SetLSN(1)
	_, err = wal.Apply(rec, 0, p)
	require.ErrorContains(t, err, "an image is wanted")
}

func TestSmallRecords(t *testing.T) {
	var m wal.MTR
	c := wal.Checkpoint{Redo: 0x1234, FullPageWrites: true, NextXID: 99, OldestXID: 3, OldestActive: 98, Time: 1000}
	wal.CheckpointRecord(&m, c, false)
	m.Build(0)
	got, err := decodeBuilt(t, &m).Checkpoint()
	require.NoError(t, err)
	require.Equal(t, c, got)

	wal.NextXID(&m, 12345)
	m.Build(0)
	xid, err := decodeBuilt(t, &m).NextXID()
	require.NoError(t, err)
	require.EqualValues(t, 12345, xid)

	for _, on := range []bool{true, false} {
		wal.FPWChange(&m, on)
		m.Build(0)
		got, err := decodeBuilt(t, &m).FPWChange()
		require.NoError(t, err)
		require.Equal(t, on, got)
	}

	wal.Commit(&m, 7, 123456)
	m.Build(0)
	x, err := decodeBuilt(t, &m).Xact()
	require.NoError(t, err)
	require.Equal(t, wal.XactRec{Status: page.Committed, Time: 123456}, x)

	r := wal.Record{Rmgr: wal.RmgrTransaction, Info: wal.InfoCommit | wal.XactHasInfo, Main: make([]byte, 30)}
	_, err = r.Xact()
	require.ErrorContains(t, err, "subtransactions")
	r.Main = nil
	_, err = r.Checkpoint()
	require.ErrorContains(t, err, "main data of 0 bytes, want 88")
}
