package compute

import (
	"fmt"

	"tornpage/engine/db"
	"tornpage/engine/row"
	"tornpage/engine/table"
)

// statement executes a statement on rows.
func (s *Session) statement(st *db.Stmt, out *db.Results) error {
	t, err := s.e.table(st.Table)
	if err != nil {
		return err
	}
	switch st.Kind {
	case db.Insert:
		if err := t.Insert(s.x, st.Row); err != nil {
			return err
		}
		s.touch(t, 1, 0, 0)
		out.Last().Count = 1
	case db.Update:
		n, err := t.Update(s.x, st.Index, st.Key, s.assignments(st))
		return s.changed(t, out, n, err, 1, 0)
	case db.Delete:
		n, err := t.Delete(s.x, st.Index, st.Key)
		return s.changed(t, out, n, err, 0, 1)
	case db.Get, db.Scan:
		return s.read(t, st, out)
	case db.Check:
		return t.Check(s.x, func(finding string) {
			s.e.m.Mark("table.damage-found")
			if out.AddText(finding) {
				out.Last().Count++
			}
		})
	default:
		return db.Errorf(db.CodeRequest, "", "statement %v is not known", st.Kind)
	}
	return nil
}

func (s *Session) assignments(st *db.Stmt) []table.Set {
	s.sets = s.sets[:0]
	for _, a := range st.Sets {
		s.sets = append(s.sets, table.Set{Column: a.Column, Add: a.Add, Value: a.Value})
	}
	return s.sets
}

// changed counts a row that was changed.
func (s *Session) changed(t *table.Table, out *db.Results, was bool, err error, updated, deleted uint64) error {
	if err != nil || !was {
		return err
	}
	s.touch(t, 0, updated, deleted)
	out.Last().Count = 1
	return nil
}

// read executes Get and Scan.
func (s *Session) read(t *table.Table, st *db.Stmt, out *db.Results) error {
	emit := func(values []row.Value, position []byte) error {
		r := out.Last()
		if st.Limit > 0 && r.Count >= st.Limit {
			r.More = true
			return table.ErrStop
		}
		if !out.AddRow(values) {
			r.More = true
			return table.ErrStop
		}
		r.Count++
		r.Next = append(r.Next[:0], position...)
		return nil
	}
	var err error
	switch {
	case st.ForUpdate && st.Kind == db.Get && len(st.After) == 0:
		err = t.GetLocked(s.x, st.Index, st.Key, emit)
	case st.ForUpdate:
		return db.Errorf(db.CodeNotSupported, "get the rows one by one, by a whole key of a unique index", "%v for update of a range", st.Kind)
	case st.Kind == db.Get:
		whole := table.Bound{Key: st.Key, Inclusive: true}
		err = t.Scan(s.x, table.Scan{Index: st.Index, From: whole, To: whole, After: st.After}, emit)
	default:
		err = t.Scan(s.x, table.Scan{Index: st.Index, Heap: st.Heap, From: table.Bound(st.From), To: table.Bound(st.To),
			Desc: st.Desc, After: st.After}, emit)
	}
	if r := out.Last(); !r.More {
		r.Next = r.Next[:0]
	}
	return err
}

// alone executes what runs in no transaction block.
func (s *Session) alone(st *db.Stmt, r *db.Result) error {
	if s.block {
		s.failed = true
		return db.Errorf(db.CodeNotSupported, "commit first", "%v cannot run within a transaction", st.Kind)
	}
	var err error
	switch st.Kind {
	case db.CreateTable:
		r.Outcome, err = s.e.createTable(st.Def)
	case db.CreateIndex:
		r.Outcome, err = s.e.createIndex(st.Table, st.NewIndex)
	case db.DropTable:
		r.Outcome, err = s.e.dropTable(st.Table)
	default:
		t, e := s.e.table(st.Table)
		if e != nil {
			return e
		}
		stats, e := t.Vacuum()
		if e != nil {
			return e
		}
		r.Count = int(min(stats.Reclaimed, 1<<31-1))
		return nil
	}
	if err != nil {
		return err
	}
	return failure(r.Outcome)
}

// failure is the error of a transaction that did not commit.
func failure(o db.Outcome) error {
	if o.Status != db.Aborted {
		return nil
	}
	code := db.CodeStorage
	if o.Why == db.WhyFull {
		code = db.CodeDiskFull
	}
	return db.Errorf(code, "", "%s", fmt.Sprint(o))
}
