package experiments

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"tornpage/checkers"
	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/engine/row"
)

// speaker is what clients of all loads on tables share: a session that is
// opened anew where it broke, and what is recorded of it.
type speaker struct {
	client
	s    *Settings
	rec  *Recorder
	conn *db.Conn
	id   int // changes after each unknown outcome
	host string
}

func newSpeaker(x *run) speaker { return speaker{s: &x.s, rec: x.rec, host: writerName} }

// connect gives a session that works, nil for now.
func (c *speaker) connect(m host.Machine, r *host.Rand) *db.Conn {
	if c.conn != nil && c.conn.Broken() == nil {
		return c.conn
	}
	conn, err := db.Connect(m, c.host, dbPort, c.s.Timeout)
	if err != nil {
		m.Sleep(5*time.Millisecond + time.Duration(r.N(uint64(5*time.Millisecond))))
		return nil
	}
	c.conn = conn
	return conn
}

// op is the beginning of an operation's record.
func (c *speaker) op() checkers.Op {
	return checkers.Op{Client: c.id, Worker: c.worker, Host: c.host}
}

// outcome says how an operation ended that a call of the session failed, and
// leaves the session without an open transaction.
func (c *speaker) outcome(err error) checkers.Outcome {
	var lost *db.Lost
	if errors.As(err, &lost) {
		if lost.Outcome.Status == db.Unknown {
			return checkers.Unknown
		}
		return checkers.Aborted
	}
	if c.conn.State() != db.Idle && c.conn.Broken() == nil {
		_ = c.conn.Rollback() // a session that broke has rolled back
	}
	return checkers.Aborted
}

// ended is the outcome of a commit.
func ended(o db.Outcome) (checkers.Outcome, db.Token) {
	switch o.Status {
	case db.Committed:
		return checkers.Committed, o.Token
	case db.Aborted:
		return checkers.Aborted, 0
	}
	return checkers.Unknown, 0
}

// codeOf is the code of a statement's error, 0 if there was none or the
// session broke.
func codeOf(err error) db.Code {
	var e *db.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// makeTable makes a table unless it is there. Errors of a broken session are
// the caller's to see in the session.
func makeTable(conn *db.Conn, def *row.Table) error {
	if err := conn.CreateTable(def); err != nil && codeOf(err) != db.CodeExists {
		return fmt.Errorf("create table %q: %w", def.Name, err)
	}
	return nil
}

// integrity gathers what Check statements find.
type integrity struct {
	asked    int
	findings []string
}

// check checks a table.
func (i *integrity) check(conn *db.Conn, name string) error {
	found, err := conn.Check(name)
	if err != nil {
		return err
	}
	i.asked++
	i.findings = append(i.findings, found...)
	return nil
}

// verdict is broken by any finding, and by trouble of the background's.
func (i *integrity) verdict(troubles []string) checkers.Verdict {
	v := checkers.Verdict{Check: "integrity", Result: checkers.Holds}
	if all := append(slices.Clone(i.findings), troubles...); len(all) > 0 {
		v.Result = checkers.Broken
		v.What = all[0]
		v.Details = all[1:min(len(all), 8)]
	} else if i.asked == 0 {
		v.Result, v.What = checkers.Undecided, "no table was checked"
	}
	return v
}

// primary is a primary key of one column.
func primary(name string, column int) row.Index {
	return row.Index{Name: name, Columns: []row.IndexColumn{{Column: column}}, Unique: true, Primary: true}
}

// int8Column is a column that is never null.
func int8Column(name string) row.Column { return row.Column{Name: name, Type: row.Int8, NotNull: true} }

// patient makes the client wait for answers as long as the final audit may.
func (c *speaker) patient() {
	s := *c.s
	s.Timeout = auditBound
	c.s = &s
}

// send executes a transaction, as one batch or statement by statement.
func (c *speaker) send(r *host.Rand, conn *db.Conn, b *db.Batch) (checkers.Outcome, db.Token) {
	size := len(b.Stmts)
	if r.Chance(1, 2) {
		size = 1
	}
	for part := range slices.Chunk(b.Stmts, size) {
		res, err := conn.Do(&db.Batch{Stmts: part})
		if err != nil {
			return c.outcome(err), 0
		}
		if e := res.Last().Err; e != nil {
			return c.outcome(e), 0
		}
	}
	return ended(conn.Outcome())
}
