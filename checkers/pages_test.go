package checkers

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
)

// naive keeps every version whole: the oracle's slow twin.
type naive struct {
	lsns  []page.LSN
	pages []*page.Page // nil: cut off
}

func (n *naive) at(l page.LSN) *page.Page {
	for i := len(n.lsns) - 1; i >= 0; i-- {
		if n.lsns[i] <= l {
			return n.pages[i]
		}
	}
	return nil
}

func TestOracleAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, n := NewOracle(Masking{}), &naive{}
		id := page.ID{Rel: 16384, Block: 2}
		p, lsn, floor := samplePage(), page.LSN(8), page.LSN(0)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 7).Draw(t, "step") {
			case 7: // the same record's page once more
				if k := len(n.lsns); k > 0 && n.lsns[k-1] == lsn && n.pages[k-1] != nil {
					p[rapid.IntRange(24, page.Size-1).Draw(t, "byte")]++
					require.True(t, o.Appended(id, lsn, &p).Green())
					kept := p
					n.pages[k-1] = &kept
				}
			case 6:
				lsn += 8
				blocks := uint32(rapid.IntRange(1, 3).Draw(t, "blocks"))
				require.True(t, o.Truncated(id.Rel, blocks, lsn).Green())
				require.True(t, o.Truncated(id.Rel+1, 0, lsn).Green(), "another relation")
				if blocks <= id.Block && len(n.lsns) > 0 {
					n.lsns, n.pages = append(n.lsns, lsn), append(n.pages, nil)
				}
			case 0, 1, 2:
				lsn += 8
				for range rapid.IntRange(0, 4).Draw(t, "bytes") {
					p[rapid.IntRange(24, page.Size-1).Draw(t, "byte")]++
				}
				p.SetLSN(lsn)
				require.True(t, o.Appended(id, lsn, &p).Green())
				kept := p
				n.lsns, n.pages = append(n.lsns, lsn), append(n.pages, &kept)
			case 3:
				end := page.LSN(rapid.Uint64Range(uint64(floor), uint64(lsn)).Draw(t, "end"))
				o.Crashed(end)
				for len(n.lsns) > 0 && n.lsns[len(n.lsns)-1] > end {
					n.lsns, n.pages = n.lsns[:len(n.lsns)-1], n.pages[:len(n.pages)-1]
				}
			case 4:
				floor = max(floor, lsn-min(lsn, 24))
				o.Forget(floor)
			case 5:
				at := page.LSN(rapid.Uint64Range(uint64(floor), uint64(lsn)).Draw(t, "at"))
				want := n.at(at)
				require.True(t, o.Check(id, at, want).Green(), "%v", at)
				if want == nil {
					require.Equal(t, Broken, o.Check(id, at, &p).Result)
					continue
				}
				bad := *want
				bad[rapid.IntRange(8100, page.Size-1).Draw(t, "flipped")] ^= 1
				v := o.Check(id, at, &bad)
				require.Equal(t, Broken, v.Result)
				require.NotEmpty(t, v.Details)
			}
		}
	})
}

// No bytes, however foreign, make the oracle panic; a difference that is not
// masked is never missed.
func FuzzOracle(f *testing.F) {
	f.Add([]byte{0, 24, 1}, uint16(8100), byte(1))
	f.Add([]byte{0, 12, 255, 0, 13, 31}, uint16(24), byte(255))
	f.Fuzz(func(t *testing.T, edits []byte, at uint16, flip byte) {
		p := samplePage()
		for i := 0; i+2 < len(edits); i += 3 {
			p[(int(edits[i])<<8|int(edits[i+1]))%page.Size] = edits[i+2]
		}
		for _, l := range []Layout{Heap, Index, Raw, Standard} {
			o := NewOracle(Masking{Hints: true, Layout: func(page.ID) Layout { return l }})
			require.True(t, o.Appended(page.ID{}, 8, &p).Green())
			require.True(t, o.Check(page.ID{}, 8, &p).Green())
			bad := p
			bad[int(at)%page.Size] ^= flip
			v := o.Check(page.ID{}, 8, &bad)
			if l == Raw && flip != 0 {
				require.Equal(t, Broken, v.Result)
			}
		}
	})
}

