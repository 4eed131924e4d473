package wal

import (
	"fmt"
	"math/bits"

	"tornpage/engine/invariant"
	"tornpage/engine/page"
)

// Lengths of main data (access/heapam_xlog.h) and of the tuple header that
// stands for a whole one in block data: infomask2, infomask, hoff.
const (
	lenHeapInsert  = 3
	lenHeapDelete  = 8
	lenHeapUpdate  = 14
	lenHeapLock    = 8
	lenHeapInplace = 2
	lenHeapPrune   = 8
	lenHeapVacuum  = 2
	lenHeapVisible = 5
	lenTupleHeader = 5
)

// Flags of heap records. AllVisibleCleared says that the change also clears
// the page's AllVisible flag (bit 0 in insert, delete and update's old page)
// and the block's bits on the visibility map, whose page the record implies:
// ImplyVM.
const (
	AllVisibleCleared    uint8 = 0x01
	NewAllVisibleCleared uint8 = 0x02 // update: the new version's page
	prefixFromOld        uint8 = 0x20
	suffixFromOld        uint8 = 0x40
	allFrozenCleared     uint8 = 0x01 // lock: the map bit of that name only; never written here
	minShared                  = 3    // shorter shared ends cost more than they save
)

// Bits that replace a tuple's Xmax infomask bits in records.
const (
	bitIsMulti     uint8 = 0x01
	bitLockOnly    uint8 = 0x02
	bitExclusive   uint8 = 0x04
	bitKeyShare    uint8 = 0x08
	bitKeysUpdated uint8 = 0x10
)

// infobits packs the Xmax bits of a tuple.
func infobits(t page.Tuple) (b uint8) {
	m := t.Infomask()
	for _, c := range [...]struct {
		mask uint16
		bit  uint8
	}{{page.XmaxIsMulti, bitIsMulti}, {page.XmaxLockOnly, bitLockOnly},
		{page.XmaxExclusive, bitExclusive}, {page.XmaxKeyShare, bitKeyShare}} {
		if m&c.mask != 0 {
			b |= c.bit
		}
	}
	if t.Infomask2()&page.KeysUpdated != 0 {
		b |= bitKeysUpdated
	}
	return b
}

// tupleAt is the tuple that a builder describes; it must exist.
func tupleAt(id page.ID, p *page.Page, off uint16) page.Tuple {
	t := p.Tuple(off)
	if t == nil {
		invariant.Broken("W6", "no tuple at %v item %d to describe", id, off)
	}
	return t
}

func tupleHeader(t page.Tuple) [lenTupleHeader]byte {
	var h [lenTupleHeader]byte
	le.PutUint16(h[0:], t.Infomask2())
	le.PutUint16(h[2:], t.Infomask())
	h[4] = uint8(t.Hoff())
	return h
}

// HeapInsert describes the tuple that now is at off of p. init: it is the
// first on a new page, which redo builds from nothing.
func HeapInsert(m *MTR, xid uint32, id page.ID, p *page.Page, off uint16, flags uint8, init bool) {
	t := tupleAt(id, p, off)
	info, touch := InfoHeapInsert, Standard
	if init {
		info, touch = info|InitPage, touch|WillInit
	}
	m.Reset(RmgrHeap, info, xid)
	m.SetMain([]byte{byte(off), byte(off >> 8), flags})
	m.Touch(0, id, p, touch)
	h := tupleHeader(t)
	m.AddData(0, h[:])
	m.AddData(0, t[page.TupleHeader:])
}

// HeapDelete describes the tuple at off of p, whose Xmax now deletes it.
func HeapDelete(m *MTR, xid uint32, id page.ID, p *page.Page, off uint16, flags uint8) {
	t := tupleAt(id, p, off)
	m.Reset(RmgrHeap, InfoHeapDelete, xid)
	var b [lenHeapDelete]byte
	le.PutUint32(b[0:], t.Xmax())
	le.PutUint16(b[4:], off)
	b[6], b[7] = infobits(t), flags
	m.SetMain(b[:])
	m.Touch(0, id, p, Standard)
}

// HeapLock describes the tuple at off of p, whose Xmax now locks it.
func HeapLock(m *MTR, xid uint32, id page.ID, p *page.Page, off uint16) {
	t := tupleAt(id, p, off)
	m.Reset(RmgrHeap, InfoHeapLock, xid)
	var b [lenHeapLock]byte
	le.PutUint32(b[0:], t.Xmax())
	le.PutUint16(b[4:], off)
	b[6] = infobits(t)
	m.SetMain(b[:])
	m.Touch(0, id, p, Standard)
}

// HeapInplace describes new user data of the same length for the tuple at off
// of p. xid is 0: the change is not transactional.
func HeapInplace(m *MTR, xid uint32, id page.ID, p *page.Page, off uint16) {
	t := tupleAt(id, p, off)
	m.Reset(RmgrHeap, InfoHeapInplace, xid)
	m.SetMain([]byte{byte(off), byte(off >> 8)})
	m.Touch(0, id, p, Standard)
	m.AddData(0, t.Data())
}

