package compute_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/buffer"
	"tornpage/engine/compute"
	"tornpage/engine/compute/computetest"
	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/engine/row"
	"tornpage/engine/table"
	"tornpage/sim"
)

// The model of sessions: a table t(id, n, pad) with an index on n, as a list of
// committed states, and for each session what it has changed. Sessions take
// turns; a statement that would have to wait for another session is left out.

const (
	modelKeys     = 10
	modelSessions = 3
)

// value is a row without its key.
type value struct {
	n   int64
	pad int
}

// state is the table's rows by key.
type state map[int64]value

func (s state) clone() state {
	c := make(state, len(s))
	for k, v := range s { //tornvet:ordered a copy
		c[k] = v
	}
	return c
}

// step is one drawn statement; what it means depends on the session's state.
type step struct {
	session int
	kind    int
	key     int64
	n       int64
	pad     int
	flag    bool
}

// modelSession is a session and what the model knows of it.
type modelSession struct {
	s      db.Session
	open   bool
	failed bool
	rr     bool
	snap   state          // repeatable read: taken by the first statement
	own    state          // rows it has written, as they are now
	gone   map[int64]bool // rows it has deleted
	held   map[int64]bool // rows it has locked
	saved  []modelSession // own, gone and held at each open savepoint
}

// model runs steps on an engine and on the model at once.
type model struct {
	mem       *computetest.Mem
	committed state
	sessions  [modelSessions]*modelSession
	eng       *compute.Engine
	out       db.Results
	err       error
	log       []string
}

func (m *model) boot(h host.Machine, steps []step) {
	eng, err := compute.New(h, compute.Config{
		Relational: true, Pool: buffer.Config{Frames: 8}, XIDBatch: 4, StatusCache: 4,
		Tables: table.Config{LinesPerPage: 5, ItemsPerPage: 3},
		Auto:   compute.AutoConfig{Naptime: -1}, Writer: buffer.WriterConfig{Delay: time.Millisecond},
	})
	if err == nil {
		err = eng.Open(m.mem.Boot(h))
	}
	if err != nil {
		m.err = err
		return
	}
	m.eng = eng
	for i := range m.sessions {
		m.sessions[i] = &modelSession{s: eng.NewSession()}
	}
	if h.Boot() == 1 {
		m.exec(m.sessions[0], db.Stmt{Kind: db.CreateTable, Def: &row.Table{Name: "t",
			Columns: []row.Column{{Name: "id", Type: row.Int8, NotNull: true}, {Name: "n", Type: row.Int8}, {Name: "pad", Type: row.Text}},
			Indexes: []row.Index{{Name: "pk", Columns: []row.IndexColumn{{Column: 0}}, Unique: true, Primary: true},
				{Name: "by_n", Columns: []row.IndexColumn{{Column: 1}, {Column: 0, Desc: true}}}}}})
	}
	for i := range steps {
		if m.err != nil {
			return
		}
		m.do(steps[i])
	}
}

// exec executes one statement.
func (m *model) exec(s *modelSession, st db.Stmt) *db.Result {
	m.out.Reset(0)
	s.s.Execute([]db.Stmt{st}, &m.out)
	return m.out.Last()
}

func (m *model) fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format+"\n%s", append(args, strings.Join(m.log, "\n"))...)
	}
}

// want holds a statement's end against the model: code 0 is success.
func (m *model) want(r *db.Result, code db.Code, count int) bool {
	got := db.Code(0)
	if r.Err != nil {
		got = r.Err.Code
	}
	if got != code || code == 0 && r.Count != count {
		m.fail("got %v (%v), %d rows; want %v, %d rows", got, r.Err, r.Count, code, count)
		return false
	}
	return code == 0
}

// sees is what a statement of s reads.
func (m *model) sees(s *modelSession) state {
	base := m.committed
	if s.open && s.rr {
		if s.snap == nil {
			s.snap = m.committed.clone()
		}
		base = s.snap
	}
	v := base.clone()
	for k := range s.gone { //tornvet:ordered a set
		delete(v, k)
	}
	for k, x := range s.own { //tornvet:ordered a set
		v[k] = x
	}
	return v
}

// taken reports that another session has locked the row.
func (m *model) taken(s *modelSession, key int64) bool {
	return slices.ContainsFunc(m.sessions[:], func(o *modelSession) bool { return o != s && o.held[key] })
}

func (m *model) do(p step) {
	s := m.sessions[p.session]
	m.log = append(m.log, fmt.Sprintf("%+v open=%t failed=%t rr=%t", p, s.open, s.failed, s.rr))
	switch p.kind {
	case 0:
		m.begin(s, p.flag)
	case 1:
		m.commit(s)
	case 2:
		m.rollback(s)
	case 3, 4:
		m.insert(s, p)
	case 5, 6, 7:
		m.update(s, p)
	case 8:
		m.remove(s, p)
	case 9:
		m.get(s, p)
	case 10, 11:
		m.scan(s, p)
	case 12:
		m.savepoint(s)
	case 13:
		m.rollbackTo(s)
	case 14:
		if !s.open {
			m.want(m.exec(s, db.Stmt{Kind: db.Vacuum, Table: "t"}), 0, m.out.Last().Count)
		}
	case 15:
		m.check(s)
	}
}

