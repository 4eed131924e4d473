package wal_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// An update over two pages whose bits lie on two map pages implies both, and
// each is told apart by its block index.
func TestUpdateImpliesTwoMapPages(t *testing.T) {
	oldID, newID := page.ID{Rel: heapRel, Block: 1}, page.ID{Rel: heapRel, Block: page.VMBlocks + 7}
	oldP, newP := tablePage(t, []byte("data"), 1), tablePage(t, []byte("data"), 1)
	var m wal.MTR
	var vms [2]page.Page
	wal.HeapUpdate(&m, 0, wal.UpdateArgs{XID: 8, Old: oldID, New: newID, OldPage: oldP, NewPage: newP, OldOff: 1, NewOff: 1,
		Flags: wal.AllVisibleCleared | wal.NewAllVisibleCleared})
	for i := range vms {
		page.InitVM(&vms[i])
		wal.ImplyVM(&m, 2+i, page.ID{Rel: page.Rel(heapRel).VM(), Block: uint32(i)}, &vms[i])
	}
	m.Build(1 << 40)
	require.False(t, m.Stale(1<<41), "map pages need no image")
	r := decodeBuilt(t, &m)
	require.Len(t, r.Blocks, 2)
	require.Equal(t, []wal.PageRef{
		{ID: newID, Block: 0, Init: true}, {ID: oldID, Block: 1, Init: true},
		{ID: page.ID{Rel: page.Rel(heapRel).VM(), Block: 1}, Block: wal.ImpliedBlock},
		{ID: page.ID{Rel: page.Rel(heapRel).VM(), Block: 0}, Block: wal.ImpliedBlock - 1},
	}, r.Pages(nil))
	m.Stamp(r.End)

	for i, heap := range []page.ID{newID, oldID} {
		var p page.Page
		page.InitVM(&p)
		for b := range uint32(9) {
			page.VMSet(&p, heap.Block/page.VMBlocks*page.VMBlocks+b, page.VMAllVisible|page.VMAllFrozen)
		}
		changed, err := wal.Apply(r, wal.ImpliedBlock-i, &p)
		require.NoError(t, err)
		require.True(t, changed)
		id := page.VMID(heap.Rel, heap.Block)
		require.Equal(t, r.End, page.LSNOf(id, &p))
		require.Equal(t, r.End, page.LSNOf(id, &vms[i]))
		for b := range uint32(9) {
			block := heap.Block/page.VMBlocks*page.VMBlocks + b
			require.Equal(t, block == heap.Block, page.VMGet(&p, block) == 0, "block %d", block)
		}
	}
	_, err := wal.Apply(r, wal.ImpliedBlock-2, new(page.Page))
	require.ErrorContains(t, err, "implies no page 2")
}

// A lock that was logged by somebody who freezes clears that bit alone.
func TestLockClearsFrozenOnly(t *testing.T) {
	id := page.ID{Rel: heapRel, Block: 5}
	var m wal.MTR
	wal.HeapLock(&m, 8, id, tablePage(t, []byte("data"), 1), 1)
	m.Build(0)
	r := decodeBuilt(t, &m)
	require.Len(t, r.Pages(nil), 1)
	r.Main[7] = 1
	refs := r.Pages(nil)
	require.Len(t, refs, 2)
	require.True(t, refs[1].Implied())
	var p page.Page
	page.InitVM(&p)
	page.VMSet(&p, 5, page.VMAllVisible|page.VMAllFrozen)
	_, err := wal.Apply(r, refs[1].Block, &p)
	require.NoError(t, err)
	require.Equal(t, page.VMAllVisible, page.VMGet(&p, 5))
}