// UpdateArgs name the two versions of an updated row, both in place already.
// On the same page, New and Old are the same page.
type UpdateArgs struct {
	XID      uint32
	Old, New page.ID
	OldPage  *page.Page
	NewPage  *page.Page
	OldOff   uint16
	NewOff   uint16
	Hot      bool  // the new version is heap-only, on the same page
	Init     bool  // the new version is the first on a new page
	Flags    uint8 // AllVisibleCleared, NewAllVisibleCleared
}

// HeapUpdate describes an update. If both versions are on one page that will
// not be imaged under floor, ends that they share are left out, as PostgreSQL
// does. The record stays right if another floor is used to build it.
func HeapUpdate(m *MTR, floor LSN, u UpdateArgs) {
	oldT, newT := tupleAt(u.Old, u.OldPage, u.OldOff), tupleAt(u.New, u.NewPage, u.NewOff)
	info, touch := InfoHeapUpdate, Standard
	if u.Hot {
		info = InfoHeapHotUpdate
	}
	if u.Init {
		info, touch = info|InitPage, touch|WillInit
	}
	prefix, suffix := 0, 0
	if u.Old == u.New && !NeedsImage(u.NewPage.LSN(), floor) {
		prefix, suffix = sharedEnds(oldT.Data(), newT.Data())
	}
	flags := u.Flags
	if prefix > 0 {
		flags |= prefixFromOld
	}
	if suffix > 0 {
		flags |= suffixFromOld
	}
	m.Reset(RmgrHeap, info, u.XID)
	m.setUpdateMain(u, oldT, newT, flags)
	m.Touch(0, u.New, u.NewPage, touch)
	if u.Old != u.New {
		m.Touch(1, u.Old, u.OldPage, Standard)
	}
	if prefix > 0 {
		m.AddData(0, []byte{byte(prefix), byte(prefix >> 8)})
	}
	if suffix > 0 {
		m.AddData(0, []byte{byte(suffix), byte(suffix >> 8)})
	}
	h := tupleHeader(newT)
	hoff := newT.Hoff()
	m.AddData(0, h[:])
	m.AddData(0, newT[page.TupleHeader:hoff])
	m.AddData(0, newT[hoff+prefix:len(newT)-suffix])
}

func (m *MTR) setUpdateMain(u UpdateArgs, oldT, newT page.Tuple, flags uint8) {
	var b [lenHeapUpdate]byte
	le.PutUint32(b[0:], oldT.Xmax())
	le.PutUint16(b[4:], u.OldOff)
	b[6], b[7] = infobits(oldT), flags
	le.PutUint32(b[8:], newT.Xmax())
	le.PutUint16(b[12:], u.NewOff)
	m.SetMain(b[:])
}

// sharedEnds counts equal bytes at both ends; below minShared they are 0.
func sharedEnds(a, b []byte) (prefix, suffix int) {
	n := min(len(a), len(b))
	if prefix = sharedPrefix(a[:n], b[:n]); prefix < minShared {
		prefix = 0
	}
	left := n - prefix
	if suffix = sharedSuffix(a[len(a)-left:], b[len(b)-left:]); suffix < minShared {
		suffix = 0
	}
	return prefix, suffix
}

// sharedPrefix counts the equal bytes before the first difference; a and b are
// of one length. Eight at a time: every update compares two tuples.
func sharedPrefix(a, b []byte) (n int) {
	for ; len(a)-n >= 8; n += 8 {
		if x := le.Uint64(a[n:]) ^ le.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}

// sharedSuffix counts the equal bytes behind the last difference.
func sharedSuffix(a, b []byte) (n int) {
	end := len(a)
	for ; end-n >= 8; n += 8 {
		if x := le.Uint64(a[end-n-8:]) ^ le.Uint64(b[end-n-8:]); x != 0 {
			return n + bits.LeadingZeros64(x)/8
		}
	}
	for n < end && a[end-n-1] == b[end-n-1] {
		n++
	}
	return n
}

// HeapPrune describes a pruning of p: pairs (from, to) of redirected line
// pointers, dead and unused ones. latestRemoved is the newest XID that is
// gone, for replicas' read views.
func HeapPrune(m *MTR, id page.ID, p *page.Page, latestRemoved uint32, redirected, dead, unused []uint16) {
	if len(redirected)%2 != 0 {
		invariant.Broken("W6", "%d redirect offsets for %v, want pairs", len(redirected), id)
	}
	m.Reset(RmgrHeap2, InfoHeap2Prune, 0)
	var b [lenHeapPrune]byte
	le.PutUint32(b[0:], latestRemoved)
	le.PutUint16(b[4:], uint16(len(redirected)/2))
	le.PutUint16(b[6:], uint16(len(dead)))
	m.SetMain(b[:])
	m.Touch(0, id, p, Standard)
	for _, list := range [...][]uint16{redirected, dead, unused} {
		for _, off := range list {
			m.AddData(0, []byte{byte(off), byte(off >> 8)})
		}
	}
}

func wrongLength(r *Record, what string, got, want int) error {
	return fmt.Errorf("%s at %v: %s of %d bytes, want %d", OpName(r.Rmgr, r.Info), r.LSN, what, got, want)
}
