package checkers

import (
	"bytes"
	"cmp"
	"slices"

	"tornpage/engine/page"
)

const pagesCheck = "pages"

// sectorSize is the granule of sharing and of reports: the smallest unit that
// a disk writes whole (design.md: sectors of 512 B or 4 KiB).
const sectorSize = 512

const sectors = page.Size / sectorSize

// Layout says how a page is laid out, and so what may differ.
type Layout uint8

// The layouts. A page whose header is not sane is compared raw.
const (
	Heap     Layout = iota // standard page of heap tuples
	Index                  // standard page of index tuples; a B-tree's special area
	Raw                    // no header at all: pages of parts
	Standard               // Index if there is a special area, else Heap
)

// Masking says what a storage may return differently from what was appended.
type Masking struct {
	Hints  bool                 // bits set without a log record may differ
	Layout func(page.ID) Layout // nil: Raw for pages of parts, else Standard
}

// Oracle knows what storage must return for a page at an LSN, from having seen
// every page as it was when its change was appended. It shares no redo code
// with the engine: it never applies a record.
type Oracle struct {
	masking Masking
	pages   map[page.ID]*chain
	floor   page.LSN // versions below are forgotten
	bytes   int
	older   page.Page // room for a version that is not the newest
}

// NewOracle returns an oracle that has seen no page.
func NewOracle(m Masking) *Oracle {
	return &Oracle{masking: m, pages: make(map[page.ID]*chain)}
}

// Appended records the page that a mini-transaction with end LSN at left, as
// stamped. Of several calls with one LSN the last counts. An LSN below the
// page's last one is a Broken verdict: the log went back.
func (o *Oracle) Appended(id page.ID, at page.LSN, p *page.Page) Verdict {
	c := o.pages[id]
	if c == nil {
		c = &chain{}
		o.pages[id] = c
	}
	if last := c.last(); last > at {
		return broken(pagesCheck, nil, "%v appended at %v after %v", id, at, last)
	}
	o.bytes += c.append(at, p)
	return holds(pagesCheck)
}

// Truncated records that the mini-transaction with end LSN at cut a relation to
// so many blocks: pages from there on are absent until they are appended again.
// Without such a call a page that was there stays.
func (o *Oracle) Truncated(rel page.Rel, blocks uint32, at page.LSN) Verdict {
	var late []page.ID           // changed by a later record than the one that cut them off
	for id, c := range o.pages { // each page on its own: order is not seen
		switch {
		case id.Rel != rel || id.Block < blocks || c.versions[len(c.versions)-1].cut:
		case c.last() < at:
			c.cutOff(at)
		default:
			late = append(late, id)
		}
	}
	if len(late) == 0 {
		return holds(pagesCheck)
	}
	id := slices.MinFunc(late, func(a, b page.ID) int { return cmp.Compare(a.Block, b.Block) })
	return broken(pagesCheck, nil, "%v cut off at %v after %v", id, at, o.Latest(id))
}

// Check holds what storage returned for (id, at) against the last version at
// or below at; got is nil if storage said that the page is absent.
func (o *Oracle) Check(id page.ID, at page.LSN, got *page.Page) Verdict {
	if at < o.floor {
		return undecided(pagesCheck, nil, "%v at %v: versions below %v are forgotten", id, at, o.floor)
	}
	c, n := o.pages[id], 0
	if c != nil {
		n = c.upTo(at)
	}
	switch absent := n == 0 || c.versions[n-1].cut; {
	case absent && got == nil:
		return holds(pagesCheck)
	case n == 0:
		return broken(pagesCheck, nil, "%v at %v: want absent, got a page of LSN %v", id, at, page.LSNOf(id, got))
	case absent:
		return broken(pagesCheck, nil, "%v at %v: want absent since it was cut off at %v, got a page of LSN %v",
			id, at, c.versions[n-1].lsn, page.LSNOf(id, got))
	case got == nil:
		return broken(pagesCheck, nil, "%v at %v: want the page of LSN %v, got absent", id, at, c.versions[n-1].lsn)
	}
	want := c.newest
	if n < len(c.versions) {
		want = &o.older
		c.content(n-1, want)
	}
	if samePage(want, got, o.raw(id)) {
		return holds(pagesCheck)
	}
	return o.compare(id, at, want, got, c, n-1)
}

// samePage is the quick answer of most checks: equal bytes, the checksum of a
// standard page (bytes 8 and 9) aside, which is only right on what was sealed.
func samePage(a, b *page.Page, raw bool) bool {
	return bytes.Equal(a[atFlags:], b[atFlags:]) && bytes.Equal(a[:atChecksum], b[:atChecksum]) &&
		(!raw || bytes.Equal(a[atChecksum:atFlags], b[atChecksum:atFlags]))
}

// raw reports whether the pages of id have no header.
func (o *Oracle) raw(id page.ID) bool { return o.expected(id) == Raw }

// expected is the layout of id by the caller's word, or by its relation.
func (o *Oracle) expected(id page.ID) Layout {
	switch {
	case o.masking.Layout != nil:
		return o.masking.Layout(id)
	case id.Rel.HasParts():
		return Raw
	}
	return Standard
}

// Latest returns the LSN of the last version recorded of a page (that of the
// record that cut it off, if it was), 0 if none.
func (o *Oracle) Latest(id page.ID) page.LSN {
	if c := o.pages[id]; c != nil {
		return c.last()
	}
	return 0
}

// Bytes returns the bytes of page content allocated since the beginning.
func (o *Oracle) Bytes() int { return o.bytes }

// Forget drops versions that no read at or above below can ask for: every
// version but the last one at or below it.
func (o *Oracle) Forget(below page.LSN) {
	if below <= o.floor {
		return
	}
	o.floor = below
	for _, c := range o.pages { // each page on its own: order is not seen
		if n := c.upTo(below); n > 1 {
			c.dropBelow(n - 1)
		}
	}
}

// Crashed drops what recovery annulled: all versions above end, the LSN at
// which the recovered log ends.
func (o *Oracle) Crashed(end page.LSN) {
	for id, c := range o.pages { // each page on its own: order is not seen
		switch n := c.upTo(end); n {
		case len(c.versions):
		case 0:
			delete(o.pages, id)
		default:
			c.dropAbove(n)
		}
	}
}
