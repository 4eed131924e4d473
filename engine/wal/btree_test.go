package wal_test

import (
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

const indexRel page.Rel = 16387

// indexTuple is an entry of an int4 index, which PostgreSQL pads to 16 bytes,
// or of a longer key.
func indexTuple(size int, key uint32, id page.TID) page.IndexTuple {
	t := page.IndexTuple(make([]byte, size))
	binary.LittleEndian.PutUint16(t[6:], uint16(size))
	binary.LittleEndian.PutUint32(t[8:], key)
	t.SetTID(id)
	return t
}

func indexAt(block uint32, p *page.Page) wal.BtreePage {
	return wal.BtreePage{ID: page.ID{Rel: indexRel, Block: block}, Page: p}
}

// indexLeaf is a leaf with n entries of 16 bytes, and a high key if it has a
// right sibling.
func indexLeaf(t require.TestingT, prev, next uint32, n int) *page.Page {
	p := new(page.Page)
	var items [][]byte
	for i := range n {
		items = append(items, indexTuple(16, uint32(10*i), page.TID{Block: uint32(i), Offset: 1}))
	}
	var high []byte
	if next != 0 {
		high = page.AppendPivot(nil, indexTuple(16, uint32(10*n), page.TID{}), 1, nil)
	}
	require.True(t, p.BuildIndex(page.IndexOpaque{Prev: prev, Next: next, Flags: page.IndexLeaf}, high, items))
	p.SetLSN(0x100)
	return p
}

// indexInner is an internal page with downlinks to the given blocks.
func indexInner(t require.TestingT, next uint32, blocks ...uint32) *page.Page {
	p := new(page.Page)
	var items [][]byte
	for i, b := range blocks {
		pivot := page.AppendPivot(nil, indexTuple(16, uint32(100*i), page.TID{}), 1, nil)
		if i == 0 {
			inf := page.MinusInfinity(b)
			pivot = inf[:]
		}
		page.IndexTuple(pivot).SetBlock(b)
		items = append(items, pivot)
	}
	var high []byte
	if next != 0 {
		high = page.AppendPivot(nil, indexTuple(16, uint32(100*len(blocks)), page.TID{}), 1, nil)
	}
	require.True(t, p.BuildIndex(page.IndexOpaque{Next: next, Level: 1}, high, items))
	p.SetLSN(0x100)
	return p
}

func metaPage(root, level uint32) *page.Page {
	p := new(page.Page)
	p.InitIndexMeta(page.IndexMeta{Version: page.IndexVersion, Root: root, Level: level, FastRoot: root, FastLevel: level})
	return p
}

// splitLeaf splits a leaf of n entries at first, with a new entry at off.
func splitLeaf(t require.TestingT, left *page.Page, next *page.Page, first, off uint16, onLeft bool) (wal.BtreeSplitArgs, *page.Page) {
	q, _ := left.IndexOpaque()
	item := indexTuple(16, 7, page.TID{Block: 99, Offset: 1})
	var items [2][][]byte
	for o := q.First(); o <= left.MaxOffset()+1; o++ {
		side := 0
		if o >= first {
			side = 1
		}
		if o == off {
			newSide := 1
			if onLeft {
				newSide = 0
			}
			items[newSide] = append(items[newSide], item)
		}
		if o <= left.MaxOffset() {
			items[side] = append(items[side], append([]byte(nil), left.Item(o)...))
		}
	}
	high := page.AppendPivot(nil, items[1][0], 1, nil)
	var oldHigh []byte
	if q.Next != 0 {
		oldHigh = append([]byte(nil), left.Item(1)...)
	}
	right := new(page.Page)
	require.True(t, left.BuildIndex(page.IndexOpaque{Prev: q.Prev, Next: 2, Flags: page.IndexLeaf | page.IndexIncomplete}, high, items[0]))
	require.True(t, right.BuildIndex(page.IndexOpaque{Prev: 1, Next: q.Next, Flags: page.IndexLeaf}, oldHigh, items[1]))
	args := wal.BtreeSplitArgs{XID: 8, Left: indexAt(1, left), Right: indexAt(2, right), FirstRight: first, NewOff: off, New: item, NewLeft: onLeft}
	if next != nil {
		args.Next = indexAt(q.Next, next)
		nq, _ := next.IndexOpaque()
		nq.Prev = 2
		next.SetIndexOpaque(nq)
	}
	return args, right
}

// A record built here is as long as the same one of PostgreSQL, to the byte.
func TestBtreeLengthsAreARealServers(t *testing.T) {
	f, err := os.Open("testdata/btree/record-lengths.csv")
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	kinds := map[string]int{}
	num := func(s string) int {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		return n
	}
	for _, r := range rows[1:] {
		t.Run(strings.Join(r[:4], " "), func(t *testing.T) {
			var m wal.MTR
			imaged := buildBtreeLike(t, &m, r[1], num(r[2]), r[5] == "1", r[8])
			floor := wal.LSN(0)
			if r[5] == "1" {
				floor = 1 << 40
				imaged.SetLower(uint16(num(r[6])))
				imaged.SetUpper(uint16(num(r[6]) + num(r[7])))
			}
			m.Build(floor)
			rec := decodeBuilt(t, &m)
			images := 0
			for i := range rec.Blocks {
				images += len(rec.Blocks[i].Image)
			}
			require.Equal(t, "Btree/"+r[1], wal.OpName(rec.Rmgr, rec.Info))
			require.Equal(t, num(r[2]), int(rec.Len)-images, "without images")
			require.EqualValues(t, num(r[3]), rec.Len)
			require.Len(t, rec.Blocks, num(r[4]))
			kinds[r[1]]++
		})
	}
	require.Len(t, kinds, 5, "every kind was compared: %v", kinds)
}

// buildBtreeLike builds the row's operation and gives the page that the real
// server imaged, if it did. What it did not image had been imaged before.
func buildBtreeLike(t *testing.T, m *wal.MTR, op string, length int, image bool, desc string) *page.Page {
	const later = 1 << 41 // LSN of a page that needs no image
	switch op {
	case "NEWROOT":
		root, child := indexLeaf(t, 0, 0, 0), wal.BtreePage{}
		level := uint32(0)
		if desc == "lev 1" {
			level, root, child = 1, indexInner(t, 0, 1, 2), indexAt(1, indexLeaf(t, 0, 2, 3))
		}
		wal.BtreeNewRoot(m, 8, indexAt(3, root), child, indexAt(0, metaPage(3, level)), level)
		return nil
	case "INSERT_LEAF":
		size := 16
		if !image {
			size = length - 48
		}
		p := indexLeaf(t, 0, 0, 0)
		require.True(t, p.InsertItemAt(1, indexTuple(size, 1, page.TID{})))
		wal.BtreeInsert(m, 8, indexAt(1, p), 1, wal.BtreePage{})
		return p
	case "INSERT_UPPER":
		p, child := indexInner(t, 0, 1, 2), indexLeaf(t, 0, 2, 3)
		child.SetLSN(later)
		wal.BtreeInsert(m, 8, indexAt(3, p), 2, indexAt(1, child))
		return p
	case "SPLIT_R":
		var level, first, off int
		_, err := fmt.Sscanf(desc, "level %d, firstrightoff %d, newitemoff %d", &level, &first, &off)
		require.NoError(t, err)
		var left, next *page.Page
		if off == 408 { // at the end of a rightmost leaf of 407 entries
			left = indexLeaf(t, 0, 0, 407)
		} else {
			left, next = indexLeaf(t, 0, 9, 406), indexLeaf(t, 1, 0, 3)
		}
		args, _ := splitLeaf(t, left, next, uint16(first), uint16(off), false)
		left.SetLSN(later)
		wal.BtreeSplit(m, args)
		return next
	case "VACUUM":
		p := indexLeaf(t, 0, 2, 300)
		wal.BtreeVacuum(m, indexAt(1, p), make([]uint16, 36))
		return p
	}
	t.Fatalf("no builder for %s", op)
	return nil
}

// The lengths of records that the real server's cases have none of follow from
// its structs (access/nbtxlog.h).
func TestBtreeLengthsByStruct(t *testing.T) {
	leaf, parent, left, right := indexLeaf(t, 1, 3, 0), indexInner(t, 0, 1, 2, 3), indexLeaf(t, 0, 2, 2), indexLeaf(t, 2, 0, 2)
	for _, c := range []struct {
		name   string
		length int
		build  func(m *wal.MTR)
	}{
		{"Btree/VACUUM", 24 + 20 + 2*3 + 2 + 4, func(m *wal.MTR) { wal.BtreeVacuum(m, indexAt(2, left), []uint16{1, 2, 3}) }},
		{"Btree/DELETE", 24 + 20 + 2*3 + 2 + 8, func(m *wal.MTR) { wal.BtreeDelete(m, indexAt(2, left), 9, []uint16{1, 2, 3}) }},
		{"Btree/MARK_PAGE_HALFDEAD", 24 + 20 + 8 + 2 + 20, func(m *wal.MTR) {
			wal.BtreeHalfDead(m, indexAt(2, leaf), indexAt(4, parent), 2, 1, 3, page.NoBlock)
		}},
		{"Btree/UNLINK_PAGE", 24 + 20 + 8 + 8 + 2 + 36, func(m *wal.MTR) {
			wal.BtreeUnlink(m, wal.BtreeUnlinkArgs{Target: indexAt(2, leaf), Left: indexAt(1, left), Right: indexAt(3, right)})
		}},
		{"Btree/REUSE_PAGE", 24 + 2 + 24, func(m *wal.MTR) { wal.BtreeReuse(m, page.ID{Rel: indexRel, Block: 2}, 9) }},
	} {
		var m wal.MTR
		c.build(&m)
		m.Build(0)
		rec := decodeBuilt(t, &m)
		require.Equal(t, c.name, wal.OpName(rec.Rmgr, rec.Info))
		require.EqualValues(t, c.length, rec.Len, c.name)
	}
}

// redoOn replays a built record on the pages as they were before, by block.
func redoOn(t require.TestingT, m *wal.MTR, before, after map[uint32]*page.Page) {
	m.Build(0)
	rec := decodeBuilt(t, m)
	for _, ref := range rec.Pages(nil) {
		p := before[ref.ID.Block]
		if p == nil {
			p = new(page.Page)
		}
		changed, err := wal.Apply(rec, ref.Block, p)
		require.NoError(t, err)
		require.True(t, changed)
		require.NoError(t, page.ValidateIndex(ref.ID, p))
		want := *after[ref.ID.Block]
		want.SetLSN(rec.End)
		off, n := want.Hole()
		clear(want[off : off+n])
		require.Equal(t, want, *p, "%v of %v", ref.ID, rec)
	}
}

func clone(p *page.Page) *page.Page { c := *p; return &c }

// Redo of every record makes the pages that the operations made.
func TestBtreeRedo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m wal.MTR
		n := rapid.IntRange(3, 40).Draw(t, "n")
		next := uint32(rapid.SampledFrom([]int{0, 9}).Draw(t, "next"))
		leaf := indexLeaf(t, 0, next, n)
		q, _ := leaf.IndexOpaque()
		before := map[uint32]*page.Page{1: clone(leaf)}
		after := map[uint32]*page.Page{1: leaf}
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			off := uint16(rapid.IntRange(int(q.First()), int(leaf.MaxOffset())+1).Draw(t, "off"))
			require.True(t, leaf.InsertItemAt(off, indexTuple(16, 3, page.TID{Block: 5, Offset: 5})))
			wal.BtreeInsert(&m, 8, indexAt(1, leaf), off, wal.BtreePage{})
		case 1:
			var offs []uint16
			for off := q.First(); off <= leaf.MaxOffset(); off++ {
				if rapid.Bool().Draw(t, "dead") {
					offs = append(offs, off)
				}
			}
			require.True(t, leaf.DeleteIndexItems(offs))
			wal.BtreeVacuum(&m, indexAt(1, leaf), offs)
		default:
			first := uint16(rapid.IntRange(int(q.First())+1, int(leaf.MaxOffset())).Draw(t, "first"))
			off := uint16(rapid.IntRange(int(q.First()), int(leaf.MaxOffset())+1).Draw(t, "off"))
			onLeft := off < first || off == first && rapid.Bool().Draw(t, "left")
			var sib *page.Page
			if next != 0 {
				sib = indexLeaf(t, 1, 0, 2)
				before[next], after[next] = clone(sib), sib
			}
			args, right := splitLeaf(t, leaf, sib, first, off, onLeft)
			after[2] = right
			wal.BtreeSplit(&m, args)
		}
		redoOn(t, &m, before, after)
	})
}

