package computetest

import (
	"fmt"

	"tornpage/engine/page"
)

// Mask clears what redo need not restore: the hole, the checksum, and hints
// (PostgreSQL's heap_mask does the same).
func Mask(id page.ID, p *page.Page) {
	if id.Rel.HasParts() {
		return
	}
	off, n := p.Hole()
	clear(p[off : off+n])
	p.SetPruneXID(0)
	p.SetFlags(0)
	clear(p[8:10]) // the checksum
}

// Equal compares two versions of a page, masked, and names the first byte in
// which they differ.
func Equal(id page.ID, a, b *page.Page) error {
	x, y := *a, *b
	Mask(id, &x)
	Mask(id, &y)
	for i := range x {
		if x[i] != y[i] {
			return fmt.Errorf("%v: byte %d is %02x and %02x (LSN %v and %v)", id, i, x[i], y[i],
				page.LSNOf(id, a), page.LSNOf(id, b))
		}
	}
	return nil
}
