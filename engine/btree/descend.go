package btree

import (
	"tornpage/engine/buffer"
	"tornpage/engine/host"
	"tornpage/engine/page"
)

// payEvery is how many page visits a task makes before it pays for them: a
// scan over cached pages blocks nowhere else.
const payEvery = 16

// latch says how a page is latched.
type latch bool

const (
	shared    latch = false
	exclusive latch = true
)

// visit pins and latches the page block, which must be an index page of the
// given level, perhaps a deleted one.
func (t *Tree) visit(block, level uint32, l latch) (*buffer.Frame, page.IndexOpaque, error) {
	if t.visits++; t.visits%payEvery == 0 {
		t.m.Pay()
	}
	f, err := t.pg.Pool().Pin(t.id(block))
	if err != nil {
		return nil, page.IndexOpaque{}, err
	}
	if l == exclusive {
		f.Lock()
	} else {
		f.RLock()
	}
	t.m.Charge(host.WorkTuple, 1)
	q, ok := f.Page().IndexOpaque()
	switch {
	case !ok || q.Has(page.IndexMetaPage) || q.Has(page.IndexLeaf) != (q.Level == 0):
		err = t.corrupt(f, "special area at %d, flags %04x, level %d, where a page of level %d should be",
			f.Page().Special(), q.Flags, q.Level, level)
	case q.Level != level:
		err = t.corrupt(f, "level %d, want %d", q.Level, level)
	case q.Next == 0 && (q.Ignored() || q.Has(page.IndexIncomplete)), q.Next == block:
		err = t.corrupt(f, "flags %04x with right sibling %d", q.Flags, q.Next)
	case !q.Has(page.IndexDeleted) && f.Page().MaxOffset()+1 < q.First():
		err = t.corrupt(f, "no high key, yet a right sibling %d", q.Next)
	}
	if err != nil {
		t.leave(f, l)
		return nil, q, err
	}
	return f, q, nil
}

// leave unlatches and unpins.
func (t *Tree) leave(f *buffer.Frame, l latch) {
	if l == exclusive {
		f.Unlock()
	} else {
		f.RUnlock()
	}
	t.pg.Pool().Unpin(f)
}

// moveRight visits block and goes right until it is on the page whose range
// holds k: a page's range ends at its high key. It finishes unfinished splits
// on the way if the operation is one that updates (rule X3).
func (t *Tree) moveRight(o *op, k *key, block, level uint32, l latch) (*buffer.Frame, page.IndexOpaque, error) {
	for steps := uint32(0); ; steps++ {
		f, q, err := t.visit(block, level, l)
		if err != nil {
			return nil, q, err
		}
		if o.update && q.Has(page.IndexIncomplete) && !q.Ignored() {
			t.leave(f, l)
			if err := t.finish(o.xid, block, level, true); err != nil {
				return nil, q, err
			}
			continue
		}
		if !q.Ignored() {
			if q.Next == 0 {
				return f, q, nil
			}
			high := f.Page().IndexTuple(1)
			if high == nil {
				err = t.corrupt(f, "the high key is damaged")
			} else if k.compare(high) <= 0 {
				return f, q, nil
			}
		}
		if err == nil && t.lost(steps) {
			err = t.corrupt(f, "right links run in a circle: %d steps", steps)
		}
		t.leave(f, l)
		if err != nil {
			return nil, q, err
		}
		t.m.Mark("btree.moved-right")
		block = q.Next
	}
}

// lost reports more steps to the right than there are pages.
func (t *Tree) lost(steps uint32) bool {
	if steps == 0 {
		return false
	}
	n, err := t.pg.Blocks(t.rel)
	return err == nil && steps > n
}

// descend gives the page of a level whose range holds k, pinned and latched.
// One page is latched at a time (rule X2).
func (t *Tree) descend(o *op, k *key, level uint32, l latch) (*buffer.Frame, page.IndexOpaque, error) {
	if err := t.open(); err != nil {
		return nil, page.IndexOpaque{}, err
	}
	block, at := t.root, t.level
	if level > at {
		return nil, page.IndexOpaque{}, &page.Corrupt{ID: t.id(block), Reason: "index page: it is the root, yet a page on its level has no parent"}
	}
	for ; at > level; at-- {
		f, q, err := t.moveRight(o, k, block, at, shared)
		if err != nil {
			return nil, q, err
		}
		child, err := t.child(f, q, k)
		t.leave(f, shared)
		if err != nil {
			return nil, q, err
		}
		block = child
	}
	return t.moveRight(o, k, block, level, l)
}

// child is the page below whose range holds k.
func (t *Tree) child(f *buffer.Frame, q page.IndexOpaque, k *key) (uint32, error) {
	off, ok := search(f.Page(), q, k)
	if !ok {
		return 0, t.corrupt(f, "a downlink is damaged")
	}
	return t.downlink(f, off-1)
}

// downlink is the page that the item at off leads to.
func (t *Tree) downlink(f *buffer.Frame, off uint16) (uint32, error) {
	d := f.Page().IndexTuple(off)
	if d == nil || !d.Pivot() || d.Block() == 0 || d.Block() == page.NoBlock {
		return 0, t.corrupt(f, "item %d of %d is no downlink", off, f.Page().MaxOffset())
	}
	return d.Block(), nil
}