func TestIndexHints(t *testing.T) {
	p := samplePage()
	le.PutUint16(p[atUpper:], 8100)
	le.PutUint16(p[atSpecial:], page.Size-btSpecial)
	for i := page.Size - btSpecial; i < page.Size; i++ {
		p[i] = 0
	}
	p[page.Size-btSpecial+atBTFlags] = btLeaf
	le.PutUint32(p[atItems:], 8130|itemNormal<<15|16<<17)
	id := page.ID{Rel: 2}
	o := NewOracle(Masking{Hints: true})
	require.True(t, o.Appended(id, 8, &p).Green())

	hinted := p
	le.PutUint32(hinted[atItems:], 8130|itemDead<<15|16<<17)
	hinted[page.Size-btSpecial+atBTFlags] |= btHasGarbage
	require.True(t, o.Check(id, 8, &hinted).Green())

	moved := p
	moved[page.Size-btSpecial+4] = 9
	require.Contains(t, o.Check(id, 8, &moved).What, "special area, right sibling): want 00000000, got 00000009")
	strict := NewOracle(Masking{})
	require.True(t, strict.Appended(id, 8, &p).Green())
	require.Contains(t, strict.Check(id, 8, &hinted).What, "line pointer 1")
}

func TestOlderWholeVersionIsNamed(t *testing.T) {
	id, p := page.ID{Rel: 3}, samplePage()
	o := NewOracle(Masking{})
	p.SetLSN(8)
	require.True(t, o.Appended(id, 8, &p).Green())
	old := p
	p[8150] = 1
	p.SetLSN(16)
	require.True(t, o.Appended(id, 16, &p).Green())
	v := o.Check(id, 16, &old)
	require.Contains(t, v.Details, "the page is whole, but it is the older version at 0/8")
	require.Equal(t, page.LSN(16), o.Latest(id))
}

// Only a leaf's line pointers have hints: elsewhere, and in a metapage's
// content, the same bits count.
func TestHintsOfLeavesOnly(t *testing.T) {
	p := samplePage()
	le.PutUint16(p[atUpper:], 8100)
	le.PutUint16(p[atSpecial:], page.Size-btSpecial)
	clear(p[page.Size-btSpecial:])
	le.PutUint32(p[atItems:], 8130|itemNormal<<15|16<<17)
	o := NewOracle(Masking{Hints: true})
	id := page.ID{Rel: 16385}
	require.True(t, o.Appended(id, 8, &p).Green())
	le.PutUint32(p[atItems:], 8130|itemDead<<15|16<<17)
	require.Contains(t, o.Check(id, 8, &p).What, "line pointer 1")
}

// Map pages and status pages are compared to the bit, whatever they look like.
func TestPagesOfPartsAreRaw(t *testing.T) {
	for _, id := range []page.ID{page.VMID(16384, 5), page.StatusID(5)} {
		o, p := NewOracle(Masking{Hints: true}), samplePage()
		require.True(t, o.Appended(id, 8, &p).Green())
		require.True(t, o.Check(id, 8, &p).Green())
		for _, at := range []int{atChecksum, atPrune, 4000} {
			bad := p
			bad[at] ^= 1
			require.Contains(t, o.Check(id, 8, &bad).What, "(raw)")
		}
	}
}

// What is cut off by an older record than one that changed it was appended out
// of order.
func TestCutOutOfOrder(t *testing.T) {
	o, p := NewOracle(Masking{}), samplePage()
	for b := range uint32(4) {
		require.True(t, o.Appended(page.ID{Rel: 16384, Block: b}, 24, &p).Green())
	}
	v := o.Truncated(16384, 2, 16)
	require.Equal(t, "pages broken: rel 16384 block 2 cut off at 0/10 after 0/18", v.String())
}
