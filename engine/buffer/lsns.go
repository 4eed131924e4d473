package buffer

import (
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// lsnCache remembers the LSNs of dropped pages in a fixed table. What a
// collision pushes out is folded into one bound, so that every answer is the
// page's LSN or an upper bound of it.
type lsnCache struct {
	slots []lsnSlot
	bound wal.LSN // of every page that has no slot
}

type lsnSlot struct {
	id  page.ID
	lsn wal.LSN // 0: empty
}

func newLSNCache(n int) lsnCache {
	size := 1
	for size < n {
		size *= 2
	}
	return lsnCache{slots: make([]lsnSlot, size)}
}

func (c *lsnCache) slot(id page.ID) *lsnSlot {
	h := host.Mix(uint64(id.Rel)<<32 | uint64(id.Block))
	return &c.slots[h&uint64(len(c.slots)-1)]
}

// put remembers that id was dropped at lsn.
func (c *lsnCache) put(id page.ID, lsn wal.LSN) {
	s := c.slot(id)
	if s.id != id {
		c.bound = max(c.bound, s.lsn)
	}
	*s = lsnSlot{id: id, lsn: lsn}
}

// forget takes back what is remembered of rel's blocks from block from on. The
// bound stays above it, for storages that may be behind.
func (c *lsnCache) forget(rel page.Rel, from uint32) {
	for i := range c.slots {
		if s := &c.slots[i]; s.lsn != 0 && s.id.Rel == rel && s.id.Block >= from {
			c.bound = max(c.bound, s.lsn)
			*s = lsnSlot{}
		}
	}
}

// get gives the LSN at which id was dropped; exact false: an upper bound.
func (c *lsnCache) get(id page.ID) (lsn wal.LSN, exact bool) {
	if s := c.slot(id); s.lsn != 0 && s.id == id {
		return s.lsn, true
	}
	return c.bound, false
}
