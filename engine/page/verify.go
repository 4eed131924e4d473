package page

import (
	"errors"
	"fmt"
)

// ErrNew says that storage gave a page of zeros: allocated, never written.
var ErrNew = errors.New("page of zeros, never written")

// Corrupt says what is wrong with a page.
type Corrupt struct {
	ID     ID
	LSN    LSN    // as the page claims
	Want   uint32 // computed from the bytes; 0 where Reason speaks of no sum
	Got    uint32 // stored
	Reason string
}

// Error names place, values and the next step.
func (c *Corrupt) Error() string {
	return fmt.Sprintf("%v, LSN %v: %s; rebuild the page from an image in the log or from a copy", c.ID, c.LSN, c.Reason)
}

// Seal prepares p for storage: the checksum of a standard page (if checksums),
// the part sums of a page of parts (always). A page without checksums keeps
// whatever the field holds.
func Seal(id ID, p *Page, checksums bool) {
	if id.Rel.HasParts() {
		sealParts(p)
		return
	}
	if checksums {
		le.PutUint16(p[offChecksum:], ComputeChecksum(id.Block, p))
	}
}

// Verify checks what came from storage: ErrNew for zeros, *Corrupt for a bad
// checksum or header. It does not look at items: see ValidateItems.
func Verify(id ID, p *Page, checksums bool) error {
	if id.Rel.HasParts() {
		return verifyParts(id, p)
	}
	version := le.Uint16(p[offVersion:])
	if version == 0 && p.IsZero() {
		return fmt.Errorf("%v: %w", id, ErrNew)
	}
	if checksums {
		if want, got := ComputeChecksum(id.Block, p), p.Checksum(); want != got {
			return &Corrupt{ID: id, LSN: p.LSN(), Want: uint32(want), Got: uint32(got),
				Reason: fmt.Sprintf("checksum %04x, want %04x", got, want)}
		}
	}
	lower, upper, special := p.Lower(), p.Upper(), p.Special()
	switch {
	case version != layoutVersion:
		return badHeader(id, p, "page size and version %04x, want %04x", version, layoutVersion)
	case lower < HeaderSize || lower > upper || upper > special || special > Size:
		return badHeader(id, p, "lower %d, upper %d, special %d; want %d <= lower <= upper <= special <= %d",
			lower, upper, special, HeaderSize, Size)
	case special%Align != 0 || upper%Align != 0:
		return badHeader(id, p, "upper %d, special %d, want multiples of %d", upper, special, Align)
	case (lower-HeaderSize)%ItemIDSize != 0 && special == Size:
		return badHeader(id, p, "lower %d cuts a line pointer, want %d plus a multiple of %d", lower, HeaderSize, ItemIDSize)
	case p.Flags()&^validFlags != 0:
		return badHeader(id, p, "flags %04x, want none but %04x", p.Flags(), validFlags)
	}
	return nil
}

func badHeader(id ID, p *Page, format string, args ...any) error {
	return &Corrupt{ID: id, LSN: p.LSN(), Reason: fmt.Sprintf(format, args...)}
}

// ValidateItems checks that every line pointer of a heap page stays within
// the page, that no two items overlap, and that every tuple header fits in its
// item. The header must have passed Verify.
func ValidateItems(id ID, p *Page) error {
	var taken [Size / Align]bool
	for off := uint16(1); off <= p.MaxOffset(); off++ {
		item := p.ItemID(off)
		if err := validateItem(id, p, off, item); err != nil {
			return err
		}
		for at := item.Offset(); item.Len() > 0 && at < item.Offset()+item.Len(); at += Align {
			if taken[at/Align] {
				return badHeader(id, p, "item %d shares byte %d with an item before it", off, at)
			}
			taken[at/Align] = true
		}
	}
	return nil
}

func validateItem(id ID, p *Page, off uint16, item ItemID) error {
	switch item.Flags() {
	case Unused:
		if item != 0 {
			return badHeader(id, p, "item %d is unused yet has offset %d, length %d, want 0", off, item.Offset(), item.Len())
		}
		return nil
	case Redirect:
		to := p.ItemID(uint16(item.Offset()))
		if item.Len() != 0 || to.Flags() != Normal {
			return badHeader(id, p, "item %d redirects to %d, which is no tuple", off, item.Offset())
		}
		return nil
	case Dead:
		if item.Len() == 0 {
			return nil
		}
	}
	from, to := item.Offset(), item.Offset()+item.Len()
	if from < p.Upper() || to > p.Special() || from%Align != 0 || item.Len() == 0 {
		return badHeader(id, p, "item %d is bytes %d to %d, want within %d to %d, at a multiple of %d",
			off, from, to, p.Upper(), p.Special(), Align)
	}
	if item.Len() < TupleHeader {
		return badHeader(id, p, "item %d has %d bytes, a tuple header has %d", off, item.Len(), TupleHeader)
	}
	hoff := int(p[from+offHoff])
	if hoff < TupleHeader || hoff > item.Len() || hoff%Align != 0 {
		return badHeader(id, p, "tuple %d: data offset %d, want a multiple of %d within %d to %d", off, hoff, Align, TupleHoff, item.Len())
	}
	if n := Tuple(p[from:to]).Infomask2() & AttsMask; n > maxAttributes {
		return badHeader(id, p, "tuple %d: %d attributes, at most %d", off, n, maxAttributes)
	}
	return nil
}
