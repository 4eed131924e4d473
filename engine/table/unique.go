package table

import (
	"fmt"

	"tornpage/engine/row"
	"tornpage/engine/txn"
)

// claim is a key that a statement is about to add to a unique index.
type claim struct {
	ix   *Index
	lock txn.LockID
}

// claimKeys judges the entries of w that go into unique indexes, and leaves
// their keys locked until release (rule R3). skip leaves out the indexes whose
// key an update does not change.
func (t *Table) claimKeys(x *txn.Xact, w *work, skip func(*Index) bool) error {
	for {
		wait, err := t.tryClaim(x, w, skip)
		if err == nil && wait == 0 {
			return nil
		}
		t.release(x, w)
		if err == nil {
			t.m.Mark("table.waited-for-key")
			err = t.env.Locks.WaitEnd(x.Owner(), wait)
		}
		if err != nil {
			return err
		}
	}
}

// tryClaim judges all keys once. wait is a transaction whose end decides.
func (t *Table) tryClaim(x *txn.Xact, w *work, skip func(*Index) bool) (wait uint32, err error) {
	for i, ix := range t.indexes {
		if !ix.def.Unique || row.HasNull(w.entry[i]) || skip != nil && skip(ix) {
			continue
		}
		id := txn.KeyLock(ix.rel, hash(w.entry[i]))
		if err := t.env.Locks.Acquire(x.Owner(), id, txn.Exclusive); err != nil {
			return 0, err
		}
		w.claims = append(w.claims, claim{ix, id})
		if w.tids, err = ix.tree.Lookup(w.entry[i], w.tids[:0]); err != nil {
			return 0, err
		}
		if wait, err := t.judge(x, w, ix, w.entry[i]); wait != 0 || err != nil {
			return wait, err
		}
	}
	return 0, nil
}

// judge looks at the rows that the entries in w.tids lead to. An entry may be
// of a row that is gone, and its place another row's by now.
func (t *Table) judge(x *txn.Xact, w *work, ix *Index, entry []byte) (wait uint32, err error) {
	for _, tid := range w.tids {
		d, err := t.heap.Alive(x, tid, w.rival)
		if err != nil {
			return 0, err
		}
		if !d.Found {
			continue
		}
		w.rival = d.Row.Tuple
		if w.rivals, err = t.schema.Decode(d.Row.Tuple, w.rivals[:0]); err != nil {
			return 0, fmt.Errorf("rel %d row %v: %w", t.rel, d.Row.TID, err)
		}
		w.search = ix.key.AppendRow(w.search[:0], w.rivals)
		switch {
		case ix.key.Compare(w.search, entry) != 0:
		case d.Wait != 0:
			return d.Wait, nil
		default:
			return 0, t.violation(ix, entry)
		}
	}
	return 0, nil
}

// release gives the key locks of a statement back.
func (t *Table) release(x *txn.Xact, w *work) {
	for _, c := range w.claims {
		t.env.Locks.Release(x.Owner(), c.lock, txn.Exclusive)
	}
	w.claims = w.claims[:0]
}

func (t *Table) violation(ix *Index, entry []byte) error {
	key, err := ix.key.Decode(entry, nil)
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: index %q of table %q has the key %v already", ErrUnique, ix.def.Name, t.def.Name, key)
}

// hash is FNV-1a of an entry's key. Equal keys have equal bytes, since chars
// are padded and alignment is zeros.
func hash(entry []byte) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for _, b := range entry[6:] { // behind the TID
		h = (h ^ uint64(b)) * prime
	}
	return h
}