// Redo of the records that touch several levels.
func TestBtreeRedoOfLevels(t *testing.T) {
	var m wal.MTR
	flagged := indexLeaf(t, 0, 2, 3)
	flagged.SetIndexFlags(page.IndexIncomplete, true)
	clear := func(p *page.Page) *page.Page { p = clone(p); p.SetIndexFlags(page.IndexIncomplete, false); return p }

	inner := indexInner(t, 0, 1, 5)
	grown := clone(inner)
	require.True(t, grown.InsertItemAt(2, indexInner(t, 0, 4, 2).Item(2)))
	wal.BtreeInsert(&m, 8, indexAt(3, grown), 2, indexAt(1, clear(flagged)))
	redoOn(t, &m, map[uint32]*page.Page{3: clone(inner), 1: clone(flagged)}, map[uint32]*page.Page{3: grown, 1: clear(flagged)})

	root, meta := indexInner(t, 0, 1, 2), metaPage(3, 1)
	root.SetIndexFlags(page.IndexRoot, true)
	wal.BtreeNewRoot(&m, 8, indexAt(3, root), indexAt(1, clear(flagged)), indexAt(0, meta), 1)
	redoOn(t, &m, map[uint32]*page.Page{1: clone(flagged)}, map[uint32]*page.Page{3: root, 1: clear(flagged), 0: meta})

	parent, leaf := indexInner(t, 0, 1, 2, 4), indexLeaf(t, 1, 4, 0)
	moved, dead := clone(parent), clone(leaf)
	require.True(t, moved.MoveDownlink(2))
	require.EqualValues(t, 4, moved.IndexTuple(2).Block())
	dead.MakeHalfDead(1, 4, page.NoBlock)
	wal.BtreeHalfDead(&m, indexAt(2, dead), indexAt(3, moved), 2, 1, 4, page.NoBlock)
	redoOn(t, &m, map[uint32]*page.Page{3: clone(parent)}, map[uint32]*page.Page{3: moved, 2: dead})

	left, right := indexLeaf(t, 0, 2, 3), indexLeaf(t, 2, 0, 3)
	l, r, gone, below := clone(left), clone(right), new(page.Page), new(page.Page)
	l.SetIndexOpaque(page.IndexOpaque{Next: 4, Flags: page.IndexLeaf})
	r.SetIndexOpaque(page.IndexOpaque{Prev: 1, Flags: page.IndexLeaf})
	gone.MakeDeleted(1, 4, 0, 77)
	below.MakeHalfDead(6, 7, page.NoBlock)
	wal.BtreeUnlink(&m, wal.BtreeUnlinkArgs{Target: indexAt(2, gone), Left: indexAt(1, l), Right: indexAt(4, r), SafeXID: 77,
		Leaf: indexAt(5, below), LeafPrev: 6, LeafNext: 7, LeafTop: page.NoBlock})
	redoOn(t, &m, map[uint32]*page.Page{1: left, 4: right}, map[uint32]*page.Page{1: l, 4: r, 2: gone, 5: below})
	require.EqualValues(t, 77, gone.SafeXID())
}

