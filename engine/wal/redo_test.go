package wal_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

const heapRel = 16384

// twins holds the same pages twice: the do-path changes one, records change
// the other.
type twins struct {
	m      wal.MTR
	rec    wal.Record
	at     wal.LSN
	crc    uint32
	xid    uint32
	do     [2]page.Page
	redo   [2]page.Page
	images bool // under the floor in force every page gets an image
}

func (w *twins) id(block int) page.ID { return page.ID{Rel: heapRel, Block: uint32(block)} }

func (w *twins) floor() wal.LSN {
	if w.images {
		return 1 << 40
	}
	return 0
}

// log builds the record, replays it on the other twins and compares.
func (w *twins) log(t *rapid.T) {
	w.m.Build(w.floor())
	raw, crc := w.m.Finish(0, w.crc)
	_, err := w.rec.Decode(raw, w.at, w.crc)
	require.NoError(t, err)
	w.m.Stamp(w.rec.End)
	w.at, w.crc = w.rec.End, crc
	for _, ref := range w.rec.Pages(nil) {
		p := &w.redo[ref.ID.Block]
		changed, err := wal.Apply(&w.rec, ref.Block, p)
		require.NoError(t, err)
		require.True(t, changed)
		if ref.Init { // whatever it held before
			again := page.Page(bytes.Repeat([]byte{0xA5}, page.Size))
			_, err := wal.Apply(&w.rec, ref.Block, &again)
			require.NoError(t, err)
			require.Equal(t, *p, again)
			continue
		}
		again := *p
		changed, err = wal.Apply(&w.rec, ref.Block, &again)
		require.NoError(t, err)
		require.False(t, changed, "a delta is applied once")
		require.Equal(t, *p, again)
	}
	for i := range w.do {
		requireSamePage(t, &w.do[i], &w.redo[i])
	}
}

// requireSamePage compares all but the HasFreeLines hint, which AddItem may
// clear without a record.
func requireSamePage(t require.TestingT, a, b *page.Page) {
	x, y := *a, *b
	x.SetFlag(page.HasFreeLines, false)
	y.SetFlag(page.HasFreeLines, false)
	require.Equal(t, x, y)
}

// pick is the offset of some tuple of the page, 0 if it has none.
func (w *twins) pick(t *rapid.T, block int) uint16 {
	var offs []uint16
	for off := range w.do[block].MaxOffset() + 1 {
		if w.do[block].Tuple(off) != nil {
			offs = append(offs, off)
		}
	}
	if len(offs) == 0 {
		return 0
	}
	return rapid.SampledFrom(offs).Draw(t, "offset")
}

func (w *twins) insert(t *rapid.T) {
	block := rapid.IntRange(0, 1).Draw(t, "block")
	p := &w.do[block]
	init := p.IsZero() || rapid.IntRange(0, 19).Draw(t, "init") == 0
	if init {
		p.Init(0)
	}
	data := rapid.SliceOfN(rapid.ByteRange('a', 'c'), 0, 400).Draw(t, "data")
	off, ok := p.InsertTuple(uint32(block), 0, page.NewTuple(nil, w.xid, 0, 3, data))
	if !ok {
		t.Skip("full")
	}
	flags := uint8(0)
	if p.Flags()&page.AllVisible != 0 {
		flags = wal.AllVisibleCleared
		p.SetFlag(page.AllVisible, false)
	}
	wal.HeapInsert(&w.m, w.xid, w.id(block), p, off, flags, init)
	w.log(t)
}

func (w *twins) delete(t *rapid.T) {
	block := rapid.IntRange(0, 1).Draw(t, "block")
	off := w.pick(t, block)
	if off == 0 {
		t.Skip("empty")
	}
	require.True(t, w.do[block].DeleteTuple(uint32(block), off, page.Xmax{XID: w.xid, Infomask2: page.KeysUpdated}))
	wal.HeapDelete(&w.m, w.xid, w.id(block), &w.do[block], off, 0)
	w.log(t)
}

func (w *twins) lock(t *rapid.T) {
	block := rapid.IntRange(0, 1).Draw(t, "block")
	off := w.pick(t, block)
	if off == 0 {
		t.Skip("empty")
	}
	mask := rapid.SampledFrom([]uint16{page.XmaxLockOnly | page.XmaxExclusive, page.XmaxLockOnly | page.XmaxKeyShare,
		page.XmaxLockOnly | page.XmaxExclusive | page.XmaxKeyShare, page.XmaxIsMulti}).Draw(t, "mode")
	require.True(t, w.do[block].LockTuple(uint32(block), off, page.Xmax{XID: w.xid, Infomask: mask}))
	wal.HeapLock(&w.m, w.xid, w.id(block), &w.do[block], off)
	w.log(t)
}

