package compute

import (
	"tornpage/engine/db"
	"tornpage/engine/invariant"
	"tornpage/engine/table"
	"tornpage/engine/txn"
)

// Session is one connection: at most one transaction at a time. A statement
// that fails fails its transaction, of which only the rollback is left.
type Session struct {
	e       *Engine
	x       *txn.Xact // nil: none
	block   bool      // x was begun by Begin
	failed  bool      // a statement of the block has failed
	gone    bool      // the client is
	touched []touch
	sets    []table.Set
}

// touch is what a transaction has done to a table, for autovacuum.
type touch struct {
	t                          *table.Table
	inserted, updated, deleted uint64
}

// NewSession makes a session (db.Sessions).
func (e *Engine) NewSession() db.Session { return &Session{e: e} }

var (
	_ db.Sessions = (*Engine)(nil)
	_ db.Canceler = (*Session)(nil)
)

// Cancel makes a statement that waits for a lock fail, and all after it.
func (s *Session) Cancel() {
	s.gone = true
	if s.x != nil {
		s.e.lockTable.Cancel(s.x.Owner(), errCancelled)
	}
}

// Close rolls back what is open.
func (s *Session) Close() {
	if s.x != nil {
		s.end(false)
	}
	s.block, s.failed = false, false
}

// Execute executes statements up to the first that fails, and adds a result for
// each (db.Session).
func (s *Session) Execute(stmts []db.Stmt, out *db.Results) {
	for i := range stmts {
		out.Add()
		if !s.execute(&stmts[i], out) {
			break
		}
	}
	out.State = s.state()
}

func (s *Session) state() db.State {
	switch {
	case s.failed:
		return db.Failed
	case s.block:
		return db.Open
	}
	return db.Idle
}

// execute executes one statement; false: it failed.
func (s *Session) execute(st *db.Stmt, out *db.Results) bool {
	r := out.Last()
	if err := s.e.usable(); err != nil {
		s.drop()
		r.Fail(db.Errorf(db.CodeClosed, "connect again", "%v", err))
		return false
	}
	if s.gone {
		r.Fail(errorOf(errCancelled))
		return false
	}
	if err := st.Refused(s.state()); err != nil {
		s.failed = s.block
		r.Fail(err)
		return false
	}
	if st.Kind.Control() {
		return s.control(st, r)
	}
	var err error
	switch st.Kind {
	case db.CreateTable, db.CreateIndex, db.DropTable, db.Vacuum:
		err = s.alone(st, r)
	default:
		err = s.within(st, out)
		r = out.Last()
	}
	if err != nil {
		r.Fail(errorOf(err))
		return false
	}
	return r.Outcome.Status != db.Unknown
}

// drop forgets the transaction of a boot that has failed.
func (s *Session) drop() {
	if s.x != nil {
		s.x.Abandon()
		s.x = nil
	}
	s.block, s.failed, s.touched = false, false, s.touched[:0]
}

// within executes a statement in the session's transaction, or in one of its
// own.
func (s *Session) within(st *db.Stmt, out *db.Results) error {
	if s.x == nil {
		x, err := s.e.txns.Start(txn.ReadCommitted)
		if err != nil {
			return err
		}
		s.x = x
	}
	s.x.Statement()
	if sn := s.x.Snapshot(); sn != nil {
		out.Last().At = sn.LSN
	}
	err := s.statement(st, out)
	switch {
	case s.e.failed != nil && err != nil:
		s.drop()
		return err
	case err != nil && s.block:
		s.failed = true
		s.x.EndStatement()
		return err
	case err != nil:
		s.end(false)
		return err
	}
	if sn := s.x.Snapshot(); sn != nil { // the statement may have begun anew
		out.Last().At = sn.LSN
	}
	s.x.EndStatement()
	if s.block {
		return nil
	}
	r := out.Last()
	xid, _ := s.x.Tree()
	r.Outcome = s.end(true)
	if xid == 0 && r.Outcome.Status == db.Committed {
		r.Outcome.Token = r.At
	}
	return failure(r.Outcome)
}

// end ends the transaction.
func (s *Session) end(commit bool) (o db.Outcome) {
	x := s.x
	s.x = nil
	switch {
	case s.e.failed != nil:
		x.Abandon()
		o = unknown(s.e.failed)
		if !commit {
			o = aborted(db.WhyRollback, nil)
		}
	case commit:
		o = s.e.commitXact(x, nil)
	default:
		s.e.abortXact(x)
		o = db.Outcome{Status: db.Aborted, Why: db.WhyRollback}
	}
	for _, t := range s.touched {
		t.t.Counters.Ended(t.inserted, t.updated, t.deleted, o.Status == db.Committed)
	}
	s.touched = s.touched[:0]
	return o
}

// control executes a statement about transactions.
func (s *Session) control(st *db.Stmt, r *db.Result) bool {
	switch st.Kind {
	case db.Begin:
		return s.begin(st, r)
	case db.Commit:
		if s.failed { // the outcome says that it was rolled back
			r.Outcome = s.endBlock(false)
			return true
		}
		o := s.endBlock(true)
		if err := failure(o); err != nil {
			r.Fail(errorOf(err))
		}
		r.Outcome = o
		return o.Status == db.Committed
	case db.Rollback:
		r.Outcome = s.endBlock(false)
		return true
	}
	return s.savepoint(st, r)
}

func (s *Session) begin(st *db.Stmt, r *db.Result) bool {
	x, err := s.e.txns.Start(txn.Level(st.Level))
	if err != nil {
		r.Fail(errorOf(err))
		return false
	}
	s.x, s.block = x, true
	return true
}

// endBlock ends a transaction block. Its transaction may be gone already.
func (s *Session) endBlock(commit bool) db.Outcome {
	s.block, s.failed = false, false
	if s.x == nil {
		invariant.Broken("C8", "a transaction block without a transaction")
	}
	return s.end(commit)
}

// savepoint executes Savepoint, RollbackTo and Release.
func (s *Session) savepoint(st *db.Stmt, r *db.Result) bool {
	var err error
	switch st.Kind {
	case db.Savepoint:
		err = s.x.Savepoint(st.Name)
	case db.Release:
		err = s.x.Release(st.Name)
	default:
		var dead []uint32
		if dead, err = s.x.RollbackTo(st.Name); err == nil {
			s.failed = false
			if len(dead) > 0 {
				s.e.logAbortTree(dead[0], dead[1:])
			}
		}
	}
	if err == nil {
		return true
	}
	r.Fail(errorOf(err))
	s.failed = true
	return false
}

// touch notes what a statement did.
func (s *Session) touch(t *table.Table, inserted, updated, deleted uint64) {
	for i := range s.touched {
		if s.touched[i].t == t {
			s.touched[i].inserted += inserted
			s.touched[i].updated += updated
			s.touched[i].deleted += deleted
			return
		}
	}
	s.touched = append(s.touched, touch{t, inserted, updated, deleted})
}