// Redo refuses records that do not fit the page, names both, and leaves the
// page alone.
func TestBtreeRedoErrors(t *testing.T) {
	heap := tablePage(t, []byte("0123456789abcdef"), 2)
	leaf, small := indexLeaf(t, 0, 2, 3), indexLeaf(t, 0, 2, 1)
	deleted := new(page.Page)
	deleted.MakeDeleted(1, 2, 0, 0)
	var m wal.MTR
	for _, c := range []struct {
		want  string
		block int
		on    *page.Page
		build func()
	}{
		{"no page with index tuples", 0, heap, func() { wal.BtreeInsert(&m, 8, indexAt(1, leaf), 2, wal.BtreePage{}) }},
		{"no page with index tuples", 0, deleted, func() { wal.BtreeVacuum(&m, indexAt(1, leaf), []uint16{2}) }},
		{"no place for an index tuple of 16 bytes at item 4: 2 items", 0, small, func() { wal.BtreeInsert(&m, 8, indexAt(1, leaf), 4, wal.BtreePage{}) }},
		{"item 4 of 2 cannot be deleted", 0, small, func() { wal.BtreeVacuum(&m, indexAt(1, leaf), []uint16{2, 4}) }},
		{"item 2 of 4 cannot be deleted, or not in this order", 0, leaf, func() { wal.BtreeVacuum(&m, indexAt(1, leaf), []uint16{2, 2}) }},
		{"no split to finish", 1, leaf, func() { wal.BtreeInsert(&m, 8, indexAt(3, leaf), 2, indexAt(1, leaf)) }},
		{"no downlinks at items 2 and the next, of 2", 1, small, func() { wal.BtreeHalfDead(&m, indexAt(2, leaf), indexAt(3, leaf), 2, 0, 2, 1) }},
		{"block data has no index tuple at byte 0", 0, leaf, func() {
			m.Reset(wal.RmgrBtree, wal.InfoBtreeNewRoot, 8)
			m.SetMain([]byte{1, 0, 0, 0, 1, 0, 0, 0})
			m.Touch(0, indexAt(1, leaf).ID, leaf, wal.WillInit)
			m.AddData(0, make([]byte, 16))
		}},
		{"operation 60 is not replayed", 0, leaf, func() {
			m.Reset(wal.RmgrBtree, wal.InfoBtreeDedup, 8)
			m.Touch(0, indexAt(1, leaf).ID, leaf, 0)
		}},
	} {
		c.build()
		m.Build(0)
		rec := decodeBuilt(t, &m)
		p := clone(c.on)
		changed, err := wal.Apply(rec, c.block, p)
		require.False(t, changed)
		require.ErrorContains(t, err, c.want)
		require.Equal(t, *c.on, *p)
	}
	rec := decodeBuilt(t, &m)
	_, err := rec.BtreeSplit()
	require.ErrorContains(t, err, "main data of 0 bytes, want 10")
}
