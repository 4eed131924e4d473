package db_test

import (
	"encoding/binary"
	"maps"
	"slices"

	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/engine/row"
)

// fake executes statements on one table t (k int4, v text), in a map, with a
// lock on each row. It is no model of isolation: changes are seen at once, and
// undone at a rollback.
type fake struct {
	m        host.Machine
	rows     map[int32][]row.Value
	locks    map[int32]*fakeSession
	freed    *host.Cond
	token    db.Token
	open     bool
	sessions int  // open ones
	loses    bool // the next commit's fate is not known
}

func newFake(m host.Machine) *fake {
	return &fake{m: m, rows: map[int32][]row.Value{}, locks: map[int32]*fakeSession{}, freed: m.NewCond(host.WaitTuple), token: 100, open: true}
}

func (f *fake) Serving() bool { return f.open }

func (f *fake) Do(_ *db.Request, resp *db.Response) { resp.Commit(f.token) }

func (f *fake) NewSession() db.Session {
	f.sessions++
	return &fakeSession{f: f, savepoints: map[string]int{}}
}

type undo struct {
	key int32
	old []row.Value
}

type fakeSession struct {
	f          *fake
	state      db.State
	undo       []undo
	savepoints map[string]int
	cancelled  bool
}

func (s *fakeSession) Cancel() {
	s.cancelled = true
	s.f.freed.Broadcast()
}

func (s *fakeSession) Close() {
	s.rollback(0)
	s.end()
	s.f.sessions--
}

func (s *fakeSession) rollback(to int) {
	for len(s.undo) > to {
		u := s.undo[len(s.undo)-1]
		s.undo = s.undo[:len(s.undo)-1]
		delete(s.f.rows, u.key)
		if u.old != nil {
			s.f.rows[u.key] = u.old
		}
	}
}

// end gives up the locks.
func (s *fakeSession) end() {
	s.state, s.undo = db.Idle, s.undo[:0]
	clear(s.savepoints)
	maps.DeleteFunc(s.f.locks, func(_ int32, by *fakeSession) bool { return by == s })
	s.f.freed.Broadcast()
}

func (s *fakeSession) Execute(stmts []db.Stmt, out *db.Results) {
	for i := range stmts {
		out.Add().At = s.f.token
		before := len(s.undo)
		err := stmts[i].Refused(s.state)
		if err == nil {
			err = s.execute(&stmts[i], out)
		}
		s.finish(out.Last(), err, before)
		if err != nil {
			break
		}
	}
	out.State = s.state
}

// finish ends a transaction of one statement, or fails a block.
func (s *fakeSession) finish(r *db.Result, err *db.Error, before int) {
	if err != nil {
		o := r.Outcome
		s.rollback(before)
		r.Fail(err)
		r.Outcome = o
	}
	switch {
	case s.state != db.Idle:
		if err != nil {
			s.state = db.Failed
		}
	case err != nil && r.Outcome.Status == 0:
		r.Outcome = db.Outcome{Status: db.Aborted, Why: db.WhyStatement}
		s.end()
	case len(s.undo) > 0:
		s.f.token++
		r.Outcome = db.Outcome{Status: db.Committed, Token: s.f.token}
		s.end()
	default:
		s.end()
	}
}

func (s *fakeSession) execute(q *db.Stmt, out *db.Results) *db.Error {
	r := out.Last()
	switch q.Kind {
	case db.Begin:
		s.state = db.Open
	case db.Commit, db.Rollback:
		return s.endBlock(q.Kind, r)
	case db.Savepoint:
		s.savepoints[q.Name] = len(s.undo)
	case db.RollbackTo:
		to, ok := s.savepoints[q.Name]
		if !ok {
			return db.Errorf(db.CodeRequest, "", "no savepoint %q", q.Name)
		}
		s.rollback(to)
		s.state = db.Open
	case db.Release:
		delete(s.savepoints, q.Name)
	case db.Check:
		out.AddText("one finding")
		out.AddText("and another")
	case db.CreateTable, db.CreateIndex, db.DropTable, db.Vacuum:
	case db.Scan:
		s.scan(q, out)
	default:
		return s.oneRow(q, out)
	}
	return nil
}

func (s *fakeSession) endBlock(k db.Kind, r *db.Result) *db.Error {
	switch {
	case k == db.Rollback:
		r.Outcome = db.Outcome{Status: db.Aborted, Why: db.WhyRollback}
	case s.state == db.Failed:
		r.Outcome = db.Outcome{Status: db.Aborted, Why: db.WhyStatement}
	case s.f.loses:
		s.f.loses = false
		r.Outcome = db.Outcome{Status: db.Unknown, Why: db.WhyStorage}
		s.end()
		return db.Errorf(db.CodeStorage, "look whether it is there", "log device lost")
	default:
		s.f.token++
		r.Outcome = db.Outcome{Status: db.Committed, Token: s.f.token}
		s.end()
		return nil
	}
	s.rollback(0)
	s.end()
	return nil
}

func (s *fakeSession) oneRow(q *db.Stmt, out *db.Results) *db.Error {
	if q.Table != "t" {
		return db.Errorf(db.CodeNoTable, "create it", "table %q", q.Table)
	}
	key := append(q.Key, q.Row...)[0]
	k := int32(key.N)
	if q.Kind != db.Get || q.ForUpdate {
		if err := s.lock(k); err != nil {
			return err
		}
	}
	old, r := s.f.rows[k], out.Last()
	if q.Kind == db.Insert {
		if old != nil {
			return db.Errorf(db.CodeUnique, "", "key %v", key)
		}
		values := slices.Clone(q.Row)
		values[1].B = slices.Clone(values[1].B)
		s.f.rows[k], r.Count = values, 1
		s.undo = append(s.undo, undo{k, nil})
		return nil
	}
	if old == nil {
		return nil
	}
	r.Count = 1
	switch q.Kind {
	case db.Get:
		out.AddRow(old)
		return nil
	case db.Update:
		s.f.rows[k] = []row.Value{old[0], {Kind: row.Text, B: slices.Clone(q.Sets[0].Value.B)}}
	default:
		delete(s.f.rows, k)
	}
	s.undo = append(s.undo, undo{k, old})
	return nil
}

func (s *fakeSession) lock(k int32) *db.Error {
	for s.f.locks[k] != nil && s.f.locks[k] != s && !s.cancelled {
		s.f.freed.Wait()
	}
	if s.cancelled {
		return db.Errorf(db.CodeCancelled, "", "while waiting for row %d", k)
	}
	s.f.locks[k] = s
	return nil
}

// scan gives two rows at most, so that scans have several parts.
func (s *fakeSession) scan(q *db.Stmt, out *db.Results) {
	r, n := out.Last(), 0
	for _, k := range slices.Sorted(maps.Keys(s.f.rows)) {
		if len(q.After) > 0 && k <= int32(binary.BigEndian.Uint32(q.After)) || q.Limit > 0 && n == q.Limit {
			continue
		}
		if n == 2 {
			r.More = true
			break
		}
		out.AddRow(s.f.rows[k])
		r.Next = binary.BigEndian.AppendUint32(r.Next[:0], uint32(k))
		n++
	}
	r.Count = n
	if !r.More {
		r.Next = r.Next[:0]
	}
}
