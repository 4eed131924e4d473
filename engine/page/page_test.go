package page_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
)

// fill makes a page of a repeated pattern.
func fill(pattern ...byte) *page.Page {
	var p page.Page
	copy(p[:], bytes.Repeat(pattern, page.Size/len(pattern)))
	return &p
}

// Known answers: PostgreSQL's own regression test of page_checksum
// (contrib/pageinspect/expected/checksum.out, 8 KiB, little endian), which
// prints them as signed 16-bit numbers.
func TestChecksumIsPostgreSQLs(t *testing.T) {
	pages := []*page.Page{fill(0x01), fill(0x04), fill(0xff), fill(0xab, 0xcd), fill(0xe6, 0xd6), fill(0x4a, 0x5e)}
	want := map[uint32][6]int16{
		0:   {1175, 28338, 3612, -30781, -16269, -27377},
		50:  {1225, 28352, 3598, -30795, -16251, -27391},
		100: {1139, 28438, 3648, -30881, -16305, -27349},
	}
	for block, row := range want {
		for i, p := range pages {
			require.Equal(t, row[i], int16(page.ComputeChecksum(block, p)), "block %d, page %d", block, i)
		}
	}
}

// The fast sum in registers against the definition, one lane at a time.
func TestChecksumAgainstPlainLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p page.Page
		copy(p[:], rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "head"))
		copy(p[4000:], rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "middle"))
		block := rapid.Uint32().Draw(t, "block")
		before := p
		require.Equal(t, plainChecksum(block, p), page.ComputeChecksum(block, &p))
		require.Equal(t, before, p, "computing changes nothing")
	})
}

func plainChecksum(block uint32, p page.Page) uint16 {
	p[8], p[9] = 0, 0
	word := func(i int) uint32 {
		return uint32(p[4*i]) | uint32(p[4*i+1])<<8 | uint32(p[4*i+2])<<16 | uint32(p[4*i+3])<<24
	}
	sums := page.ChecksumSeeds()
	for i := range page.Size/4 + 64 {
		v := uint32(0)
		if i < page.Size/4 {
			v = word(i)
		}
		s := sums[i%32] ^ v
		sums[i%32] = s*16777619 ^ s>>17
	}
	x := block
	for _, s := range sums {
		x ^= s
	}
	return uint16(x%65535 + 1)
}

func TestNames(t *testing.T) {
	require.Equal(t, "0/1FD8", page.LSN(0x1FD8).String())
	require.Equal(t, "0/0", page.LSN(0).String())
	require.Equal(t, "1A/F00000", page.LSN(0x1A00F00000).String())
	require.Equal(t, "rel 16384 block 7", page.ID{Rel: 16384, Block: 7}.String())
	require.Equal(t, "(7,1)", page.TID{Block: 7, Offset: 1}.String())
	require.True(t, page.ID{Rel: 1, Block: 9}.Less(page.ID{Rel: 2}))
	require.False(t, page.ID{Rel: 2}.Less(page.ID{Rel: 1, Block: 9}))
}

func TestHeader(t *testing.T) {
	var p page.Page
	p.Init(13)
	require.Equal(t, page.Size-16, p.Special(), "the special area is rounded up")
	require.Len(t, p.SpecialArea(), 16)
	off, n := p.Hole()
	require.Equal(t, 24, off)
	require.Equal(t, page.Size-16-24, n)
	require.Equal(t, n-4, p.Free())

	p.SetLSN(0x1_0203_0405)
	require.Equal(t, page.LSN(0x1_0203_0405), p.LSN())
	require.Equal(t, []byte{1, 0, 0, 0, 5, 4, 3, 2}, p[:8], "high half first, as PostgreSQL stores it")

	p.NotePrunable(100)
	p.NotePrunable(200)
	require.EqualValues(t, 100, p.PruneXID())
	p.NotePrunable(50)
	require.EqualValues(t, 50, p.PruneXID())

	p.SetFlag(page.AllVisible, true)
	p.SetFlag(page.PageFull, true)
	p.SetFlag(page.AllVisible, false)
	require.Equal(t, page.PageFull, p.Flags())
}