func (m *model) begin(s *modelSession, rr bool) {
	if s.open {
		return
	}
	level := db.ReadCommitted
	if rr {
		level = db.RepeatableRead
	}
	m.want(m.exec(s, db.Stmt{Kind: db.Begin, Level: level}), 0, 0)
	*s = modelSession{s: s.s, open: true, rr: rr}
	s.reset()
}

func (s *modelSession) reset() {
	s.own, s.gone, s.held = state{}, map[int64]bool{}, map[int64]bool{}
}

// publish makes what s has written the committed state.
func (m *model) publish(s *modelSession) {
	next := m.committed.clone()
	for k := range s.gone { //tornvet:ordered a set
		delete(next, k)
	}
	for k, x := range s.own { //tornvet:ordered a set
		next[k] = x
	}
	m.committed = next
}

func (m *model) commit(s *modelSession) {
	if !s.open {
		return
	}
	r := m.exec(s, db.Stmt{Kind: db.Commit})
	want := db.Committed
	if s.failed {
		want = db.Aborted
	}
	if r.Outcome.Status != want {
		m.fail("commit gave %v, want status %v", r.Outcome, want)
	}
	if !s.failed {
		m.publish(s)
	}
	*s = modelSession{s: s.s}
}

func (m *model) rollback(s *modelSession) {
	if s.open {
		m.want(m.exec(s, db.Stmt{Kind: db.Rollback}), 0, 0)
		*s = modelSession{s: s.s}
	}
}

// statement is done around each that writes: a failed block refuses it, one
// outside a block commits.
func (m *model) statement(s *modelSession, key int64, st db.Stmt, write func() (db.Code, int)) {
	if s.failed {
		m.want(m.exec(s, st), db.CodeFailedBlock, 0)
		return
	}
	if m.taken(s, key) {
		return
	}
	if !s.open {
		s.reset()
	}
	code, count := write()
	ok := m.want(m.exec(s, st), code, count)
	switch {
	case !s.open:
		if ok {
			m.publish(s)
		}
		*s = modelSession{s: s.s}
	case code != 0:
		s.failed = true
	}
}

func key(k int64) []row.Value { return []row.Value{row.NewInt8(k)} }

func (m *model) insert(s *modelSession, p step) {
	st := db.Stmt{Kind: db.Insert, Table: "t", Row: []row.Value{row.NewInt8(p.key), row.NewInt8(p.n), row.NewText(strings.Repeat("x", p.pad))}}
	m.statement(s, p.key, st, func() (db.Code, int) {
		m.sees(s) // a first statement takes the snapshot
		_, there := m.committed[p.key]
		_, own := s.own[p.key]
		if own || there && !s.gone[p.key] {
			return db.CodeUnique, 0
		}
		s.own[p.key] = value{p.n, p.pad}
		s.held[p.key] = true
		return 0, 1
	})
}

// changed decides an update or delete of a row: whether s sees it, and whether
// repeatable read has lost the race for it.
func (m *model) changed(s *modelSession, k int64) (v value, code db.Code, there bool) {
	v, there = m.sees(s)[k]
	if !there {
		return v, 0, false
	}
	if _, own := s.own[k]; !own && s.open && s.rr && m.committed[k] != s.snap[k] {
		return v, db.CodeSerialization, true
	}
	if _, still := m.committed[k]; !still && s.open && s.rr && s.own[k] == (value{}) {
		if _, own := s.own[k]; !own {
			return v, db.CodeSerialization, true
		}
	}
	return v, 0, true
}

func (m *model) update(s *modelSession, p step) {
	st := db.Stmt{Kind: db.Update, Table: "t", Key: key(p.key), Sets: []db.Set{{Column: 1, Add: true, Value: row.NewInt8(p.n)}}}
	if p.flag {
		st.Sets = []db.Set{{Column: 2, Value: row.NewText(strings.Repeat("y", p.pad))}}
	}
	m.statement(s, p.key, st, func() (db.Code, int) {
		v, code, there := m.changed(s, p.key)
		if !there || code != 0 {
			return code, 0
		}
		if p.flag {
			v.pad = p.pad
		} else {
			v.n += p.n
		}
		s.own[p.key], s.held[p.key] = v, true
		delete(s.gone, p.key)
		return 0, 1
	})
}

func (m *model) remove(s *modelSession, p step) {
	m.statement(s, p.key, db.Stmt{Kind: db.Delete, Table: "t", Key: key(p.key)}, func() (db.Code, int) {
		_, code, there := m.changed(s, p.key)
		if !there || code != 0 {
			return code, 0
		}
		delete(s.own, p.key)
		s.gone[p.key], s.held[p.key] = true, true
		return 0, 1
	})
}

