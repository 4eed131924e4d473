package page_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
)

func entry(size int, id page.TID) page.IndexTuple {
	t := page.IndexTuple(make([]byte, size))
	binary.LittleEndian.PutUint16(t[6:], uint16(size)|0x4000)
	t.SetTID(id)
	return t
}

// The bytes are PostgreSQL's: nbtree.h, itup.h.
func TestIndexLayout(t *testing.T) {
	var p page.Page
	p.SetLSN(9)
	p.InitIndex(page.IndexOpaque{Prev: 0x01020304, Next: 5, Level: 6, Flags: page.IndexLeaf | page.IndexHalfDead, Cycle: 7})
	require.Equal(t, []byte{4, 3, 2, 1, 5, 0, 0, 0, 6, 0, 0, 0, 0x11, 0, 7, 0}, p[page.Size-16:])
	require.EqualValues(t, 9, p.LSN(), "making a page anew keeps its LSN")

	e := entry(16, page.TID{Block: 0x00010002, Offset: 3})
	require.Equal(t, []byte{1, 0, 2, 0, 3, 0, 16, 0x40}, []byte(e[:8]))
	require.False(t, e.Pivot())
	pivot := page.IndexTuple(page.AppendPivot(nil, e, 2, nil))
	require.Equal(t, []byte{1, 0, 2, 0, 2, 0, 16, 0x60}, []byte(pivot[:8]))
	require.True(t, pivot.Pivot())
	require.Equal(t, 2, pivot.Attrs())
	_, ok := pivot.PivotTID()
	require.False(t, ok)
	pivot = page.AppendPivot(nil, e, 2, &page.TID{Block: 0x00070008, Offset: 9})
	require.Equal(t, []byte{1, 0, 2, 0, 2, 0x10, 24, 0x60}, []byte(pivot[:8]))
	require.Equal(t, []byte{7, 0, 8, 0, 9, 0}, []byte(pivot[18:]), "the TID ends the tuple")
	id, ok := pivot.PivotTID()
	require.True(t, ok)
	require.Equal(t, page.TID{Block: 0x00070008, Offset: 9}, id)
	pivot.SetBlock(0x000A000B)
	require.EqualValues(t, 0x000A000B, pivot.Block())
	require.Equal(t, 2, pivot.Attrs())
	inf := page.MinusInfinity(page.NoBlock)
	require.Equal(t, [8]byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 8, 0x20}, inf)

	var m page.Page
	meta := page.IndexMeta{Version: 4, Root: 3, Level: 1, FastRoot: 2, FastLevel: 0, CleanupPages: 8, AllEqualImage: true}
	m.InitIndexMeta(meta)
	require.Equal(t, 72, m.Lower(), "SizeOfPageHeaderData + sizeof(BTMetaPageData)")
	require.Equal(t, []byte{0x62, 0x31, 0x05, 0, 4, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0}, m[24:40])
	require.Equal(t, []byte{0, 0, 0, 0, 0, 0, 0xF0, 0xBF, 1}, m[56:65], "-1.0, then the flag")
	got, err := m.IndexMeta()
	require.NoError(t, err)
	require.Equal(t, meta, got)
	require.NoError(t, page.ValidateIndex(page.ID{Rel: 9}, &m))
	_, err = p.IndexMeta()
	require.ErrorContains(t, err, "no metapage of an index: magic 000000")

	var d page.Page
	d.MakeDeleted(1, 2, 0, 0x1122)
	require.Equal(t, 32, d.Lower(), "SizeOfPageHeaderData + sizeof(BTDeletedPageData)")
	require.EqualValues(t, 0x1122, d.SafeXID())
	require.Zero(t, m.SafeXID())
}

// leaf5 is a leaf with a high key and entries of different lengths.
func leaf5(t require.TestingT) (*page.Page, [][]byte) {
	var items [][]byte
	for i := range 5 {
		items = append(items, entry(16+8*i, page.TID{Block: uint32(i), Offset: 1}))
	}
	p := new(page.Page)
	require.True(t, p.BuildIndex(page.IndexOpaque{Next: 7, Flags: page.IndexLeaf}, page.AppendPivot(nil, items[4], 1, nil), items))
	return p, items
}

// Deleting entries leaves the others, in order.
func TestDeleteIndexItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, items := leaf5(t)
		var offs []uint16
		var want [][]byte
		for i, it := range items {
			if rapid.Bool().Draw(t, "dead") {
				offs = append(offs, uint16(i)+2)
			} else {
				want = append(want, it)
			}
		}
		require.True(t, p.DeleteIndexItems(offs))
		require.NoError(t, page.ValidateIndex(page.ID{Rel: 9, Block: 3}, p))
		require.EqualValues(t, len(want)+1, p.MaxOffset())
		for i, it := range want {
			require.EqualValues(t, it, p.IndexTuple(uint16(i)+2))
		}
		before := *p
		require.False(t, p.DeleteIndexItems([]uint16{p.MaxOffset() + 1}))
		require.Equal(t, before, *p)
	})
	p, items := leaf5(t)
	require.False(t, p.BuildIndex(page.IndexOpaque{}, nil, make([][]byte, 1)), "an item without bytes")
	big := entry(4000, page.TID{})
	require.False(t, p.BuildIndex(page.IndexOpaque{}, items[0], [][]byte{big, big, big}))
}

