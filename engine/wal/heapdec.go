package wal

import "fmt"

// HeapInsertRec is the main data of Heap/INSERT.
type HeapInsertRec struct {
	Off   uint16
	Flags uint8
}

// HeapDeleteRec is the main data of Heap/DELETE.
type HeapDeleteRec struct {
	Xmax     uint32
	Off      uint16
	Infobits uint8
	Flags    uint8
}

// HeapLockRec is the main data of Heap/LOCK.
type HeapLockRec struct {
	Xmax     uint32
	Off      uint16
	Infobits uint8
	Flags    uint8
}

// HeapUpdateRec is the main data of Heap/UPDATE and HOT_UPDATE.
type HeapUpdateRec struct {
	OldXmax     uint32
	OldOff      uint16
	OldInfobits uint8
	Flags       uint8
	NewXmax     uint32
	NewOff      uint16
}

// HeapPruneRec is the main data of Heap2/PRUNE and its block data, which is
// absent (all lists empty) if there is an image. Lists are of two bytes each.
type HeapPruneRec struct {
	LatestRemoved      uint32
	NRedirected, NDead uint16
	Redirected         OffsetList // pairs
	Dead, Unused       OffsetList
}

// OffsetList is a list of offsets as it lies in a record.
type OffsetList []byte

// Len is the number of offsets.
func (l OffsetList) Len() int { return len(l) / 2 }

// At is the i-th offset.
func (l OffsetList) At(i int) uint16 { return le.Uint16(l[2*i:]) }

// HeapInsert decodes r's main data.
func (r *Record) HeapInsert() (h HeapInsertRec, err error) {
	b := r.Main
	if len(b) != lenHeapInsert {
		return h, wrongLength(r, "main data", len(b), lenHeapInsert)
	}
	return HeapInsertRec{Off: le.Uint16(b), Flags: b[2]}, nil
}

// HeapDelete decodes r's main data.
func (r *Record) HeapDelete() (h HeapDeleteRec, err error) {
	b := r.Main
	if len(b) != lenHeapDelete {
		return h, wrongLength(r, "main data", len(b), lenHeapDelete)
	}
	return HeapDeleteRec{Xmax: le.Uint32(b), Off: le.Uint16(b[4:]), Infobits: b[6], Flags: b[7]}, nil
}

// HeapLock decodes r's main data.
func (r *Record) HeapLock() (h HeapLockRec, err error) {
	b := r.Main
	if len(b) != lenHeapLock {
		return h, wrongLength(r, "main data", len(b), lenHeapLock)
	}
	return HeapLockRec{Xmax: le.Uint32(b), Off: le.Uint16(b[4:]), Infobits: b[6], Flags: b[7]}, nil
}

// HeapUpdate decodes r's main data.
func (r *Record) HeapUpdate() (h HeapUpdateRec, err error) {
	b := r.Main
	if len(b) != lenHeapUpdate {
		return h, wrongLength(r, "main data", len(b), lenHeapUpdate)
	}
	return HeapUpdateRec{OldXmax: le.Uint32(b), OldOff: le.Uint16(b[4:]), OldInfobits: b[6], Flags: b[7],
		NewXmax: le.Uint32(b[8:]), NewOff: le.Uint16(b[12:])}, nil
}

// HeapInplace decodes the offset of Heap/INPLACE.
func (r *Record) HeapInplace() (off uint16, err error) {
	if len(r.Main) != lenHeapInplace {
		return 0, wrongLength(r, "main data", len(r.Main), lenHeapInplace)
	}
	return le.Uint16(r.Main), nil
}

// HeapPrune decodes r's main data and, without an image, the lists.
func (r *Record) HeapPrune() (h HeapPruneRec, err error) {
	b := r.Main
	if len(b) != lenHeapPrune {
		return h, wrongLength(r, "main data", len(b), lenHeapPrune)
	}
	h = HeapPruneRec{LatestRemoved: le.Uint32(b), NRedirected: le.Uint16(b[4:]), NDead: le.Uint16(b[6:])}
	if len(r.Blocks) != 1 {
		return h, fmt.Errorf("%s at %v: %d block references, want 1", OpName(r.Rmgr, r.Info), r.LSN, len(r.Blocks))
	}
	data := r.Blocks[0].Data
	if len(data) == 0 && r.Blocks[0].HasImage {
		return h, nil
	}
	redirected, dead := 4*int(h.NRedirected), 2*int(h.NDead)
	if len(data)%2 != 0 || len(data) < redirected+dead {
		return h, fmt.Errorf("%s at %v: block data of %d bytes, want an even number, at least %d",
			OpName(r.Rmgr, r.Info), r.LSN, len(data), redirected+dead)
	}
	h.Redirected = OffsetList(data[:redirected])
	h.Dead = OffsetList(data[redirected : redirected+dead])
	h.Unused = OffsetList(data[redirected+dead:])
	return h, nil
}
