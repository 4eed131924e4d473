package wal

import (
	"tornpage/engine/invariant"
	"tornpage/engine/page"
)

// Operations of Btree (access/nbtxlog.h). Posting lists (INSERT_POST, DEDUP)
// and META_CLEANUP are neither written nor replayed.
const (
	InfoBtreeInsertLeaf   uint8 = 0x00
	InfoBtreeInsertUpper  uint8 = 0x10
	InfoBtreeInsertMeta   uint8 = 0x20 // replayed only: for the fast root
	InfoBtreeSplitL       uint8 = 0x30 // the new item went to the left
	InfoBtreeSplitR       uint8 = 0x40
	InfoBtreeInsertPost   uint8 = 0x50
	InfoBtreeDedup        uint8 = 0x60
	InfoBtreeDelete       uint8 = 0x70
	InfoBtreeUnlink       uint8 = 0x80
	InfoBtreeUnlinkMeta   uint8 = 0x90 // replayed only: for the fast root
	InfoBtreeNewRoot      uint8 = 0xA0
	InfoBtreeMarkHalfDead uint8 = 0xB0
	InfoBtreeVacuum       uint8 = 0xC0
	InfoBtreeReuse        uint8 = 0xD0
	InfoBtreeMetaCleanup  uint8 = 0xE0
)

// Lengths of main data, and of the metapage's fields in block data, with
// PostgreSQL's padding.
const (
	lenBtreeInsert   = 2
	lenBtreeSplit    = 10
	lenBtreeDelete   = 8
	lenBtreeVacuum   = 4
	lenBtreeHalfDead = 20
	lenBtreeUnlink   = 36
	lenBtreeNewRoot  = 8
	lenBtreeReuse    = 24
	lenBtreeMeta     = 28
)

// btreeName is pg_waldump's name of an operation.
func btreeName(op uint8) string {
	return map[uint8]string{
		InfoBtreeInsertLeaf: "INSERT_LEAF", InfoBtreeInsertUpper: "INSERT_UPPER", InfoBtreeInsertMeta: "INSERT_META",
		InfoBtreeSplitL: "SPLIT_L", InfoBtreeSplitR: "SPLIT_R", InfoBtreeInsertPost: "INSERT_POST", InfoBtreeDedup: "DEDUP",
		InfoBtreeDelete: "DELETE", InfoBtreeUnlink: "UNLINK_PAGE", InfoBtreeUnlinkMeta: "UNLINK_PAGE_META",
		InfoBtreeNewRoot: "NEWROOT", InfoBtreeMarkHalfDead: "MARK_PAGE_HALFDEAD", InfoBtreeVacuum: "VACUUM",
		InfoBtreeReuse: "REUSE_PAGE", InfoBtreeMetaCleanup: "META_CLEANUP",
	}[op]
}

// BtreePage is a page of an index for a record's builder; without a Page there
// is none.
type BtreePage struct {
	ID   page.ID
	Page *page.Page
}

func (b BtreePage) block() uint32 {
	if b.Page == nil {
		return 0
	}
	return b.ID.Block
}

// touch declares the page, if there is one.
func (b BtreePage) touch(m *MTR, slot int, flags TouchFlags) {
	if b.Page != nil {
		m.Touch(slot, b.ID, b.Page, flags|Standard)
	}
}

func indexTupleAt(b BtreePage, off uint16) page.IndexTuple {
	t := b.Page.IndexTuple(off)
	if t == nil {
		invariant.Broken("W6", "no index tuple at %v item %d to describe", b.ID, off)
	}
	return t
}

// allItems adds a page's items as they lie on it: redo takes them off the end.
func (m *MTR) allItems(slot int, p *page.Page) {
	m.AddData(slot, p[p.Upper():p.Special()])
}

// BtreeInsert describes the tuple that now is at off of p. child is the page
// whose split a new downlink completes; a leaf's insert has none.
func BtreeInsert(m *MTR, xid uint32, p BtreePage, off uint16, child BtreePage) {
	info := InfoBtreeInsertLeaf
	if child.Page != nil {
		info = InfoBtreeInsertUpper
	}
	m.Reset(RmgrBtree, info, xid)
	var b [lenBtreeInsert]byte
	le.PutUint16(b[:], off)
	m.SetMain(b[:])
	p.touch(m, 0, 0)
	m.AddData(0, indexTupleAt(p, off))
	child.touch(m, 1, 0)
}

// BtreeSplitArgs describe a split that was made: Left keeps the lower items of
// the page, Right is new.
type BtreeSplitArgs struct {
	XID         uint32
	Left, Right BtreePage
	Next        BtreePage // the right sibling of both, if any
	Child       BtreePage // on internal pages: whose split the new item completes
	Level       uint32
	FirstRight  uint16 // offset, before the split, of the first item that went to the right
	NewOff      uint16 // where, before the split, the new item would have been
	New         []byte
	NewLeft     bool // the new item is on the left
}

// BtreeSplit describes a split.
func BtreeSplit(m *MTR, s BtreeSplitArgs) {
	info := InfoBtreeSplitR
	if s.NewLeft {
		info = InfoBtreeSplitL
	}
	m.Reset(RmgrBtree, info, s.XID)
	var b [lenBtreeSplit]byte
	le.PutUint32(b[0:], s.Level)
	le.PutUint16(b[4:], s.FirstRight)
	le.PutUint16(b[6:], s.NewOff)
	m.SetMain(b[:])
	s.Left.touch(m, 0, 0)
	if s.NewLeft {
		m.addPadded(0, s.New)
	}
	m.addPadded(0, indexTupleAt(s.Left, 1)) // its high key
	s.Right.touch(m, 1, WillInit)
	m.allItems(1, s.Right.Page)
	s.Next.touch(m, 2, 0)
	s.Child.touch(m, 3, 0)
}

