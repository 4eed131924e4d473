package heap

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/compute/computetest"
	"tornpage/engine/page"
)

// change writes a row, if no other transaction has its lock.
func (c *client) change(key int64) {
	if by := c.locked[key]; by != nil && by != c.x {
		return
	}
	c.locked[key] = c.x
	row, found := c.find(key)
	if !found {
		c.insert(key)
		return
	}
	switch c.r.N(8) {
	case 0:
		res, err := c.h.Lock(c.x, row.TID)
		if c.done(err) {
			c.met(key, row, res)
		}
	case 1:
		res, err := c.h.Delete(c.x, row.TID)
		if c.done(err) && c.met(key, row, res) {
			c.note(key, nil, Deleted)
		}
	default:
		c.update(key, row, 0)
	}
}

// newest is the row as committed last, or as x made it.
func (c *client) newest(key int64) []byte {
	if v, ok := c.own[key]; ok {
		return v.value
	}
	return c.asOf(key, c.txns.commits)
}

// insert adds the row if nobody has meanwhile.
func (c *client) insert(key int64) {
	n := 0
	for _, root := range slices.Clone(c.index[key]) {
		d, err := c.h.Alive(c.x, root, nil)
		c.must(err)
		if !d.Found || !slices.Contains(c.index[key], root) { // vacuumed meanwhile, and used for another row
			continue
		}
		n++
		k, v, _ := ParseRow(d.Row.Tuple.Data())
		if d.Wait != 0 || k != key || string(v) != string(c.newest(key)) {
			c.fail("key %d: %v lives as %d %x, depends on %d, want %x", key, d.Row.TID, k, v, d.Wait, c.newest(key))
		}
	}
	if want := c.newest(key) != nil; (n > 0) != want || n > 1 {
		c.fail("key %d: %d live versions, want one: %t", key, n, want)
	}
	if n > 0 {
		return
	}
	v := c.value()
	tid, err := c.h.Insert(c.x, tuple(key, v))
	if !c.done(err) {
		return
	}
	c.note(key, v, Done)
	c.index[key] = append(c.index[key], tid)
}

// note records a change of x's own; how: what it did to the version before.
func (c *client) note(key int64, value []byte, how Result) {
	now, again := c.own[key]
	if !again {
		now = change{how: how, linked: true}
	}
	now.value = value
	now.linked = now.linked && how == Updated
	c.own[key] = now
}

func tuple(key int64, value []byte) page.Tuple {
	t := page.NewTuple(nil, 0, 0, rowAtts, AppendRow(nil, key, value))
	t.SetInfomask(t.Infomask() | page.HasVarWidth)
	return t
}

// update makes a new version.
func (c *client) update(key int64, row Row, depth int) {
	v, hotAllowed := c.value(), c.r.N(4) > 0
	res, tid, hot, err := c.h.Update(c.x, row.TID, tuple(key, v), hotAllowed)
	if !c.done(err) {
		return
	}
	if depth > 0 && res != Done {
		c.fail("key %d: the newest version %v cannot be updated: %v", key, row.TID, res)
	}
	if depth > 0 || c.met(key, row, res) {
		c.note(key, v, Updated)
		if hot && (!hotAllowed || tid.Block != row.TID.Block) {
			c.fail("key %d: hot from %v to %v, allowed %t", key, row.TID, tid, hotAllowed)
		}
		if !hot {
			c.index[key] = append(c.index[key], tid)
		}
	}
}

