package wal

import (
	"fmt"

	"tornpage/engine/page"
)

// RedoFunc replays what r says about r.Blocks[block] on p: no image, LSN test
// or stamp, which Redo.Apply does around it. For a WillInit block p is zeros.
// It must not panic on any bytes, and must leave p alone if it fails.
type RedoFunc func(r *Record, block int, p *page.Page) error

// Redo holds the redo functions by resource manager; nil: none of its records
// has a delta. A value, so that each user composes its own:
//
//	redo := wal.StandardRedo()
//	redo[wal.RmgrBtree] = btree.Redo
type Redo [Rmgrs]RedoFunc

// StandardRedo replays XLOG, Transaction, CLOG, Heap, Heap2 and Btree.
func StandardRedo() Redo {
	var t Redo
	t[RmgrXLOG] = redoXLOG
	t[RmgrHeap] = redoHeap
	t[RmgrHeap2] = redoHeap2
	t[RmgrBtree] = redoBtree
	return t
}

// Apply replays r on one of its pages with StandardRedo; see Redo.Apply.
func Apply(r *Record, block int, p *page.Page) (changed bool, err error) {
	t := StandardRedo()
	return t.Apply(r, block, p)
}

// Apply replays r on the page p that r.Pages lists with this block:
//
//   - an implied page: unconditionally;
//   - an image is restored unconditionally, whatever p holds;
//   - a WillInit block is built from nothing, whatever p holds;
//   - otherwise the change is made only if p's LSN is below r.End, since a
//     page's LSN is the END of the last record that changed it. On a page of
//     parts it is made unconditionally (page rule P3).
//
// p's LSN becomes r.End; that of a page of parts only rises, unless it is built
// from nothing. An error names record and page, and leaves p as it was; no
// bytes in r or p make it panic.
func (t *Redo) Apply(r *Record, block int, p *page.Page) (changed bool, err error) {
	if block < 0 {
		err = applyImplied(r, block, p)
		return err == nil, err
	}
	if block >= len(r.Blocks) {
		return false, fmt.Errorf("%s at %v has no block %d of %d", OpName(r.Rmgr, r.Info), r.LSN, block, len(r.Blocks))
	}
	b := &r.Blocks[block]
	parts := b.ID.Rel.HasParts()
	switch {
	case !b.ours():
		return false, redoError(r, block, "fork %d, want %d or %d", b.Fork, forkMain, forkVM)
	case parts && b.HasImage:
		return false, redoError(r, block, "an image of a page of parts, which has none")
	case b.HasImage && b.UseImage:
		if err := b.RestoreImage(p); err != nil {
			return false, redoError(r, block, "%v", err)
		}
		// PostgreSQL too leaves the image of an all-zero page all zero.
		if !p.IsZero() {
			page.Stamp(b.ID, p, r.End)
		}
		return true, nil
	case parts: // its LSN proves nothing
	case !b.WillInit && page.LSNOf(b.ID, p) >= r.End:
		return false, nil
	}
	return t.delta(r, block, p)
}

func (t *Redo) delta(r *Record, block int, p *page.Page) (changed bool, err error) {
	b := &r.Blocks[block]
	if int(r.Rmgr) >= len(t) || t[r.Rmgr] == nil {
		return false, redoError(r, block, "resource manager has no redo function for it")
	}
	if b.WillInit {
		old := *p
		*p = page.Page{}
		if err := t[r.Rmgr](r, block, p); err != nil {
			*p = old
			return false, err
		}
	} else if err := t[r.Rmgr](r, block, p); err != nil {
		return false, err
	}
	stamp(b.ID, p, r.End)
	return true, nil
}

// stamp raises a page of parts' LSN to end, and sets that of any other.
func stamp(id page.ID, p *page.Page, end LSN) {
	if !id.Rel.HasParts() || page.LSNOf(id, p) < end {
		page.Stamp(id, p, end)
	}
}

// redoXLOG gets the records whose block has no image.
func redoXLOG(r *Record, block int, _ *page.Page) error {
	if r.Op() == InfoFPIForHint {
		return nil
	}
	return redoError(r, block, "an image is wanted, the record has none")
}

func redoError(r *Record, block int, format string, args ...any) error {
	b := &r.Blocks[block]
	return fmt.Errorf("redo of %s at %v on %v: %s; the log and the page do not belong together",
		OpName(r.Rmgr, r.Info), r.LSN, b.ID, fmt.Sprintf(format, args...))
}
