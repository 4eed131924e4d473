package experiments

import (
	"time"

	"tornpage/checkers"
	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/engine/row"
)

// accounts is what distinguishes the loads that keep a ledger: which tables
// there are, and what a transfer is.
type accounts interface {
	// tables are the definitions, the journal's first.
	tables() []*row.Table
	// opening is what each account of the ledger holds at first.
	opening() []checkers.Balance
	// fill inserts the rows. Another boot may have inserted a part of them.
	fill(conn *db.Conn) error
	// filled reports that fill has come to its end.
	filled(conn *db.Conn) bool
	// transfer draws a transfer.
	transfer(r *host.Rand) []checkers.Posting
	// statements adds those of a transfer with its number in the journal,
	// without the end of the transaction.
	statements(r *host.Rand, b *db.Batch, id int64, postings []checkers.Posting)
	// balances reads every account, within a transaction.
	balances(r *host.Rand, conn *db.Conn, a *checkers.Audit) error
	// index is one to be made on the journal meanwhile.
	index() *row.Index
}

// ledgerLoad moves amounts between accounts. Each transfer writes its number
// into a journal in the same transaction, which makes a ledger of it.
type ledgerLoad struct {
	accounts
	book
	integrity
	x       *run
	indexed bool // the journal's second index was asked for
}

func newLedgerLoad(x *run, a accounts) workload {
	l := &ledgerLoad{x: x, accounts: a, book: book{rec: x.rec}}
	l.ledger.Opening = a.opening()
	return l
}

func (l *ledgerLoad) client(_ int, _ string) (*client, func(host.Machine)) {
	c := &teller{speaker: newSpeaker(l.x), l: l}
	return &c.client, c.boot
}

func (l *ledgerLoad) verdicts() []checkers.Verdict {
	return []checkers.Verdict{l.book.verdict(), l.integrity.verdict(l.x.troubles)}
}

func (l *ledgerLoad) journal() string { return l.tables()[0].Name }

// prepare makes the tables and their rows.
func (l *ledgerLoad) prepare(conn *db.Conn) error {
	for _, t := range l.tables() {
		if err := makeTable(conn, t); err != nil {
			return err
		}
	}
	return l.fill(conn)
}

// audit looks at everything after the last recovery.
func (l *ledgerLoad) audit(m host.Machine) {
	c := &teller{speaker: newSpeaker(l.x), l: l}
	c.id = c.rec.client()
	c.patient()
	r := m.Rand("audit", 0)
	tables := l.tables()
	for step := 0; step <= len(tables); {
		conn := c.connect(m, &r)
		if conn == nil {
			continue
		}
		ok := false
		if step == 0 {
			ok = c.look(&r, conn)
		} else {
			ok = l.check(conn, tables[step-1].Name) == nil
		}
		if ok {
			step++
		} else {
			m.Sleep(5 * time.Millisecond)
		}
	}
}

// teller is one client.
type teller struct {
	speaker
	l      *ledgerLoad
	flight *transfer // the process died while it was under way
	looked int       // one more than the operation of such an audit
}

func (c *teller) boot(m host.Machine) {
	r := m.Rand("teller", uint64(c.worker))
	if c.flight != nil { // the process died and will never know
		c.l.end(*c.flight, checkers.Unknown, 0)
		c.flight = nil
	}
	if c.looked > 0 {
		c.rec.end(c.looked-1, checkers.Unknown, 0)
		c.looked = 0
	}
	c.id, c.conn = c.rec.client(), nil
	ready := false
	for c.next(m, &r, c.s.Think) {
		conn := c.connect(m, &r)
		if conn == nil {
			continue
		}
		if !ready {
			if ready = c.l.filled(conn); !ready && c.worker == 1 {
				_ = c.l.prepare(conn) // whatever failed is tried again
			} else if !ready {
				m.Sleep(5 * time.Millisecond)
			}
			continue
		}
		c.did(c.operate(&r, conn))
	}
}

