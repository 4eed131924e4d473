package experiments

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"tornpage/checkers"
	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/engine/row"
)

// The table of the mixed load, and its columns.
const (
	mixedTable   = "kv"
	mixedSide    = "side" // comes and goes
	mixedByGroup = "kv_grp"
	mixedByValue = "kv_v"
	mixedByPad   = "kv_pad"   // made meanwhile
	mixedByPair  = "kv_grp_k" // made meanwhile
)

const (
	mixedK = iota
	mixedGrp
	mixedV
	mixedPad
)

const mixedAbout = "keys and values as rows of one table with four ways to find them: upserts, compare-and-sets, ranges written, read and deleted, savepoints, indexes made meanwhile"

// mixedLoad keeps keys and values in rows of a table, and reads and writes them
// by all statements that there are. A row without v stands for an absent key,
// as no row does.
type mixedLoad struct {
	integrity
	x    *run
	made [2]bool // mixedByPad, mixedByPair: are there
}

func newMixedLoad(x *run) workload { return &mixedLoad{x: x} }

func (l *mixedLoad) one() *mixer {
	return &mixer{speaker: newSpeaker(l.x), l: l, last: make([]uint64, l.x.s.Keys)}
}

func (l *mixedLoad) client(_ int, _ string) (*client, func(host.Machine)) {
	c := l.one()
	return &c.client, c.boot
}

func (l *mixedLoad) verdicts() []checkers.Verdict {
	return []checkers.Verdict{l.integrity.verdict(l.x.troubles)}
}

// found notes what no statement may answer.
func (l *mixedLoad) found(format string, args ...any) {
	l.findings = append(l.findings, fmt.Sprintf(format, args...))
}

func (l *mixedLoad) table() *row.Table {
	return &row.Table{
		Name: mixedTable, Fill: l.x.s.Fill,
		Columns: []row.Column{
			mixedK:   int8Column("k"),
			mixedGrp: {Name: "grp", Type: row.Int4, NotNull: true},
			mixedV:   {Name: "v", Type: row.Int8},
			mixedPad: {Name: "pad", Type: row.Text, NotNull: true},
		},
		Indexes: []row.Index{
			primary("kv_pkey", mixedK),
			{Name: mixedByGroup, Columns: []row.IndexColumn{{Column: mixedGrp}}},
			{Name: mixedByValue, Columns: []row.IndexColumn{{Column: mixedV}}, Unique: true},
		},
	}
}

// audit reads every key, compares what all ways to read the table give, and
// checks it.
func (l *mixedLoad) audit(m host.Machine) {
	c := l.one()
	c.patient()
	c.id = c.rec.client()
	r := m.Rand("audit", 0)
	keys := c.s.Keys
	for step := int64(0); step < keys+3; {
		conn := c.connect(m, &r)
		if conn == nil {
			continue
		}
		ok := false
		switch step {
		case keys:
			ok = c.compare(&r, conn)
		case keys + 1:
			ok = l.check(conn, mixedTable) == nil
		case keys + 2:
			err := l.check(conn, mixedSide)
			ok = err == nil || codeOf(err) == db.CodeNoTable
		default:
			ok = c.point(conn, step)
		}
		if ok {
			step++
		} else {
			m.Sleep(5 * time.Millisecond)
		}
	}
}

// mixer is one client. It outlives boots of its process.
type mixer struct {
	speaker
	l      *mixedLoad
	last   []uint64 // what the client believes each key to hold
	flight []int    // places in the history of the operations under way
	doomed bool     // they will be rolled back, so that they are certain to have no effect
}

func (c *mixer) boot(m host.Machine) {
	r := m.Rand("mixer", uint64(c.worker))
	o := checkers.Unknown // the process died and will never know
	if c.doomed {
		o = checkers.Aborted
	}
	c.end(o, 0)
	c.id, c.conn = c.rec.client(), nil
	ready := false
	for c.next(m, &r, c.s.Think) {
		conn := c.connect(m, &r)
		if conn == nil {
			continue
		}
		if !ready {
			if ready = makeTable(conn, c.l.table()) == nil; !ready {
				m.Sleep(5 * time.Millisecond)
			}
			continue
		}
		c.did(c.operate(m, &r, conn))
	}
}

// begin records the call of an operation of the client, and gives its place.
func (c *mixer) begin(op checkers.Op) int {
	i := c.rec.begin(op)
	c.flight = append(c.flight, i)
	return i
}

// end records the return of all that is under way.
func (c *mixer) end(o checkers.Outcome, token db.Token) {
	for _, i := range c.flight {
		c.rec.end(i, o, token)
	}
	c.flight, c.doomed = c.flight[:0], false
	if o == checkers.Unknown {
		c.id = c.rec.client()
	}
}

// failed ends what is under way and was to read only.
func (c *mixer) failed(err error) {
	c.odd(err)
	c.outcome(err)
	c.end(checkers.Aborted, 0)
}

func (c *mixer) keyed(kind checkers.Kind, keys ...int64) checkers.Op {
	op := c.op()
	op.Kind, op.Keys = kind, keys
	return op
}

// key draws the key of an operation on one: half of them among the first few,
// so that clients meet.
func (c *mixer) key(r *host.Rand) int64 {
	if r.Chance(1, 2) {
		return int64(r.N(uint64(min(c.s.Keys, hotKeys))))
	}
	return int64(r.N(uint64(c.s.Keys)))
}

