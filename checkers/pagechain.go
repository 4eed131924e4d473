package checkers

import (
	"sort"

	"tornpage/engine/page"
)

// lineSize is the granule in which older versions are kept: what an update
// changes is the header, a line pointer and a tuple, some four lines.
const lineSize = 64

// firstUndos is the room for undos that a page begins with: some ten changes.
const firstUndos = 32

// chain is the versions of one page: the newest whole, and what each changed.
type chain struct {
	versions []version  // in order of LSN
	newest   *page.Page // content of the last version that was not cut
	// What every version overwrote, so that undoing it gives the one before.
	at   []uint8 // line number
	old  [][lineSize]byte
	base int // of version.undo: undos that were forgotten
}

// version is one page after one mini-transaction.
type version struct {
	lsn  page.LSN
	cut  bool // the page is absent: its relation was cut before it
	undo int  // where its undos begin
}

// last is the LSN of the last version, 0 of an empty chain.
func (c *chain) last() page.LSN {
	if n := len(c.versions); n > 0 {
		return c.versions[n-1].lsn
	}
	return 0
}

// upTo is the number of versions at or below at.
func (c *chain) upTo(at page.LSN) int {
	n := len(c.versions)
	if n > 0 && c.versions[n-1].lsn <= at {
		return n // as most reads ask
	}
	return sort.Search(n, func(i int) bool { return c.versions[i].lsn > at })
}

// append adds a version, or replaces the last one if it has the same LSN.
func (c *chain) append(at page.LSN, p *page.Page) (kept int) {
	n := len(c.versions)
	switch {
	case n == 0:
		c.versions = append(c.versions, version{lsn: at})
		whole := *p
		c.newest = &whole
		c.at, c.old = make([]uint8, 0, firstUndos), make([][lineSize]byte, 0, firstUndos)
		return page.Size
	case c.versions[n-1].lsn == at:
		c.versions[n-1].cut = false
	default:
		c.versions = append(c.versions, version{lsn: at, undo: c.base + len(c.old)})
	}
	for s := 0; s < page.Size; s += sectorSize {
		if *(*[sectorSize]byte)(c.newest[s:]) == *(*[sectorSize]byte)(p[s:]) {
			continue
		}
		for l := s; l < s+sectorSize; l += lineSize {
			was, now := (*[lineSize]byte)(c.newest[l:]), (*[lineSize]byte)(p[l:])
			if *was != *now {
				c.at = append(c.at, uint8(l/lineSize))
				c.old = append(c.old, *was)
				kept += lineSize
				*was = *now
			}
		}
	}
	return kept
}

// cutOff adds a version in which the page is absent.
func (c *chain) cutOff(at page.LSN) {
	c.versions = append(c.versions, version{lsn: at, cut: true, undo: c.base + len(c.old)})
}

// undo makes of p, the content of version i, that of the version before. last
// is the end of the undos of i; their begin is that of the one before.
func (c *chain) undo(i, last int, p *page.Page) (first int) {
	first = c.versions[i].undo - c.base
	for u := last - 1; u >= first; u-- {
		*(*[lineSize]byte)(p[int(c.at[u])*lineSize:]) = c.old[u]
	}
	return first
}

// content makes p the content of version i, and gives the end of its undos.
func (c *chain) content(i int, p *page.Page) (last int) {
	*p = *c.newest
	last = len(c.old)
	for k := len(c.versions) - 1; k > i; k-- {
		last = c.undo(k, last, p)
	}
	return last
}

// dropAbove forgets the versions from number n > 0 on.
func (c *chain) dropAbove(n int) {
	last := len(c.old)
	for k := len(c.versions) - 1; k >= n; k-- {
		last = c.undo(k, last, c.newest)
	}
	c.versions, c.at, c.old = c.versions[:n], c.at[:last], c.old[:last]
}

// dropBelow forgets the versions before number n.
func (c *chain) dropBelow(n int) {
	keep := len(c.old)
	if n+1 < len(c.versions) {
		keep = c.versions[n+1].undo - c.base
	}
	c.base += keep
	c.versions = c.versions[:copy(c.versions, c.versions[n:])]
	c.at = c.at[:copy(c.at, c.at[keep:])]
	c.old = c.old[:copy(c.old, c.old[keep:])]
}
