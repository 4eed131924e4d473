package page

// StatusRel is the relation whose pages hold transaction status. PostgreSQL
// has no file number 1: below 16384 belongs to the system, 1 is unused there.
const StatusRel Rel = 1

// A status page is a page of parts with an entry for each XID.
const (
	StatusParts = Parts
	StatusXIDs  = PartEntries
)

// XactStatus is a transaction's status, with the values of PostgreSQL's CLOG.
type XactStatus uint8

// InProgress also means crashed: whoever knows that nothing runs reads it as
// aborted.
const (
	InProgress XactStatus = iota
	Committed
	Aborted
)

// String names the status.
func (s XactStatus) String() string {
	switch s {
	case InProgress:
		return "in progress"
	case Committed:
		return "committed"
	case Aborted:
		return "aborted"
	}
	return "unknown status"
}

// StatusBlock is the block of StatusRel that holds xid.
func StatusBlock(xid uint32) uint32 { return xid / StatusXIDs }

// StatusID is the page that holds xid.
func StatusID(xid uint32) ID { return ID{Rel: StatusRel, Block: StatusBlock(xid)} }

// InitStatus makes p an empty status page: all in progress.
func InitStatus(p *Page) { initParts(p, statusMagic) }

// Status reads xid's status from its page.
func Status(p *Page, xid uint32) XactStatus { return XactStatus(entry(p, xid)) }

// SetStatus sets xid's status on its page. Setting it again is harmless.
func SetStatus(p *Page, xid uint32, s XactStatus) { setEntry(p, xid, uint8(s)) }
