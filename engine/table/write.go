package table

import (
	"fmt"

	"tornpage/engine/heap"
	"tornpage/engine/page"
	"tornpage/engine/row"
	"tornpage/engine/txn"
)

// Insert adds a row.
func (t *Table) Insert(x *txn.Xact, values []row.Value) error {
	if err := t.Lock(x, txn.RowExclusive); err != nil {
		return err
	}
	if err := t.check(values); err != nil { // of the indexes that there are now
		return err
	}
	w := t.take()
	defer t.give(w)
	t.entries(w, values)
	defer t.release(x, w)
	if err := t.claimKeys(x, w, nil); err != nil {
		return err
	}
	xid, err := x.XID()
	if err != nil {
		return err
	}
	w.fresh = t.schema.AppendTuple(w.fresh[:0], xid, values)
	tid, err := t.heap.Insert(x, w.fresh)
	if err != nil {
		return err
	}
	return t.addEntries(w, xid, tid)
}

// check refuses a row that cannot be stored.
func (t *Table) check(values []row.Value) error {
	if err := t.schema.Check(values); err != nil {
		return err
	}
	for _, ix := range t.indexes {
		if err := ix.key.Check(values); err != nil {
			return err
		}
	}
	return nil
}

// entries makes the row's entry of each index.
func (t *Table) entries(w *work, values []row.Value) {
	for i, ix := range t.indexes {
		w.entry[i] = ix.key.AppendRow(w.entry[i][:0], values)
	}
}

func (t *Table) addEntries(w *work, xid uint32, tid page.TID) error {
	for i, ix := range t.indexes {
		if err := ix.tree.Insert(xid, w.entry[i], tid); err != nil {
			return fmt.Errorf("index %q: %w", ix.def.Name, err)
		}
	}
	return nil
}

// Set gives a column a new value, or adds to what it holds.
type Set struct {
	Column int
	Add    bool
	Value  row.Value
}

// Update changes the row with a whole key of a unique index; false: there is
// none.
func (t *Table) Update(x *txn.Xact, index string, key []row.Value, sets []Set) (bool, error) {
	return t.change(x, index, key, func(w *work, r heap.Row) (heap.Result, error) { return t.update(x, w, r, sets) })
}

// Delete removes the row with a whole key of a unique index; false: there is
// none.
func (t *Table) Delete(x *txn.Xact, index string, key []row.Value) (bool, error) {
	return t.change(x, index, key, func(_ *work, r heap.Row) (heap.Result, error) {
		return t.heap.Delete(x, r.TID)
	})
}

// GetLocked locks the row with a whole key of a unique index, and hands its
// latest version to emit (SELECT FOR UPDATE).
func (t *Table) GetLocked(x *txn.Xact, index string, key []row.Value, emit Emit) error {
	_, err := t.change(x, index, key, func(w *work, r heap.Row) (heap.Result, error) {
		res, err := t.heap.Lock(x, r.TID)
		if res == heap.Done && err == nil {
			err = t.emit(w, r, nil, emit)
		}
		return res, err
	})
	return err
}

// change finds a row, locks it, and has f change it (rules R1, R2).
func (t *Table) change(x *txn.Xact, index string, key []row.Value, f func(*work, heap.Row) (heap.Result, error)) (bool, error) {
	if err := t.Lock(x, txn.RowExclusive); err != nil {
		return false, err
	}
	w := t.take()
	defer t.give(w)
	var locked page.TID // the root of the row that this statement has locked
	for {
		ix, err := t.index(x, index)
		if err != nil {
			return false, err
		}
		r, found, err := t.find(x, w, ix, key)
		if err != nil || !found {
			return false, err
		}
		waited, err := t.lockRow(x, &locked, r.Root)
		if err != nil {
			return false, err
		}
		if waited {
			continue
		}
		res, err := f(w, r)
		if err != nil || res == heap.Done {
			return err == nil, err
		}
		t.m.Mark("table.row-changed-meanwhile")
		if x.Level() == txn.RepeatableRead {
			return false, fmt.Errorf("%w: table %q, key %v", ErrConflict, t.def.Name, key)
		}
		x.Statement() // start over with what is committed now
	}
}

// lockRow locks a row. The lock of another one, which this statement took for
// what has turned out to be an old version, is given up: its place may be
// another row's by now. waited: at read committed a new snapshot was taken
// since, so that none was held while the lock was waited for: each would keep
// versions from being pruned, and a row that many want has many.
func (t *Table) lockRow(x *txn.Xact, locked *page.TID, root page.TID) (waited bool, err error) {
	if *locked == root {
		return false, nil
	}
	if *locked != (page.TID{}) {
		t.env.Locks.Release(x.Owner(), txn.RowLock(t.rel, *locked), txn.Exclusive)
	}
	*locked = page.TID{}
	id := txn.RowLock(t.rel, root)
	got, err := t.env.Locks.TryAcquire(x.Owner(), id, txn.Exclusive)
	if err == nil && !got {
		waited = x.Level() == txn.ReadCommitted
		x.EndStatement()
		err = t.env.Locks.Acquire(x.Owner(), id, txn.Exclusive)
		x.Statement()
	}
	if err == nil {
		*locked = root
	}
	return waited, err
}

// update makes the new version of a row that is locked.
func (t *Table) update(x *txn.Xact, w *work, r heap.Row, sets []Set) (heap.Result, error) {
	var err error
	if w.values, err = t.schema.Decode(r.Tuple, w.values[:0]); err != nil {
		return heap.Done, fmt.Errorf("rel %d row %v: %w", t.rel, r.TID, err)
	}
	w.want = append(w.want[:0], w.values...)
	if err := t.apply(w.want, sets); err != nil {
		return heap.Done, err
	}
	if err := t.check(w.want); err != nil {
		return heap.Done, err
	}
	same := func(ix *Index) bool { return ix.key.Same(w.values, w.want) }
	hot := true
	for _, ix := range t.indexes {
		hot = hot && (!ix.touched(sets) || same(ix))
	}
	if !hot {
		t.entries(w, w.want)
		defer t.release(x, w)
		if err := t.claimKeys(x, w, same); err != nil {
			return heap.Done, err
		}
	}
	xid, err := x.XID()
	if err != nil {
		return heap.Done, err
	}
	w.fresh = t.schema.AppendTuple(w.fresh[:0], xid, w.want)
	res, tid, wasHot, err := t.heap.Update(x, r.TID, w.fresh, hot)
	if err != nil || res != heap.Done || wasHot {
		return res, err
	}
	if hot { // but there was no room on the page
		t.entries(w, w.want)
	}
	return res, t.addEntries(w, xid, tid)
}

// touched reports whether an assignment is to a column of the index.
func (ix *Index) touched(sets []Set) bool {
	for i := range sets {
		if ix.key.Has(sets[i].Column) {
			return true
		}
	}
	return false
}

// apply changes values as told.
func (t *Table) apply(values []row.Value, sets []Set) error {
	for _, s := range sets {
		if s.Column < 0 || s.Column >= len(values) {
			return fmt.Errorf("column %d of table %q, which has %d: %w", s.Column, t.def.Name, len(values), row.ErrType)
		}
		v := s.Value
		if s.Add {
			var err error
			if v, err = row.Add(values[s.Column], v); err != nil {
				return fmt.Errorf("column %q of table %q: %w", t.def.Columns[s.Column].Name, t.def.Name, err)
			}
		}
		values[s.Column] = v
	}
	return nil
}
