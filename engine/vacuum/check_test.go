package vacuum

import (
	"fmt"

	"tornpage/engine/page"
)

// check holds a table that nobody changes against the model: every row of
// every snapshot that is held, and of the present one, by every index and by
// reading the table; every entry; the map.
func (b *boot) check() error {
	snaps := []int{len(b.w.states) - 1}
	for n := range b.held { //tornvet:ordered each is checked on its own
		snaps = append(snaps, n)
	}
	for _, n := range snaps {
		for how := range b.w.indexes + 1 {
			if err := b.checkRows(n, 2*how); err != nil {
				return err
			}
		}
	}
	for i := range b.w.indexes {
		if err := b.checkEntries(i); err != nil {
			return fmt.Errorf("index %d: %w", i, err)
		}
	}
	return b.checkMap()
}

func (b *boot) checkRows(n, how int) error {
	for key := range int64(keySpace) {
		_, got, found, err := b.find(key, n, how)
		if err != nil {
			return err
		}
		want, there := b.w.states[n][key]
		if found != there || got != want {
			return fmt.Errorf("key %d in the snapshot of %d commits by way %d: %d (found %t), want %d (%t)", key, n, how, got, found, want, there)
		}
	}
	return nil
}

// checkEntries is rule V1: each entry leads to a dead line pointer or to the
// root of a chain of its key.
func (b *boot) checkEntries(i int) error {
	type entry struct {
		key int64
		tid page.TID
	}
	var all []entry
	err := b.each(indexRel(i), func(_ page.TID, t page.Tuple) error {
		key, tid := entryOf(t)
		all = append(all, entry{key, tid})
		return nil
	})
	if err != nil {
		return err
	}
	blocks, err := b.pg.Blocks(tableRel)
	if err != nil {
		return err
	}
	for _, e := range all {
		if e.tid.Block >= blocks {
			return fmt.Errorf("entry of key %d leads to %v, the table has %d blocks", e.key, e.tid, blocks)
		}
		err := b.read(tableRel, e.tid.Block, func(p *page.Page) error {
			id := p.ItemID(e.tid.Offset)
			if id.Flags() == page.Dead {
				return nil
			}
			if id.Flags() == page.Redirect {
				id = p.ItemID(uint16(id.Offset()))
			} else if t := p.Tuple(e.tid.Offset); t != nil && t.Infomask2()&page.HeapOnly != 0 {
				return fmt.Errorf("entry of key %d leads to %v, a version that no index may lead to", e.key, e.tid)
			}
			if id.Flags() != page.Normal {
				return fmt.Errorf("entry of key %d leads to %v, which is unused", e.key, e.tid)
			}
			t := page.Tuple(p[id.Offset() : id.Offset()+id.Len()])
			if key, _ := rowOf(t); key != e.key {
				return fmt.Errorf("entry of key %d leads to %v, a row of key %d", e.key, e.tid, key)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkMap is rules V3 and V4.
func (b *boot) checkMap() error {
	blocks, err := b.pg.Blocks(tableRel)
	if err != nil {
		return err
	}
	for block := range blocks {
		var bit uint8
		id := page.VMID(tableRel, block)
		if err := b.read(id.Rel, id.Block, func(p *page.Page) error { bit = page.VMGet(p, block); return nil }); err != nil {
			return err
		}
		err := b.read(tableRel, block, func(p *page.Page) error {
			flag := p.Flags()&page.AllVisible != 0
			if flag != (bit&page.VMAllVisible != 0) {
				return fmt.Errorf("block %d: flag all-visible %t, bits on the map %02b", block, flag, bit)
			}
			if !flag {
				return nil
			}
			for off := uint16(1); off <= p.MaxOffset(); off++ {
				if p.ItemID(off).Flags() == page.Dead {
					return fmt.Errorf("block %d is all-visible and has a dead line pointer %d", block, off)
				}
				t := p.Tuple(off)
				if t == nil {
					continue
				}
				for n := range b.held { //tornvet:ordered each is checked on its own
					if !b.visible(t, n) {
						return fmt.Errorf("block %d item %d is all-visible but not to the snapshot of %d commits", block, off, n)
					}
				}
				if !b.visible(t, len(b.w.states)-1) {
					return fmt.Errorf("block %d item %d is all-visible but dead", block, off)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkClean holds after a vacuum that nobody disturbed: nothing dead is left,
// all is marked, the tail is cut, and the free-space map promises no more than
// there is; and, if it looked at all blocks, no less.
func (b *boot) checkClean(all bool) error {
	blocks, err := b.pg.Blocks(tableRel)
	if err != nil {
		return err
	}
	if b.free.Len() != blocks {
		return fmt.Errorf("free-space map of %d blocks, the table has %d", b.free.Len(), blocks)
	}
	last := len(b.w.states) - 1
	for block := range blocks {
		err := b.read(tableRel, block, func(p *page.Page) error {
			used, unused := false, false
			for off := uint16(1); off <= p.MaxOffset(); off++ {
				if p.ItemID(off).Flags() == page.Dead {
					return fmt.Errorf("block %d item %d is a dead line pointer", block, off)
				}
				used, unused = used || p.ItemID(off) != 0, unused || p.ItemID(off) == 0
				if t := p.Tuple(off); t != nil && !b.visible(t, last) {
					return fmt.Errorf("block %d item %d is dead", block, off)
				}
			}
			if used != (p.Flags()&page.AllVisible != 0) {
				return fmt.Errorf("block %d: has rows %t, is all-visible %t", block, used, !used)
			}
			if !used && block == blocks-1 {
				return fmt.Errorf("the last block, %d, is empty", block)
			}
			has := p.Free()
			if p.Upper() == 0 {
				has = emptyFree
			} else if int(p.MaxOffset()) >= b.w.lines && !unused {
				has = 0
			}
			if free := b.free.Free(block); free > has {
				return fmt.Errorf("block %d: %d bytes on the free-space map, has %d", block, free, has)
			} else if all && has < 8128 && free+32 <= has {
				return fmt.Errorf("block %d: only %d bytes on the free-space map, has %d", block, free, has)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

const keySpace = 12
