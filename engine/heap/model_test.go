package heap

import (
	"bytes"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// machine is the model: one page, transactions of one row each, readers with
// views, and a second page that only redo writes.
type machine struct {
	*world
	redo    *page.Page
	lsn     wal.LSN
	crc     uint32
	xid     uint32
	order   []uint32                   // committed, in order of publication
	state   []map[int64][]byte         // state[i]: after i commits
	open    map[int64]uint32           // key: its running transaction
	written map[int64][]byte           // by that
	held    []int                      // views: how many commits each sees
	seen    map[int]map[uint32]bool    // commits in the view of that length
	stats   struct{ pruned, full int } // over the whole check
}

func newMachine(g Geometry) *machine {
	return &machine{world: newWorld(g), redo: new(page.Page), lsn: 64, xid: 10, open: map[int64]uint32{}, written: map[int64][]byte{},
		state: []map[int64][]byte{{}}, seen: map[int]map[uint32]bool{0: {}}}
}

// prefix sees the first n commits.
type prefix struct {
	m *machine
	n int
}

// Sees implements View.
func (p prefix) Sees(xid uint32) Verdict {
	if p.m.seen[p.n][xid] {
		return Yes
	}
	return No
}

// Fate implements Fates: Gone is what the oldest view sees.
func (m *machine) Fate(xid uint32) Fate {
	oldest := len(m.order)
	for _, n := range m.held {
		oldest = min(oldest, n)
	}
	switch {
	case m.seen[oldest][xid]:
		return Gone
	case m.seen[len(m.order)][xid]:
		return Recent
	}
	for _, x := range m.open {
		if x == xid {
			return Running
		}
	}
	return Aborted
}

// logged builds the record in m.mtr, and replays its bytes on the other page.
func (m *machine) logged(t *rapid.T, floor wal.LSN) {
	m.mtr.Build(floor)
	b, _ := m.mtr.Finish(m.lsn, m.crc)
	r, crc, err := wal.Decode(bytes.Clone(b), m.lsn, m.crc)
	require.NoError(t, err)
	m.mtr.Stamp(r.End)
	m.lsn, m.crc = r.End, crc
	_, err = wal.Apply(&r, 0, m.redo)
	require.NoError(t, err, "%v", &r)
	require.NoError(t, page.ValidateItems(testPage, m.p))
	a, c := *m.p, *m.redo
	for _, p := range []*page.Page{&a, &c} { // hints are not logged
		p.SetPruneXID(0)
		p.SetFlags(0)
		off, n := p.Hole()
		clear(p[off : off+n])
	}
	require.Equal(t, a, c, "%v", &r)
}

func (m *machine) pruneNow(t *rapid.T) bool {
	m.plan.Make(m.p, m)
	if m.plan.Empty() {
		return false
	}
	require.NoError(t, m.p.Prune(m.plan.Redirected, nil, m.plan.Unused))
	m.p.SetPruneXID(m.plan.Prunable)
	wal.HeapPrune(&m.mtr, testPage, m.p, m.plan.LatestRemoved, m.plan.Redirected, nil, m.plan.Unused)
	m.logged(t, m.floor(t))
	m.stats.pruned++
	return true
}

func (m *machine) floor(t *rapid.T) wal.LSN {
	return rapid.SampledFrom([]wal.LSN{0, 1, m.lsn}).Draw(t, "floor")
}

// write begins a transaction on a row that has none, or ends in "no room".
func (m *machine) write(t *rapid.T) {
	key := rapid.Int64Range(0, m.geo.RowsPerPage-1).Draw(t, "key")
	if m.open[key] != 0 {
		return
	}
	var value []byte
	if rapid.IntRange(0, 9).Draw(t, "delete") > 0 {
		size := rapid.SampledFrom([]int{0, 126, 127, m.geo.ValueBytes, m.geo.ValueBytes, m.geo.ValueBytes, m.geo.ValueBytes}).Draw(t, "size")
		value = bytes.Repeat([]byte{byte(m.xid)}, min(size, m.geo.ValueBytes))
	}
	if value != nil && m.geo.HasRoom(m.p, len(value)) == Full && !m.pruneNow(t) || value != nil && m.geo.HasRoom(m.p, len(value)) == Full {
		m.stats.full++
		old := false
		for _, n := range m.held {
			old = old || n < len(m.order)
		}
		require.True(t, old, "E4: no room for key %d though no old view holds anything\n%s", key, m.items())
		return
	}
	found, err := Find(testPage, m.p, key, prefix{m, len(m.order)})
	require.NoError(t, err)
	m.xid++
	if value == nil && found.Off == 0 {
		return
	}
	floor := m.floor(t)
	c := Change{XID: m.xid, Key: key, Value: value, Old: found.Off}
	m.open[key], m.written[key] = m.xid, value
	c.Apply(&m.mtr, floor, testPage, m.p, nil)
	m.logged(t, floor)
}

func (m *machine) end(t *rapid.T) {
	m.endOf(t, rapid.Int64Range(0, m.geo.RowsPerPage-1).Draw(t, "key"))
}

func (m *machine) endOf(t *rapid.T, key int64) {
	xid := m.open[key]
	if xid == 0 {
		return
	}
	value := m.written[key]
	delete(m.open, key)
	if rapid.IntRange(0, 9).Draw(t, "abort") == 9 {
		return
	}
	next, seen := maps.Clone(m.state[len(m.order)]), maps.Clone(m.seen[len(m.order)])
	if value == nil {
		delete(next, key)
	} else {
		next[key] = value
	}
	seen[xid] = true
	m.order = append(m.order, xid)
	m.state = append(m.state, next)
	m.seen[len(m.order)] = seen
}

// check reads every row in every view that is held, and in the present one.
func (m *machine) check(t *rapid.T) {
	for _, n := range append([]int{len(m.order)}, m.held...) {
		for key := range m.geo.RowsPerPage {
			found, err := Find(testPage, m.p, key, prefix{m, n})
			require.NoError(t, err)
			want, there := m.state[n][key]
			require.Equal(t, there, found.Off != 0, "key %d in the view of %d commits\n%s", key, n, m.items())
			require.True(t, bytes.Equal(want, found.Value), "key %d in the view of %d commits", key, n)
			m.onlyOne(t, key, n)
		}
	}
}

// onlyOne is rule E1.
func (m *machine) onlyOne(t *rapid.T, key int64, n int) {
	visibleVersions := 0
	for off := uint16(1); off <= m.p.MaxOffset(); off++ {
		if v := m.p.Tuple(off); v != nil {
			k, _, _ := ParseRow(v.Data())
			if yes, _ := visible(v, prefix{m, n}); k == key && yes == Yes {
				visibleVersions++
			}
		}
	}
	require.LessOrEqual(t, visibleVersions, 1, "E1: key %d in the view of %d commits\n%s", key, n, m.items())
}

// TestModel: random transactions and prunings against maps, and against redo.
func TestPageModel(t *testing.T) {
	pruned, full := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.SampledFrom([]int{100, 1000, 1900}).Draw(t, "value bytes")
		g, err := NewGeometry(1000, rapid.SampledFrom([]int64{1, 2}).Draw(t, "rows a page"), bytes)
		require.NoError(t, err)
		m := newMachine(g)
		t.Repeat(map[string]func(*rapid.T){
			"some": func(t *rapid.T) {
				for range rapid.IntRange(1, 12).Draw(t, "transactions") {
					m.write(t)
					for key := range m.geo.RowsPerPage {
						m.endOf(t, key)
					}
				}
			},
			"write": m.write, "end": m.end,
			"prune": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
					m.pruneNow(t)
				}
			},
			"view": func(t *rapid.T) { m.held = append(m.held, len(m.order)) },
			"close": func(t *rapid.T) {
				if n := len(m.held); n > 0 {
					i := rapid.IntRange(0, n-1).Draw(t, "which")
					m.held = append(m.held[:i], m.held[i+1:]...)
				}
			},
			"close all": func(t *rapid.T) { m.held = m.held[:0] },
			"":          m.check,
		})
		pruned += m.stats.pruned
		full += m.stats.full
	})
	t.Logf("%d prunings, %d times no room", pruned, full)
	require.NotZero(t, pruned)
	require.NotZero(t, full)
}

