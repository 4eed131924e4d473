package wal

import (
	"fmt"

	"tornpage/engine/page"
)

// BtreeSplitRec is the main data of Btree/SPLIT_L and SPLIT_R.
type BtreeSplitRec struct {
	Level              uint32
	FirstRight, NewOff uint16
}

// BtreeHalfDeadRec is the main data of Btree/MARK_PAGE_HALFDEAD.
type BtreeHalfDeadRec struct {
	ParentOff             uint16
	Leaf, Prev, Next, Top uint32
}

// BtreeUnlinkRec is the main data of Btree/UNLINK_PAGE.
type BtreeUnlinkRec struct {
	Left, Right, Level          uint32
	SafeXID                     uint64
	LeafPrev, LeafNext, LeafTop uint32
}

// mainOf gives r's main data if it has the wanted length.
func (r *Record) mainOf(n int) ([]byte, error) {
	if len(r.Main) != n {
		return nil, wrongLength(r, "main data", len(r.Main), n)
	}
	return r.Main, nil
}

// BtreeInsert decodes the offset of an insert.
func (r *Record) BtreeInsert() (off uint16, err error) {
	b, err := r.mainOf(lenBtreeInsert)
	if err != nil {
		return 0, err
	}
	return le.Uint16(b), nil
}

// BtreeSplit decodes r's main data.
func (r *Record) BtreeSplit() (s BtreeSplitRec, err error) {
	b, err := r.mainOf(lenBtreeSplit)
	if err != nil {
		return s, err
	}
	if n := le.Uint16(b[8:]); n != 0 {
		return s, fmt.Errorf("%s at %v splits a posting list at %d, which this engine does not do", OpName(r.Rmgr, r.Info), r.LSN, n)
	}
	return BtreeSplitRec{Level: le.Uint32(b), FirstRight: le.Uint16(b[4:]), NewOff: le.Uint16(b[6:])}, nil
}

// BtreeNewRoot decodes the block and the level of a new root.
func (r *Record) BtreeNewRoot() (root, level uint32, err error) {
	b, err := r.mainOf(lenBtreeNewRoot)
	if err != nil {
		return 0, 0, err
	}
	return le.Uint32(b), le.Uint32(b[4:]), nil
}

// BtreeDeleted decodes Btree/VACUUM and DELETE: the offsets that go, none if
// the record has an image instead.
func (r *Record) BtreeDeleted() (offs OffsetList, latestRemoved uint32, err error) {
	var counts []byte
	if r.Op() == InfoBtreeDelete {
		b, err := r.mainOf(lenBtreeDelete)
		if err != nil {
			return nil, 0, err
		}
		latestRemoved, counts = le.Uint32(b), b[4:]
	} else if counts, err = r.mainOf(lenBtreeVacuum); err != nil {
		return nil, 0, err
	}
	deleted, updated := int(le.Uint16(counts)), le.Uint16(counts[2:])
	if updated != 0 || len(r.Blocks) != 1 {
		return nil, 0, fmt.Errorf("%s at %v updates %d posting lists on %d pages, want 0 on 1",
			OpName(r.Rmgr, r.Info), r.LSN, updated, len(r.Blocks))
	}
	data := r.Blocks[0].Data
	if len(data) == 0 && r.Blocks[0].HasImage {
		return nil, latestRemoved, nil
	}
	if len(data) != 2*deleted {
		return nil, 0, wrongLength(r, "block data", len(data), 2*deleted)
	}
	return OffsetList(data), latestRemoved, nil
}

// BtreeHalfDead decodes r's main data.
func (r *Record) BtreeHalfDead() (h BtreeHalfDeadRec, err error) {
	b, err := r.mainOf(lenBtreeHalfDead)
	if err != nil {
		return h, err
	}
	return BtreeHalfDeadRec{ParentOff: le.Uint16(b), Leaf: le.Uint32(b[4:]), Prev: le.Uint32(b[8:]),
		Next: le.Uint32(b[12:]), Top: le.Uint32(b[16:])}, nil
}

// BtreeUnlink decodes r's main data.
func (r *Record) BtreeUnlink() (u BtreeUnlinkRec, err error) {
	b, err := r.mainOf(lenBtreeUnlink)
	if err != nil {
		return u, err
	}
	return BtreeUnlinkRec{Left: le.Uint32(b), Right: le.Uint32(b[4:]), Level: le.Uint32(b[8:]), SafeXID: le.Uint64(b[16:]),
		LeafPrev: le.Uint32(b[24:]), LeafNext: le.Uint32(b[28:]), LeafTop: le.Uint32(b[32:])}, nil
}

// BtreeReuse decodes r's main data.
func (r *Record) BtreeReuse() (id page.ID, safeXID uint64, err error) {
	b, err := r.mainOf(lenBtreeReuse)
	if err != nil {
		return id, 0, err
	}
	return page.ID{Rel: page.Rel(le.Uint32(b[8:])), Block: le.Uint32(b[12:])}, le.Uint64(b[16:]), nil
}