// operate does one operation; true: it committed.
func (c *teller) operate(r *host.Rand, conn *db.Conn) bool {
	tables := c.l.tables()
	switch n := r.N(60); {
	case n < 6:
		return c.look(r, conn)
	case n == 6:
		_ = conn.Vacuum(tables[r.N(uint64(len(tables)))].Name) // autovacuum does it too
	case n == 7:
		_ = c.l.check(conn, tables[r.N(uint64(len(tables)))].Name)
	case n == 8 && !c.l.indexed && !c.quiet():
		c.l.indexed = true // once a run; whether it took effect is nobody's business
		_ = conn.CreateIndex(c.l.journal(), c.l.index())
	default:
		return c.move(r, conn)
	}
	return false
}

// move does one transfer, or takes it back in the end.
func (c *teller) move(r *host.Rand, conn *db.Conn) bool {
	postings := c.l.transfer(r)
	t := c.l.begin(c.op(), postings...)
	c.flight = &t
	var b db.Batch
	b.Add(db.Begin).Level = db.Level(r.N(2))
	c.l.statements(r, &b, t.id, postings)
	end := db.Commit
	if r.Chance(1, 10) {
		end = db.Rollback
	}
	b.Add(end)
	o, token := c.send(r, conn, &b)
	c.l.end(t, o, token)
	c.flight = nil
	if o == checkers.Unknown {
		c.id = c.rec.client()
	}
	return o == checkers.Committed
}

// look reads the whole journal and every balance in one snapshot.
func (c *teller) look(r *host.Rand, conn *db.Conn) bool {
	i, a := c.l.look(c.op())
	c.looked = i + 1
	err := c.readAll(r, conn, &a)
	if err == nil {
		c.l.saw(i, a)
	} else {
		c.rec.end(i, c.outcome(err), 0)
	}
	c.looked = 0
	return err == nil
}

// readAll reads in one transaction at repeatable read.
func (c *teller) readAll(r *host.Rand, conn *db.Conn, a *checkers.Audit) error {
	if err := conn.Begin(db.RepeatableRead); err != nil {
		return err
	}
	journal := db.Stmt{Kind: db.Scan, Table: c.l.journal(), Desc: r.Chance(1, 2), Limit: int(r.N(40))}
	if r.Chance(1, 4) {
		journal.Desc, journal.Heap = false, true
	}
	if err := readParts(conn, journal, &a.LSN, func(v []row.Value) { a.Journal = append(a.Journal, v[0].N) }); err != nil {
		return err
	}
	if err := c.l.balances(r, conn, a); err != nil {
		return err
	}
	a.Whole, a.All = true, true
	return conn.Rollback()
}

// readParts reads all rows of a scan, part by part, and the LSN of the
// snapshot, which is one.
func readParts(conn *db.Conn, st db.Stmt, lsn *db.Token, each func([]row.Value)) error {
	for {
		res, err := conn.Do(&db.Batch{Stmts: []db.Stmt{st}})
		if err != nil {
			return err
		}
		r := res.Last()
		if r.Err != nil {
			return r.Err
		}
		*lsn = r.At
		for i := range r.Rows() {
			each(r.Row(i))
		}
		if !r.More {
			return nil
		}
		st.After = append([]byte(nil), r.Next...)
	}
}

// addTo adds the statement that adds to a column of the row with a key.
func addTo(b *db.Batch, table string, key row.Value, column int, amount row.Value) {
	st := b.Add(db.Update)
	st.Table, st.Key = table, append(st.Key, key)
	st.Sets = append(st.Sets, db.Set{Column: column, Add: true, Value: amount})
}

// padding is a text of a length that n decides.
func padding(n int64, most int) string {
	b := make([]byte, host.Mix(uint64(n))%uint64(most+1))
	for i := range b {
		b[i] = 'a' + byte(n)%26
	}
	return string(b)
}
