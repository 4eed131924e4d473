package table

import (
	"fmt"

	"tornpage/engine/page"
	"tornpage/engine/row"
	"tornpage/engine/txn"
	"tornpage/engine/wal"
)

// CreateIndexes makes the indexes of a table that has no rows yet.
func (t *Table) CreateIndexes() error {
	for _, ix := range t.indexes {
		if err := ix.tree.Create(); err != nil {
			return fmt.Errorf("index %q: %w", ix.def.Name, err)
		}
	}
	return nil
}

// Rels are the relations of the table, in the order of its definition.
func (t *Table) Rels() Rels {
	r := Rels{Heap: t.rel}
	for _, ix := range t.indexes {
		r.Indexes = append(r.Indexes, ix.rel)
		r.From = append(r.From, ix.from)
	}
	return r
}

// Addition is an index that was added by a transaction that has not ended.
type Addition struct {
	t   *Table
	old *row.Table
	ix  *Index
}

// AddIndex builds the index that def, a definition that replaces the table's,
// has in addition, on a relation without pages. It waits for all who write the
// table, and keeps others from it until x ends: so all that is committed is in
// its snapshot, and only that needs an entry (rule R6). Done or Undo end it.
func (t *Table) AddIndex(x *txn.Xact, def *row.Table, rel page.Rel) (*Addition, error) {
	if err := t.Lock(x, txn.Share); err != nil {
		return nil, err
	}
	x.Statement() // after the lock
	ix := t.openIndex(&def.Indexes[len(def.Indexes)-1], rel, ^wal.LSN(0))
	if err := ix.tree.Create(); err != nil {
		return nil, fmt.Errorf("index %q: %w", ix.def.Name, err)
	}
	if err := t.fill(x, ix); err != nil {
		return nil, err
	}
	a := &Addition{t: t, old: t.def, ix: ix}
	t.def = def
	for i := range t.indexes { // their definitions have moved
		t.indexes[i].def = &def.Indexes[i]
	}
	t.indexes = append(t.indexes, ix)
	return a, nil
}

// Done says that the index was committed at lsn.
func (a *Addition) Done(lsn wal.LSN) { a.ix.from = lsn }

// Undo says that it was not.
func (a *Addition) Undo() {
	a.t.indexes = a.t.indexes[:len(a.t.indexes)-1]
	a.t.def = a.old
}

// fill adds an entry for each row that x sees.
func (t *Table) fill(x *txn.Xact, ix *Index) error {
	w := t.take()
	defer t.give(w)
	xid, err := x.XID()
	if err != nil {
		return err
	}
	s, err := t.heap.Scan(x)
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		r, ok, err := s.Next()
		if err != nil || !ok {
			return err
		}
		if w.values, err = t.schema.Decode(r.Tuple, w.values[:0]); err != nil {
			return fmt.Errorf("rel %d row %v: %w", t.rel, r.TID, err)
		}
		if err := ix.key.Check(w.values); err != nil {
			return err
		}
		w.search = ix.key.AppendRow(w.search[:0], w.values)
		if ix.def.Unique && !row.HasNull(w.search) {
			if w.tids, err = ix.tree.Lookup(w.search, w.tids[:0]); err != nil {
				return err
			}
			if len(w.tids) > 0 {
				return t.violation(ix, w.search)
			}
		}
		if err := ix.tree.Insert(xid, w.search, r.Root); err != nil {
			return err
		}
	}
}
