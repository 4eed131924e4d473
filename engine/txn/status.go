package txn

import (
	"tornpage/engine/buffer"
	"tornpage/engine/host"
	"tornpage/engine/page"
)

// Status is the status of ended transactions: the status pages, reached
// through the buffer pool, with a small cache before them. Only final answers
// are cached.
type Status struct {
	m     host.Machine
	pool  *buffer.Pool
	slots []uint64 // XID << 1 | committed; 0: empty
	Loads uint64   // lookups that went to a page
}

// NewStatus makes a cache of n XIDs, rounded up to a power of two; 0: 4,096.
func NewStatus(m host.Machine, pool *buffer.Pool, n int) *Status {
	if n == 0 {
		n = 4096
	}
	size := 1
	for size < n {
		size *= 2
	}
	return &Status{m: m, pool: pool, slots: make([]uint64, size)}
}

// get is the status of an XID that has ended, if it is at hand. Those below
// FirstXID are PostgreSQL's: 0 is none, 1 and 2 (bootstrap, frozen) committed
// before everything.
func (s *Status) get(xid uint32) (committed, known bool) {
	if xid < FirstXID {
		return xid != 0, true
	}
	e := s.slots[xid&uint32(len(s.slots)-1)]
	return e&1 == 1, uint32(e>>1) == xid
}

func (s *Status) put(xid uint32, committed bool) {
	e := uint64(xid) << 1
	if committed {
		e |= 1
	}
	s.slots[xid&uint32(len(s.slots)-1)] = e
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
