package wal

import (
	"fmt"

	"tornpage/engine/page"
)

// Commit builds (but for Build) a commit record. at is the commit's wall time
// in microseconds since 2000-01-01 UTC, PostgreSQL's TimestampTz. The record
// implies xid's status page: see Record.Pages and Implied.
func Commit(m *MTR, xid uint32, at int64) { xactRecord(m, InfoCommit, xid, at) }

// Abort is Commit's counterpart.
func Abort(m *MTR, xid uint32, at int64) { xactRecord(m, InfoAbort, xid, at) }

func xactRecord(m *MTR, info uint8, xid uint32, at int64) {
	m.Reset(RmgrTransaction, info, xid)
	var b [8]byte
	le.PutUint64(b[:], uint64(at))
	m.SetMain(b[:])
}

// StatusZeroPage builds a record that makes a block of page.StatusRel an
// empty status page. It must precede the first commit or abort on it.
func StatusZeroPage(m *MTR, block uint32) {
	m.Reset(RmgrCLOG, InfoCLOGZeroPage, 0)
	var b [4]byte
	le.PutUint32(b[:], block)
	m.SetMain(b[:])
}

// XactRec is what a commit or abort record says.
type XactRec struct {
	Status page.XactStatus
	Time   int64 // microseconds since 2000-01-01 UTC
}

// IsXactEnd reports a commit or abort record.
func (r *Record) IsXactEnd() bool {
	op := r.Info & XactOpMask
	return r.Rmgr == RmgrTransaction && (op == InfoCommit || op == InfoAbort)
}

// Xact decodes a commit or abort record.
func (r *Record) Xact() (x XactRec, err error) {
	if !r.IsXactEnd() {
		return x, fmt.Errorf("%s at %v ends no transaction", OpName(r.Rmgr, r.Info), r.LSN)
	}
	if r.Info&XactHasInfo != 0 {
		return x, fmt.Errorf("%s at %v has flag %02x (subtransactions and more), which this engine does not write",
			OpName(r.Rmgr, r.Info), r.LSN, XactHasInfo)
	}
	if len(r.Main) != 8 {
		return x, wrongLength(r, "main data", len(r.Main), 8)
	}
	x = XactRec{Status: page.Committed, Time: int64(le.Uint64(r.Main))}
	if r.Info&XactOpMask == InfoAbort {
		x.Status = page.Aborted
	}
	return x, nil
}

// statusBlock decodes CLOG/ZEROPAGE.
func (r *Record) statusBlock() (uint32, error) {
	if r.Op() != InfoCLOGZeroPage || len(r.Main) != 4 {
		return 0, wrongLength(r, "main data", len(r.Main), 4)
	}
	return le.Uint32(r.Main), nil
}

// ImpliedBlock stands for "no block reference" where a block index is asked.
const ImpliedBlock = -1

// PageRef is a page that a record changes.
type PageRef struct {
	ID    page.ID
	Block int  // index into Blocks, or ImpliedBlock
	Init  bool // built from nothing or from an image: no need to read it first
}

// Pages appends to dst every page of the main fork that r changes: those that
// it references, and the status page that a commit, an abort or a CLOG
// ZEROPAGE implies. Routing and redo must use this, never Blocks alone.
func (r *Record) Pages(dst []PageRef) []PageRef {
	for i := range r.Blocks {
		if b := &r.Blocks[i]; b.Fork == 0 {
			dst = append(dst, PageRef{ID: b.ID, Block: i, Init: b.WillInit || b.HasImage && b.UseImage})
		}
	}
	switch {
	case r.IsXactEnd() && r.XID != 0:
		dst = append(dst, PageRef{ID: page.StatusID(r.XID), Block: ImpliedBlock})
	case r.Rmgr == RmgrCLOG:
		if block, err := r.statusBlock(); err == nil {
			dst = append(dst, PageRef{ID: page.ID{Rel: page.StatusRel, Block: block}, Block: ImpliedBlock, Init: true})
		}
	}
	return dst
}

// ApplyStatus replays a commit, an abort or a CLOG ZEROPAGE on the status page
// p, unconditionally: after a torn write the page's LSN proves nothing, and
// setting a status again is harmless. The page's LSN only rises, except by
// ZEROPAGE.
func ApplyStatus(r *Record, p *page.Page) error {
	if r.Rmgr == RmgrCLOG {
		block, err := r.statusBlock()
		if err != nil {
			return err
		}
		page.InitStatus(p)
		page.Stamp(page.ID{Rel: page.StatusRel, Block: block}, p, r.End)
		return nil
	}
	x, err := r.Xact()
	if err != nil {
		return err
	}
	page.SetStatus(p, r.XID, x.Status)
	if id := page.StatusID(r.XID); page.LSNOf(id, p) < r.End {
		page.Stamp(id, p, r.End)
	}
	return nil
}
