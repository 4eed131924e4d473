package txn

import (
	"tornpage/engine/buffer"
	"tornpage/engine/host"
	"tornpage/engine/page"
)

// Status is the status of ended transactions: the status pages, reached
// through the buffer pool, with a cache before them. Only final answers are
// cached.
type Status struct {
	m     host.Machine
	pool  *buffer.Pool
	lines []statusLine
	shift uint32 // an XID's line is XID >> shift
	Loads uint64 // lookups that went to a page
}

// statusLine is what is known of neighbouring XIDs.
type statusLine struct {
	number uint32 // XID >> shift
	known  uint32 // bit n: of the n-th XID
	yes    uint32 // and it has committed
}

const (
	// defaultStatuses is how many statuses are at hand. Tuples carry no hint
	// bits, so pruning asks for the maker of every tuple on its page. 96 KiB;
	// PostgreSQL 15 keeps up to 128 status pages of 32,768 XIDs
	// (CLOGShmemBuffers).
	defaultStatuses = 1 << 18
	// fineStatuses: a cache of fewer has a line for each XID, so that it really
	// is as small as it is to be.
	fineStatuses = 1024
	lineShift    = 5
)

// NewStatus makes a cache of n XIDs, rounded up to a power of two; 0: 262,144.
func NewStatus(m host.Machine, pool *buffer.Pool, n int) *Status {
	if n == 0 {
		n = defaultStatuses
	}
	size := 1
	for size < n {
		size *= 2
	}
	s := &Status{m: m, pool: pool}
	if size >= fineStatuses {
		s.shift = lineShift
	}
	s.lines = make([]statusLine, size>>s.shift)
	return s
}

// get is the status of an XID that has ended, if it is at hand. Those below
// FirstXID are PostgreSQL's: 0 is none, 1 and 2 (bootstrap, frozen) committed
// before everything.
func (s *Status) get(xid uint32) (committed, known bool) {
	if xid < FirstXID {
		return xid != 0, true
	}
	n := xid >> s.shift
	l := &s.lines[n&uint32(len(s.lines)-1)]
	bit := uint32(1) << (xid - n<<s.shift)
	return l.yes&bit != 0, l.number == n && l.known&bit != 0
}

func (s *Status) put(xid uint32, committed bool) {
	n := xid >> s.shift
	l := &s.lines[n&uint32(len(s.lines)-1)]
	if l.number != n {
		*l = statusLine{number: n}
	}
	bit := uint32(1) << (xid - n<<s.shift)
	l.known |= bit
	l.yes &^= bit
	if committed {
		l.yes |= bit
	}
}

// load reads the status from its page. What is not committed there has
// aborted: the caller knows that it does not run.
func (s *Status) load(xid uint32) (committed bool, err error) {
	s.Loads++
	f, err := s.pool.Pin(page.StatusID(xid))
	if err != nil {
		return false, err
	}
	f.RLock()
	committed = page.Status(f.Page(), xid) == page.Committed
	f.RUnlock()
	s.pool.Unpin(f)
	s.put(xid, committed)
	return committed, nil
}
