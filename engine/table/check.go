package table

import (
	"cmp"
	"fmt"
	"slices"

	"tornpage/engine/btree"
	"tornpage/engine/page"
	"tornpage/engine/txn"
)

// maxFindings bounds what Check tells.
const maxFindings = 20

// Check looks for damage: of the heap, of each index, and of what they say of
// each other: every row that x sees is found by each index exactly once, with
// its key, and no entry leads to another row. It waits for all who write the
// table, and keeps others from it until x ends. report hears of each finding
// in words; an error says that the check could not be made.
func (t *Table) Check(x *txn.Xact, report func(string)) error {
	if err := t.Lock(x, txn.Share); err != nil {
		return err
	}
	x.Statement()
	told := 0
	say := func(format string, args ...any) {
		if told++; told <= maxFindings {
			report(fmt.Sprintf("table %q: ", t.def.Name) + fmt.Sprintf(format, args...))
		}
	}
	if err := t.heap.Check(x, t.env.Txns.Next(), func(err error) { say("%v", err) }); err != nil {
		return err
	}
	rows, err := t.liveRows(x)
	if err != nil {
		return err
	}
	for _, ix := range t.indexes {
		if _, err := ix.tree.Check(func(f btree.Finding) { say("index %q: %v", ix.def.Name, f) }); err != nil {
			return err
		}
		if err := t.checkIndex(x, ix, rows, say); err != nil {
			return err
		}
	}
	if told > maxFindings {
		report(fmt.Sprintf("table %q: %d more findings", t.def.Name, told-maxFindings))
	}
	return nil
}

// live is a row that a snapshot shows.
type live struct {
	at   page.TID
	seen bool // by the index that is being checked
}

// liveRows are the rows that x sees, by the root of their chain.
func (t *Table) liveRows(x *txn.Xact) (map[page.TID]*live, error) {
	rows := map[page.TID]*live{}
	s, err := t.heap.Scan(x)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for {
		r, ok, err := s.Next()
		if err != nil || !ok {
			return rows, err
		}
		rows[r.Root] = &live{at: r.TID}
	}
}

// checkIndex holds an index against the rows (rule R5).
func (t *Table) checkIndex(x *txn.Xact, ix *Index, rows map[page.TID]*live, say func(string, ...any)) error {
	w := t.take()
	defer t.give(w)
	for _, r := range rows { //tornvet:ordered sets flags only
		r.seen = false
	}
	c := ix.tree.Scan(btree.Range{})
	defer c.Close()
	for {
		entry, tid, ok, err := c.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := ix.key.Validate(entry); err != nil {
			say("index %q: the entry of row %v is damaged: %v", ix.def.Name, tid, err)
			continue
		}
		if err := t.checkEntry(x, w, ix, entry, tid, rows[tid], say); err != nil {
			return err
		}
	}
	t.missed(ix, rows, say)
	return nil
}

// checkEntry holds one entry against the row that it leads to, if x sees one.
func (t *Table) checkEntry(x *txn.Xact, w *work, ix *Index, entry []byte, tid page.TID, want *live, say func(string, ...any)) error {
	r, found, err := t.heap.Fetch(x, tid, w.tuple)
	if err != nil {
		return err
	}
	if !found {
		return nil // of a version that x does not see: vacuum's
	}
	w.tuple = r.Tuple
	if w.values, err = t.schema.Decode(r.Tuple, w.values[:0]); err != nil {
		say("row %v: %v", r.TID, err)
		return nil
	}
	w.search = ix.key.AppendRow(w.search[:0], w.values)
	switch {
	case ix.key.Compare(w.search, entry) != 0:
		say("index %q leads to row %v, whose key is another", ix.def.Name, r.TID)
	case want == nil:
		say("index %q leads to row %v, which reading the table does not find", ix.def.Name, r.TID)
	case want.seen:
		say("index %q finds row %v twice", ix.def.Name, r.TID)
	default:
		want.seen = true
	}
	return nil
}

// missed reports the rows that an index did not find, in order.
func (t *Table) missed(ix *Index, rows map[page.TID]*live, say func(string, ...any)) {
	var lost []page.TID
	for _, r := range rows { //tornvet:ordered sorted below
		if !r.seen {
			lost = append(lost, r.at)
		}
	}
	slices.SortFunc(lost, func(a, b page.TID) int {
		return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(a.Offset, b.Offset))
	})
	for _, at := range lost {
		say("index %q does not find row %v", ix.def.Name, at)
	}
}
