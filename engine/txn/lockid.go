package txn

import (
	"fmt"

	"tornpage/engine/host"
	"tornpage/engine/page"
)

// LockKind is what kind of thing a lock protects.
type LockKind uint8

// The kinds of locks.
const (
	KindRow   LockKind = iota // one version of a row, by its TID
	KindTable                 // a relation
	KindKey                   // a key of an index, by its hash
	lockKinds
)

// LockID names a lock. RowLock, TableLock and KeyLock make them.
type LockID struct {
	Kind   LockKind
	Rel    page.Rel
	Block  uint32
	Offset uint16
}

// RowLock is the lock of a row version.
func RowLock(rel page.Rel, at page.TID) LockID {
	return LockID{Kind: KindRow, Rel: rel, Block: at.Block, Offset: at.Offset}
}

// TableLock is the lock of a relation.
func TableLock(rel page.Rel) LockID { return LockID{Kind: KindTable, Rel: rel} }

// KeyLock is the lock of all keys of an index whose hashes agree in the upper
// 48 bits: two keys that share a lock only wait for each other.
func KeyLock(index page.Rel, hash uint64) LockID {
	return LockID{Kind: KindKey, Rel: index, Block: uint32(hash >> 32), Offset: uint16(hash >> 16)}
}

// String says what is locked: "row (3,1) of rel 16384".
func (id LockID) String() string {
	switch id.Kind {
	case KindRow:
		return fmt.Sprintf("row (%d,%d) of rel %d", id.Block, id.Offset, id.Rel)
	case KindTable:
		return fmt.Sprintf("rel %d", id.Rel)
	case KindKey:
		return fmt.Sprintf("key %08x%04x of rel %d", id.Block, id.Offset, id.Rel)
	}
	return fmt.Sprintf("lock of unknown kind %d", id.Kind)
}

// golden is 2^64 divided by the golden ratio: spreads small numbers.
const golden = 0x9e3779b97f4a7c15

func (id LockID) sum() uint32 {
	return uint32(host.Mix((uint64(id.Rel)<<32 | uint64(id.Block)) + (uint64(id.Offset)<<8|uint64(id.Kind))*golden))
}

// event is what a wait for a lock of the kind is accounted to.
func (k LockKind) event() host.WaitEvent {
	switch k {
	case KindTable:
		return host.WaitRelation
	case KindKey:
		return host.WaitKey
	}
	return host.WaitTuple
}

// Mode is how strong a lock is. The numbers, names and conflicts are
// PostgreSQL's (lockdefs.h, lock.c: LockConflicts).
type Mode uint8

// The modes. Rows and keys are locked in Share or Exclusive only.
const (
	AccessShare          Mode = iota + 1 // reads a table
	RowShare                             // locks rows of it
	RowExclusive                         // writes rows of it
	ShareUpdateExclusive                 // vacuums it
	Share                                // builds an index on it; reads a row that must stay
	ShareRowExclusive
	Exclusive       // changes a row; of a table: keeps all but readers out
	AccessExclusive // drops or truncates a table
)

// modes is a set of modes: bit m stands for mode m.
type modes uint16

// modeSlots bounds the numbers of modes.
const modeSlots = int(AccessExclusive) + 1

func (m Mode) set() modes { return 1 << m }

const (
	tableModes modes = 1<<modeSlots - 1<<AccessShare
	rowModes   modes = 1<<Share | 1<<Exclusive
)

// modes are those that locks of the kind are taken in.
func (k LockKind) modes() modes {
	if k == KindTable {
		return tableModes
	}
	return rowModes
}

// conflicts has, for each mode, those that nobody else may hold meanwhile.
var conflicts = [modeSlots]modes{
	AccessShare:          1 << AccessExclusive,
	RowShare:             1<<Exclusive | 1<<AccessExclusive,
	RowExclusive:         1<<Share | 1<<ShareRowExclusive | 1<<Exclusive | 1<<AccessExclusive,
	ShareUpdateExclusive: tableModes &^ (1<<AccessShare | 1<<RowShare | 1<<RowExclusive),
	Share:                tableModes &^ (1<<AccessShare | 1<<RowShare | 1<<Share),
	ShareRowExclusive:    tableModes &^ (1<<AccessShare | 1<<RowShare),
	Exclusive:            tableModes &^ (1 << AccessShare),
	AccessExclusive:      tableModes,
}

// Conflicts reports whether two owners may not hold m and o at once.
func (m Mode) Conflicts(o Mode) bool { return conflicts[m]&o.set() != 0 }

var modeNames = [modeSlots]string{
	"none", "AccessShare", "RowShare", "RowExclusive", "ShareUpdateExclusive",
	"Share", "ShareRowExclusive", "Exclusive", "AccessExclusive",
}

// String is the name of the mode.
func (m Mode) String() string {
	if int(m) < modeSlots {
		return modeNames[m]
	}
	return "unknown mode"
}
