package txn

// memo is statuses that one view has looked up: a small hash table. They are
// final, so nothing in it ever becomes wrong; it is emptied when it is full.
//
// What it is for: an operation that lacks a status gives up its page, looks the
// status up and starts over, perhaps several times, and the shared cache may
// have lost the first answers by the time of the last. memoXIDs is more than
// any operation needs at once, so that after one emptying it gets through.
type memo struct {
	slots []uint64 // XID << 1 | committed; 0: empty
	n     int
}

const (
	// memoXIDs: 8 pages (wal.MaxBlocks) of 291 tuples with two XIDs each are
	// 4,656.
	memoXIDs   = 5000
	firstSlots = 16 // a power of two
)

// place is where xid is, or would be put. There is an empty slot.
func (m *memo) place(xid uint32) int {
	mask := uint32(len(m.slots) - 1)
	i := uint32(uint64(xid)*golden>>32) & mask
	for m.slots[i] != 0 && uint32(m.slots[i]>>1) != xid {
		i = (i + 1) & mask
	}
	return int(i)
}

func (m *memo) get(xid uint32) (committed, ok bool) {
	if m.n == 0 {
		return false, false
	}
	e := m.slots[m.place(xid)]
	return e&1 == 1, e != 0
}

// reserve makes room for n more, by emptying if need be. At most half of the
// slots are used.
func (m *memo) reserve(n int) {
	if m.n+n > memoXIDs {
		m.clear()
	}
	size := max(len(m.slots), firstSlots)
	for size < 2*(m.n+n) {
		size *= 2
	}
	if size == len(m.slots) {
		return
	}
	old := m.slots
	m.slots = make([]uint64, size)
	for _, e := range old {
		if e != 0 {
			m.slots[m.place(uint32(e>>1))] = e
		}
	}
}

// put adds an XID that is not 0, for which room was reserved.
func (m *memo) put(xid uint32, committed bool) {
	e := uint64(xid) << 1
	if committed {
		e |= 1
	}
	if at := m.place(xid); m.slots[at] == 0 {
		m.slots[at] = e
		m.n++
	}
}

func (m *memo) clear() {
	if m.n > 0 {
		clear(m.slots)
		m.n = 0
	}
}
