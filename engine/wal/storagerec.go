package wal

import (
	"fmt"

	"tornpage/engine/page"
)

const (
	lenCreate    = 16 // xl_smgr_create: relation (12 bytes), fork
	lenTruncate  = 20 // xl_smgr_truncate: blocks, relation, which forks
	truncateHeap = 1  // SMGR_TRUNCATE_HEAP
	truncateAll  = 7  // with the visibility map and the free-space map
)

// Create builds a record that says that rel begins. No page changes.
func Create(m *MTR, rel page.Rel) {
	m.Reset(RmgrStorage, InfoStorageCreate, 0)
	var b [lenCreate]byte
	putRel(b[:], rel.Main())
	if rel.IsVM() {
		le.PutUint32(b[relHeader:], forkVM)
	}
	m.SetMain(b[:])
}

// Create decodes Storage/CREATE; ok false: r is another record.
func (r *Record) Create() (rel page.Rel, ok bool, err error) {
	if r.Rmgr != RmgrStorage || r.Op() != InfoStorageCreate {
		return 0, false, nil
	}
	if len(r.Main) != lenCreate {
		return 0, false, wrongLength(r, "main data", len(r.Main), lenCreate)
	}
	if rel, err = r.getRel(r.Main); err != nil {
		return 0, false, err
	}
	switch fork := le.Uint32(r.Main[relHeader:]); fork {
	case forkMain:
		return rel, true, nil
	case forkVM:
		return rel.VM(), true, nil
	default:
		return 0, false, fmt.Errorf("%s at %v: fork %d of %v, want %d or %d",
			OpName(r.Rmgr, r.Info), r.LSN, fork, rel, forkMain, forkVM)
	}
}

// Truncate builds a record that cuts rel, a main fork, to so many blocks
// (rule W8).
func Truncate(m *MTR, rel page.Rel, blocks uint32) {
	m.Reset(RmgrStorage, InfoStorageTruncate, 0)
	var b [lenTruncate]byte
	le.PutUint32(b[:], blocks)
	putRel(b[4:], rel.Main())
	le.PutUint32(b[4+relHeader:], truncateHeap)
	m.SetMain(b[:])
}

// Truncation tells a storage that is about to take the record what Truncate was
// given; ok false: it is another record.
func (m *MTR) Truncation() (rel page.Rel, blocks uint32, ok bool) {
	if m.rmgr != RmgrStorage || m.info != InfoStorageTruncate || len(m.main) != lenTruncate {
		return 0, 0, false
	}
	return page.Rel(le.Uint32(m.main[4+8:])), le.Uint32(m.main), true
}

// Truncate decodes Storage/TRUNCATE: from r.End on, rel has no page at or
// above blocks, until a later record makes one. ok false: r is another record.
func (r *Record) Truncate() (rel page.Rel, blocks uint32, ok bool, err error) {
	if r.Rmgr != RmgrStorage || r.Op() != InfoStorageTruncate {
		return 0, 0, false, nil
	}
	if len(r.Main) != lenTruncate {
		return 0, 0, false, wrongLength(r, "main data", len(r.Main), lenTruncate)
	}
	if rel, err = r.getRel(r.Main[4:]); err != nil {
		return 0, 0, false, err
	}
	if flags := le.Uint32(r.Main[4+relHeader:]); flags&truncateHeap == 0 || flags&^truncateAll != 0 {
		return 0, 0, false, fmt.Errorf("%s at %v: flags %#x for %v, want %#x and no more than %#x",
			OpName(r.Rmgr, r.Info), r.LSN, flags, rel, truncateHeap, truncateAll)
	}
	return rel, le.Uint32(r.Main), true, nil
}

func putRel(b []byte, rel page.Rel) {
	le.PutUint32(b, Tablespace)
	le.PutUint32(b[4:], Database)
	le.PutUint32(b[8:], uint32(rel))
}

func (r *Record) getRel(b []byte) (page.Rel, error) {
	rel := page.Rel(le.Uint32(b[8:]))
	if rel.IsVM() {
		return 0, fmt.Errorf("%s at %v: relation %d, want below %d", OpName(r.Rmgr, r.Info), r.LSN, uint32(rel), uint32(1)<<31)
	}
	return rel, nil
}