// A transaction's end changes the status pages of all its XIDs, each listed
// once, whatever pages its subtransactions lie on.
func TestXactTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xid := rapid.Uint32Range(3, 4*page.StatusXIDs).Draw(t, "xid")
		near := rapid.Uint32Range(3, 5*page.StatusXIDs)
		subs := sortedDistinct(rapid.SliceOfN(near, 0, 30).Draw(t, "subs"))
		aborted := rapid.Bool().Draw(t, "aborted")
		var m wal.MTR
		want := wal.XactRec{Status: page.Committed, Time: 77}
		if wal.CommitTree(&m, xid, subs, 77); aborted {
			wal.AbortTree(&m, xid, subs, 77)
			want.Status = page.Aborted
		}
		m.Build(0)
		r := decodeBuilt(t, &m)
		x, err := r.Xact()
		require.NoError(t, err)
		require.Equal(t, want.Status, x.Status)
		require.Equal(t, want.Time, x.Time)
		require.Equal(t, len(subs), x.Subs.Len())
		all := map[uint32]bool{xid: true}
		for i, sub := range subs {
			require.Equal(t, sub, x.Subs.At(i))
			all[sub] = true
		}
		seen := map[page.ID]bool{}
		for _, ref := range r.Pages(nil) {
			require.False(t, seen[ref.ID], "%v twice", ref.ID)
			seen[ref.ID] = true
			var p page.Page
			page.InitStatus(&p)
			_, err := wal.Apply(r, ref.Block, &p)
			require.NoError(t, err)
			require.Equal(t, r.End, page.LSNOf(ref.ID, &p))
			for x := ref.ID.Block * page.StatusXIDs; x < (ref.ID.Block+1)*page.StatusXIDs; x++ {
				if all[x] != (page.Status(&p, x) == want.Status) {
					t.Fatalf("xid %d: %v", x, page.Status(&p, x))
				}
			}
		}
		for x := range all {
			require.True(t, seen[page.StatusID(x)], "page of %d", x)
		}
	})
}

func sortedDistinct(xs []uint32) (out []uint32) {
	set := map[uint32]bool{}
	for _, x := range xs {
		set[x] = true
	}
	for x := uint32(0); len(out) < len(set); x++ {
		if set[x] {
			out = append(out, x)
		}
	}
	return out
}

func TestBadXactTree(t *testing.T) {
	var m wal.MTR
	wal.CommitTree(&m, 8, []uint32{9, 11}, 1)
	m.Build(0)
	good := decodeBuilt(t, &m)
	for want, spoil := range map[string]func(b []byte) []byte{
		"main data of 12 bytes, want 16":          func(b []byte) []byte { return b[:12] },
		"says by 0x3 what it contains, want 0x2":  func(b []byte) []byte { b[8] = 3; return b },
		"3 subtransactions in 8 bytes":            func(b []byte) []byte { b[12] = 3; return b },
		"1073741826 subtransactions in 8 bytes":   func(b []byte) []byte { b[15] = 0x40; return b },
		"0 subtransactions in 0 bytes":            func(b []byte) []byte { b[12] = 0; return b[:16] },
		"subtransaction 11 after 11, want ascend": func(b []byte) []byte { b[16] = 11; return b },
	} {
		r := good.Clone()
		r.Main = spoil(r.Main)
		_, err := r.Xact()
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "Transaction/COMMIT at 0/200")
		refs := r.Pages(nil)
		require.Len(t, refs, 1, "its own status page")
		var p, before page.Page
		_, err = wal.Apply(r, refs[0].Block, &p)
		require.ErrorContains(t, err, want)
		require.Equal(t, before, p)
	}
	require.Panics(t, func() { wal.CommitTree(&m, 8, []uint32{9, 9}, 1) })
}

