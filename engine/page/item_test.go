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
