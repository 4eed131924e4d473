package btree

import (
	"fmt"

	"tornpage/engine/page"
)

// CheckStats is what a check saw.
type CheckStats struct {
	Levels     int
	Pages      int // linked into a level
	Entries    int
	Incomplete int // unfinished splits: allowed
	HalfDead   int // half-dead leaves: allowed
	Free       int // deleted pages and pages of zeros
}

// Check looks at the whole index, on which nothing else works meanwhile, and
// reports what is wrong: pages in themselves, siblings that do not link to each
// other, entries out of order between pages, pages without a downlink or with
// a wrong one, pages that belong to no level. It holds one page at a time, and
// memory in proportion to the internal pages. An error says that a page could
// not be read at all.
func (t *Tree) Check(report func(Finding)) (s CheckStats, err error) {
	if err := t.open(); err != nil {
		return s, err
	}
	blocks, err := t.pg.Blocks(t.rel)
	if err != nil {
		return s, err
	}
	c := checker{t: t, report: report, stats: &s, blocks: blocks, seen: map[uint32]bool{0: true}, doomed: map[uint32]bool{}}
	if err := c.meta(); err != nil {
		return s, err
	}
	if err := c.dooms(); err != nil {
		return s, err
	}
	want := []link{{block: t.root}}
	for level := int64(t.level); level >= 0; level-- {
		s.Levels++
		if want, err = c.level(uint32(level), want); err != nil {
			return s, err
		}
	}
	return s, c.rest()
}

// link is a downlink: the page must have this block, and a range that begins
// above low (nil: with everything).
type link struct {
	block uint32
	low   []byte
}

type checker struct {
	t      *Tree
	report func(Finding)
	stats  *CheckStats
	blocks uint32
	seen   map[uint32]bool // blocks that belong to a level
	doomed map[uint32]bool // internal pages above half-dead leaves: they have no downlink
	p      page.Page
}

// read copies a page.
func (c *checker) read(block uint32) (page.IndexOpaque, error) {
	f, err := c.t.pg.Pool().Pin(c.t.id(block))
	if err != nil {
		return page.IndexOpaque{}, err
	}
	f.RLock()
	c.p = *f.Page()
	c.t.leave(f, shared)
	q, _ := c.p.IndexOpaque()
	return q, nil
}

func (c *checker) found(block uint32, format string, args ...any) {
	c.report(Finding{c.t.id(block), c.p.LSN(), fmt.Sprintf(format, args...)})
}

// checkPage checks the page just read; false: nothing on it can be used.
func (c *checker) checkPage(block uint32) bool {
	good := true
	CheckPage(c.t.id(block), &c.p, c.t.cfg.Compare, c.t.cfg.Attrs, func(f Finding) {
		good = false
		c.report(f)
	})
	return good
}

func (c *checker) meta() error {
	if _, err := c.read(0); err != nil {
		return err
	}
	m, err := c.p.IndexMeta()
	switch {
	case err != nil:
		c.found(0, "%v", err)
	case m.Root != c.t.root || m.Level != c.t.level:
		c.found(0, "root %d on level %d, want %d on %d as this boot remembers", m.Root, m.Level, c.t.root, c.t.level)
	case m.FastLevel > m.Level || m.FastRoot == 0:
		c.found(0, "fast root %d on level %d, below root %d on level %d", m.FastRoot, m.FastLevel, m.Root, m.Level)
	}
	return nil
}

// dooms finds the internal pages that go with half-dead leaves.
func (c *checker) dooms() error {
	for block := uint32(1); block < c.blocks; block++ {
		q, err := c.read(block)
		if err != nil {
			return err
		}
		high := c.p.IndexTuple(1)
		if !q.Has(page.IndexHalfDead) || q.Has(page.IndexDeleted|page.IndexMetaPage) || high == nil {
			continue
		}
		for at := high.Block(); at != page.NoBlock && at != block && !c.doomed[at] && at < c.blocks; {
			if q, err = c.read(at); err != nil {
				return err
			}
			it := c.p.IndexTuple(q.First())
			if q.Level == 0 || it == nil {
				c.found(at, "level %d: half-dead block %d names it as to be deleted", q.Level, block)
				break
			}
			c.doomed[at] = true
			at = it.Block()
		}
	}
	return nil
}

// level walks one level from left to right and holds it against the downlinks
// to it. It gives the downlinks to the next lower level.
func (c *checker) level(level uint32, want []link) (below []link, err error) {
	if len(want) == 0 {
		return nil, nil
	}
	w := walk{c: c, level: level, want: want}
	block, err := c.leftmost(want[0].block)
	if err != nil {
		return nil, err
	}
	for block != 0 {
		if block >= c.blocks || c.seen[block] {
			c.found(block, "a link of level %d leads there: beyond the end of %d blocks, or to a page that was met before", level, c.blocks)
			break
		}
		c.seen[block] = true
		q, err := c.read(block)
		if err != nil {
			return nil, err
		}
		if !c.checkPage(block) {
			break
		}
		root := block == c.t.root && !q.Has(page.IndexIncomplete)
		if q.Level != level || q.Has(page.IndexDeleted|page.IndexMetaPage) || q.Has(page.IndexRoot) != root {
			c.found(block, "flags %04x, level %d, in the chain of level %d of a tree whose root is on level %d", q.Flags, q.Level, level, c.t.level)
			break
		}
		w.page(block, q)
		block = q.Next
	}
	w.end()
	return w.below, nil
}

// leftmost goes from the page of the lowest downlink to the left over pages
// that are being deleted.
func (c *checker) leftmost(block uint32) (uint32, error) {
	for range c.blocks {
		q, err := c.read(block)
		if err != nil || q.Prev == 0 || q.Prev >= c.blocks {
			return block, err
		}
		left, err := c.read(q.Prev)
		if err != nil || !left.Has(page.IndexHalfDead) && !c.doomed[q.Prev] {
			return block, err
		}
		block = q.Prev
	}
	return block, nil
}

// rest counts and reports the pages that belong to no level.
func (c *checker) rest() error {
	for block := uint32(1); block < c.blocks; block++ {
		if c.seen[block] {
			continue
		}
		q, err := c.read(block)
		if err != nil {
			return err
		}
		if !c.p.IsZero() && !q.Has(page.IndexDeleted) {
			c.found(block, "flags %04x, level %d: no page leads to it, and it is not free", q.Flags, q.Level)
			continue
		}
		c.stats.Free++
		if !c.p.IsZero() {
			c.checkPage(block)
		}
	}
	return nil
}
