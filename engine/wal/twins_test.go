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
	far    bool // the second page's bits are on another map page
	doVM   [2]page.Page
	redoVM [2]page.Page
}

func (w *twins) id(block int) page.ID {
	if block == 1 && w.far {
		return page.ID{Rel: heapRel, Block: page.VMBlocks + 1}
	}
	return page.ID{Rel: heapRel, Block: uint32(block)}
}

// redone is the redo path's page.
func (w *twins) redone(id page.ID) *page.Page {
	if id.Rel.IsVM() {
		return &w.redoVM[id.Block]
	}
	if id == w.id(0) {
		return &w.redo[0]
	}
	return &w.redo[1]
}

// vm is the map page of a block, made if need be.
func (w *twins) vm(block int) (page.ID, *page.Page) {
	id := page.VMID(heapRel, w.id(block).Block)
	p := &w.doVM[id.Block]
	if p.IsZero() {
		page.InitVM(p)
	}
	return id, p
}

// clear clears what says that the page is all-visible; the record's flag.
func (w *twins) clear(block int, flag uint8) uint8 {
	if w.do[block].Flags()&page.AllVisible == 0 {
		return 0
	}
	w.do[block].SetFlag(page.AllVisible, false)
	_, p := w.vm(block)
	page.VMSet(p, w.id(block).Block, 0)
	return flag
}

// imply declares the map pages of the blocks whose flag is set.
func (w *twins) imply(flags ...uint8) {
	slot, last := 2, page.ID{}
	for block, flag := range flags {
		if id, p := w.vm(block); flag != 0 && id != last {
			wal.ImplyVM(&w.m, slot, id, p)
			slot, last = slot+1, id
		}
	}
}

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
		p := w.redone(ref.ID)
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
		require.Equal(t, ref.ID.Rel.HasParts(), changed, "a delta is applied once, but for pages of parts")
		require.Equal(t, *p, again)
	}
	for i := range w.do {
		requireSamePage(t, &w.do[i], &w.redo[i])
		id := page.ID{Rel: page.Rel(heapRel).VM(), Block: uint32(i)}
		if page.LSNOf(id, &w.doVM[i]) > 0 {
			require.Equal(t, w.doVM[i], w.redoVM[i], "%v", id)
		}
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
	off, ok := p.InsertTuple(w.id(block).Block, 0, page.NewTuple(nil, w.xid, 0, 3, data))
	if !ok {
		t.Skip("full")
	}
	flags := w.clear(block, wal.AllVisibleCleared)
	wal.HeapInsert(&w.m, w.xid, w.id(block), p, off, flags, init)
	w.imply(only(block, flags)...)
	w.log(t)
}

func (w *twins) delete(t *rapid.T) {
	block := rapid.IntRange(0, 1).Draw(t, "block")
	off := w.pick(t, block)
	if off == 0 {
		t.Skip("empty")
	}
	require.True(t, w.do[block].DeleteTuple(w.id(block).Block, off, page.Xmax{XID: w.xid, Infomask2: page.KeysUpdated}))
	flags := w.clear(block, wal.AllVisibleCleared)
	wal.HeapDelete(&w.m, w.xid, w.id(block), &w.do[block], off, flags)
	w.imply(only(block, flags)...)
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
	require.True(t, w.do[block].LockTuple(w.id(block).Block, off, page.Xmax{XID: w.xid, Infomask: mask}))
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
	newOff, ok := newP.InsertTuple(w.id(to).Block, 0, tup)
	if !ok {
		t.Skip("full")
	}
	u.NewOff = newOff
	oldP.SupersedeTuple(off, page.Xmax{XID: w.xid}, page.TID{Block: w.id(to).Block, Offset: newOff}, u.Hot)
	var cleared [2]uint8
	cleared[from] = w.clear(from, wal.AllVisibleCleared)
	if to != from {
		cleared[to] = w.clear(to, wal.NewAllVisibleCleared)
	}
	u.Flags = cleared[0] | cleared[1]
	wal.HeapUpdate(&w.m, w.floor(), u)
	w.imply(cleared[:]...)
	w.log(t)
}

// only gives flags to one of the two blocks.
func only(block int, flags uint8) []uint8 {
	out := make([]uint8, 2)
	out[block] = flags
	return out
}

// vacuum gives up some dead line pointers.
func (w *twins) vacuum(t *rapid.T) {
	block := rapid.IntRange(0, 1).Draw(t, "block")
	p := &w.do[block]
	var dead []uint16
	for off := range p.MaxOffset() + 1 {
		if p.ItemID(off).Flags() == page.Dead && rapid.IntRange(0, 3).Draw(t, "leave") > 0 {
			dead = append(dead, off)
		}
	}
	if len(dead) == 0 {
		t.Skip("nothing is dead")
	}
	require.NoError(t, p.Reclaim(dead))
	wal.HeapVacuum(&w.m, w.id(block), p, dead)
	w.log(t)
}

// visible marks a page all-visible.
func (w *twins) visible(t *rapid.T) {
	block := rapid.IntRange(0, 1).Draw(t, "block")
	p := &w.do[block]
	if w.pick(t, block) == 0 {
		t.Skip("empty")
	}
	p.SetFlag(page.AllVisible, true)
	id, vm := w.vm(block)
	page.VMSet(vm, w.id(block).Block, page.VMAllVisible)
	wal.HeapVisible(&w.m, w.id(block), p, id, vm, w.xid, page.VMAllVisible)
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
		w := &twins{at: 0x4028, xid: 700, far: rapid.Bool().Draw(t, "far")}
		t.Repeat(map[string]func(*rapid.T){
			"insert": w.insert, "insert again": w.insert, "delete": w.delete, "lock": w.lock,
			"update": w.update, "update again": w.update, "prune": w.prune, "inplace": w.inplace,
			"vacuum": w.vacuum, "visible": w.visible, "visible again": w.visible,
			"checkpoint": func(t *rapid.T) { w.images = !w.images },
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

// slowEnds counts byte by byte.
func slowEnds(a, b []byte) (prefix, suffix int) {
	const least = 3
	n := min(len(a), len(b))
	for prefix < n && a[prefix] == b[prefix] {
		prefix++
	}
	if prefix < least {
		prefix = 0
	}
	for suffix < n-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	if suffix < least {
		suffix = 0
	}
	return prefix, suffix
}

// TestSharedEndsAgainstSlowTwin: eight bytes at a time find the same ends.
func TestSharedEndsAgainstSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.SampledFrom([]byte{0, 0, 0, 0, 0, 0, 0, 1})
		a := rapid.SliceOfN(few, 0, 40).Draw(t, "a")
		b := rapid.SliceOfN(few, 0, 40).Draw(t, "b")
		if rapid.Bool().Draw(t, "alike") {
			b = append([]byte{}, a...)
			for range rapid.IntRange(0, 2).Draw(t, "changes") {
				if len(b) > 0 {
					b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= 0x80
				}
			}
		}
		prefix, suffix := slowEnds(a, b)
		p, s := wal.SharedEnds(a, b)
		require.Equal(t, [2]int{prefix, suffix}, [2]int{p, s}, "%x %x", a, b)
	})
}