// addPadded adds a tuple as long as its place on a page.
func (m *MTR) addPadded(slot int, t []byte) {
	var zero [page.Align]byte
	m.AddData(slot, t)
	m.AddData(slot, zero[:page.RoundUp(len(t))-len(t)])
}

// BtreeNewRoot describes a new root on level, with its items, and the metapage
// that leads to it. child is the page that was the root before, if any.
func BtreeNewRoot(m *MTR, xid uint32, root, child, meta BtreePage, level uint32) {
	m.Reset(RmgrBtree, InfoBtreeNewRoot, xid)
	var b [lenBtreeNewRoot]byte
	le.PutUint32(b[0:], root.ID.Block)
	le.PutUint32(b[4:], level)
	m.SetMain(b[:])
	root.touch(m, 0, WillInit)
	if level > 0 {
		m.allItems(0, root.Page)
	}
	child.touch(m, 1, 0)
	meta.touch(m, 2, WillInit)
	m.addMeta(2, meta)
}

func (m *MTR) addMeta(slot int, meta BtreePage) {
	v, err := meta.Page.IndexMeta()
	if err != nil {
		invariant.Broken("W6", "%v to describe: %v", meta.ID, err)
	}
	var b [lenBtreeMeta]byte
	for i, n := range [...]uint32{v.Version, v.Root, v.Level, v.FastRoot, v.FastLevel, v.CleanupPages} {
		le.PutUint32(b[4*i:], n)
	}
	b[24] = flag(v.AllEqualImage)
	m.AddData(slot, b[:])
}

// BtreeVacuum describes the removal of the items at offs, in order, from a
// leaf.
func BtreeVacuum(m *MTR, p BtreePage, offs []uint16) {
	m.Reset(RmgrBtree, InfoBtreeVacuum, 0)
	var b [lenBtreeVacuum]byte
	le.PutUint16(b[:], uint16(len(offs)))
	m.SetMain(b[:])
	p.touch(m, 0, 0)
	m.addOffsets(0, offs)
}

// BtreeDelete is BtreeVacuum outside of vacuum: latestRemoved is the newest
// XID whose rows the items were of, for replicas' read views.
func BtreeDelete(m *MTR, p BtreePage, latestRemoved uint32, offs []uint16) {
	m.Reset(RmgrBtree, InfoBtreeDelete, 0)
	var b [lenBtreeDelete]byte
	le.PutUint32(b[0:], latestRemoved)
	le.PutUint16(b[4:], uint16(len(offs)))
	m.SetMain(b[:])
	p.touch(m, 0, 0)
	m.addOffsets(0, offs)
}

func (m *MTR) addOffsets(slot int, offs []uint16) {
	for _, off := range offs {
		m.AddData(slot, []byte{byte(off), byte(off >> 8)})
	}
}

// BtreeHalfDead describes the first step of a page's deletion: leaf has become
// half-dead between prev and next, and the downlink at off of parent leads to
// the next downlink's page. top is the highest page that goes with the leaf,
// page.NoBlock if that is the leaf itself.
func BtreeHalfDead(m *MTR, leaf, parent BtreePage, off uint16, prev, next, top uint32) {
	m.Reset(RmgrBtree, InfoBtreeMarkHalfDead, 0)
	var b [lenBtreeHalfDead]byte
	le.PutUint16(b[0:], off)
	for i, v := range [...]uint32{leaf.ID.Block, prev, next, top} {
		le.PutUint32(b[4+4*i:], v)
	}
	m.SetMain(b[:])
	leaf.touch(m, 0, WillInit)
	parent.touch(m, 1, 0)
}

// BtreeUnlinkArgs describe the second step of a page's deletion: Target is
// unlinked from Left and Right.
type BtreeUnlinkArgs struct {
	Target, Left, Right BtreePage
	Level               uint32
	SafeXID             uint64
	// Leaf is the half-dead leaf below an internal target, made anew between
	// its siblings with LeafTop as the next page to go.
	Leaf                        BtreePage
	LeafPrev, LeafNext, LeafTop uint32
}

// BtreeUnlink describes an unlinking.
func BtreeUnlink(m *MTR, u BtreeUnlinkArgs) {
	m.Reset(RmgrBtree, InfoBtreeUnlink, 0)
	var b [lenBtreeUnlink]byte
	le.PutUint32(b[0:], u.Left.block())
	le.PutUint32(b[4:], u.Right.ID.Block)
	le.PutUint32(b[8:], u.Level)
	le.PutUint64(b[16:], u.SafeXID)
	for i, v := range [...]uint32{u.LeafPrev, u.LeafNext, u.LeafTop} {
		le.PutUint32(b[24+4*i:], v)
	}
	m.SetMain(b[:])
	u.Target.touch(m, 0, WillInit)
	u.Left.touch(m, 1, 0)
	u.Right.touch(m, 2, 0)
	u.Leaf.touch(m, 3, WillInit)
}

// BtreeReuse goes before the record that makes a deleted page anew: it changes
// no page, and tells replicas of safeXID, after which nobody is on the way to it.
func BtreeReuse(m *MTR, id page.ID, safeXID uint64) {
	m.Reset(RmgrBtree, InfoBtreeReuse, 0)
	var b [lenBtreeReuse]byte
	for i, v := range [...]uint32{Tablespace, Database, uint32(id.Rel), id.Block} {
		le.PutUint32(b[4*i:], v)
	}
	le.PutUint64(b[16:], safeXID)
	m.SetMain(b[:])
}
