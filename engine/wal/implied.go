package wal

import (
	"fmt"

	"tornpage/engine/invariant"
	"tornpage/engine/page"
)

// ImpliedBlock stands for "no block reference" where a block index is asked:
// the first page that a record changes without a reference to it. The next one
// has the number below, and so on. All pages of parts.
const ImpliedBlock = -1

// PageRef is a page that a record changes.
type PageRef struct {
	ID    page.ID
	Block int  // index into Blocks; ImpliedBlock or below: see Implied
	Init  bool // built from nothing or from an image: no need to read it first
}

// Implied reports a page that no block reference names.
func (r PageRef) Implied() bool { return r.Block < 0 }

// ours reports a fork that this engine has.
func (b *BlockRef) ours() bool { return b.Fork == forkMain || b.Fork == forkVM }

// Pages appends to dst every page that r changes, each once: those that it
// references, the status pages that a commit, an abort or a CLOG ZEROPAGE
// implies, and the visibility map pages that AllVisibleCleared implies.
// Routing and redo must use this, never Blocks alone.
func (r *Record) Pages(dst []PageRef) []PageRef {
	for i := range r.Blocks {
		if b := &r.Blocks[i]; b.ours() {
			dst = append(dst, PageRef{ID: b.ID, Block: i, Init: b.WillInit || b.HasImage && b.UseImage})
		}
	}
	return r.implied(dst)
}

// implied appends the implied pages. What cannot be decoded implies none (but
// a transaction's own): Apply says so.
func (r *Record) implied(dst []PageRef) []PageRef {
	switch {
	case r.IsXactEnd():
		return r.impliedStatus(dst)
	case r.Rmgr == RmgrCLOG:
		if block, err := r.statusBlock(); err == nil {
			dst = append(dst, PageRef{ID: page.ID{Rel: page.StatusRel, Block: block}, Block: ImpliedBlock, Init: true})
		}
	case r.Rmgr == RmgrHeap:
		cleared, n := r.cleared()
		for i, c := range cleared[:n] {
			id := page.VMID(c.heap.Rel, c.heap.Block)
			if i == 0 || id != dst[len(dst)-1].ID {
				dst = append(dst, PageRef{ID: id, Block: ImpliedBlock - i})
			}
		}
	}
	return dst
}

// impliedStatus appends the pages of all XIDs of a transaction's end.
// Subtransactions ascend, and so do their pages.
func (r *Record) impliedStatus(dst []PageRef) []PageRef {
	if r.XID == 0 {
		return dst
	}
	own := page.StatusID(r.XID)
	block, last := ImpliedBlock, own
	dst = append(dst, PageRef{ID: own, Block: block})
	x, err := r.Xact()
	if err != nil {
		return dst
	}
	for i := range x.Subs.Len() {
		if id := page.StatusID(x.Subs.At(i)); id != last && id != own {
			block, last = block-1, id
			dst = append(dst, PageRef{ID: id, Block: block})
		}
	}
	return dst
}

// clearedBits are bits of the visibility map that a heap record clears.
type clearedBits struct {
	heap page.ID
	bits uint8
}

// cleared says which bits r clears: of one block, or of two by an update.
func (r *Record) cleared() (out [2]clearedBits, n int) {
	add := func(slot uint8, bits uint8) {
		if i := r.Block(slot); i >= 0 && r.Blocks[i].Fork == forkMain {
			out[n] = clearedBits{r.Blocks[i].ID, bits}
			n++
		}
	}
	const both = page.VMAllVisible | page.VMAllFrozen
	switch r.Info & HeapOpMask {
	case InfoHeapInsert:
		if h, err := r.HeapInsert(); err == nil && h.Flags&AllVisibleCleared != 0 {
			add(0, both)
		}
	case InfoHeapDelete:
		if h, err := r.HeapDelete(); err == nil && h.Flags&AllVisibleCleared != 0 {
			add(0, both)
		}
	case InfoHeapLock:
		if h, err := r.HeapLock(); err == nil && h.Flags&allFrozenCleared != 0 {
			add(0, page.VMAllFrozen)
		}
	case InfoHeapUpdate, InfoHeapHotUpdate:
		h, err := r.HeapUpdate()
		if err != nil {
			break
		}
		if h.Flags&NewAllVisibleCleared != 0 {
			add(0, both)
		}
		if h.Flags&AllVisibleCleared != 0 {
			old := uint8(1) // the old version's page, where it is another
			if r.Block(1) < 0 {
				old = 0
			}
			add(old, both)
		}
	}
	return out, n
}

// ImplyVM declares, for a heap record with AllVisibleCleared or
// NewAllVisibleCleared, the map page whose bits it clears (the caller has
// cleared them) under a slot number that the record does not use. A page that
// both versions of an update share is declared once.
func ImplyVM(m *MTR, slot int, vmID page.ID, vmPage *page.Page) {
	if !vmID.Rel.IsVM() {
		invariant.Broken("W7", "%s implies %v, want a page of a visibility map", OpName(m.rmgr, m.info), vmID)
	}
	m.Touch(slot, vmID, vmPage, Implied)
}

// applyImplied replays r on the implied page p, unconditionally: after a torn
// write the page's LSN proves nothing, and setting an entry again is harmless.
// The page's LSN only rises, except by ZEROPAGE.
func applyImplied(r *Record, block int, p *page.Page) error {
	var few [MaxBlocks]PageRef
	id, ok := page.ID{}, false
	for _, ref := range r.implied(few[:0]) {
		if ref.Block == block {
			id, ok = ref.ID, true
		}
	}
	if !ok {
		return fmt.Errorf("%s at %v implies no page %d", OpName(r.Rmgr, r.Info), r.LSN, ImpliedBlock-block)
	}
	switch r.Rmgr {
	case RmgrCLOG:
		page.InitStatus(p)
		page.Stamp(id, p, r.End)
		return nil
	case RmgrTransaction:
		if err := r.applyStatus(id, p); err != nil {
			return err
		}
	default:
		cleared, n := r.cleared()
		for _, c := range cleared[:n] {
			if page.VMID(c.heap.Rel, c.heap.Block) == id {
				page.VMSet(p, c.heap.Block, page.VMGet(p, c.heap.Block)&^c.bits)
			}
		}
	}
	stamp(id, p, r.End)
	return nil
}

// applyStatus sets the statuses of those XIDs that lie on page id.
func (r *Record) applyStatus(id page.ID, p *page.Page) error {
	x, err := r.Xact()
	if err != nil {
		return err
	}
	if page.StatusID(r.XID) == id {
		page.SetStatus(p, r.XID, x.Status)
	}
	for i := range x.Subs.Len() {
		if sub := x.Subs.At(i); page.StatusID(sub) == id {
			page.SetStatus(p, sub, x.Status)
		}
	}
	return nil
}
