package experiments

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"tornpage/checkers"
	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/engine/row"
)

// errParts ends a read whose rows would have come from several snapshots.
var errParts = errors.New("an answer in parts, each of its own snapshot")

// value takes a row apart: its key, and what it holds. It is damaged if the
// columns do not fit each other.
func (c *mixer) value(v []row.Value) (k int64, held uint64) {
	ok := len(v) == 4 && v[mixedK].N >= 0 && v[mixedK].N < c.s.Keys && v[mixedGrp].N == v[mixedK].N/c.s.Group
	if ok {
		k, held = v[mixedK].N, uint64(v[mixedV].N)
		if v[mixedV].IsNull() {
			held = 0
		}
		_, pad := c.columns(held)
		ok = string(pad.B) == string(v[mixedPad].B)
	}
	if !ok {
		c.l.found("client %d was given a row that nobody wrote: %v", c.worker, v)
		return k, damaged
	}
	return k, held
}

// look does one operation that reads.
func (c *mixer) look(r *host.Rand, conn *db.Conn) bool {
	k := c.key(r)
	switch n := r.N(8); {
	case n < 2:
		return c.point(conn, k)
	case n < 3 && c.last[k] != 0:
		return c.byValue(r, conn, k)
	case n < 5:
		return c.rewrite(r, conn, k)
	}
	return c.several(r, conn, c.group(k/c.s.Group))
}

// answer ends a read of one key.
func (c *mixer) answer(i int, k int64, held uint64, at db.Token) {
	c.last[k] = held
	c.rec.hist.Ops[i].Results = []uint64{held}
	c.end(checkers.Committed, at)
}

// get reads a key by the primary key; there: it has a row.
func (c *mixer) get(conn *db.Conn, k int64, lock bool) (held uint64, there bool, at db.Token, err error) {
	res, err := conn.Exec(&db.Stmt{Kind: db.Get, Table: mixedTable, Key: []row.Value{row.NewInt8(k)}, ForUpdate: lock})
	if err != nil {
		return 0, false, 0, err
	}
	for n := range res.Rows() {
		got, value := c.value(res.Row(n))
		if got != k || n > 0 {
			c.l.found("client %d asked for key %d and was given %d rows, one of key %d", c.worker, k, res.Rows(), got)
			value = damaged
		}
		held, there = value, true
	}
	return held, there, res.At, nil
}

// point reads one key by its primary key.
func (c *mixer) point(conn *db.Conn, k int64) bool {
	i := c.begin(c.keyed(checkers.Get, k))
	held, _, at, err := c.get(conn, k, false)
	if err != nil {
		c.failed(err)
		return false
	}
	c.answer(i, k, held, at)
	return true
}

// byValue looks for the row of a value that the client believes a key to hold,
// and then at the key, in one snapshot.
func (c *mixer) byValue(r *host.Rand, conn *db.Conn, k int64) bool {
	want := c.last[k]
	i := c.begin(c.keyed(checkers.Get, k))
	if err := conn.Begin(db.RepeatableRead); err != nil {
		c.failed(err)
		return false
	}
	res, err := conn.Exec(&db.Stmt{Kind: db.Get, Table: mixedTable, Index: mixedByValue, Key: []row.Value{row.NewInt8(int64(want))}})
	if err != nil {
		c.failed(err)
		return false
	}
	rows, at := res.Rows(), res.At
	held := want
	for n := range rows {
		if got, value := c.value(res.Row(n)); got != k || value != want || n > 0 {
			c.l.found("client %d asked for value %d, which key %d once held, and was given %d rows, one of key %d with value %d",
				c.worker, want, k, rows, got, value)
			held = damaged
		}
	}
	if rows == 0 || r.Chance(1, 2) {
		byKey, _, _, err := c.get(conn, k, false)
		if err != nil {
			c.failed(err)
			return false
		}
		if (byKey == want) != (rows > 0) {
			c.l.found("in one snapshot, at %v, key %d has value %d, and index %s finds %d rows of value %d",
				at, k, byKey, mixedByValue, rows, want)
		}
		held = byKey
	}
	_ = conn.Rollback() // nothing to lose
	c.answer(i, k, held, at)
	return true
}