// group are the keys of a group.
func (c *mixer) group(g int64) (keys []int64) {
	for k := g * c.s.Group; k < min(c.s.Keys, (g+1)*c.s.Group); k++ {
		keys = append(keys, k)
	}
	return keys
}

func (c *mixer) groups() int64 { return (c.s.Keys + c.s.Group - 1) / c.s.Group }

// operate does one operation, or a few that belong together; true: something
// committed.
func (c *mixer) operate(m host.Machine, r *host.Rand, conn *db.Conn) bool {
	switch n := r.N(100); {
	case n < 3:
		c.change(r, conn)
		return false
	case n < 8:
		c.aside(r, conn)
		return false
	case n < 11:
		return c.compare(r, conn)
	}
	if !r.Chance(uint64(c.s.Writes), 100) {
		return c.look(r, conn)
	}
	if r.Chance(1, 24) {
		return c.sweep(r, conn)
	}
	w := c.draw(r)
	for range 3 { // a transaction that lost a race is tried again, or not
		o, again := c.write(r, conn, w)
		if !again || conn.Broken() != nil || r.Chance(1, 3) {
			return o == checkers.Committed
		}
		m.Sleep(time.Duration(r.N(uint64(2 * time.Millisecond))))
	}
	return false
}

// sweep deletes consecutive groups, so that pages of indexes become empty.
func (c *mixer) sweep(r *host.Rand, conn *db.Conn) bool {
	did := false
	first, n := int64(r.N(uint64(c.groups()))), 1+int64(r.N(4))
	for g := first; g < min(first+n, c.groups()) && conn.Broken() == nil; g++ {
		w := &mixedWrite{kind: checkers.MultiPut, keys: c.group(g)}
		for range w.keys {
			w.deletes = append(w.deletes, true)
		}
		o, _ := c.write(r, conn, w)
		did = did || o == checkers.Committed
	}
	return did
}

// change makes an index or asks for maintenance.
func (c *mixer) change(r *host.Rand, conn *db.Conn) {
	l, n := c.l, r.N(2)
	var err error
	switch {
	case r.Chance(1, 4):
		err = conn.Vacuum(mixedTable) // autovacuum does it too
	case r.Chance(1, 3):
		err = l.check(conn, mixedTable)
	case !l.made[n] && !c.quiet():
		err = conn.CreateIndex(mixedTable, mixedIndex(n))
		if err == nil || codeOf(err) == db.CodeExists {
			l.made[n] = true
		}
	}
	c.odd(err)
}

// mixedIndex is an index to be made meanwhile.
func mixedIndex(n uint64) *row.Index {
	if n == 0 {
		return &row.Index{Name: mixedByPad, Columns: []row.IndexColumn{{Column: mixedPad}}}
	}
	return &row.Index{Name: mixedByPair, Columns: []row.IndexColumn{{Column: mixedGrp}, {Column: mixedK, Desc: true}}}
}

// odd notes errors that statements of this load never deserve, whatever fails.
func (c *mixer) odd(err error) {
	var e *db.Error
	if !errors.As(err, &e) {
		return
	}
	switch {
	case e.Code == db.CodeRequest, e.Code == db.CodeNotNull, e.Code == db.CodeLimit, e.Code == db.CodeNotSupported,
		e.Code == db.CodeNoTable, e.Code == db.CodeNoIndex,
		e.Code == db.CodeUnique && strings.Contains(e.Text, mixedByValue): // no value is written twice
		c.l.found("client %d was told: %v", c.worker, e)
	}
}

// aside does something to a second table, which comes and goes. What becomes of
// it is nobody's business, as long as it is whole.
func (c *mixer) aside(r *host.Rand, conn *db.Conn) {
	var err error
	switch n := r.N(8); {
	case n < 2:
		err = conn.CreateTable(&row.Table{Name: mixedSide, Columns: []row.Column{int8Column("id"), {Name: "note", Type: row.Text}},
			Indexes: []row.Index{primary("side_pkey", 0)}})
	case n < 4:
		err = conn.DropTable(mixedSide)
	case n < 5:
		err = c.l.check(conn, mixedSide)
	case n < 7:
		var b db.Batch
		b.Add(db.Begin)
		for range 1 + r.N(6) {
			id := int64(r.N(100))
			st := b.Add(db.Insert)
			st.Table, st.Row = mixedSide, append(st.Row, row.NewInt8(id), row.NewText(padding(id, c.s.Value)))
		}
		b.Add(db.Commit)
		c.send(r, conn, &b)
	default:
		err = c.countSide(conn)
	}
	if err != nil {
		c.outcome(err)
	}
}

// countSide counts the rows of that table in two ways, in one snapshot.
func (c *mixer) countSide(conn *db.Conn) error {
	if err := conn.Begin(db.RepeatableRead); err != nil {
		return err
	}
	var n [2]int
	for i := range n {
		rows, err := conn.Scan(&db.Stmt{Kind: db.Scan, Table: mixedSide, Heap: i == 0}, func([]row.Value) error { return nil })
		if err != nil {
			return err
		}
		n[i] = rows
	}
	if n[0] != n[1] {
		c.l.found("table %q has %d rows, and its primary key finds %d in the same snapshot", mixedSide, n[0], n[1])
	}
	return conn.Rollback()
}
