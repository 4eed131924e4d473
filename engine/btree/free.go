package btree

import (
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// freePage is a page that may be made anew once every operation under way has
// begun after its deletion (rule X6).
type freePage struct {
	block uint32
	after uint64 // the epoch since when no operation is led to it
}

// unlinked enters a page that is being unlinked. Its neighbours are latched, so
// that an operation that begins from now on is not led to it.
func (t *Tree) unlinked(block uint32) {
	t.epoch++
	t.free = append(t.free, freePage{block, t.epoch})
}

// giveBack enters a page that nobody can be on the way to: it was free before
// this boot, or take gave it and nothing was made of it.
func (t *Tree) giveBack(block uint32) {
	t.free = append([]freePage{{block: block}}, t.free...)
}

func (t *Tree) usable(f freePage) bool { return t.first == nil || t.first.began >= f.after }

// take gives a block for a new page, a deleted one if there is one. Nothing is
// latched.
func (t *Tree) take() (uint32, error) {
	for len(t.free) > 0 && t.usable(t.free[0]) {
		f := t.free[0]
		t.free = t.free[:copy(t.free, t.free[1:])]
		ok, err := t.reuse(f.block)
		if err != nil {
			t.free = append([]freePage{f}, t.free...)
			return 0, err
		}
		if ok {
			t.anew++
			return f.block, nil
		}
	}
	id, err := t.pg.Extend(t.rel)
	return id.Block, err
}

// reuse makes sure that a free page is free, and logs that it will be made
// anew. A page of zeros needs no record.
func (t *Tree) reuse(block uint32) (bool, error) {
	f, err := t.pg.Pool().Pin(t.id(block))
	if err != nil {
		return false, err
	}
	f.RLock()
	zero := f.Page().IsZero()
	q, ok := f.Page().IndexOpaque()
	safe := f.Page().SafeXID()
	t.leave(f, shared)
	switch {
	case zero:
		return true, nil
	case !ok || !q.Has(page.IndexDeleted):
		return false, nil
	}
	if err := t.pg.Admit(0, 0); err != nil {
		return false, err
	}
	mtr := t.pg.MTR()
	defer t.pg.Done(mtr)
	wal.BtreeReuse(mtr, t.id(block), safe)
	if _, err := t.pg.Append(mtr); err != nil {
		return false, err
	}
	t.m.Mark("btree.page-reused")
	return true, nil
}
