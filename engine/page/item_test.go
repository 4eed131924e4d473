package page_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
)

// itemModel is a page as a list: nil is an unused line pointer.
type itemModel struct {
	items [][]byte
	hint  bool // a hole in the list may be refilled
}

func (m *itemModel) room() int {
	n := page.Size - page.HeaderSize - page.ItemIDSize*len(m.items)
	for _, b := range m.items {
		n -= page.RoundUp(len(b))
	}
	return n
}

func (m *itemModel) add(b []byte) uint16 {
	if i := slices.IndexFunc(m.items, func(b []byte) bool { return b == nil }); m.hint && i >= 0 {
		m.items[i] = b
		return uint16(i + 1)
	}
	m.hint = false
	m.items = append(m.items, b)
	return uint16(len(m.items))
}

func (m *itemModel) compact() {
	for len(m.items) > 0 && m.items[len(m.items)-1] == nil {
		m.items = m.items[:len(m.items)-1]
	}
	m.hint = slices.ContainsFunc(m.items, func(b []byte) bool { return b == nil })
}

func (m *itemModel) check(t *rapid.T, p *page.Page) {
	require.EqualValues(t, len(m.items), p.MaxOffset())
	for i, b := range m.items {
		require.Equal(t, b, p.Item(uint16(i+1)), "item %d", i+1)
	}
	require.NoError(t, page.Verify(heapID, p, false))
}

func TestItemsAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p page.Page
		p.Init(0)
		var m itemModel
		item := rapid.SliceOfN(rapid.Byte(), 1, 700)
		offset := func(t *rapid.T) uint16 {
			return rapid.Uint16Range(1, uint16(max(1, len(m.items)))).Draw(t, "offset")
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				b := item.Draw(t, "item")
				off, ok := p.AddItem(b)
				if ok {
					require.Equal(t, m.add(b), off)
				} else {
					require.NoError(t, p.Compact())
					m.compact()
					require.Less(t, m.room(), page.RoundUp(len(b))+page.ItemIDSize, "refused though there was room")
				}
			},
			"insert": func(t *rapid.T) {
				b, off := item.Draw(t, "item"), offset(t)
				if p.InsertItemAt(off, b) {
					m.items = slices.Insert(m.items, int(off)-1, b)
				}
			},
			"delete": func(t *rapid.T) {
				off := offset(t)
				ok := p.DeleteItemAt(off)
				require.Equal(t, len(m.items) > 0, ok)
				if ok {
					m.items = slices.Delete(m.items, int(off)-1, int(off))
				}
			},
			"free": func(t *rapid.T) {
				off := offset(t)
				if p.SetItemID(off, 0) {
					m.items[off-1] = nil
				}
			},
			"compact": func(t *rapid.T) {
				require.NoError(t, p.Compact())
				m.compact()
				_, hole := p.Hole()
				require.Equal(t, m.room(), hole, "nothing is wasted")
			},
			"": func(t *rapid.T) { m.check(t, &p) },
		})
	})
}

func TestAddItemAt(t *testing.T) {
	var p page.Page
	p.Init(0)
	require.False(t, p.AddItemAt(2, []byte("b")), "would leave a gap")
	require.False(t, p.AddItemAt(0, []byte("b")))
	require.False(t, p.AddItemAt(1, nil), "an item has at least a byte")
	require.True(t, p.AddItemAt(1, []byte("a")))
	require.False(t, p.AddItemAt(1, []byte("b")), "taken")
	require.Equal(t, []byte("a"), p.Item(1))
	require.False(t, p.AddItemAt(2, bytes.Repeat([]byte("x"), page.Size)))
}

func TestCompactRefusesBadItems(t *testing.T) {
	p := heapPage(t, 3)
	p.SetItemID(2, page.MakeItemID(8000, page.Normal, 4000))
	before := *p
	require.Error(t, p.Compact())
	require.Equal(t, before, *p)
}

// Two pages with the same items are the same bytes, whatever lay there before.
func TestCompactIsCanonical(t *testing.T) {
	p := heapPage(t, 6)
	p.SetItemID(2, 0)
	p.SetItemID(6, 0)
	q := *p
	q[p.Lower()+8] = 0xEE // rubbish in the hole
	require.NoError(t, p.Compact())
	require.NoError(t, q.Compact())
	require.Equal(t, *p, q)
}

// slowCompact is Compact without its short cuts: it builds the page anew.
func slowCompact(p *page.Page) (page.Page, bool) {
	q := *p
	last := p.MaxOffset()
	for last > 0 && p.ItemID(last).Flags() == page.Unused {
		last--
	}
	lower, upper := page.HeaderSize+int(last)*page.ItemIDSize, p.Special()
	if upper > page.Size || upper < lower || upper%page.Align != 0 {
		return *p, false
	}
	clear(q[lower:upper])
	unused := false
	for off := uint16(1); off <= last; off++ {
		id := p.ItemID(off)
		unused = unused || id.Flags() == page.Unused
		if id.Flags() == page.Unused || id.Len() == 0 {
			continue
		}
		upper -= page.RoundUp(id.Len())
		if upper < lower || id.Offset() < lower || id.Offset()+id.Len() > p.Special() {
			return *p, false
		}
		copy(q[upper:], p[id.Offset():id.Offset()+id.Len()])
		q.SetItemID(off, page.MakeItemID(upper, id.Flags(), id.Len()))
	}
	q.SetLower(uint16(lower))
	q.SetUpper(uint16(upper))
	q.SetFlag(page.HasFreeLines, unused)
	return q, true
}

// TestCompactAgainstSlowTwin compares whole pages, damaged ones included.
func TestCompactAgainstSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p page.Page
		p.Init(rapid.SampledFrom([]int{0, 16}).Draw(t, "special"))
		for range rapid.IntRange(0, 30).Draw(t, "items") {
			p.AddItem(bytes.Repeat([]byte{0xAB}, rapid.IntRange(1, 400).Draw(t, "size")))
		}
		off := rapid.Uint16Range(1, 31)
		for range rapid.IntRange(0, 8).Draw(t, "freed") {
			p.SetItemID(off.Draw(t, "free"), 0)
		}
		for range rapid.IntRange(0, 3).Draw(t, "rubbish") { // in items' padding and in the hole
			p[rapid.IntRange(page.HeaderSize+31*page.ItemIDSize, page.Size-1).Draw(t, "at")] ^= 0xFF
		}
		if rapid.IntRange(0, 3).Draw(t, "damage") == 0 {
			from, n := rapid.IntRange(0, page.Size).Draw(t, "from"), rapid.IntRange(0, 500).Draw(t, "len")
			kind := rapid.SampledFrom([]page.ItemFlags{page.Normal, page.Redirect, page.Dead}).Draw(t, "kind")
			p.SetItemID(off.Draw(t, "bad"), page.MakeItemID(from, kind, n))
		}
		want, ok := slowCompact(&p)
		err := p.Compact()
		require.Equal(t, ok, err == nil, "%v", err)
		require.True(t, want == p, "the pages differ")
	})
}
