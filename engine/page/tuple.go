package page

import "fmt"

// Sizes of a heap tuple's header, bytes.
const (
	TupleHeader   = 23                                             // SizeofHeapTupleHeader; null bitmap or padding follows
	TupleHoff     = 24                                             // where user data begins without nulls
	MaxHeapTuples = (Size - HeaderSize) / (TupleHoff + ItemIDSize) // 291, MaxHeapTuplesPerPage
	MaxTupleSize  = Size - (HeaderSize+ItemIDSize+Align-1)&^7      // 8,160, MaxHeapTupleSize
	MaxTupleData  = MaxTupleSize - TupleHoff
	maxAttributes = 1600 // MaxHeapAttributeNumber
	offXmin       = 0
	offXmax       = 4
	offCid        = 8
	offCtid       = 12 // block high, block low, offset: 16 bits each
	offInfomask2  = 18
	offInfomask   = 20
	offHoff       = 22
)

// Infomask bits: PostgreSQL's HEAP_ constants.
const (
	HasNull       uint16 = 0x0001
	HasVarWidth   uint16 = 0x0002
	XmaxKeyShare  uint16 = 0x0010
	XmaxExclusive uint16 = 0x0040
	XmaxLockOnly  uint16 = 0x0080
	XminCommitted uint16 = 0x0100
	XminInvalid   uint16 = 0x0200 // both: frozen
	XmaxCommitted uint16 = 0x0400
	XmaxInvalid   uint16 = 0x0800
	XmaxIsMulti   uint16 = 0x1000
	Updated       uint16 = 0x2000 // this is the new version of an update
	Moved         uint16 = 0xC000 // pre-9.0 VACUUM FULL

	XminFrozen = XminCommitted | XminInvalid
	// XmaxBits is cleared when a new Xmax is set (HEAP_XMAX_BITS).
	XmaxBits = XmaxCommitted | XmaxInvalid | XmaxIsMulti | XmaxKeyShare | XmaxExclusive | XmaxLockOnly
	// HintBits may be set without a log record: they only cache the status.
	HintBits = XminCommitted | XminInvalid | XmaxCommitted | XmaxInvalid
)

// Infomask2 bits.
const (
	AttsMask    uint16 = 0x07FF // number of attributes
	KeysUpdated uint16 = 0x2000 // key columns changed, or the tuple was deleted
	HotUpdated  uint16 = 0x4000 // the newer version is on this page, in no index
	HeapOnly    uint16 = 0x8000 // no index points here
)

// TID is a tuple's place: block and offset.
type TID struct {
	Block  uint32
	Offset uint16
}

// String gives "(7,1)".
func (t TID) String() string { return fmt.Sprintf("(%d,%d)", t.Block, t.Offset) }

// Tuple is a heap tuple: header, null bitmap or padding, user data. Its
// methods need at least TupleHeader bytes: Page.Tuple guarantees them.
type Tuple []byte

// NewTuple builds, in dst's spare capacity where that suffices, a tuple of
// atts attributes with the given user data and no nulls: Xmin xid, no Xmax,
// Cid cid. InsertTuple gives it its Ctid. Only the tuple is returned.
func NewTuple(dst []byte, xid, cid uint32, atts int, data []byte) Tuple {
	n := len(dst)
	dst = append(dst, make([]byte, TupleHoff)...)
	dst = append(dst, data...)
	t := Tuple(dst[n:])
	t.SetXmin(xid)
	t.SetCid(cid)
	t.SetInfomask(XmaxInvalid)
	t.SetInfomask2(uint16(atts) & AttsMask)
	t[offHoff] = TupleHoff
	return t
}

// Xmin is the XID that inserted this version.
func (t Tuple) Xmin() uint32 { return le.Uint32(t[offXmin:]) }

// SetXmin sets Xmin.
func (t Tuple) SetXmin(x uint32) { le.PutUint32(t[offXmin:], x) }

// Xmax is the XID that deleted, updated or locked it; see XmaxInvalid.
func (t Tuple) Xmax() uint32 { return le.Uint32(t[offXmax:]) }

// SetXmax sets Xmax; the infomask says what it means.
func (t Tuple) SetXmax(x uint32) { le.PutUint32(t[offXmax:], x) }

// Cid is the command within the transaction; not logged (0 after redo).
func (t Tuple) Cid() uint32 { return le.Uint32(t[offCid:]) }

// SetCid sets Cid.
func (t Tuple) SetCid(c uint32) { le.PutUint32(t[offCid:], c) }

// Ctid is the newer version's place, or this tuple's own.
func (t Tuple) Ctid() TID {
	hi, lo := le.Uint16(t[offCtid:]), le.Uint16(t[offCtid+2:])
	return TID{Block: uint32(hi)<<16 | uint32(lo), Offset: le.Uint16(t[offCtid+4:])}
}

// SetCtid sets Ctid.
func (t Tuple) SetCtid(c TID) {
	le.PutUint16(t[offCtid:], uint16(c.Block>>16))
	le.PutUint16(t[offCtid+2:], uint16(c.Block))
	le.PutUint16(t[offCtid+4:], c.Offset)
}

// Infomask holds HasNull to Updated.
func (t Tuple) Infomask() uint16 { return le.Uint16(t[offInfomask:]) }

// SetInfomask sets all bits.
func (t Tuple) SetInfomask(m uint16) { le.PutUint16(t[offInfomask:], m) }

// Infomask2 holds the number of attributes, KeysUpdated, HotUpdated, HeapOnly.
func (t Tuple) Infomask2() uint16 { return le.Uint16(t[offInfomask2:]) }

// SetInfomask2 sets all bits.
func (t Tuple) SetInfomask2(m uint16) { le.PutUint16(t[offInfomask2:], m) }

// Hoff is where user data begins, bytes from the tuple's start.
func (t Tuple) Hoff() int { return int(t[offHoff]) }

// SetHoff sets Hoff.
func (t Tuple) SetHoff(n uint8) { t[offHoff] = n }

// Data is the user data, nil if Hoff points outside the tuple.
func (t Tuple) Data() []byte {
	if t.Hoff() > len(t) {
		return nil
	}
	return t[t.Hoff():]
}

// LockedOnly reports an Xmax that locks and does not delete.
func (t Tuple) LockedOnly() bool { return t.Infomask()&XmaxLockOnly != 0 }

// Tuple is the heap tuple at off, nil where there is none or its header does
// not fit in the item.
func (p *Page) Tuple(off uint16) Tuple { return p.TupleOf(p.ItemID(off)) }

// TupleOf is Tuple for a line pointer that was read from p.
func (p *Page) TupleOf(id ItemID) Tuple {
	t := Tuple(p.itemOf(id))
	if !t.sane() {
		return nil
	}
	return t
}

// sane reports that the header, null bitmap or padding included, is there.
func (t Tuple) sane() bool {
	return len(t) >= TupleHeader && t.Hoff() >= TupleHeader && t.Hoff() <= len(t)
}