// ValidateIndex names what is wrong.
func TestValidateIndex(t *testing.T) {
	id := page.ID{Rel: 9, Block: 3}
	for want, damage := range map[string]func(p *page.Page){
		"special area at 8192":                                  func(p *page.Page) { p.Init(0) },
		"index flags 0401":                                      func(p *page.Page) { p.SetIndexFlags(0x400, true) },
		"block 0 is the metapage, and no other":                 func(p *page.Page) { p.SetIndexFlags(page.IndexMetaPage, true) },
		"leaves are level 0, and no other":                      func(p *page.Page) { p.SetIndexFlags(page.IndexLeaf, false) },
		"siblings 0 and 3: the page is its own":                 func(p *page.Page) { p.SetIndexOpaque(page.IndexOpaque{Next: 3, Flags: page.IndexLeaf}) },
		"half-dead on level 0 with right sibling 7 and 6 items": func(p *page.Page) { p.SetIndexFlags(page.IndexHalfDead, true) },
		"a root with siblings 0 and 7":                          func(p *page.Page) { p.SetIndexFlags(page.IndexRoot, true) },
		"an unfinished split without a right sibling":           func(p *page.Page) { p.SetIndexOpaque(page.IndexOpaque{Flags: page.IndexLeaf | page.IndexIncomplete}) },
		"0 items on level 1, want a downlink":                   func(p *page.Page) { p.InitIndex(page.IndexOpaque{Level: 1}) },
		"no high key, yet a right sibling 7":                    func(p *page.Page) { p.InitIndex(page.IndexOpaque{Next: 7, Flags: page.IndexLeaf}) },
		"item 1 on level 0: pivot true, want false":             func(p *page.Page) { p.SetIndexOpaque(page.IndexOpaque{Flags: page.IndexLeaf}) },
		"item 2 on level 0: pivot true, want false":             func(p *page.Page) { copy(p.Item(2), p.Item(1)[:8]); p.Item(2)[6] = 16 },
		"item 3 is bytes":                                       func(p *page.Page) { p.SetItemID(3, page.MakeItemID(100, page.Normal, 16)) },
		"item 3 shares byte":                                    func(p *page.Page) { p.SetItemID(3, p.ItemID(2)) },
		"item 4 of 32 bytes holds no index tuple of that size":  func(p *page.Page) { p.Item(4)[6] = 24 },
		"item 1 on level 0 has 0 key attributes":                func(p *page.Page) { p.Item(1)[4] = 0 },
		"item 2 on level 1 has 1 key attributes":                func(p *page.Page) { inner(p, 4, 1) },
		"downlink 3 leads to block 0":                           func(p *page.Page) { inner(p, 0, 0) },
	} {
		p, _ := leaf5(t)
		damage(p)
		require.ErrorContains(t, page.ValidateIndex(id, p), want)
	}
	p, _ := leaf5(t)
	require.NoError(t, page.ValidateIndex(id, p))
	inner(p, 4, 0)
	require.NoError(t, page.ValidateIndex(id, p))
}

// inner makes p an internal page whose second downlink leads to block, and
// whose first has so many key attributes.
func inner(p *page.Page, block uint32, attrs byte) {
	high := page.AppendPivot(nil, entry(16, page.TID{}), 1, nil)
	second := page.IndexTuple(append([]byte(nil), high...))
	second.SetBlock(block)
	first := page.MinusInfinity(5)
	first[4] = attrs
	p.BuildIndex(page.IndexOpaque{Next: 7, Level: 1}, high, [][]byte{first[:], second})
}

// FuzzIndexPage: no bytes make an accessor, a check or an operation panic, and
// what a check accepts stays so after an operation.
func FuzzIndexPage(f *testing.F) {
	p, _ := leaf5(f)
	f.Add(p[:], uint16(2))
	inner(p, 4, 0)
	f.Add(p[:], uint16(2))
	p.MakeHalfDead(1, 2, page.NoBlock)
	f.Add(p[:], uint16(1))
	p.InitIndexMeta(page.IndexMeta{Version: 4, Root: 1})
	f.Add(p[:], uint16(1))
	f.Fuzz(func(t *testing.T, b []byte, off uint16) {
		var p page.Page
		copy(p[:], b)
		id := page.ID{Rel: 9, Block: 3}
		if page.Verify(id, &p, false) != nil {
			return
		}
		good := page.ValidateIndex(id, &p) == nil
		for o := uint16(0); o < p.MaxOffset()+2; o++ {
			if tu := p.IndexTuple(o); tu != nil {
				_, _, _, _ = tu.TID(), tu.Block(), tu.Attrs(), tu.Pivot()
				_, _ = tu.PivotTID()
			}
		}
		_, _ = p.IndexMeta()
		_ = p.SafeXID()
		q, _ := p.IndexOpaque()
		if p.DeleteIndexItems([]uint16{off}) && good && off > q.First() && !q.Has(page.IndexDeleted) {
			if err := page.ValidateIndex(id, &p); err != nil {
				t.Fatal(err)
			}
		}
		p.MoveDownlink(off)
	})
}
