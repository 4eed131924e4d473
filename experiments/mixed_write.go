package experiments

import (
	"errors"

	"tornpage/checkers"
	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/engine/row"
)

// mixedWrite is what a transaction is to write; tried again it writes other
// values.
type mixedWrite struct {
	kind     checkers.Kind
	keys     []int64
	deletes  []bool // which of the keys
	old      uint64 // of a compare-and-set
	rollback bool
}

// errNothing ends a transaction that has deleted nothing: it holds no locks,
// and so is no write.
var errNothing = errors.New("nothing to delete")

// errVanished: a row was there when inserted, and gone when updated.
var errVanished = errors.New("row came and went")

// draw draws a write.
func (c *mixer) draw(r *host.Rand) *mixedWrite {
	w := &mixedWrite{kind: checkers.Put, keys: []int64{c.key(r)}}
	switch n := r.N(10); {
	case n < 3:
	case n < 6:
		w.kind, w.old = checkers.CAS, c.last[w.keys[0]]
	default:
		w.kind, w.keys, w.rollback = checkers.MultiPut, c.group(w.keys[0]/c.s.Group), n == 9
		if most := 2 + int(r.N(5)); len(w.keys) > most { // long transactions meet too often
			from := r.N(uint64(len(w.keys) - most + 1))
			w.keys = w.keys[from : from+uint64(most)]
		}
	}
	for range w.keys {
		w.deletes = append(w.deletes, r.Chance(1, 6))
	}
	if w.kind == checkers.CAS && w.old == 0 {
		w.deletes[0] = false
	}
	return w
}

// write does a write; again: it lost a race, and may be tried again.
func (c *mixer) write(r *host.Rand, conn *db.Conn, w *mixedWrite) (o checkers.Outcome, again bool) {
	op := c.keyed(w.kind, w.keys...)
	op.Old = w.old
	for j := range w.keys {
		v := uint64(0)
		if !w.deletes[j] {
			v = c.rec.value()
		}
		op.Values = append(op.Values, v)
	}
	i := c.begin(op)
	c.doomed = w.rollback
	var token db.Token
	var err error
	switch {
	case w.kind == checkers.CAS && w.old != 0 && r.Chance(1, 4):
		o, token, err = c.swap(conn, i)
	case w.kind == checkers.CAS:
		o, token, err = c.compareAndSet(r, conn, i)
	case w.kind == checkers.Put && !w.deletes[0] && r.Chance(1, 3):
		o, token, err = c.alone(conn, i)
	default:
		o, token, err = c.together(r, conn, i, w.rollback)
	}
	if err != nil {
		c.odd(err)
		o = c.outcome(err)
	}
	if wrote := &c.rec.hist.Ops[i]; o == checkers.Committed && (w.kind != checkers.CAS || wrote.OK) {
		for j, k := range wrote.Keys {
			c.last[k] = wrote.Values[j]
		}
	}
	c.end(o, token)
	switch codeOf(err) {
	case db.CodeUnique, db.CodeSerialization, db.CodeDeadlock:
		again = true
	}
	return o, again || errors.Is(err, errVanished)
}

// alone writes one key without a transaction block.
func (c *mixer) alone(conn *db.Conn, i int) (checkers.Outcome, db.Token, error) {
	k, v := c.rec.hist.Ops[i].Keys[0], c.rec.hist.Ops[i].Values[0]
	n, err := c.update(conn, k, v)
	if err == nil && n == 0 {
		err = c.insert(conn, k, v)
	}
	if err != nil {
		return 0, 0, err
	}
	o, token := ended(conn.Outcome())
	return o, token, nil
}

// together writes all keys in one transaction, in some order.
func (c *mixer) together(r *host.Rand, conn *db.Conn, i int, rollback bool) (checkers.Outcome, db.Token, error) {
	if err := conn.Begin(db.Level(r.N(2))); err != nil {
		return 0, 0, err
	}
	keys, values := c.rec.hist.Ops[i].Keys, c.rec.hist.Ops[i].Values
	order := make([]int, len(keys))
	for j := range order {
		order[j] = j
	}
	if r.Chance(1, 2) { // then transactions may wait for each other
		for j := len(order) - 1; j > 0; j-- {
			n := r.N(uint64(j + 1))
			order[j], order[n] = order[n], order[j]
		}
	}
	var wrote []int64
	var with []uint64
	for _, j := range order {
		if r.Chance(1, 8) {
			if err := c.undo(r, conn, keys[r.N(uint64(len(keys)))]); err != nil {
				return 0, 0, err
			}
		}
		did, err := c.store(r, conn, keys[j], values[j])
		if err != nil {
			return 0, 0, err
		}
		if did {
			wrote, with = append(wrote, keys[j]), append(with, values[j])
		}
	}
	// A key that was absent is not locked, and what comes next may write it:
	// the transaction is no write of such keys.
	if len(wrote) == 0 {
		return 0, 0, errNothing
	}
	c.rec.hist.Ops[i].Keys, c.rec.hist.Ops[i].Values = wrote, with
	if rollback {
		return checkers.Aborted, 0, conn.Rollback()
	}
	o, token := ended(conn.Commit())
	return o, token, nil
}

