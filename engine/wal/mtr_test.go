package wal_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// blockPlan is one touched page of a random record.
type blockPlan struct {
	slot  int
	id    page.ID
	p     *page.Page
	flags wal.TouchFlags
	data  []byte
}

func drawPage(t *rapid.T) *page.Page {
	var p page.Page
	p.Init(rapid.IntRange(0, 64).Draw(t, "special"))
	for range rapid.IntRange(0, 5).Draw(t, "items") {
		p.AddItem(rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "item"))
	}
	if rapid.IntRange(0, 9).Draw(t, "no hole") == 0 {
		p.SetUpper(uint16(p.Lower()))
	}
	p.SetLSN(wal.LSN(rapid.IntRange(1, 100).Draw(t, "lsn")))
	return &p
}

func drawBlocks(t *rapid.T) (plan []blockPlan) {
	for slot := range wal.MaxBlocks {
		if rapid.Bool().Draw(t, "skip") {
			continue
		}
		plan = append(plan, blockPlan{slot: slot, p: drawPage(t),
			id:    page.ID{Rel: page.Rel(rapid.IntRange(100, 101).Draw(t, "rel")), Block: rapid.Uint32().Draw(t, "block")},
			flags: wal.TouchFlags(rapid.IntRange(0, 31).Draw(t, "flags")),
			data:  rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "data")})
	}
	return plan
}

// wantImage is the rule for images, written as a table of cases.
func (b *blockPlan) wantImage(floor wal.LSN) bool {
	if b.flags&(wal.WillInit|wal.NoImage) != 0 {
		return false
	}
	return b.flags&wal.ForceImage != 0 || floor > 0 && b.p.LSN() <= floor
}

// What an MTR was told comes out of the decoded record, for any mixture of
// blocks, flags, holes and lengths; built twice, with different floors.
func TestBuildAndDecode(t *testing.T) {
	var m wal.MTR // reused: nothing may be left over from the case before
	var r wal.Record
	rapid.Check(t, func(t *rapid.T) {
		plan := drawBlocks(t)
		main := rapid.SliceOfN(rapid.Byte(), 0, 400).Draw(t, "main")
		xid := rapid.Uint32().Draw(t, "xid")
		m.Reset(wal.RmgrHeap, 0x20, xid)
		m.SetMain(main)
		for _, b := range plan {
			m.Touch(b.slot, b.id, b.p, b.flags)
			m.AddData(b.slot, b.data[:len(b.data)/2])
			m.AddData(b.slot, b.data[len(b.data)/2:])
		}
		prev, prevCRC := wal.LSN(rapid.Uint64().Draw(t, "prev")), rapid.Uint32().Draw(t, "crc")
		for range 2 {
			floor := wal.LSN(rapid.IntRange(0, 110).Draw(t, "floor"))
			m.Build(floor)
			raw, crc := m.Finish(prev, prevCRC)
			got, err := r.Decode(raw, 0x5000, prevCRC)
			require.NoError(t, err)
			require.Equal(t, crc, got)
			require.Equal(t, prev, r.Prev)
			require.Equal(t, xid, r.XID)
			require.True(t, bytes.Equal(main, r.Main))
			checkBlocks(t, plan, floor, &r)

			later := wal.LSN(rapid.IntRange(0, 110).Draw(t, "later"))
			stale := slices.ContainsFunc(plan, func(b blockPlan) bool { return b.wantImage(later) && !b.wantImage(floor) })
			require.Equal(t, stale, m.Stale(later))

			_, err = r.Decode(raw, 0x5000, prevCRC+1)
			require.ErrorContains(t, err, "CRC", "the chain is broken")
		}
		m.Stamp(0x6000)
		for _, b := range plan {
			require.Equal(t, wal.LSN(0x6000), b.p.LSN())
		}
	})
}

func checkBlocks(t *rapid.T, plan []blockPlan, floor wal.LSN, r *wal.Record) {
	require.Len(t, r.Blocks, len(plan))
	for i, b := range plan {
		ref := &r.Blocks[i]
		image := b.wantImage(floor)
		require.EqualValues(t, b.slot, ref.Slot)
		require.Equal(t, i, r.Block(ref.Slot))
		require.Equal(t, b.id, ref.ID)
		require.Equal(t, image, ref.HasImage)
		require.Equal(t, b.flags&wal.WillInit != 0, ref.WillInit)
		if image && b.flags&wal.KeepData == 0 {
			require.Empty(t, ref.Data)
		} else {
			require.True(t, bytes.Equal(b.data, ref.Data))
		}
		if !image {
			continue
		}
		restored := page.Page(bytes.Repeat([]byte{0xEE}, page.Size))
		require.NoError(t, ref.RestoreImage(&restored))
		require.Equal(t, *b.p, restored)
		if _, hole := b.p.Hole(); b.flags&wal.Standard != 0 {
			require.Len(t, ref.Image, page.Size-hole)
		}
	}
}