// rewrite reads a key for update and writes its row as it is: a new version
// that changes no column of an index.
func (c *mixer) rewrite(r *host.Rand, conn *db.Conn, k int64) bool {
	i := c.begin(c.keyed(checkers.Get, k))
	err := conn.Begin(db.Level(r.N(2)))
	if err != nil {
		c.failed(err)
		return false
	}
	held, there, at, err := c.get(conn, k, true)
	for n := 1 + r.N(3); n > 0 && there && err == nil; n-- {
		_, pad := c.columns(held)
		_, err = conn.Update(mixedTable, "", []row.Value{row.NewInt8(k)}, db.Set{Column: mixedPad, Value: pad})
	}
	if err != nil {
		c.failed(err)
		return false
	}
	if o, _ := ended(conn.Commit()); o != checkers.Committed {
		c.end(o, 0)
		return false
	}
	c.answer(i, k, held, at)
	return true
}

// entry is a row that a scan gave.
type entry struct {
	key  int64
	held uint64
}

// scan reads a range, in parts if it may be.
func (c *mixer) scan(conn *db.Conn, st db.Stmt, single bool) (rows []entry, at db.Token, err error) {
	for {
		res, err := conn.Exec(&st)
		if err != nil {
			return nil, 0, err
		}
		if len(st.After) > 0 && res.At != at && !single {
			c.l.found("parts of a scan in one transaction saw the snapshots %v and %v", at, res.At)
		}
		at = res.At
		if st.Limit > 0 && res.Rows() > st.Limit {
			c.l.found("a scan with limit %d gave %d rows", st.Limit, res.Rows())
		}
		for i := range res.Rows() {
			k, held := c.value(res.Row(i))
			rows = append(rows, entry{k, held})
		}
		switch {
		case !res.More:
			return rows, at, nil
		case single:
			return nil, 0, errParts
		}
		st.After = append([]byte(nil), res.Next...)
	}
}

// several reads keys that follow each other: those of a group.
func (c *mixer) several(r *host.Rand, conn *db.Conn, keys []int64) bool {
	i := c.begin(c.keyed(checkers.MultiGet, keys...))
	st := c.rangeOf(r, keys)
	single, points := r.Chance(1, 3), r.Chance(1, 4)
	if single {
		points, st.Limit = false, 0
	} else if err := conn.Begin(db.RepeatableRead); err != nil {
		c.failed(err)
		return false
	}
	var rows []entry
	var at db.Token
	var err error
	if points {
		rows, at, err = c.points(conn, keys)
	} else {
		rows, at, err = c.scan(conn, st, single)
		c.ordered(st, rows)
	}
	if err != nil {
		c.failed(err)
		return false
	}
	if !single {
		_ = conn.Rollback() // nothing to lose
	}
	c.rec.hist.Ops[i].Results = c.spread(st.Index, keys, rows)
	for j, k := range keys {
		c.last[k] = c.rec.hist.Ops[i].Results[j]
	}
	c.end(checkers.Committed, at)
	return true
}

// rangeOf is a scan that gives the rows of a group.
func (c *mixer) rangeOf(r *host.Rand, keys []int64) db.Stmt {
	st := db.Stmt{Kind: db.Scan, Table: mixedTable, Desc: r.Chance(1, 2), Limit: int(r.N(4))}
	bound := func(v row.Value, inclusive bool) db.Bound { return db.Bound{Key: []row.Value{v}, Inclusive: inclusive} }
	n := r.N(3)
	switch {
	case n == 0:
		st.Index = mixedByGroup
	case n == 1 && c.l.made[1]:
		st.Index = mixedByPair
	default:
		st.From, st.To = bound(row.NewInt8(keys[0]), true), bound(row.NewInt8(keys[len(keys)-1]), true)
		if r.Chance(1, 2) {
			st.From = bound(row.NewInt8(keys[0]-1), false)
		}
		if r.Chance(1, 2) {
			st.To = bound(row.NewInt8(keys[len(keys)-1]+1), false)
		}
		return st
	}
	st.From = bound(row.NewInt4(int32(keys[0]/c.s.Group)), true)
	st.To = st.From
	return st
}

// points reads keys one by one.
func (c *mixer) points(conn *db.Conn, keys []int64) (rows []entry, at db.Token, err error) {
	for _, k := range keys {
		held, there, lsn, err := c.get(conn, k, false)
		if err != nil {
			return nil, 0, err
		}
		if there {
			rows = append(rows, entry{k, held})
		}
		at = lsn
	}
	return rows, at, nil
}