var heapID = page.ID{Rel: 16384, Block: 7}

func heapPage(t require.TestingT, tuples int) *page.Page {
	var p page.Page
	p.Init(0)
	for i := range tuples {
		tup := page.NewTuple(nil, 700+uint32(i), 0, 2, bytes.Repeat([]byte{byte(i)}, 20+i%30))
		_, ok := p.InsertTuple(7, 0, tup)
		require.True(t, ok)
	}
	p.SetLSN(0x1FD8)
	return &p
}

func TestSealAndVerify(t *testing.T) {
	p := heapPage(t, 5)
	page.Seal(heapID, p, true)
	require.NoError(t, page.Verify(heapID, p, true))
	require.NoError(t, page.Verify(heapID, p, false))
	require.NoError(t, page.ValidateItems(heapID, p))

	require.ErrorIs(t, page.Verify(heapID, new(page.Page), true), page.ErrNew)

	moved := page.Verify(page.ID{Rel: 16384, Block: 8}, p, true)
	require.Error(t, moved, "the block number is in the sum: a misdirected write shows")

	p[8190] ^= 1
	err := page.Verify(heapID, p, true)
	var c *page.Corrupt
	require.ErrorAs(t, err, &c)
	require.Equal(t, heapID, c.ID)
	require.Equal(t, page.LSN(0x1FD8), c.LSN)
	require.NotEqual(t, c.Want, c.Got)
	require.Regexp(t, `^rel 16384 block 7, LSN 0/1FD8: checksum [0-9a-f]{4}, want [0-9a-f]{4}; rebuild`, err.Error())
	require.NoError(t, page.Verify(heapID, p, false), "without checksums nobody can know")
}

func TestVerifyHeaderSanity(t *testing.T) {
	for name, breakIt := range map[string]func(p *page.Page){
		"lower above upper":     func(p *page.Page) { p.SetLower(8100) },
		"lower in the header":   func(p *page.Page) { p.SetLower(20) },
		"lower cuts a pointer":  func(p *page.Page) { p.SetLower(26) },
		"upper above special":   func(p *page.Page) { p[16], p[17] = 0, 8 },
		"upper not aligned":     func(p *page.Page) { p.SetUpper(uint16(p.Upper() - 1)) },
		"special above size":    func(p *page.Page) { p[17] = 0xFF },
		"version":               func(p *page.Page) { p[18] = 5 },
		"unknown flags":         func(p *page.Page) { p.SetFlags(0x80) },
		"zeros but for one bit": func(p *page.Page) { *p = page.Page{5000: 1} },
	} {
		p := heapPage(t, 3)
		breakIt(p)
		var c *page.Corrupt
		require.ErrorAs(t, page.Verify(heapID, p, false), &c, name)
		require.False(t, errors.Is(c, page.ErrNew))
	}
}

func TestValidateItems(t *testing.T) {
	for name, breakIt := range map[string]func(p *page.Page){
		"beyond the end":      func(p *page.Page) { p.SetItemID(2, page.MakeItemID(8184, page.Normal, 40)) },
		"into the hole":       func(p *page.Page) { p.SetItemID(2, page.MakeItemID(4096, page.Normal, 40)) },
		"not aligned":         func(p *page.Page) { p.SetItemID(2, page.MakeItemID(p.Upper()+1, page.Normal, 40)) },
		"too short":           func(p *page.Page) { p.SetItemID(2, page.MakeItemID(p.Upper(), page.Normal, 22)) },
		"unused with storage": func(p *page.Page) { p.SetItemID(2, page.MakeItemID(p.Upper(), page.Unused, 40)) },
		"redirect to nothing": func(p *page.Page) { p.SetItemID(2, page.MakeItemID(77, page.Redirect, 0)) },
		"same item twice":     func(p *page.Page) { p.SetItemID(2, p.ItemID(3)) },
		"hoff beyond item":    func(p *page.Page) { p.Tuple(2).SetHoff(248) },
		"hoff not aligned":    func(p *page.Page) { p.Tuple(2).SetHoff(25) },
		"attributes":          func(p *page.Page) { p.Tuple(2).SetInfomask2(2000) },
	} {
		p := heapPage(t, 3)
		require.NoError(t, page.ValidateItems(heapID, p))
		breakIt(p)
		var c *page.Corrupt
		require.ErrorAs(t, page.ValidateItems(heapID, p), &c, name)
		t.Log(c)
	}
	p := heapPage(t, 3)
	p.SetItemID(1, page.MakeItemID(3, page.Redirect, 0))
	p.SetItemID(2, page.MakeItemID(0, page.Dead, 0))
	require.NoError(t, page.ValidateItems(heapID, p))
}

