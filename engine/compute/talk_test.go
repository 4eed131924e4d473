package compute_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"tornpage/engine/buffer"
	"tornpage/engine/compute"
	"tornpage/engine/compute/computetest"
	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/engine/row"
	"tornpage/engine/table"
	"tornpage/sim"
)

// Conversations of sessions with a writer over a storage in memory. Each line
// is a statement of one session, "a: insert t 1 one"; it is executed as soon
// as the one before has been answered or waits. An answer that comes later is
// printed where it comes, after the statement that let it.
//
//	begin [rr|serializable]   commit   rollback   savepoint N   rollback-to N   release N
//	create T COLUMN:TYPE[!]... [primary COLUMN] [unique COLUMN] [index COLUMN]
//	index T NAME COLUMN[-][,COLUMN[-]]... [unique]   drop T       (-: descending)
//	insert T VALUE...   get T KEY... [@INDEX] [lock]   update T KEY COLUMN=VALUE|COLUMN+=VALUE [@INDEX]
//	delete T KEY [@INDEX]   scan T [@INDEX] [from V] [to V] [desc] [limit N] [more]   heap T
//	vacuum T   check T
//
// A value "x*9000" is a text of so many x. "crash" kills the writer and boots it again.
func TestSessions(t *testing.T) {
	datadriven.Walk(t, "testdata/sessions", func(t *testing.T, path string) {
		s := newTalk(t)
		defer s.w.Close()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
				s.line(strings.TrimSpace(line))
			}
			out := s.out.String()
			s.out.Reset()
			return out
		})
	})
}

// talk is a conversation.
type talk struct {
	t        *testing.T
	w        *sim.World
	mem      *computetest.Mem
	eng      *compute.Engine
	sessions map[string]*speaker
	out      strings.Builder
	defs     map[string]*row.Table
	next     []byte // where the last answer that was cut ends
}

// speaker is one session, in a task of its own.
type speaker struct {
	name string
	ask  []db.Stmt
	wake *host.Cond
	busy bool
	s    db.Session
}

func newTalk(t *testing.T) *talk {
	s := &talk{t: t, mem: &computetest.Mem{WithFloor: true}, sessions: map[string]*speaker{}, defs: map[string]*row.Table{}}
	w, err := sim.New(sim.Config{
		Seed:     1,
		Machines: []sim.Machine{{Name: "m", Zone: "a"}},
		Hosts:    []sim.Host{{Name: "writer", Machine: "m", Boot: s.boot}},
	})
	require.NoError(t, err)
	s.w = w
	s.restart()
	return s
}

func (s *talk) restart() {
	clear(s.sessions)
	s.w.Boot("writer")
	s.w.Run(s.w.Now() + 100*time.Millisecond)
	require.NotNil(s.t, s.eng)
	require.NoError(s.t, s.eng.Failed())
}

func (s *talk) boot(m host.Machine) {
	eng, err := compute.New(m, compute.Config{
		Relational: true, Pool: buffer.Config{Frames: 12},
		Tables: table.Config{LinesPerPage: 8, ItemsPerPage: 4},
		Auto:   compute.AutoConfig{Naptime: -1}, MaxTables: 3,
	})
	require.NoError(s.t, err)
	require.NoError(s.t, eng.Open(s.mem.Boot(m)))
	s.eng = eng
	for {
		m.Sleep(time.Millisecond)
		for _, name := range slices.Sorted(maps.Keys(s.sessions)) {
			if sp := s.sessions[name]; sp.wake == nil {
				sp.wake = m.NewCond(host.WaitWork)
				m.Go(name, func() { s.speak(sp) })
			}
		}
	}
}

func (s *talk) speak(sp *speaker) {
	sp.s = s.eng.NewSession()
	var out db.Results
	for {
		for len(sp.ask) == 0 {
			sp.wake.WaitFor(int64(time.Millisecond))
		}
		stmts := sp.ask
		sp.ask = nil
		out.Reset(0)
		sp.s.Execute(stmts, &out)
		sp.busy = false
		for i := range out.Len() {
			s.answer(sp.name, out.At(i))
		}
	}
}

func (s *talk) answer(who string, r *db.Result) {
	for i := range r.Rows() {
		var cells []string
		for _, v := range r.Row(i) {
			cells = append(cells, v.String())
		}
		fmt.Fprintf(&s.out, "%s:   %s\n", who, strings.Join(cells, " "))
	}
	switch {
	case r.Err != nil:
		fmt.Fprintf(&s.out, "%s: %v\n", who, r.Err)
	case r.More:
		s.next = append(s.next[:0], r.Next...)
		fmt.Fprintf(&s.out, "%s: ok %d, more\n", who, r.Count)
	case r.Outcome.Status != 0 && r.Outcome.Status != db.Committed:
		fmt.Fprintf(&s.out, "%s: %v\n", who, r.Outcome)
	default:
		fmt.Fprintf(&s.out, "%s: ok %d\n", who, r.Count)
	}
}

func (s *talk) line(line string) {
	if line == "crash" {
		s.w.Kill("writer")
		s.restart()
		return
	}
	who, text, ok := strings.Cut(line, ": ")
	require.True(s.t, ok, line)
	sp := s.sessions[who]
	if sp == nil {
		sp = &speaker{name: who}
		s.sessions[who] = sp
	}
	require.False(s.t, sp.busy, "%s waits still", who)
	sp.busy = true
	sp.ask = []db.Stmt{s.parse(strings.Fields(text))}
	s.w.Run(s.w.Now() + 50*time.Millisecond)
	if sp.busy {
		fmt.Fprintf(&s.out, "%s: waits\n", who)
	}
}