// ordered holds the order of a scan against its index: by key, but for that of
// groups alone, whose entries of one group lie in the order of their rows.
func (c *mixer) ordered(st db.Stmt, rows []entry) {
	if st.Heap || st.Index == mixedByGroup || st.Index == mixedByValue {
		return
	}
	place := func(k int64) int64 {
		if st.Index == mixedByPair { // by group, in each from the last key to the first
			return k/c.s.Group*2*c.s.Group - k
		}
		return k
	}
	for i := 1; i < len(rows); i++ {
		if a, b := rows[i-1].key, rows[i].key; a == b || st.Desc == (place(a) < place(b)) {
			c.l.found("a scan of index %q, descending %v, gave key %d before key %d", st.Index, st.Desc, a, b)
		}
	}
}

// spread are the values of keys, in their order.
func (c *mixer) spread(index string, keys []int64, rows []entry) []uint64 {
	values, seen := make([]uint64, len(keys)), make([]bool, len(keys))
	for _, e := range rows {
		j := slices.Index(keys, e.key)
		if j < 0 || seen[j] {
			c.l.found("a scan of index %q for keys %v gave key %d, which is another or came twice", index, keys, e.key)
			continue
		}
		values[j], seen[j] = e.held, true
	}
	return values
}

// compare reads the whole table by each way that leads to its rows, in one
// snapshot. All must give the same.
func (c *mixer) compare(r *host.Rand, conn *db.Conn) bool {
	ways := []db.Stmt{{Heap: true}, {}, {Index: mixedByGroup}, {Index: mixedByValue}}
	if c.l.made[1] {
		ways = append(ways, db.Stmt{Index: mixedByPair})
	}
	for g := range c.groups() {
		op := c.keyed(checkers.MultiGet, c.group(g)...)
		if g > 0 {
			op.Client = c.rec.client() // operations of one client never overlap
		}
		c.begin(op)
	}
	rows, at, err := c.readWays(r, conn, ways)
	if err != nil {
		c.failed(err)
		return false
	}
	_ = conn.Rollback() // nothing to lose
	c.sameRows(ways, rows, at)
	for _, i := range c.flight {
		op := &c.rec.hist.Ops[i]
		of := rows[0]
		from, _ := slices.BinarySearchFunc(of, op.Keys[0], func(e entry, k int64) int { return cmp.Compare(e.key, k) })
		to := from
		for to < len(of) && of[to].key <= op.Keys[len(op.Keys)-1] {
			to++
		}
		op.Results = c.spread("", op.Keys, of[from:to])
	}
	c.end(checkers.Committed, at)
	return true
}

// readWays gives the rows of each way, in the order of their keys.
func (c *mixer) readWays(r *host.Rand, conn *db.Conn, ways []db.Stmt) (all [][]entry, at db.Token, err error) {
	if err := conn.Begin(db.RepeatableRead); err != nil {
		return nil, 0, err
	}
	for _, st := range ways {
		st.Kind, st.Table, st.Desc = db.Scan, mixedTable, !st.Heap && r.Chance(1, 2)
		if r.Chance(1, 2) {
			st.Limit = 1 + int(r.N(32))
		}
		rows, lsn, err := c.scan(conn, st, false)
		if err != nil {
			return nil, 0, err
		}
		c.ordered(st, rows)
		slices.SortFunc(rows, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
		all, at = append(all, rows), lsn
	}
	return all, at, nil
}

// sameRows reports the first difference of each way from the heap's rows.
func (c *mixer) sameRows(ways []db.Stmt, rows [][]entry, at db.Token) {
	nth := func(rows []entry, i int) string {
		if i >= len(rows) {
			return "no row"
		}
		return fmt.Sprintf("key %d with value %d", rows[i].key, rows[i].held)
	}
	for n := 1; n < len(rows); n++ {
		for i := range max(len(rows[0]), len(rows[n])) {
			if a, b := nth(rows[0], i), nth(rows[n], i); a != b {
				c.l.found("in one snapshot, at %v, the table has %d rows and index %q finds %d; the first difference is %s against %s",
					at, len(rows[0]), ways[n].Index, len(rows[n]), a, b)
				break
			}
		}
	}
}
