package page

import "fmt"

// Sizes of index pages and their parts, in bytes (PostgreSQL 15 nbtree.h,
// itup.h).
const (
	IndexSpecial     = 16                               // BTPageOpaqueData
	IndexHeader      = 8                                // IndexTupleData: TID, t_info
	IndexRoom        = Size - HeaderSize - IndexSpecial // for line pointers and items
	MaxIndexTuple    = 2704                             // BTMaxItemSize: three fit, each with a TID added
	MaxIndexItems    = IndexRoom / (IndexHeader + ItemIDSize)
	indexPos         = Size - IndexSpecial
	indexMetaSize    = 48 // BTMetaPageData
	indexDeletedSize = 8  // BTDeletedPageData: the XID after which a replica may forget the page
)

// Flags of an index page (btpo_flags).
const (
	IndexLeaf       uint16 = 1 << iota
	IndexRoot              // the root, wherever the metapage says
	IndexDeleted           // unlinked; free once nobody can be on the way to it
	IndexMetaPage          // block 0
	IndexHalfDead          // a leaf without downlink, still linked to its siblings
	IndexSplitEnd          // never set here: see the departures of engine/btree
	IndexHasGarbage        // never set here: a page changes by logged records only
	IndexIncomplete        // the right sibling has no downlink yet
	IndexHasFullXID        // a deleted page that holds its safexid

	validIndexFlags = IndexHasFullXID<<1 - 1
)

// NoBlock stands for "no page" where block 0 could be meant
// (InvalidBlockNumber).
const NoBlock = 1<<32 - 1

// IndexOpaque is the special area of an index page. Links are 0 where there
// is no sibling: block 0 is the metapage.
type IndexOpaque struct {
	Prev, Next uint32
	Level      uint32 // 0: leaf
	Flags      uint16
	Cycle      uint16 // of PostgreSQL's vacuum; 0 here
}

// Has reports whether any of the flags is set.
func (o IndexOpaque) Has(flags uint16) bool { return o.Flags&flags != 0 }

// Ignored reports a page that searches pass over to its right sibling.
func (o IndexOpaque) Ignored() bool { return o.Flags&(IndexDeleted|IndexHalfDead) != 0 }

// First is the offset of the first item after the high key, which all but the
// rightmost page of a level have.
func (o IndexOpaque) First() uint16 {
	if o.Next == 0 {
		return 1
	}
	return 2
}

// IndexOpaque reads the special area; false if the page has none of this size.
func (p *Page) IndexOpaque() (o IndexOpaque, ok bool) {
	if p.Special() != indexPos {
		return o, false
	}
	b := p[indexPos:]
	return IndexOpaque{Prev: le.Uint32(b), Next: le.Uint32(b[4:]), Level: le.Uint32(b[8:]),
		Flags: le.Uint16(b[12:]), Cycle: le.Uint16(b[14:])}, true
}

// SetIndexOpaque writes the special area of an index page.
func (p *Page) SetIndexOpaque(o IndexOpaque) {
	b := p[indexPos:]
	le.PutUint32(b, o.Prev)
	le.PutUint32(b[4:], o.Next)
	le.PutUint32(b[8:], o.Level)
	le.PutUint16(b[12:], o.Flags)
	le.PutUint16(b[14:], o.Cycle)
}

// InitIndex makes p an empty index page that keeps its LSN.
func (p *Page) InitIndex(o IndexOpaque) {
	lsn := p.LSN()
	p.Init(IndexSpecial)
	p.SetLSN(lsn)
	p.SetIndexOpaque(o)
}

// Bits of an index tuple's t_info, and of a pivot tuple's offset field.
const (
	tupleSizeMask = 0x1FFF
	tupleAlt      = 0x2000 // INDEX_ALT_TID_MASK: a pivot, its TID is no heap TID
	pivotAttrs    = 0x0FFF // BT_OFFSET_MASK: key attributes that are there
	pivotHasTID   = 0x1000 // BT_PIVOT_HEAP_TID_ATTR: a heap TID ends the tuple
	pivotTIDSize  = 8      // MAXALIGN of a TID
	tidSize       = 6
)

// IndexTuple is an entry: 8 bytes of header, then the key. On a leaf the
// header holds the TID of a row; a pivot (high key, downlink) holds a block
// and the number of its key attributes instead. The methods need at least
// IndexHeader bytes, and those on pivots what Page.IndexTuple guarantees.
type IndexTuple []byte

// Size is the length that the tuple says it has.
func (t IndexTuple) Size() int { return int(le.Uint16(t[6:]) & tupleSizeMask) }

// TID is the row that a leaf's entry is of.
func (t IndexTuple) TID() TID { return getTID(t) }

// SetTID sets it.
func (t IndexTuple) SetTID(id TID) { putTID(t, id) }

// Pivot reports a high key or downlink.
func (t IndexTuple) Pivot() bool { return le.Uint16(t[6:])&tupleAlt != 0 }

// Block is a pivot's downlink; NoBlock or a left-over in a leaf's high key.
func (t IndexTuple) Block() uint32 { return getTID(t).Block }

// SetBlock sets a pivot's downlink.
func (t IndexTuple) SetBlock(b uint32) {
	id := getTID(t)
	id.Block = b
	putTID(t, id)
}

