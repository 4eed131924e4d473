package compute_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/buffer"
	"tornpage/engine/compute"
	"tornpage/engine/compute/computetest"
	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
	"tornpage/sim"
)

// fact is one operation of a run and how it ended.
type fact struct {
	keys    []int64
	values  []uint64 // written, or read
	read    bool
	rolled  bool
	outcome db.Outcome
	boot    uint64
}

// history is what a run did, over all its boots.
type history struct {
	facts []*fact
	next  uint64 // the next unique value
}

func (h *history) begin(f *fact) *fact {
	f.outcome = db.Outcome{Status: db.Unknown}
	h.facts = append(h.facts, f)
	return f
}

func (h *history) unique() uint64 { h.next++; return h.next }

func enc(v uint64, pad int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, v)
	return append(b, make([]byte, pad)...)
}

func dec(b []byte) uint64 {
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// check holds every read against the commits in LSN order: it must show,
// for each key, the last commit at or below its snapshot. A value whose
// writer's end is unknown is allowed, unless it was rolled back.
func (h *history) check() error {
	type commit struct {
		lsn   wal.LSN
		value uint64
	}
	byKey := map[int64][]commit{}
	unknown := map[int64]map[uint64]bool{}
	for _, f := range h.facts {
		if f.read {
			continue
		}
		for i, k := range f.keys {
			switch {
			case f.outcome.Status == db.Committed:
				byKey[k] = append(byKey[k], commit{f.outcome.Token, f.values[i]})
			case f.outcome.Status == db.Unknown && !f.rolled:
				if unknown[k] == nil {
					unknown[k] = map[uint64]bool{}
				}
				unknown[k][f.values[i]] = true
			}
		}
	}
	for n, f := range h.facts {
		if !f.read || f.outcome.Status != db.Committed {
			continue
		}
		for i, k := range f.keys {
			want := commit{}
			for _, c := range byKey[k] {
				if c.lsn <= f.outcome.Token && c.lsn > want.lsn {
					want = c
				}
			}
			if got := f.values[i]; got != want.value && !unknown[k][got] {
				return fmt.Errorf("fact %d: key %d at %v was %d, want %d of %v", n, k, f.outcome.Token, got, want.value, want.lsn)
			}
		}
	}
	return nil
}

// scene is one run: a writer over a storage in memory, with some clients.
type scene struct {
	t       testing.TB
	seed    uint64
	cfg     compute.Config
	mem     *computetest.Mem
	clients int
	ops     int
	moves   uint64
	boots   int // the writer is killed between them
	hist    history
	eng     *compute.Engine
	stats   []compute.Stats
	pad     int
	hash    uint64
}

func (s *scene) run() {
	w, err := sim.New(sim.Config{
		Seed:     s.seed,
		Machines: []sim.Machine{{Name: "m", Zone: "a"}},
		Hosts:    []sim.Host{{Name: "writer", Machine: "m", Boot: s.boot}},
	})
	require.NoError(s.t, err)
	defer w.Close()
	for range s.boots {
		w.Boot("writer")
		w.Run(w.Now() + 5*time.Millisecond)
		s.end(w)
		w.Kill("writer")
	}
	w.Boot("writer")
	w.Run(w.Now() + time.Minute)
	s.end(w)
	s.hash = w.Hash()
	require.False(s.t, w.Up("writer"), "seed %d: the last boot did not finish its work", s.seed)
	require.NoError(s.t, s.hist.check(), "seed %d", s.seed)
	_, _, err = s.mem.Replay()
	require.NoError(s.t, err, "seed %d", s.seed)
}

func (s *scene) end(w *sim.World) {
	if f := w.Failure(); f != nil {
		require.Fail(s.t, f.Error(), "seed %d\n%s", s.seed, f.Stack)
	}
	s.stats = append(s.stats, s.eng.Stats())
}

// boot is the writer's boot function: clients are tasks of the same process.
func (s *scene) boot(m host.Machine) {
	st := s.mem.Boot(m)
	st.Moves = s.moves
	eng, err := compute.Open(m, st, s.cfg)
	s.eng = eng
	if err != nil {
		panic(err)
	}
	left := s.clients
	done := m.NewCond(host.WaitWork)
	for i := range s.clients {
		m.Go(fmt.Sprint("client ", i), func() {
			s.client(m, eng, m.Rand("client", uint64(i)))
			left--
			done.Broadcast()
		})
	}
	for left > 0 {
		done.Wait()
	}
	s.compare(eng)
}

// compare holds the pages in the pool against redo of the whole log.
func (s *scene) compare(eng *compute.Engine) {
	pages, _, err := s.mem.Replay()
	if err != nil {
		panic(err)
	}
	for block := range eng.Geometry().Blocks() {
		id := page.ID{Rel: eng.Rel(), Block: block}
		f, err := eng.Pool().Pin(id)
		if err != nil {
			panic(err)
		}
		want := pages[id]
		if want == nil {
			want = new(page.Page)
		}
		if page.LSNOf(id, f.Page()) <= eng.Published() { // else redo has not all of it yet
			if err := computetest.Equal(id, f.Page(), want); err != nil {
				panic(err)
			}
			if err := page.ValidateItems(id, f.Page()); err != nil && !want.IsZero() {
				panic(err)
			}
		}
		eng.Pool().Unpin(f)
	}
}

func (s *scene) client(m host.Machine, eng *compute.Engine, r host.Rand) {
	rows := eng.Geometry().Rows
	for range s.ops {
		switch r.N(10) {
		case 0, 1, 2:
			s.put(m, eng, []int64{int64(r.N(uint64(rows)))}, &r, false)
		case 3, 4:
			s.put(m, eng, pick(&r, rows), &r, false)
		case 5:
			s.put(m, eng, pick(&r, rows), &r, true)
		case 6:
			s.swap(m, eng, int64(r.N(uint64(rows))))
		case 7:
			s.read(m, eng, slices.Concat(all(rows), all(rows), all(rows))) // long, so that pages fill up
		default:
			s.read(m, eng, pick(&r, rows))
		}
		if r.N(8) == 0 {
			m.Sleep(time.Duration(r.N(100_000)))
		}
	}
}

// pick gives one to four distinct keys.
func pick(r *host.Rand, rows int64) (keys []int64) {
	for len(keys) < int(1+r.N(4)) {
		k := int64(r.N(uint64(rows)))
		for _, have := range keys {
			if have == k {
				k = -1
			}
		}
		if k >= 0 {
			keys = append(keys, k)
		}
	}
	return keys
}

func all(rows int64) (keys []int64) {
	for k := range rows {
		keys = append(keys, k)
	}
	return keys
}

func (s *scene) put(m host.Machine, eng *compute.Engine, keys []int64, r *host.Rand, rollback bool) {
	f := &fact{keys: keys, rolled: rollback, boot: m.Boot()}
	var values db.Values
	for range keys {
		v := s.hist.unique()
		if r.N(8) == 0 {
			v = 0
			values.Add(nil)
		} else {
			values.Add(enc(v, s.pad*int(min(3, r.N(6)))/3))
		}
		f.values = append(f.values, v)
	}
	s.hist.begin(f)
	f.outcome = eng.MultiPut(keys, &values, rollback)
}

// swap reads a row and writes it if it has not changed meanwhile.
func (s *scene) swap(m host.Machine, eng *compute.Engine, key int64) {
	var held, now db.Values
	if o := eng.Read([]int64{key}, 0, &now); o.Status != db.Committed {
		return
	}
	f := s.hist.begin(&fact{keys: []int64{key}, values: []uint64{s.hist.unique()}, boot: m.Boot()})
	f.outcome = eng.CompareAndSet(key, now.At(0), enc(f.values[0], 0), &held)
}

func (s *scene) read(m host.Machine, eng *compute.Engine, keys []int64) {
	var values db.Values
	f := s.hist.begin(&fact{keys: keys, read: true, boot: m.Boot()})
	f.outcome = eng.Read(keys, 0, &values)
	for i := range values.Len() {
		f.values = append(f.values, dec(values.At(i)))
	}
}

func sum(stats []compute.Stats) (t compute.Stats) {
	for _, s := range stats {
		t.Committed += s.Committed
		t.Aborted += s.Aborted
		t.Images += s.Images
		t.Rebuilt += s.Rebuilt
		t.Pruned += s.Pruned
		t.PageFull += s.PageFull
		t.LockWaits += s.LockWaits
		t.Grouped += s.Grouped
		t.StatusRead += s.StatusRead
		t.Horizons += s.Horizons
		t.Pool.Evicted += s.Pool.Evicted
		t.Pool.EvictedDirty += s.Pool.EvictedDirty
	}
	return t
}

// newScene varies the sizes by seed.
func newScene(t testing.TB, seed uint64) *scene {
	return &scene{
		t: t, seed: seed, clients: 6, ops: 60, moves: seed % 5, boots: int(seed % 4), pad: 900,
		mem: &computetest.Mem{WithFloor: seed%2 == 1, ReadTime: time.Duration(seed%3) * 100 * time.Microsecond},
		cfg: compute.Config{Rows: 24, RowsPerPage: 4, ValueBytes: 920, XIDBatch: 3, StatusCache: 2,
			Pool: buffer.Config{Frames: 2 + int(seed%3), Remember: 4}},
	}
}

// TestRuns runs random operations by several clients over tiny geometries,
// with kills, and checks every read against the commit order, and every page
// against redo.
func TestRuns(t *testing.T) {
	var all []compute.Stats
	for seed := range uint64(40) {
		s := newScene(t, seed)
		s.run()
		all = append(all, s.stats...)
	}
	n := sum(all)
	t.Logf("%+v", n)
	for what, v := range map[string]uint64{"committed": n.Committed, "aborted": n.Aborted, "images": n.Images,
		"rebuilt": n.Rebuilt, "pruned": n.Pruned, "lock waits": n.LockWaits, "grouped": n.Grouped, "page full": n.PageFull,
		"status pages read": n.StatusRead, "horizons": n.Horizons, "evicted": n.Pool.Evicted, "evicted dirty": n.Pool.EvictedDirty} {
		require.NotZero(t, v, "no run had any: %s", what)
	}
}

// TestReplay: a seed gives the same run again, to the byte.
func TestReplay(t *testing.T) {
	for seed := range uint64(4) {
		a, b := newScene(t, seed), newScene(t, seed)
		a.run()
		b.run()
		require.Equal(t, a.hash, b.hash, "seed %d", seed)
		require.Equal(t, a.stats, b.stats, "seed %d", seed)
	}
}