// A visibility map page is named as the relation's fork 2, and decodes back.
func TestForkOfTheMap(t *testing.T) {
	heap, vmID := page.ID{Rel: heapRel, Block: 3}, page.VMID(heapRel, 3)
	var m wal.MTR
	var vm page.Page
	page.InitVM(&vm)
	p := tablePage(t, []byte("data"), 1)
	for _, init := range []bool{true, false} {
		wal.HeapVisible(&m, heap, p, vmID, &vm, 99, page.VMAllVisible)
		m.Build(0)
		r := decodeBuilt(t, &m)
		require.EqualValues(t, 59, r.Len)
		require.Equal(t, []wal.PageRef{{ID: vmID, Block: 0, Init: init}, {ID: heap, Block: 1}}, r.Pages(nil))
		require.EqualValues(t, 2, r.Blocks[0].Fork)
		require.EqualValues(t, 0, r.Blocks[1].Fork)
		require.Equal(t, "0/200 Heap2/VISIBLE xid 0 len 59, rel 16384 vm block 0, rel 16384 block 3", r.String())
		h, err := r.HeapVisible()
		require.NoError(t, err)
		require.Equal(t, wal.HeapVisibleRec{Cutoff: 99, Bits: page.VMAllVisible}, h)
		m.Stamp(r.End)
	}
	m.Reset(wal.RmgrHeap, 0, 1)
	m.Touch(0, page.ID{Rel: 1 << 31, Block: 1}, p, 0)
	m.Build(0)
	b, _ := m.Finish(0, 0)
	b[wal.RecordHeader+4+11] = 0x80 // the relation's top bit
	fixCRC(b)
	_, _, err := wal.Decode(b, 0x200, 0)
	require.ErrorContains(t, err, "record at 0/200, byte 36: relation 2147483648, want below 2147483648")

	b[wal.RecordHeader+4+11], b[wal.RecordHeader+1] = 0, 1
	fixCRC(b)
	r, _, err := wal.Decode(b, 0x200, 0)
	require.NoError(t, err)
	require.Empty(t, r.Pages(nil), "a fork that is not ours")
	_, err = wal.Apply(&r, 0, new(page.Page))
	require.ErrorContains(t, err, "fork 1, want 0 or 2")
}

// Redo of VISIBLE needs no old map page, sets bits whatever the map page's LSN
// says, and refuses what does not belong together.
func TestVisibleRedo(t *testing.T) {
	heap, vmID := page.ID{Rel: heapRel, Block: 3}, page.VMID(heapRel, 3)
	var m wal.MTR
	var vm page.Page
	page.InitVM(&vm)
	wal.HeapVisible(&m, heap, tablePage(t, []byte("data"), 1), vmID, &vm, 99, page.VMAllVisible)
	m.Build(0)
	good := decodeBuilt(t, &m)

	var p page.Page
	_, err := wal.Apply(good, 0, &p)
	require.NoError(t, err)
	require.Equal(t, page.VMAllVisible, page.VMGet(&p, 3))
	page.Seal(vmID, &p, true)
	require.NoError(t, page.Verify(vmID, &p, true))

	page.Stamp(vmID, &vm, good.End)
	wal.HeapVisible(&m, heap, tablePage(t, []byte("data"), 1), vmID, &vm, 99, page.VMAllVisible)
	m.Build(0)
	later := decodeBuilt(t, &m)
	page.VMSet(&p, 3, 0) // torn: the part with the bit is old, that with the LSN new
	page.Stamp(vmID, &p, 0x9999)
	_, err = wal.Apply(later, 0, &p)
	require.NoError(t, err)
	require.Equal(t, page.VMAllVisible, page.VMGet(&p, 3))
	require.Equal(t, wal.LSN(0x9999), page.LSNOf(vmID, &p), "only rises")

	for want, spoil := range map[string]func(r *wal.Record){
		"bits 04 of the visibility map":             func(r *wal.Record) { r.Main[4] = 4 },
		"bits 00 of the visibility map":             func(r *wal.Record) { r.Main[4] = 0 },
		"main data of 4 bytes, want 5":              func(r *wal.Record) { r.Main = r.Main[:4] },
		"want on rel 16384 vm block 1":              func(r *wal.Record) { r.Blocks[1].ID.Block = page.VMBlocks },
		"1 block references, want block 0 and":      func(r *wal.Record) { r.Blocks = r.Blocks[:1] },
		"an image of a page of parts, which has no": func(r *wal.Record) { r.Blocks[0].HasImage = true },
	} {
		r := good.Clone()
		spoil(r)
		_, err := wal.Apply(r, 0, new(page.Page))
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "at 0/200")
	}
}

func TestVisibleMisuse(t *testing.T) {
	heap, vmID := page.ID{Rel: heapRel, Block: 3}, page.VMID(heapRel, 3)
	var m wal.MTR
	var vm, empty page.Page
	empty.Init(0)
	broken := func(rule string, f func()) {
		defer func() {
			v, ok := recover().(*invariant.Violation)
			require.True(t, ok)
			require.Equal(t, rule, v.Rule)
		}()
		f()
	}
	broken("W8", func() { wal.HeapVisible(&m, heap, &empty, vmID, &vm, 1, 1) })
	broken("W6", func() { wal.HeapVisible(&m, heap, tablePage(t, []byte("a"), 1), heap, &vm, 1, 1) })
	broken("W7", func() { wal.ImplyVM(&m, 1, heap, &vm) })
}

