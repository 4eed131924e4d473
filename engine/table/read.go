package table

import (
	"encoding/binary"
	"errors"
	"fmt"

	"tornpage/engine/btree"
	"tornpage/engine/heap"
	"tornpage/engine/page"
	"tornpage/engine/row"
	"tornpage/engine/txn"
)

// Bound is an end of a range: the first columns of a key; none: no bound.
type Bound struct {
	Key       []row.Value
	Inclusive bool
}

// Scan says which rows are read, in which order.
type Scan struct {
	Index    string // "": the primary key
	Heap     bool   // instead of an index: the rows as they lie
	From, To Bound  // in the order of the index, whatever the direction
	Desc     bool
	After    []byte // go on after this position of an earlier scan
}

// Emit takes a row of a scan. The values live until it returns, and so does
// the position, after which another scan can go on.
type Emit func(values []row.Value, position []byte) error

// ErrStop from emit ends a scan without an error.
var ErrStop = errors.New("enough rows")

// Scan hands the rows of a range to emit, as the statement's snapshot shows
// them. The values live until emit returns.
func (t *Table) Scan(x *txn.Xact, s Scan, emit Emit) error {
	err := t.Lock(x, txn.AccessShare)
	if err != nil {
		return err
	}
	w := t.take()
	defer t.give(w)
	if s.Heap {
		err = t.scanHeap(x, w, s.After, emit)
	} else {
		err = t.scanIndex(x, w, s, emit)
	}
	if err == ErrStop {
		return nil
	}
	return err
}

func (t *Table) scanHeap(x *txn.Xact, w *work, after []byte, emit Emit) error {
	s, err := t.heap.Scan(x)
	if err != nil {
		return err
	}
	defer s.Close()
	var last page.TID
	if len(after) > 0 {
		if len(after) != tidSize {
			return fmt.Errorf("%w: a position in a table has %d bytes, this one %d", ErrPosition, tidSize, len(after))
		}
		last = getTID(after)
		s.From(last.Block)
	}
	for {
		r, ok, err := s.Next()
		if err != nil || !ok {
			return err
		}
		if r.TID.Block == last.Block && r.TID.Offset <= last.Offset {
			continue
		}
		w.search = putTID(w.search[:0], r.TID)
		if err := t.emit(w, r, w.search, emit); err != nil {
			return err
		}
	}
}

// tidSize is a position in a heap: block, then offset.
const tidSize = 6

func putTID(dst []byte, at page.TID) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, at.Block)
	return binary.LittleEndian.AppendUint16(dst, at.Offset)
}

func getTID(b []byte) page.TID {
	return page.TID{Block: binary.LittleEndian.Uint32(b), Offset: binary.LittleEndian.Uint16(b[4:])}
}

// emit decodes a row.
func (t *Table) emit(w *work, r heap.Row, position []byte, emit Emit) (err error) {
	if w.values, err = t.schema.Decode(r.Tuple, w.values[:0]); err != nil {
		return fmt.Errorf("rel %d row %v: %w", t.rel, r.TID, err)
	}
	return emit(w.values, position)
}

func (t *Table) scanIndex(x *txn.Xact, w *work, s Scan, emit Emit) error {
	ix, err := t.index(x, s.Index)
	if err != nil {
		return err
	}
	r := btree.Range{Desc: s.Desc}
	if r.From, err = ix.bound(s.From, w.fresh[:0]); err != nil {
		return err
	}
	w.fresh = r.From.Tuple
	if r.To, err = ix.bound(s.To, w.search[:0]); err != nil {
		return err
	}
	w.search = r.To.Tuple
	if len(s.After) > 0 {
		if err := ix.resume(&r, s.After); err != nil {
			return err
		}
	}
	c := ix.tree.Scan(r)
	defer c.Close()
	for {
		entry, tid, ok, err := c.Next()
		if err != nil || !ok {
			return err
		}
		r, found, err := t.heap.Fetch(x, tid, w.tuple)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		w.tuple = r.Tuple
		if err := t.emit(w, r, entry, emit); err != nil {
			return err
		}
	}
}

// resume makes a range begin after an entry. Entries of one key are in the
// order of their rows.
func (ix *Index) resume(r *btree.Range, after []byte) error {
	if err := ix.key.Validate(after); err != nil {
		return fmt.Errorf("%w: index %q: %w", ErrPosition, ix.def.Name, err)
	}
	end := &r.From
	if r.Desc {
		end = &r.To
	}
	*end = btree.Bound{Tuple: after, Exact: true}
	return nil
}

// bound makes a tree's bound of a key's first columns.
func (ix *Index) bound(b Bound, buf []byte) (btree.Bound, error) {
	if len(b.Key) == 0 {
		return btree.Bound{}, nil
	}
	if err := ix.key.CheckKey(b.Key); err != nil {
		return btree.Bound{}, err
	}
	bound := btree.Bound{Tuple: ix.key.AppendSearch(buf, b.Key), Inclusive: b.Inclusive}
	if len(b.Key) < ix.key.Columns() {
		bound.Compare = ix.key.Compare // equal to all that begins so, on both sides of a pivot
	}
	return bound, nil
}

// find reads the row with a whole key of a unique index.
func (t *Table) find(x *txn.Xact, w *work, ix *Index, key []row.Value) (r heap.Row, found bool, err error) {
	if !ix.def.Unique || len(key) != ix.key.Columns() {
		return r, false, fmt.Errorf("%w: index %q of table %q is unique: %t, with %d columns, %d were given; use a whole key of a unique index, or a scan",
			ErrKey, ix.def.Name, t.def.Name, ix.def.Unique, ix.key.Columns(), len(key))
	}
	if err := ix.key.CheckKey(key); err != nil {
		return r, false, err
	}
	w.search = ix.key.AppendSearch(w.search[:0], key)
	if w.tids, err = ix.tree.Lookup(w.search, w.tids[:0]); err != nil {
		return r, false, err
	}
	for _, tid := range w.tids {
		if r, found, err = t.heap.Fetch(x, tid, w.tuple); err != nil || found {
			break
		}
	}
	if found {
		w.tuple = r.Tuple
	}
	return r, found, err
}
