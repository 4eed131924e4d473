package page_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
)

func TestForks(t *testing.T) {
	rel := page.Rel(16384)
	vm := rel.VM()
	require.True(t, vm.IsVM())
	require.False(t, rel.IsVM())
	require.Equal(t, vm, vm.VM())
	require.Equal(t, rel, vm.Main())
	require.Equal(t, rel, rel.Main())
	require.True(t, vm.HasParts())
	require.True(t, page.StatusRel.HasParts())
	require.False(t, rel.HasParts())
	require.Equal(t, "rel 16384 vm block 3", page.ID{Rel: vm, Block: 3}.String())
	require.Equal(t, "rel 16384 block 3", page.ID{Rel: rel, Block: 3}.String())
	require.True(t, page.ID{Rel: rel, Block: 9}.Less(page.ID{Rel: vm}))
	require.Equal(t, page.ID{Rel: vm, Block: 2}, page.VMID(rel, 2*page.VMBlocks+5))
}

// Every block has bits of its own, and they outlive Seal.
func TestVMPlaces(t *testing.T) {
	id := page.VMID(16384, page.VMBlocks)
	var p page.Page
	require.Zero(t, page.VMGet(&p, 7), "of a page of zeros")
	page.InitVM(&p)
	page.Stamp(id, &p, 0xAABBCCDD)
	for b := range uint32(page.VMBlocks) {
		page.VMSet(&p, b, page.VMAllVisible|page.VMAllFrozen)
		page.VMSet(&p, b, uint8(b%3))
	}
	page.Seal(id, &p, false)
	require.NoError(t, page.Verify(id, &p, true))
	for b := range uint32(page.VMBlocks) {
		require.Equal(t, uint8(b%3), page.VMGet(&p, page.VMBlocks+b))
	}
	require.Equal(t, page.LSN(0xAABBCCDD), page.LSNOf(id, &p))
}

// A page of one kind is none of the other, nor one of a heap.
func TestVMIsNoStatusPage(t *testing.T) {
	vm, status := page.VMID(16384, 0), page.StatusID(0)
	var p page.Page
	require.ErrorIs(t, page.Verify(vm, &p, false), page.ErrNew)
	page.InitVM(&p)
	page.Seal(vm, &p, false)
	require.ErrorContains(t, page.Verify(status, &p, false), "rel 1 block 0, LSN 0/0: status part 0: magic 4d56 part 0, want 5854 part 0")
	page.InitStatus(&p)
	page.Seal(status, &p, false)
	require.ErrorContains(t, page.Verify(vm, &p, false), "rel 16384 vm block 0, LSN 0/0: visibility map part 0: magic 5854")
	page.InitVM(&p)
	page.Seal(vm, &p, false)
	p[700]++
	require.ErrorContains(t, page.Verify(vm, &p, false), "visibility map part 1 of 16: checksum")
}

// Rule P3 for map pages: a mixture of two versions, with what came between
// done again, is the new one.
func TestTornVMPage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := page.VMID(16384, 0)
		var old page.Page
		page.InitVM(&old)
		page.Seal(id, &old, true)
		renewed := old
		changes := rapid.SliceOfN(rapid.Uint32Range(0, page.VMBlocks-1), 1, 40).Draw(t, "changes")
		replay := func(p *page.Page) {
			for i, b := range changes {
				page.VMSet(p, b, uint8(i%2)) // set and cleared
			}
			page.Stamp(id, p, 0x2000)
			page.Seal(id, p, true)
		}
		replay(&renewed)
		torn := old
		for at := 0; at < page.Size; at += 512 {
			if rapid.Bool().Draw(t, "new") {
				copy(torn[at:at+512], renewed[at:at+512])
			}
		}
		require.NoError(t, page.Verify(id, &torn, false))
		replay(&torn)
		require.Equal(t, renewed, torn)
	})
}

// Reclaim makes dead line pointers unused and drops those at the end.
func TestReclaim(t *testing.T) {
	p := heapPage(t, 5)
	require.NoError(t, p.Prune(nil, []uint16{1, 3, 4, 5}, nil))
	before := *p
	for _, bad := range [][]uint16{{1, 2}, {3, 3}, {1, 6}, {0}} {
		require.ErrorContains(t, p.Reclaim(bad), "is not a dead line pointer")
		require.Equal(t, before, *p)
	}
	require.NoError(t, p.Reclaim([]uint16{4, 5}))
	require.EqualValues(t, 3, p.MaxOffset())
	require.Zero(t, p.Flags()&page.HasFreeLines)
	require.NoError(t, p.Reclaim([]uint16{1}))
	require.EqualValues(t, 3, p.MaxOffset())
	require.NotZero(t, p.Flags()&page.HasFreeLines)
	require.Equal(t, page.Dead, p.ItemID(3).Flags())
	require.NoError(t, page.ValidateItems(heapID, p))

	all := heapPage(t, 2)
	require.NoError(t, all.Prune(nil, []uint16{1, 2}, nil))
	require.NoError(t, all.Reclaim([]uint16{1, 2}))
	require.EqualValues(t, 1, all.MaxOffset(), "the first line pointer stays, as in PostgreSQL")
	require.NotZero(t, all.Flags()&page.HasFreeLines)
}