func (w *twins) inplace(t *rapid.T) {
	block := rapid.IntRange(0, 1).Draw(t, "block")
	off := w.pick(t, block)
	if off == 0 || len(w.do[block].Tuple(off).Data()) == 0 {
		t.Skip("empty")
	}
	w.do[block].Tuple(off).Data()[0] ^= 1
	wal.HeapInplace(&w.m, 0, w.id(block), &w.do[block], off)
	w.log(t)
}

func (w *twins) update(t *rapid.T) {
	from, to := rapid.IntRange(0, 1).Draw(t, "from"), rapid.IntRange(0, 1).Draw(t, "to")
	off := w.pick(t, from)
	if off == 0 {
		t.Skip("empty")
	}
	oldP, newP := &w.do[from], &w.do[to]
	u := wal.UpdateArgs{XID: w.xid, Old: w.id(from), New: w.id(to), OldPage: oldP, NewPage: newP, OldOff: off}
	u.Hot = from == to && rapid.Bool().Draw(t, "hot")
	if newP.IsZero() {
		newP.Init(0)
		u.Init = true
	}
	data := slices.Clone(oldP.Tuple(off).Data())
	if len(data) > 0 && rapid.Bool().Draw(t, "same length") {
		data[rapid.IntRange(0, len(data)-1).Draw(t, "changed")] ^= 1
	} else {
		data = append(data, rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "more")...)
	}
	tup := page.NewTuple(nil, w.xid, 0, 3, data)
	tup.SetInfomask(tup.Infomask() | page.Updated)
	newOff, ok := newP.InsertTuple(uint32(to), 0, tup)
	if !ok {
		t.Skip("full")
	}
	u.NewOff = newOff
	oldP.SupersedeTuple(off, page.Xmax{XID: w.xid}, page.TID{Block: uint32(to), Offset: newOff}, u.Hot)
	if oldP.Flags()&page.AllVisible != 0 {
		u.Flags |= wal.AllVisibleCleared
		oldP.SetFlag(page.AllVisible, false)
	}
	wal.HeapUpdate(&w.m, w.floor(), u)
	w.log(t)
}

// prune frees some items, kills some, and redirects one to another.
func (w *twins) prune(t *rapid.T) {
	block := rapid.IntRange(0, 1).Draw(t, "block")
	p := &w.do[block]
	var redirected, dead, unused []uint16
	left := []uint16{}
	for off := range p.MaxOffset() + 1 {
		switch {
		case p.Tuple(off) == nil:
		case rapid.IntRange(0, 3).Draw(t, "fate") == 0:
			dead = append(dead, off)
		case rapid.IntRange(0, 3).Draw(t, "fate") == 0:
			unused = append(unused, off)
		default:
			left = append(left, off)
		}
	}
	if len(left) >= 2 && rapid.Bool().Draw(t, "redirect") {
		redirected = []uint16{left[0], left[1]}
	}
	if p.IsZero() {
		t.Skip("empty")
	}
	require.NoError(t, p.Prune(redirected, dead, unused))
	wal.HeapPrune(&w.m, w.id(block), p, w.xid-1, redirected, dead, unused)
	w.log(t)
}

// Replaying the records gives the pages that the operations gave, image or not.
func TestRedoIsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &twins{at: 0x4028, xid: 700}
		t.Repeat(map[string]func(*rapid.T){
			"insert": w.insert, "insert again": w.insert, "delete": w.delete, "lock": w.lock,
			"update": w.update, "update again": w.update, "prune": w.prune, "inplace": w.inplace,
			"checkpoint": func(t *rapid.T) { w.images = !w.images },
			"all visible": func(t *rapid.T) {
				for i := range w.do { // not logged here: set on both
					if !w.do[i].IsZero() {
						w.do[i].SetFlag(page.AllVisible, true)
						w.redo[i].SetFlag(page.AllVisible, true)
					}
				}
			},
			"": func(t *rapid.T) {
				w.xid++
				for i := range w.do {
					if !w.do[i].IsZero() {
						require.NoError(t, page.Verify(w.id(i), &w.do[i], false))
					}
				}
			},
		})
	})
}

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
			m.Reset(wal.RmgrBtree, 0, 8)
			m.Touch(0, id, src, wal.Standard)
		},
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