// met compares what a change met with what was committed after the snapshot,
// and updates the newest version where there is one.
func (c *client) met(key int64, row Row, res Result) bool {
	next, last := Done, []byte(nil)
	if _, own := c.own[key]; !own {
		for _, e := range c.rows[key] {
			if e.at <= c.x.snap {
				continue
			}
			if next == Done {
				next = e.how
			}
			if last = nil; !e.linked {
				break // what comes after is another row
			}
			last = e.value
		}
	}
	if res != next {
		c.fail("key %d version %v: %v, want %v", key, row.TID, res, next)
	}
	if res != Updated {
		return res == Done
	}
	latest, found, err := c.h.Latest(c.x, row.TID, nil)
	c.must(err)
	if found != (last != nil) {
		c.fail("key %d: newest version of %v found %t, want %t", key, row.TID, found, last != nil)
	}
	if !found {
		return false
	}
	if k, v, _ := ParseRow(latest.Tuple.Data()); k != key || string(v) != string(last) {
		c.fail("key %d: newest version of %v is %d %x, want %x", key, row.TID, k, v, last)
	}
	c.x.snap = c.txns.commits // read committed: the old snapshot would see the row twice
	c.update(key, latest, 1)
	return false
}

// TestModel: transactions of several clients, with savepoints, over tiny pages
// and pools, with kills, moving floors and refusals; every read is held against
// the commits, every page against its redo, and the heap against its rules.
func TestModel(t *testing.T) {
	marks, refused, asked, vacuums, mapped := map[string]int{}, 0, 0, 0, 0
	var n Stats
	rapid.Check(t, func(t *rapid.T) {
		s := &scene{t: t, seed: rapid.Uint64Range(0, 1<<20).Draw(t, "seed"),
			clients: rapid.IntRange(1, 6).Draw(t, "clients"), ops: rapid.IntRange(5, 25).Draw(t, "transactions"),
			boots: rapid.IntRange(0, 3).Draw(t, "kills"), keys: rapid.Uint64Range(1, 20).Draw(t, "keys"),
			pad: rapid.SampledFrom([]uint64{0, 100, 1500}).Draw(t, "padding"), frames: rapid.IntRange(8, 12).Draw(t, "frames"),
			moves: rapid.Uint64Range(0, 4).Draw(t, "floor moves"), refuse: rapid.SampledFrom([]uint64{0, 0, 20}).Draw(t, "refusals"),
			cfg: Config{FillFactor: rapid.SampledFrom([]int{100, 70, 10}).Draw(t, "fill factor"),
				LinesPerPage: rapid.SampledFrom([]int{0, 1, 3, 8}).Draw(t, "lines")},
			mem: computetest.Mem{WithFloor: rapid.Bool().Draw(t, "floor"),
				ReadTime: time.Duration(rapid.IntRange(0, 2).Draw(t, "read time")) * 50 * time.Microsecond},
		}
		s.run()
		refused += s.refused
		asked += s.txns.asked
		vacuums, mapped = vacuums+s.vacuums, mapped+s.mapped
		for mark, k := range s.marks {
			marks[mark] += k
		}
		n.add(&s.stats)
	})
	t.Logf("%+v, %d refused, %d times asked for statuses, %d vacuums, %d pages all-visible; %v", n, refused, asked, vacuums, mapped, marks)
	for _, v := range []uint64{n.Inserted, n.Hot, n.Moved, n.Deleted, n.Locked, n.Pruned, n.Removed, n.Extended, uint64(refused), uint64(asked), uint64(vacuums), uint64(mapped)} {
		require.NotZero(t, v, "%+v", n)
	}
	for _, mark := range []string{"heap.extended", "heap.hot-update", "heap.cross-page-update", "heap.pruned-on-read", "heap.redirected",
		"heap.line-dead", "heap.chain-followed", "heap.page-reused", "heap.prune-refused", "heap.vm-cleared", "heap.fate-asked", "append.floor-moved", "buffer.evicted-dirty"} {
		require.NotZero(t, marks[mark], "%s was never reached", mark)
	}
}

func (s *Stats) add(o *Stats) {
	s.Inserted += o.Inserted
	s.Updated += o.Updated
	s.Hot += o.Hot
	s.Moved += o.Moved
	s.Deleted += o.Deleted
	s.Locked += o.Locked
	s.Pruned += o.Pruned
	s.Removed += o.Removed
	s.Extended += o.Extended
}