func TestCloneIsIndependent(t *testing.T) {
	var m wal.MTR
	m.Reset(wal.RmgrHeap, 0, 1)
	m.SetMain([]byte("main"))
	m.Touch(0, page.ID{Rel: 2}, tablePage(t, []byte("data"), 1), wal.ForceImage|wal.KeepData|wal.Standard)
	m.AddData(0, []byte("block"))
	m.Build(0)
	raw, _ := m.Finish(0, 0)
	r, _, err := wal.Decode(raw, 8, 0)
	require.NoError(t, err)
	c := r.Clone()
	want := fmt.Sprint(r)
	clear(raw)
	require.NotEqual(t, want, fmt.Sprint(r), "the record points into the bytes")
	require.Equal(t, want, fmt.Sprint(*c))
	require.Equal(t, "0/8 Heap/INSERT xid 1 len 120, rel 2 block 0 with image", c.String())
}

func TestMisuseBreaksW5(t *testing.T) {
	p := tablePage(t, []byte("data"), 1)
	half := make([]uint16, 1)
	for name, misuse := range map[string]func(m *wal.MTR){
		"slot twice":     func(m *wal.MTR) { m.Touch(0, page.ID{}, p, 0); m.Touch(0, page.ID{}, p, 0) },
		"slot too high":  func(m *wal.MTR) { m.Touch(wal.MaxBlocks, page.ID{}, p, 0) },
		"no page":        func(m *wal.MTR) { m.Touch(0, page.ID{}, nil, 0) },
		"data unasked":   func(m *wal.MTR) { m.AddData(3, []byte("x")) },
		"too much data":  func(m *wal.MTR) { m.Touch(0, page.ID{}, p, 0); m.AddData(0, make([]byte, 1<<16)) },
		"not built":      func(m *wal.MTR) { m.Finish(0, 0) },
		"changed since":  func(m *wal.MTR) { m.Build(0); m.Touch(0, page.ID{}, p, 0); m.Len() },
		"record too big": func(m *wal.MTR) { m.SetMain(make([]byte, wal.MaxRecord)); m.Build(0) },
		"no such tuple":  func(m *wal.MTR) { wal.HeapDelete(m, 1, page.ID{}, p, 9, 0) },
		"half a pair":    func(m *wal.MTR) { wal.HeapPrune(m, page.ID{}, p, 0, half, nil, nil) },
	} {
		var m wal.MTR
		m.Reset(wal.RmgrHeap, 0, 1)
		func() {
			defer func() { require.IsType(t, &invariant.Violation{}, recover(), name) }()
			misuse(&m)
		}()
	}
}

// A commit's status page is stamped with the record and not referenced by it.
func TestImpliedPage(t *testing.T) {
	id := page.StatusID(40000)
	var p page.Page
	page.InitStatus(&p)
	var m wal.MTR
	wal.Commit(&m, 40000, 5)
	m.Touch(0, id, &p, wal.Implied)
	require.Equal(t, wal.RmgrTransaction, m.Rmgr())
	require.Equal(t, wal.InfoCommit, m.Info())
	require.EqualValues(t, 40000, m.XID())
	require.Equal(t, 1, m.Blocks())
	m.Build(1 << 40)
	require.False(t, m.Stale(1<<41), "status pages need no image")
	r := decodeBuilt(t, &m)
	require.EqualValues(t, 34, r.Len)
	require.Empty(t, r.Blocks)
	require.Equal(t, []wal.PageRef{{ID: id, Block: wal.ImpliedBlock}}, r.Pages(nil))
	gotID, gotPage, flags, image := m.Block(0)
	require.Equal(t, id, gotID)
	require.Same(t, &p, gotPage)
	require.Equal(t, wal.Implied, flags)
	require.False(t, image)
	m.Stamp(0x999)
	require.Equal(t, wal.LSN(0x999), page.LSNOf(id, &p))
}

func TestWarmPathsDoNotAllocate(t *testing.T) {
	p := tablePage(t, make([]byte, 97), 5)
	var m wal.MTR
	var r wal.Record
	refs := make([]wal.PageRef, 0, 4)
	id := page.ID{Rel: 16384}
	redo := wal.StandardRedo()
	once := func() {
		wal.HeapUpdate(&m, 0, wal.UpdateArgs{XID: 9, Old: id, New: id, OldPage: p, NewPage: p, OldOff: 1, NewOff: 2, Hot: true})
		m.Build(0x50)
		raw, _ := m.Finish(1, 2)
		if _, err := r.Decode(raw, 0x40, 2); err != nil {
			t.Fatal(err)
		}
		refs = r.Pages(refs[:0])
		wal.HeapDelete(&m, 9, id, p, 1, 0)
		m.Build(0x1000)
		raw, _ = m.Finish(1, 2)
		if _, err := r.Decode(raw, 0x40, 2); err != nil {
			t.Fatal(err)
		}
		if _, err := redo.Apply(&r, 0, p); err != nil {
			t.Fatal(err)
		}
	}
	once()
	require.Zero(t, testing.AllocsPerRun(100, once))
}
