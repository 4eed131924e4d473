package btree

import (
	"errors"
	"fmt"

	"tornpage/engine/page"
)

// Finding is one thing that is wrong with an index.
type Finding struct {
	ID     page.ID
	LSN    page.LSN
	Reason string
}

// String names the place and what is wrong.
func (f Finding) String() string {
	return fmt.Sprintf("%v, LSN %v: %s; rebuild the index", f.ID, f.LSN, f.Reason)
}

// CheckPage reports what is wrong with one page by itself: its form, the order
// of its items, the high key. No bytes make it panic. cmp orders keys; attrs is
// the number of key columns.
func CheckPage(id page.ID, p *page.Page, cmp func(a, b []byte) int, attrs int, report func(Finding)) {
	found := func(format string, args ...any) {
		report(Finding{id, p.LSN(), fmt.Sprintf(format, args...)})
	}
	err := page.Verify(id, p, false)
	if err == nil {
		err = page.ValidateIndex(id, p)
	}
	if c := (*page.Corrupt)(nil); errors.As(err, &c) {
		found("%s", c.Reason)
		return
	} else if err != nil {
		found("%v", err)
		return
	}
	q, _ := p.IndexOpaque()
	if q.Has(page.IndexMetaPage | page.IndexDeleted | page.IndexHalfDead) {
		return
	}
	for off := uint16(1); off <= p.MaxOffset(); off++ {
		if it := p.IndexTuple(off); it.Pivot() && it.Attrs() != 0 && it.Attrs() != attrs {
			found("pivot %d has %d key attributes, want %d", off, it.Attrs(), attrs)
		}
	}
	var before *key
	first := q.First()
	if q.Level > 0 {
		first++
	}
	for off := first; off <= p.MaxOffset(); off++ {
		it := p.IndexTuple(off)
		if before != nil && before.compare(it) >= 0 {
			found("item %d is not above item %d", off, off-1)
		}
		before = &key{tuple: it, cmp: cmp, rank: rankAt(it)}
	}
	if q.Next != 0 && before != nil && before.compare(p.IndexTuple(1)) > 0 {
		found("item %d is above the high key", p.MaxOffset())
	}
}
