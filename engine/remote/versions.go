package remote

import (
	"slices"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// change is what one record does to one page.
type change struct {
	rec   *wal.Record
	block int  // as in wal.PageRef
	cut   bool // a truncation: the page is no more
}

// make makes the next version in p; exists: there is a page now.
func (c *change) make(redo *wal.Redo, p *page.Page) (exists bool, err error) {
	if c.cut {
		*p = page.Page{}
		return false, nil
	}
	_, err = redo.Apply(c.rec, c.block, p)
	return err == nil, err
}

// versions is one page as of any LSN from the floor on: a base, and the
// changes since.
type versions struct {
	id      page.ID
	exists  bool // the base is a page; else there is none before changes
	base    page.Page
	changes []change
}

// fold makes the base the version as of floor.
func (v *versions) fold(redo *wal.Redo, floor wal.LSN) (folded int, err error) {
	n := v.until(floor)
	for i := range v.changes[:n] {
		if v.exists, err = v.changes[i].make(redo, &v.base); err != nil {
			return folded, err
		}
		folded++
	}
	v.changes = slices.Delete(v.changes, 0, n)
	return folded, nil
}

// until is the number of changes at or before at.
func (v *versions) until(at wal.LSN) int {
	n, found := slices.BinarySearchFunc(v.changes, at, func(c change, at wal.LSN) int {
		switch {
		case c.rec.End < at:
			return -1
		case c.rec.End > at:
			return 1
		}
		return 0
	})
	if found {
		n++
	}
	return n
}

// at puts the version as of at into p, and tells whether there is one.
func (v *versions) at(redo *wal.Redo, at wal.LSN, p *page.Page) (exists bool, applied int, err error) {
	n := v.until(at)
	*p, exists = v.base, v.exists
	for i := range v.changes[:n] {
		if exists, err = v.changes[i].make(redo, p); err != nil {
			return false, applied, err
		}
		applied++
	}
	return exists, applied, nil
}

// size is the number of blocks of a relation from an LSN on.
type size struct {
	from   wal.LSN
	blocks uint32
}

// sizeAt is the number of blocks as of at.
func sizeAt(sizes []size, at wal.LSN) uint32 {
	n := uint32(0)
	for _, s := range sizes {
		if s.from > at {
			break
		}
		n = s.blocks
	}
	return n
}
