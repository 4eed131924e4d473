package vacuum

import (
	"fmt"

	"tornpage/engine/buffer"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// read pins a block and calls f under the shared latch.
func (b *boot) read(rel page.Rel, block uint32, f func(p *page.Page) error) error {
	fr, err := b.pg.Pool().Pin(page.ID{Rel: rel, Block: block})
	if err != nil {
		return err
	}
	defer b.pg.Pool().Unpin(fr)
	fr.RLock()
	defer fr.RUnlock()
	return f(fr.Page())
}

// each calls f with every tuple of a relation.
func (b *boot) each(rel page.Rel, f func(at page.TID, t page.Tuple) error) error {
	n, err := b.pg.Blocks(rel)
	if err != nil {
		return err
	}
	for block := range n {
		err := b.read(rel, block, func(p *page.Page) error {
			for off := uint16(1); off <= p.MaxOffset(); off++ {
				if t := p.Tuple(off); t != nil {
					if err := f(page.TID{Block: block, Offset: off}, t); err != nil {
						return err
					}
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

// sees reports whether the snapshot of n commits sees what xid did.
func (b *boot) sees(xid uint32, n int) bool {
	at, ok := b.w.place[xid]
	return ok && at <= n
}

func (b *boot) visible(t page.Tuple, n int) bool {
	return b.sees(t.Xmin(), n) && (t.Infomask()&page.XmaxInvalid != 0 || !b.sees(t.Xmax(), n))
}

// find looks a key up in the snapshot of n commits: by an index that how
// draws, or by reading the whole table.
func (b *boot) find(key int64, n, how int) (tid page.TID, value int64, found bool, err error) {
	take := func(at page.TID, t page.Tuple) error {
		k, v := rowOf(t)
		if k != key || !b.visible(t, n) {
			return nil
		}
		if found {
			return fmt.Errorf("key %d is at %v and at %v in the snapshot of %d commits", key, tid, at, n)
		}
		tid, value, found = at, v, true
		return nil
	}
	if how = how / 2 % (b.w.indexes + 1); how == b.w.indexes {
		return tid, value, found, b.orFirst(b.each(tableRel, take), err)
	}
	var roots []page.TID
	err = b.each(indexRel(how), func(_ page.TID, t page.Tuple) error {
		if k, root := entryOf(t); k == key {
			roots = append(roots, root)
		}
		return nil
	})
	for _, root := range roots {
		if err == nil {
			err = b.read(tableRel, root.Block, func(p *page.Page) error { return chain(p, root, take) })
		}
	}
	return tid, value, found, err
}

func (b *boot) orFirst(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// chain calls f with the versions of the HOT chain from root.
func chain(p *page.Page, root page.TID, f func(at page.TID, t page.Tuple) error) error {
	off, prior := root.Offset, uint32(0)
	redirected := p.ItemID(off).Flags() == page.Redirect
	if redirected {
		off = uint16(p.ItemID(off).Offset())
	}
	for {
		t := p.Tuple(off)
		if t == nil || prior != 0 && t.Xmin() != prior {
			return nil
		}
		if prior == 0 && !redirected && t.Infomask2()&page.HeapOnly != 0 {
			return nil // the line pointer is used again
		}
		if err := f(page.TID{Block: root.Block, Offset: off}, t); err != nil {
			return err
		}
		if t.Infomask2()&page.HotUpdated == 0 {
			return nil
		}
		off, prior = t.Ctid().Offset, t.Xmax()
	}
}

// toyIndex is one index as vacuum sees it.
type toyIndex struct {
	b *boot
	i int
}

// Vacuum implements Index.
func (x *toyIndex) Vacuum(dead func(page.TID) bool) (s IndexStats, err error) {
	b := x.b
	n, err := b.pg.Blocks(indexRel(x.i))
	if err != nil {
		return s, err
	}
	for block := range n {
		id := page.ID{Rel: indexRel(x.i), Block: block}
		err := b.on(id, func(f, _ *buffer.Frame) error {
			var offs []uint16
			for off := uint16(1); off <= f.Page().MaxOffset(); off++ {
				t := f.Page().Tuple(off)
				if t == nil {
					continue
				}
				if _, tid := entryOf(t); dead(tid) {
					offs = append(offs, off)
				} else {
					s.Left++
				}
			}
			if len(offs) == 0 {
				return nil
			}
			s.Removed += uint64(len(offs))
			f.MarkDirty()
			if err := f.Page().Prune(nil, nil, offs); err != nil {
				return err
			}
			m := b.pg.MTR()
			defer b.pg.Done(m)
			wal.HeapPrune(m, id, f.Page(), 0, nil, nil, offs)
			_, err := b.pg.Append(m)
			return err
		})
		if err != nil {
			return s, err
		}
	}
	return s, nil
}