// Attrs is the number of key attributes that a pivot has: 0 is below
// everything.
func (t IndexTuple) Attrs() int { return int(le.Uint16(t[4:]) & pivotAttrs) }

// PivotTID is the heap TID that tells a pivot from others of equal keys.
// Without one it is below all of them.
func (t IndexTuple) PivotTID() (TID, bool) {
	if le.Uint16(t[4:])&pivotHasTID == 0 || len(t) < IndexHeader+pivotTIDSize {
		return TID{}, false
	}
	return getTID(t[len(t)-tidSize:]), true
}

func getTID(b []byte) TID {
	return TID{Block: uint32(le.Uint16(b))<<16 | uint32(le.Uint16(b[2:])), Offset: le.Uint16(b[4:])}
}

func putTID(b []byte, id TID) {
	le.PutUint16(b, uint16(id.Block>>16))
	le.PutUint16(b[2:], uint16(id.Block))
	le.PutUint16(b[4:], id.Offset)
}

// AppendPivot appends the pivot that separates two leaf pages: the key of
// right, the first tuple of the right page. last is the row of the left page's
// last tuple if their keys are equal, else nil.
func AppendPivot(dst []byte, right IndexTuple, attrs int, last *TID) []byte {
	n := len(dst)
	dst = append(dst, right...)
	size, offset := len(right), uint16(attrs)&pivotAttrs
	if last != nil {
		size += pivotTIDSize
		offset |= pivotHasTID
		dst = append(dst, make([]byte, pivotTIDSize)...)
		putTID(dst[len(dst)-tidSize:], *last)
	}
	t := dst[n:]
	le.PutUint16(t[4:], offset)
	le.PutUint16(t[6:], le.Uint16(t[6:])&^(tupleSizeMask|tupleAlt)|tupleAlt|uint16(size))
	return dst
}

// MinusInfinity is the pivot without a key that leads to block: the first
// downlink of an internal page. With NoBlock, or the top of a subtree that is
// being deleted, it is the high key of a half-dead leaf.
func MinusInfinity(block uint32) (t [IndexHeader]byte) {
	putTID(t[:], TID{Block: block})
	le.PutUint16(t[6:], tupleAlt|IndexHeader)
	return t
}

// IndexTuple is the entry at off, nil where there is none or it does not fit
// in its item.
func (p *Page) IndexTuple(off uint16) IndexTuple {
	b := IndexTuple(p.Item(off))
	if len(b) < IndexHeader {
		return nil
	}
	n := b.Size()
	if n < IndexHeader || n > len(b) {
		return nil
	}
	return b[:n:n]
}

// Values of the metapage.
const (
	IndexMagic   = 0x053162 // BTREE_MAGIC
	IndexVersion = 4        // BTREE_VERSION
	// noCleanupTuples is the float64 -1, which PostgreSQL 15 writes always.
	noCleanupTuples = 0xBFF0000000000000
)

// IndexMeta is what the metapage says (BTMetaPageData).
type IndexMeta struct {
	Version, Root, Level uint32
	FastRoot, FastLevel  uint32
	CleanupPages         uint32 // deleted pages that the last vacuum left
	AllEqualImage        bool   // keys that compare equal are equal byte by byte
}

// InitIndexMeta makes p a metapage that keeps its LSN.
func (p *Page) InitIndexMeta(m IndexMeta) {
	p.InitIndex(IndexOpaque{Flags: IndexMetaPage})
	b := p[HeaderSize:]
	le.PutUint32(b, IndexMagic)
	for i, v := range [...]uint32{m.Version, m.Root, m.Level, m.FastRoot, m.FastLevel, m.CleanupPages} {
		le.PutUint32(b[4+4*i:], v)
	}
	le.PutUint64(b[32:], noCleanupTuples)
	if m.AllEqualImage {
		b[40] = 1
	}
	p.SetLower(HeaderSize + indexMetaSize)
}

// IndexMeta reads a metapage. The error does not name the page.
func (p *Page) IndexMeta() (m IndexMeta, err error) {
	o, ok := p.IndexOpaque()
	if magic := le.Uint32(p[HeaderSize:]); !ok || !o.Has(IndexMetaPage) || magic != IndexMagic {
		return m, fmt.Errorf("no metapage of an index: magic %06x, flags %04x, special %d; want %06x, %04x, %d",
			magic, o.Flags, p.Special(), IndexMagic, IndexMetaPage, indexPos)
	}
	b := p[HeaderSize:]
	m = IndexMeta{Version: le.Uint32(b[4:]), Root: le.Uint32(b[8:]), Level: le.Uint32(b[12:]), FastRoot: le.Uint32(b[16:]),
		FastLevel: le.Uint32(b[20:]), CleanupPages: le.Uint32(b[24:]), AllEqualImage: b[40] != 0}
	if m.Version != IndexVersion || m.Root == 0 {
		return m, fmt.Errorf("index of version %d with root %d, want version %d and a root", m.Version, m.Root, IndexVersion)
	}
	return m, nil
}

// SafeXID is what a deleted page keeps for replicas; 0 where it has none.
func (p *Page) SafeXID() uint64 {
	if o, ok := p.IndexOpaque(); !ok || !o.Has(IndexHasFullXID) {
		return 0
	}
	return le.Uint64(p[HeaderSize:])
}