var levels = map[string]db.Level{"rr": db.RepeatableRead, "serializable": db.Serializable}

// parse reads a statement.
func (s *talk) parse(f []string) (st db.Stmt) {
	arg := func(i int) string {
		if i < len(f) {
			return f[i]
		}
		return ""
	}
	switch f[0] {
	case "begin":
		st.Kind, st.Level = db.Begin, levels[arg(1)]
	case "commit":
		st.Kind = db.Commit
	case "rollback":
		st.Kind = db.Rollback
	case "savepoint", "rollback-to", "release":
		st.Kind, st.Name = map[string]db.Kind{"savepoint": db.Savepoint, "rollback-to": db.RollbackTo, "release": db.Release}[f[0]], f[1]
	case "create":
		st.Kind, st.Def = db.CreateTable, s.create(f[1:])
	case "index":
		t := s.defs[f[1]]
		st.Kind, st.Table = db.CreateIndex, f[1]
		st.NewIndex = &row.Index{Name: f[2], Unique: arg(4) == "unique"}
		for _, c := range strings.Split(f[3], ",") {
			name, desc := strings.CutSuffix(c, "-")
			st.NewIndex.Columns = append(st.NewIndex.Columns, row.IndexColumn{Column: t.Column(name), Desc: desc})
		}
		grown := *t
		grown.Indexes = append(slices.Clone(t.Indexes), *st.NewIndex)
		s.defs[f[1]] = &grown
	default:
		s.rows(&st, f)
	}
	return st
}

func (s *talk) create(f []string) *row.Table {
	d := &row.Table{Name: f[0]}
	for i := 1; i < len(f); i++ {
		if name, kind, ok := strings.Cut(f[i], ":"); ok {
			kind, must := strings.CutSuffix(kind, "!")
			d.Columns = append(d.Columns, row.Column{Name: name, NotNull: must,
				Type: map[string]row.Type{"int4": row.Int4, "int8": row.Int8, "text": row.Text}[kind]})
			continue
		}
		ix := row.Index{Name: f[i+1] + "_" + f[i], Columns: []row.IndexColumn{{Column: d.Column(f[i+1])}},
			Unique: f[i] != "index", Primary: f[i] == "primary"}
		d.Indexes = append(d.Indexes, ix)
		i++
	}
	if s.defs[d.Name] == nil {
		s.defs[d.Name] = d
	}
	return d
}

// rows reads statements on rows.
func (s *talk) rows(st *db.Stmt, f []string) {
	kinds := map[string]db.Kind{"drop": db.DropTable, "insert": db.Insert, "get": db.Get, "update": db.Update,
		"delete": db.Delete, "scan": db.Scan, "heap": db.Scan, "vacuum": db.Vacuum, "check": db.Check}
	st.Kind, st.Table, st.Heap = kinds[f[0]], f[1], f[0] == "heap"
	def := s.defs[f[1]]
	if st.Kind == db.DropTable {
		delete(s.defs, f[1])
	}
	for i := 2; i < len(f); i++ {
		switch word := f[i]; {
		case word[0] == '@':
			st.Index = word[1:]
		case word == "lock":
			st.ForUpdate = true
		case word == "desc":
			st.Desc = true
		case word == "from":
			i++
			st.From = db.Bound{Key: []row.Value{s.key(def, f, 0, f[i])}, Inclusive: true}
		case word == "to":
			i++
			st.To = db.Bound{Key: []row.Value{s.key(def, f, 0, f[i])}, Inclusive: true}
		case word == "more": // after the answer before
			st.After = append([]byte(nil), s.next...)
		case word == "limit":
			i++
			st.Limit, _ = strconv.Atoi(f[i])
		case st.Kind == db.Insert:
			st.Row = append(st.Row, s.value(def.Columns[len(st.Row)].Type, word))
		case strings.Contains(word, "+="):
			name, v, _ := strings.Cut(word, "+=")
			c := def.Column(name)
			st.Sets = append(st.Sets, db.Set{Column: c, Add: true, Value: s.value(def.Columns[c].Type, v)})
		case strings.Contains(word, "="):
			name, v, _ := strings.Cut(word, "=")
			c := def.Column(name)
			st.Sets = append(st.Sets, db.Set{Column: c, Value: s.value(def.Columns[c].Type, v)})
		default:
			st.Key = append(st.Key, s.key(def, f, len(st.Key), word))
		}
	}
}

// key is a value of a column of the index that the statement names.
func (s *talk) key(def *row.Table, f []string, i int, word string) row.Value {
	name := ""
	for _, w := range f {
		if w[0] == '@' {
			name = w[1:]
		}
	}
	ix := def.Index(name)
	if ix == nil {
		return row.NewInt8(0)
	}
	return s.value(def.Columns[ix.Columns[i].Column].Type, word)
}

func (s *talk) value(t row.Type, word string) row.Value {
	if word == "null" {
		return row.Null()
	}
	if c, n, ok := strings.Cut(word, "*"); ok { // x*3: xxx
		times, err := strconv.Atoi(n)
		require.NoError(s.t, err)
		word = strings.Repeat(c, times)
	}
	n, err := strconv.ParseInt(word, 10, 64)
	switch {
	case t == row.Text:
		return row.NewText(word)
	case err != nil:
		return row.NewText(word) // of the wrong type, for the engine to say so
	case t == row.Int4:
		return row.NewInt4(int32(n))
	}
	return row.NewInt8(n)
}
