package wal

import (
	"fmt"

	"tornpage/engine/invariant"
	"tornpage/engine/page"
)

// Commit builds (but for Build) a commit record. at is the commit's wall time
// in microseconds since 2000-01-01 UTC, PostgreSQL's TimestampTz. The record
// implies xid's status page: see Record.Pages and Implied.
func Commit(m *MTR, xid uint32, at int64) { xactRecord(m, InfoCommit, xid, nil, at) }

// Abort is Commit's counterpart.
func Abort(m *MTR, xid uint32, at int64) { xactRecord(m, InfoAbort, xid, nil, at) }

// CommitTree is Commit of a transaction with the committed subtransactions
// subs, in ascending order (xl_xact_subxacts). The record implies the status
// pages of all of them, each once.
func CommitTree(m *MTR, xid uint32, subs []uint32, at int64) {
	xactRecord(m, InfoCommit, xid, subs, at)
}

// AbortTree is CommitTree's counterpart, for a transaction or a savepoint.
func AbortTree(m *MTR, xid uint32, subs []uint32, at int64) { xactRecord(m, InfoAbort, xid, subs, at) }

const (
	xactHasSubs = 1 << 1 // XACT_XINFO_HAS_SUBXACTS
	lenXact     = 8      // the time
	lenXactSubs = 8 + 8  // time, xinfo, number of subtransactions
)

func xactRecord(m *MTR, info uint8, xid uint32, subs []uint32, at int64) {
	n := lenXact
	if len(subs) > 0 {
		info, n = info|XactHasInfo, lenXactSubs
	}
	m.Reset(RmgrTransaction, info, xid)
	var b [lenXactSubs]byte
	le.PutUint64(b[:], uint64(at))
	le.PutUint32(b[8:], xactHasSubs)
	le.PutUint32(b[12:], uint32(len(subs)))
	m.SetMain(b[:n])
	for i, sub := range subs {
		if i > 0 && subs[i-1] >= sub {
			invariant.Broken("W6", "subtransaction %d of %d after %d, want ascending", sub, xid, subs[i-1])
		}
		m.main = le.AppendUint32(m.main, sub)
	}
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
	Subs   XIDList
}

// XIDList is an ascending list of XIDs as it lies in a record.
type XIDList []byte

// Len is the number of XIDs.
func (l XIDList) Len() int { return len(l) / 4 }

// At is the i-th XID.
func (l XIDList) At(i int) uint32 { return le.Uint32(l[4*i:]) }

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
	b := r.Main
	if r.Info&XactHasInfo == 0 {
		if len(b) != lenXact {
			return x, wrongLength(r, "main data", len(b), lenXact)
		}
	} else if x.Subs, err = r.subs(); err != nil {
		return x, err
	}
	x.Status, x.Time = page.Committed, int64(le.Uint64(b))
	if r.Info&XactOpMask == InfoAbort {
		x.Status = page.Aborted
	}
	return x, nil
}

// subs decodes what follows the time.
func (r *Record) subs() (XIDList, error) {
	b := r.Main
	if len(b) < lenXactSubs {
		return nil, wrongLength(r, "main data", len(b), lenXactSubs)
	}
	if info := le.Uint32(b[lenXact:]); info != xactHasSubs {
		return nil, fmt.Errorf("%s at %v says by %#x what it contains, want %#x: subtransactions and nothing else",
			OpName(r.Rmgr, r.Info), r.LSN, info, xactHasSubs)
	}
	n, list := le.Uint32(b[lenXact+4:]), XIDList(b[lenXactSubs:])
	if n == 0 || uint64(len(list)) != 4*uint64(n) {
		return nil, fmt.Errorf("%s at %v: %d subtransactions in %d bytes, want at least one of 4 bytes each",
			OpName(r.Rmgr, r.Info), r.LSN, n, len(list))
	}
	for i := 1; i < list.Len(); i++ {
		if list.At(i-1) >= list.At(i) {
			return nil, fmt.Errorf("%s at %v: subtransaction %d after %d, want ascending",
				OpName(r.Rmgr, r.Info), r.LSN, list.At(i), list.At(i-1))
		}
	}
	return list, nil
}

// statusBlock decodes CLOG/ZEROPAGE.
func (r *Record) statusBlock() (uint32, error) {
	if r.Op() != InfoCLOGZeroPage || len(r.Main) != 4 {
		return 0, wrongLength(r, "main data", len(r.Main), 4)
	}
	return le.Uint32(r.Main), nil
}