func TestTuple(t *testing.T) {
	p := heapPage(t, 2)
	tup := p.Tuple(2)
	require.Equal(t, page.TID{Block: 7, Offset: 2}, tup.Ctid())
	require.EqualValues(t, 701, tup.Xmin())
	require.Zero(t, tup.Xmax())
	require.Equal(t, page.XmaxInvalid, tup.Infomask())
	require.EqualValues(t, 2, tup.Infomask2()&page.AttsMask)
	require.Equal(t, bytes.Repeat([]byte{1}, 21), tup.Data())
	tup.SetCtid(page.TID{Block: 0x12345678, Offset: 9})
	require.Equal(t, page.TID{Block: 0x12345678, Offset: 9}, tup.Ctid())
	require.Nil(t, p.Tuple(0))
	require.Nil(t, p.Tuple(3))
	require.Equal(t, 291, page.MaxHeapTuples)
	require.Equal(t, 8160, page.MaxTupleSize)
}

func TestHeapOperations(t *testing.T) {
	p := heapPage(t, 3)
	x := page.Xmax{XID: 900, Cid: 4, Infomask: page.XmaxExclusive | page.XmaxLockOnly}
	require.True(t, p.LockTuple(7, 1, x))
	require.True(t, p.Tuple(1).LockedOnly())

	require.True(t, p.SupersedeTuple(1, page.Xmax{XID: 901}, page.TID{Block: 7, Offset: 3}, true))
	require.Equal(t, page.TID{Block: 7, Offset: 3}, p.Tuple(1).Ctid())
	require.NotZero(t, p.Tuple(1).Infomask2()&page.HotUpdated)
	require.Zero(t, p.Tuple(1).Infomask()&page.XmaxBits, "the lock's bits are gone")
	require.EqualValues(t, 901, p.PruneXID())

	require.True(t, p.DeleteTuple(7, 2, page.Xmax{XID: 902, Infomask2: page.KeysUpdated}))
	require.NotZero(t, p.Tuple(2).Infomask2()&page.KeysUpdated)
	require.EqualValues(t, 902, p.Tuple(2).Xmax())

	require.False(t, p.DeleteTuple(7, 4, x))
	require.False(t, p.LockTuple(7, 4, x))
	require.False(t, p.SupersedeTuple(4, x, page.TID{}, false))
	_, ok := p.InsertTuple(7, 0, page.Tuple{1, 2, 3})
	require.False(t, ok, "three bytes are no tuple")

	before := *p
	require.Error(t, p.Prune([]uint16{1, 3}, []uint16{9}, nil))
	require.Error(t, p.Prune([]uint16{1}, nil, nil))
	require.Equal(t, before, *p, "a refused prune changes nothing")

	kept := bytes.Clone(p.Item(3))
	require.NoError(t, p.Prune([]uint16{1, 3}, []uint16{2}, nil))
	require.Equal(t, page.Redirect, p.ItemID(1).Flags())
	require.Equal(t, 3, p.ItemID(1).Offset())
	require.Equal(t, page.Dead, p.ItemID(2).Flags())
	require.Equal(t, kept, p.Item(3))
	require.NoError(t, page.ValidateItems(heapID, p))
	require.NoError(t, p.Prune(nil, nil, []uint16{2}))
	require.NotZero(t, p.Flags()&page.HasFreeLines)
	off, ok := p.InsertTuple(7, 0, page.NewTuple(nil, 1, 0, 1, []byte("x")))
	require.True(t, ok)
	require.EqualValues(t, 2, off, "the lowest free line pointer is used again")
}
