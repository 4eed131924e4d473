package wal

import "fmt"

// Rmgr says whose record it is and who replays it: PostgreSQL 15's resource
// manager ids (access/rmgrlist.h).
type Rmgr uint8

// Resource managers that this engine writes, and some that it reads over.
const (
	RmgrXLOG        Rmgr = 0
	RmgrTransaction Rmgr = 1
	RmgrStorage     Rmgr = 2
	RmgrCLOG        Rmgr = 3
	RmgrStandby     Rmgr = 8
	RmgrHeap2       Rmgr = 9
	RmgrHeap        Rmgr = 10
	RmgrBtree       Rmgr = 11

	// Rmgrs is the number of ids in PostgreSQL 15; a larger one is garbage.
	Rmgrs = 22
)

// Operations of XLOG.
const (
	InfoCheckpointShutdown uint8 = 0x00
	InfoCheckpointOnline   uint8 = 0x10
	InfoSwitch             uint8 = 0x40
	InfoFPWChange          uint8 = 0x80
	InfoFPIForHint         uint8 = 0xA0
	InfoFPI                uint8 = 0xB0
	InfoNextXID            uint8 = 0xC0 // this engine's own: free in PostgreSQL 15
)

// Operations of Transaction (mask with XactOpMask) and CLOG.
const (
	InfoCommit       uint8 = 0x00
	InfoAbort        uint8 = 0x20
	XactOpMask       uint8 = 0x70
	XactHasInfo      uint8 = 0x80 // more follows the timestamp
	InfoCLOGZeroPage uint8 = 0x00
)

// Operations of Heap (mask with HeapOpMask) and Heap2. InitPage says that the
// record builds its (new) page from nothing.
const (
	InfoHeapInsert    uint8 = 0x00
	InfoHeapDelete    uint8 = 0x10
	InfoHeapUpdate    uint8 = 0x20
	InfoHeapHotUpdate uint8 = 0x40
	InfoHeapLock      uint8 = 0x60
	InfoHeapInplace   uint8 = 0x70
	HeapOpMask        uint8 = 0x70
	InitPage          uint8 = 0x80
	InfoHeap2Prune    uint8 = 0x10
	InfoHeap2Vacuum   uint8 = 0x20
	InfoHeap2Visible  uint8 = 0x40
)

// Operations of Storage.
const (
	InfoStorageCreate   uint8 = 0x10
	InfoStorageTruncate uint8 = 0x20
)

// OpName is pg_waldump's name of a record's kind, "Heap/INSERT+INIT".
func OpName(m Rmgr, info uint8) string {
	name := ""
	switch m {
	case RmgrXLOG:
		name = xlogName(info & 0xF0)
	case RmgrTransaction:
		name = map[uint8]string{InfoCommit: "COMMIT", InfoAbort: "ABORT"}[info&XactOpMask]
	case RmgrStorage:
		name = map[uint8]string{InfoStorageCreate: "CREATE", InfoStorageTruncate: "TRUNCATE"}[info&0xF0]
	case RmgrCLOG:
		name = map[uint8]string{InfoCLOGZeroPage: "ZEROPAGE"}[info&0xF0]
	case RmgrHeap:
		name = heapName(info & HeapOpMask)
	case RmgrBtree:
		name = btreeName(info & 0xF0)
	case RmgrHeap2:
		name = map[uint8]string{InfoHeap2Prune: "PRUNE", InfoHeap2Vacuum: "VACUUM", InfoHeap2Visible: "VISIBLE"}[info&HeapOpMask]
	}
	if name == "" {
		name = fmt.Sprintf("0x%02X", info)
	} else if info&InitPage != 0 && (m == RmgrHeap || m == RmgrHeap2) {
		name += "+INIT"
	}
	return m.String() + "/" + name
}

func xlogName(op uint8) string {
	return map[uint8]string{
		InfoCheckpointShutdown: "CHECKPOINT_SHUTDOWN", InfoCheckpointOnline: "CHECKPOINT_ONLINE",
		InfoSwitch: "SWITCH", InfoFPWChange: "FPW_CHANGE", InfoFPIForHint: "FPI_FOR_HINT",
		InfoFPI: "FPI", InfoNextXID: "NEXTXID",
	}[op]
}

func heapName(op uint8) string {
	return map[uint8]string{
		InfoHeapInsert: "INSERT", InfoHeapDelete: "DELETE", InfoHeapUpdate: "UPDATE",
		InfoHeapHotUpdate: "HOT_UPDATE", InfoHeapLock: "LOCK", InfoHeapInplace: "INPLACE",
	}[op]
}

// String is PostgreSQL's name.
func (m Rmgr) String() string {
	switch m {
	case RmgrXLOG:
		return "XLOG"
	case RmgrTransaction:
		return "Transaction"
	case RmgrStorage:
		return "Storage"
	case RmgrCLOG:
		return "CLOG"
	case RmgrStandby:
		return "Standby"
	case RmgrHeap2:
		return "Heap2"
	case RmgrHeap:
		return "Heap"
	case RmgrBtree:
		return "Btree"
	}
	return fmt.Sprintf("rmgr %d", uint8(m))
}
