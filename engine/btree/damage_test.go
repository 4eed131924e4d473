package btree

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/compute/computetest"
	"tornpage/engine/host"
	"tornpage/engine/page"
)

// withTree runs f on a tree of three levels, keys 0, 10, 20 to 390.
func withTree(t require.TestingT, f func(b *boot)) {
	run(t, func(m host.Machine) {
		b := start(m, &computetest.Mem{}, 100, 0, Config{ItemsPerPage: 4})
		for i := range int64(40) {
			if err := b.tree.Insert(7, tupleOf(nil, 10*i, 0), page.TID{Block: uint32(i), Offset: 1}); err != nil {
				panic(err)
			}
		}
		f(b)
	})
}

// damage changes a page in the pool.
func (b *boot) damage(block uint32, f func(p *page.Page)) {
	fr, err := b.pg.Pool().Pin(page.ID{Rel: testRel, Block: block})
	if err != nil {
		panic(err)
	}
	fr.Lock()
	fr.MarkDirty()
	f(fr.Page())
	fr.Unlock()
	b.pg.Pool().Unpin(fr)
}

func relinked(change func(q *page.IndexOpaque)) func(p *page.Page) {
	return func(p *page.Page) { relink(p, change) }
}

// The check says what is wrong with a damaged tree. Blocks 1, 2, 4, 5 are the
// first leaves, 3 is the first page above them.
func TestCheckFinds(t *testing.T) {
	for want, c := range map[string]struct {
		block uint32
		f     func(p *page.Page)
	}{
		"block 2, LSN":                            {2, func(p *page.Page) { *p = page.Page{} }},
		"item 3 is not above item 2":              {2, func(p *page.Page) { a, b := p.ItemID(2), p.ItemID(3); p.SetItemID(2, b); p.SetItemID(3, a) }},
		"item 5 is above the high key":            {1, func(p *page.Page) { copy(p.Item(1)[8:], tupleOf(nil, 15, 0)[8:]) }},
		"left sibling 1, want 2":                  {4, relinked(func(q *page.IndexOpaque) { q.Prev = 1 })},
		"left sibling 0, want 1":                  {2, relinked(func(q *page.IndexOpaque) { q.Prev = 0 })},
		"it has no downlink":                      {3, func(p *page.Page) { p.DeleteIndexItems([]uint16{3}) }},
		"a downlink to level 0 leads there":       {3, func(p *page.Page) { p.IndexTuple(3).SetBlock(5) }},
		"below the key of the next downlink":      {1, func(p *page.Page) { copy(p.Item(1)[8:], tupleOf(nil, 35, 0)[8:]) }},
		"above the key of the next downlink":      {3, func(p *page.Page) { copy(p.Item(3)[8:], tupleOf(nil, 35, 0)[8:]) }},
		"is not above the high key of the page":   {2, func(p *page.Page) { copy(p.Item(2)[8:], tupleOf(nil, 15, 0)[8:]) }},
		"flags 0105, level 0, in the chain":       {2, func(p *page.Page) { p.MakeDeleted(1, 4, 0, 0) }},
		"no page leads to it, and it is not free": {2, func(p *page.Page) { relink(p, func(q *page.IndexOpaque) { q.Next = 5 }) }},
		"pivot 3 has 2 key attributes, want 1":    {3, func(p *page.Page) { p.IndexTuple(3)[4] = 2 }},
		"it is being deleted, yet has a downlink": {2, func(p *page.Page) { p.MakeHalfDead(1, 4, page.NoBlock) }},
		"unfinished split true":                   {1, func(p *page.Page) { p.SetIndexFlags(page.IndexIncomplete, true) }},
		"as this boot remembers":                  {0, func(p *page.Page) { p[page.HeaderSize+8] = 1 }},
		"no metapage of an index":                 {0, func(p *page.Page) { p[page.HeaderSize] = 1 }},
		"to a page that was met before":           {4, relinked(func(q *page.IndexOpaque) { q.Next = 1 })},
		"special area at 8192":                    {5, func(p *page.Page) { p.Init(0) }},
	} {
		var before, after []string
		withTree(t, func(b *boot) {
			_, before = b.findings()
			b.damage(c.block, c.f)
			_, after = b.findings()
		})
		require.Empty(t, before)
		require.Contains(t, strings.Join(after, "\n"), want)
	}
}

// Whatever a damaged page holds, operations end with an answer or an error that
// names a page.
func TestDamageGivesErrors(t *testing.T) {
	errors := 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "n")
		type change struct {
			block uint32
			at    int
			value []byte
		}
		var changes []change
		for range n {
			c := change{block: uint32(rapid.IntRange(0, 20).Draw(t, "block"))}
			// Most bytes of a page are hole: aim at header, line pointers, items, special area.
			c.at = rapid.OneOf(rapid.IntRange(24, 56), rapid.IntRange(8030, 8191), rapid.IntRange(8176, 8191), rapid.IntRange(12, 17)).Draw(t, "at")
			c.value = rapid.SliceOfN(rapid.Byte(), 1, 8).Draw(t, "value")
			changes = append(changes, c)
		}
		withTree(t, func(b *boot) {
			for _, c := range changes {
				b.damage(c.block, func(p *page.Page) {
					old := *p
					copy(p[c.at:], c.value)
					if err := page.Verify(page.ID{Rel: testRel, Block: c.block}, p, false); err != nil && !old.IsZero() {
						*p = old // storage would not have given it
					}
				})
			}
			b.tree.known = false // the metapage is read again
			errors += useDamaged(b)
		})
	})
	require.NotZero(t, errors)
}

func useDamaged(b *boot) (errors int) {
	count := func(err error) {
		if err != nil {
			errors++
		}
	}
	_, err := b.tree.Check(func(Finding) {})
	count(err)
	for i := range int64(40) {
		_, err := b.tree.Lookup(tupleOf(nil, 10*i, 0), nil)
		count(err)
	}
	for _, desc := range []bool{false, true} {
		c := b.tree.Scan(Range{Desc: desc})
		for n := 0; ; n++ {
			_, _, ok, err := c.Next()
			count(err)
			if !ok {
				break
			}
			if n > 10_000 {
				panic("the scan has no end")
			}
		}
		c.Close()
	}
	for i := range int64(20) {
		count(b.tree.Insert(7, tupleOf(nil, 20*i+1, 0), page.TID{Block: uint32(i), Offset: 2}))
	}
	_, err = b.tree.Vacuum(func(id page.TID) bool { return id.Block%3 != 0 })
	count(err)
	_, err = b.tree.Check(func(Finding) {})
	count(err)
	return errors
}