func (m *model) get(s *modelSession, p step) {
	if s.failed {
		return
	}
	v, there := m.sees(s)[p.key]
	r := m.exec(s, db.Stmt{Kind: db.Get, Table: "t", Key: key(p.key)})
	if !there {
		m.want(r, 0, 0)
		return
	}
	if m.want(r, 0, 1) && (r.Row(0)[1].N != v.n || len(r.Row(0)[2].B) != v.pad) {
		m.fail("get %d gave %v, want %+v", p.key, r.Row(0), v)
	}
}

// scan reads from a key on, or everything by n, in either direction.
func (m *model) scan(s *modelSession, p step) {
	if s.failed {
		return
	}
	rows := m.sees(s)
	var want []int64
	for k := range rows { //tornvet:ordered sorted below
		if p.kind == 11 || k >= p.key {
			want = append(want, k)
		}
	}
	slices.SortFunc(want, func(a, b int64) int {
		if p.kind == 11 && rows[a].n != rows[b].n {
			return int(rows[a].n - rows[b].n)
		}
		if p.kind == 11 {
			return int(b - a)
		}
		return int(a - b)
	})
	st := db.Stmt{Kind: db.Scan, Table: "t", Desc: p.flag, From: db.Bound{Key: key(p.key), Inclusive: true}}
	if p.kind == 11 {
		st.Index, st.From = "by_n", db.Bound{}
	}
	if p.flag {
		slices.Reverse(want)
	}
	r := m.exec(s, st)
	if !m.want(r, 0, len(want)) {
		return
	}
	for i, k := range want {
		if got := r.Row(i); got[0].N != k || got[1].N != rows[k].n || len(got[2].B) != rows[k].pad {
			m.fail("row %d of the scan is %v, want %d %+v", i, got, k, rows[k])
			return
		}
	}
}

func (m *model) savepoint(s *modelSession) {
	if !s.open || s.failed {
		return
	}
	m.want(m.exec(s, db.Stmt{Kind: db.Savepoint, Name: "s"}), 0, 0)
	held := map[int64]bool{}
	gone := map[int64]bool{}
	for k := range s.held { //tornvet:ordered a copy
		held[k] = true
	}
	for k := range s.gone { //tornvet:ordered a copy
		gone[k] = true
	}
	s.saved = append(s.saved, modelSession{own: s.own.clone(), gone: gone, held: held})
}

func (m *model) rollbackTo(s *modelSession) {
	if len(s.saved) == 0 {
		return
	}
	m.want(m.exec(s, db.Stmt{Kind: db.RollbackTo, Name: "s"}), 0, 0)
	m.want(m.exec(s, db.Stmt{Kind: db.Release, Name: "s"}), 0, 0)
	at := s.saved[len(s.saved)-1]
	s.saved = s.saved[:len(s.saved)-1]
	s.own, s.gone, s.held, s.failed = at.own, at.gone, at.held, false
}

// check asks for integrity, if nobody has written the table and not committed:
// it would wait.
func (m *model) check(s *modelSession) {
	if s.open || slices.ContainsFunc(m.sessions[:], func(o *modelSession) bool { return o.open }) {
		return
	}
	r := m.exec(s, db.Stmt{Kind: db.Check, Table: "t"})
	if m.want(r, 0, 0) && r.Rows() > 0 {
		m.fail("check: %v", r.Row(0))
	}
}

// TestSessionsModel: any interleaving of statements gives what the model gives,
// with a crash after each part of it.
func TestSessionsModel(t *testing.T) {
	draw := rapid.Custom(func(t *rapid.T) step {
		return step{
			session: rapid.IntRange(0, modelSessions-1).Draw(t, "session"),
			kind:    rapid.IntRange(0, 15).Draw(t, "kind"),
			key:     rapid.Int64Range(0, modelKeys-1).Draw(t, "key"),
			n:       rapid.Int64Range(0, 3).Draw(t, "n"),
			pad:     rapid.SampledFrom([]int{0, 10, 900}).Draw(t, "pad"),
			flag:    rapid.Bool().Draw(t, "flag"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		boots := rapid.SliceOfN(rapid.SliceOfN(draw, 1, 60), 1, 3).Draw(t, "boots")
		m := &model{mem: &computetest.Mem{WithFloor: true}, committed: state{}}
		next := 0
		w, err := sim.New(sim.Config{
			Seed: rapid.Uint64().Draw(t, "seed"), Machines: []sim.Machine{{Name: "m", Zone: "a"}},
			Hosts: []sim.Host{{Name: "writer", Machine: "m", Boot: func(h host.Machine) {
				m.boot(h, boots[next])
				next++
				h.NewCond(host.WaitWork).Wait()
			}}},
		})
		require.NoError(t, err)
		defer w.Close()
		for i := range boots {
			m.log = append(m.log, "boot")
			w.Boot("writer")
			w.Run(w.Now() + time.Minute)
			require.Nil(t, w.Failure())
			require.NoError(t, m.err)
			require.Equal(t, i+1, next, "a statement waits:\n%s", strings.Join(m.log, "\n"))
			w.Kill("writer")
		}
		_, _, err = m.mem.Replay()
		require.NoError(t, err)
	})
}
