package fsm

import "tornpage/engine/page"

const (
	// Step is the width of a category in bytes. Source: PostgreSQL's
	// FSM_CAT_STEP, BLCKSZ / 256.
	Step = page.Size / 256
	// MaxRequest is the largest request in bytes (MaxFSMRequestSize). A block
	// with that much has the last category, which is narrower than Step.
	MaxRequest = page.MaxTupleSize

	maxCategory = 255
)

// Map is the free-space map of one relation. The zero value is empty.
type Map struct {
	levels [][]byte // [0]: the blocks' categories; [k][i]: the larger of [k-1][2i] and [k-1][2i+1]
	next   int      // block that the next search begins with (rule F2)
}

// have is the category of so many free bytes (fsm_space_avail_to_cat).
func have(free int) byte {
	if free >= MaxRequest {
		return maxCategory
	}
	return byte(max(0, min(free/Step, maxCategory-1)))
}

// want is the least category with room for need bytes, at most MaxRequest
// (fsm_space_needed_to_cat). A request of nothing still wants a block that is
// known.
func want(need int) byte {
	return byte(max(1, min((need+Step-1)/Step, maxCategory)))
}

// Len is the number of blocks that the map knows of.
func (m *Map) Len() uint32 {
	if len(m.levels) == 0 {
		return 0
	}
	return uint32(len(m.levels[0]))
}

// Free is a lower bound of the free bytes of a block, 0 for one that the map
// does not know of.
func (m *Map) Free(block uint32) int {
	if block >= m.Len() {
		return 0
	}
	if c := m.levels[0][block]; c < maxCategory {
		return int(c) * Step
	}
	return MaxRequest
}

// Set notes the free bytes of a block of the relation; the map grows to it.
func (m *Map) Set(block uint32, free int) {
	if block >= m.Len() {
		m.grow(int(block) + 1)
	}
	i := int(block)
	m.levels[0][i] = have(free)
	for k := 1; k < len(m.levels); k++ {
		i /= 2
		now := m.above(k, i)
		if m.levels[k][i] == now {
			return // and so are all above it
		}
		m.levels[k][i] = now
	}
}

// above computes entry i of level k from the level below.
func (m *Map) above(k, i int) byte {
	below := m.levels[k-1]
	c := below[2*i]
	if 2*i+1 < len(below) {
		c = max(c, below[2*i+1])
	}
	return c
}

// grow makes room for n blocks; those that are new have no free space.
func (m *Map) grow(n int) {
	for k := 0; ; k++ {
		if k == len(m.levels) {
			m.addLevel()
		}
		from := len(m.levels[k])
		m.levels[k] = append(m.levels[k], make([]byte, n-from)...)
		if k > 0 && from == 0 {
			m.levels[k][0] = m.above(k, 0) // the level is new, blocks below it may not be
		}
		if n == 1 {
			return
		}
		n = (n + 1) / 2
	}
}

// addLevel adds an empty level on top, in the memory of one that was cut off.
func (m *Map) addLevel() {
	k := len(m.levels)
	if k == cap(m.levels) {
		m.levels = append(m.levels, nil)
		return
	}
	m.levels = m.levels[:k+1]
	m.levels[k] = m.levels[k][:0]
}

// Truncate forgets the blocks from n on (rule F3).
func (m *Map) Truncate(n uint32) {
	if n >= m.Len() {
		return
	}
	if n == 0 {
		m.levels, m.next = m.levels[:0], 0
		return
	}
	for k, left := 0, int(n); k < len(m.levels); k, left = k+1, (left+1)/2 {
		m.levels[k] = m.levels[k][:left]
		if k > 0 {
			m.levels[k][left-1] = m.above(k, left-1) // it may have lost a child
		}
		if left == 1 {
			m.levels = m.levels[:k+1]
			break
		}
	}
	if m.next >= int(n) {
		m.next = 0
	}
}

// Find gives a block with room for need bytes (rules F1, F2). False: none is
// known, or need is more than MaxRequest.
func (m *Map) Find(need int) (block uint32, ok bool) {
	if need > MaxRequest || len(m.levels) == 0 {
		return 0, false
	}
	c, top := want(need), len(m.levels)-1
	if m.levels[top][0] < c {
		return 0, false
	}
	// Climb to the right: from an entry without, to the parent of its right
	// neighbour. That covers no block left of the start unless it wraps around.
	k, i := 0, m.next
	for m.levels[k][i] < c {
		i++
		if i == len(m.levels[k]) {
			i = 0
		}
		i /= 2
		k++
	}
	for ; k > 0; k-- {
		i *= 2
		if m.levels[k-1][i] < c {
			i++
		}
	}
	m.next = i + 1
	if m.next == len(m.levels[0]) {
		m.next = 0
	}
	return uint32(i), true
}