func TestHeapVacuumRecord(t *testing.T) {
	p := tablePage(t, []byte("data"), 4)
	require.NoError(t, p.Prune(nil, []uint16{1, 3}, nil))
	before := *p
	id := page.ID{Rel: heapRel}
	require.NoError(t, p.Reclaim([]uint16{1, 3}))
	var m wal.MTR
	wal.HeapVacuum(&m, id, p, []uint16{1, 3})
	m.Build(0)
	r := decodeBuilt(t, &m)
	require.EqualValues(t, 52, r.Len)
	unused, err := r.HeapVacuum()
	require.NoError(t, err)
	require.Equal(t, 2, unused.Len())
	redone := before
	_, err = wal.Apply(r, 0, &redone)
	require.NoError(t, err)
	m.Stamp(r.End)
	require.Equal(t, *p, redone)

	for want, spoil := range map[string]func(r *wal.Record){
		"main data of 1 bytes, want 2":   func(r *wal.Record) { r.Main = r.Main[:1] },
		"block data of 4 bytes, want 6":  func(r *wal.Record) { r.Main[0] = 3 },
		"item 2 of 4 is not a dead line": func(r *wal.Record) { r.Blocks[0].Data[2] = 2 },
		"item 1 of 4 is not a dead line": func(r *wal.Record) { r.Blocks[0].Data[2] = 1 },
		"0 block references, want 1":     func(r *wal.Record) { r.Blocks = nil },
	} {
		r := r.Clone()
		spoil(r)
		page := before
		var err error
		if len(r.Blocks) > 0 {
			_, err = wal.Apply(r, 0, &page)
		} else {
			_, err = r.HeapVacuum()
		}
		require.ErrorContains(t, err, want)
		require.Equal(t, before, page)
	}
}

func TestStorageRecords(t *testing.T) {
	var m wal.MTR
	for _, rel := range []page.Rel{heapRel, page.Rel(heapRel).VM()} {
		wal.Create(&m, rel)
		m.Build(0)
		r := decodeBuilt(t, &m)
		require.EqualValues(t, 42, r.Len)
		got, ok, err := r.Create()
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, rel, got)
		require.Empty(t, r.Pages(nil))
		_, _, ok, err = r.Truncate()
		require.NoError(t, err)
		require.False(t, ok)
		r.Main[12] = 9
		_, _, err = r.Create()
		require.ErrorContains(t, err, "fork 9 of 16384")
	}
	_, _, ok := m.Truncation()
	require.False(t, ok)
	wal.Truncate(&m, heapRel, 77)
	rel, blocks, ok := m.Truncation()
	require.True(t, ok)
	require.EqualValues(t, heapRel, rel)
	require.EqualValues(t, 77, blocks)
	m.Build(0)
	good := decodeBuilt(t, &m)
	require.EqualValues(t, 46, good.Len, "xl_smgr_truncate has 20 bytes")
	require.Equal(t, "Storage/TRUNCATE", wal.OpName(good.Rmgr, good.Info))
	rel, blocks, ok, err := good.Truncate()
	require.NoError(t, err)
	require.True(t, ok)
	require.EqualValues(t, heapRel, rel)
	require.EqualValues(t, 77, blocks)
	require.Empty(t, good.Pages(nil))
	for want, spoil := range map[string]func(r *wal.Record){
		"main data of 19 bytes, want 20": func(r *wal.Record) { r.Main = r.Main[:19] },
		"flags 0x2 for 16384":            func(r *wal.Record) { r.Main[16] = 2 },
		"flags 0x11 for 16384":           func(r *wal.Record) { r.Main[16] = 0x11 },
		"relation 2147500032":            func(r *wal.Record) { r.Main[15] = 0x80 },
	} {
		r := good.Clone()
		spoil(r)
		_, _, _, err := r.Truncate()
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "Storage/TRUNCATE at 0/200")
	}
}