// TestRows: what AppendRow writes, ParseRow reads; RowSize tells its length.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.Int64().Draw(t, "key")
		value := make([]byte, rapid.SampledFrom([]int{0, 1, 125, 126, 127, 200, 8000}).Draw(t, "size"))
		b := AppendRow(nil, key, value)
		require.Len(t, b, RowSize(len(value)))
		k, v, ok := ParseRow(b)
		require.True(t, ok)
		require.Equal(t, key, k)
		require.Len(t, v, len(value))
	})
}

// FuzzPage: no bytes make Find or Make panic.
func FuzzPage(f *testing.F) {
	w := newWorld(Geometry{Rows: 9, RowsPerPage: 4, ValueBytes: 100, Lines: 100})
	for _, line := range []string{"10 is gone", "put 1 a by 10", "11 is gone", "put 1 b by 11", "put 2 c by 10"} {
		w.verb(line)
	}
	f.Add(w.p[:])
	w.prune()
	f.Add(w.p[:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		w := newWorld(w.geo)
		copy(w.p[:], b)
		for xid := range uint32(20) {
			w.fate[xid] = Gone
		}
		if page.Verify(testPage, w.p, false) != nil {
			return
		}
		found, err := Find(testPage, w.p, 1, view{w, 99})
		if err == nil && found.Off > w.p.MaxOffset() {
			t.Errorf("found item %d of %d", found.Off, w.p.MaxOffset())
		}
		w.plan.Make(w.p, w)
		if err := w.p.Prune(w.plan.Redirected, nil, w.plan.Unused); err != nil {
			t.Log(err)
		}
	})
}