// undo writes a key and takes it back, within a transaction. Nobody may ever
// read the value.
func (c *mixer) undo(r *host.Rand, conn *db.Conn, k int64) error {
	op := c.keyed(checkers.Put, k)
	op.Client, op.Values = c.rec.client(), []uint64{c.rec.value()}
	c.rec.end(c.rec.begin(op), checkers.Aborted, 0)
	if err := conn.Savepoint("undo"); err != nil {
		return err
	}
	if _, err := c.store(r, conn, k, op.Values[0]); err != nil && codeOf(err) == 0 {
		return err // not a statement that failed
	} else if err == nil && r.Chance(1, 3) {
		if _, err := conn.Delete(mixedTable, "", row.NewInt8(k)); err != nil {
			return err
		}
	}
	err := conn.RollbackTo("undo")
	if err == nil && r.Chance(1, 2) {
		err = conn.Release("undo")
	}
	return err
}

// store gives a key a value, or none, within a transaction; false: it had none.
func (c *mixer) store(r *host.Rand, conn *db.Conn, k int64, v uint64) (bool, error) {
	switch {
	case v == 0:
		return c.remove(r, conn, k)
	case r.Chance(1, 4):
		return true, c.insertFirst(r, conn, k, v)
	}
	n, err := c.update(conn, k, v)
	if err == nil && n == 0 {
		err = c.insert(conn, k, v)
	}
	return true, err
}

// insertFirst inserts a row, or updates the one that is there.
func (c *mixer) insertFirst(r *host.Rand, conn *db.Conn, k int64, v uint64) error {
	if err := conn.Savepoint("insert"); err != nil {
		return err
	}
	err := c.insert(conn, k, v)
	if codeOf(err) == db.CodeUnique {
		c.odd(err)
		if err = conn.RollbackTo("insert"); err != nil {
			return err
		}
		n := 0
		if n, err = c.update(conn, k, v); err == nil && n == 0 {
			err = errVanished
		}
	}
	if err == nil && r.Chance(1, 2) {
		err = conn.Release("insert")
	}
	return err
}

// remove deletes a key's row, or takes its value; false: there was no row, and
// there is none.
func (c *mixer) remove(r *host.Rand, conn *db.Conn, k int64) (bool, error) {
	var n int
	var err error
	if r.Chance(1, 3) {
		n, err = c.update(conn, k, 0)
	} else {
		n, err = conn.Delete(mixedTable, "", row.NewInt8(k))
	}
	if err != nil || n > 0 || r.Chance(3, 4) {
		return n > 0, err
	}
	return true, c.insert(conn, k, 0)
}

// columns are v and pad of a value.
func (c *mixer) columns(v uint64) (row.Value, row.Value) {
	if v == 0 {
		return row.Null(), row.NewText("")
	}
	return row.NewInt8(int64(v)), row.NewText(padding(int64(v), c.s.Value))
}

func (c *mixer) insert(conn *db.Conn, k int64, v uint64) error {
	value, pad := c.columns(v)
	return conn.Insert(mixedTable, row.NewInt8(k), row.NewInt4(int32(k/c.s.Group)), value, pad)
}

func (c *mixer) update(conn *db.Conn, k int64, v uint64) (int, error) {
	value, pad := c.columns(v)
	return conn.Update(mixedTable, "", []row.Value{row.NewInt8(k)},
		db.Set{Column: mixedV, Value: value}, db.Set{Column: mixedPad, Value: pad})
}

// compareAndSet reads a row for update and changes it if it has the value.
func (c *mixer) compareAndSet(r *host.Rand, conn *db.Conn, i int) (checkers.Outcome, db.Token, error) {
	k, old, v := c.rec.hist.Ops[i].Keys[0], c.rec.hist.Ops[i].Old, c.rec.hist.Ops[i].Values[0]
	if err := conn.Begin(db.Level(r.N(2))); err != nil {
		return 0, 0, err
	}
	held, there, at, err := c.get(conn, k, true)
	if err != nil {
		return 0, 0, err
	}
	if held != old {
		c.last[k] = held
		c.rec.hist.Ops[i].Results = []uint64{held}
		_ = conn.Rollback() // the answer is as good without
		return checkers.Committed, at, nil
	}
	if !there {
		err = c.insert(conn, k, v)
	} else {
		n := 0
		if v == 0 {
			n, err = conn.Delete(mixedTable, "", row.NewInt8(k))
		} else {
			n, err = c.update(conn, k, v)
		}
		if err == nil && n != 1 {
			c.l.found("the row of key %d was locked with value %d, and %d rows were changed", k, held, n)
		}
	}
	if err != nil {
		return 0, 0, err
	}
	o, token := ended(conn.Commit())
	c.rec.hist.Ops[i].OK = o == checkers.Committed
	return o, token, nil
}

// swap is a compare-and-set in one statement: the row is found by its value.
func (c *mixer) swap(conn *db.Conn, i int) (checkers.Outcome, db.Token, error) {
	old := c.rec.hist.Ops[i].Old
	value, pad := c.columns(c.rec.hist.Ops[i].Values[0])
	n, err := conn.Update(mixedTable, mixedByValue, []row.Value{row.NewInt8(int64(old))},
		db.Set{Column: mixedV, Value: value}, db.Set{Column: mixedPad, Value: pad})
	if err != nil {
		return 0, 0, err
	}
	if n == 0 {
		return checkers.Aborted, 0, nil // it holds another value, nobody knows which
	}
	o, token := ended(conn.Outcome())
	c.rec.hist.Ops[i].OK = o == checkers.Committed
	return o, token, nil
}
