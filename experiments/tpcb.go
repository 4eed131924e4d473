package experiments

import (
	"tornpage/checkers"
	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/engine/row"
)

// The tables of pgbench's TPC-B-like load, with a number for each row of
// history, so that it is a journal.
const (
	tpcbBranches = "pgbench_branches"
	tpcbTellers  = "pgbench_tellers"
	tpcbAccounts = "pgbench_accounts"
	tpcbHistory  = "pgbench_history"

	tellersPerBranch = 10
	// In the ledger accounts have their own numbers, tellers and branches come
	// behind them.
	ledgerTeller = 1 << 40
	ledgerBranch = 2 << 40
)

// tpcb is pgbench's default transaction: an account, its teller and its branch
// get the same amount, and history a row.
type tpcb struct{ s *Settings }

func newTPCBLoad(x *run) workload { return newLedgerLoad(x, &tpcb{&x.s}) }

func (l *tpcb) branches() int64 { return max(1, l.s.Keys/100) }
func (l *tpcb) tellers() int64  { return l.branches() * tellersPerBranch }

func (l *tpcb) tables() []*row.Table {
	int4 := func(name string) row.Column { return row.Column{Name: name, Type: row.Int4} }
	key := func(name string) row.Column { return row.Column{Name: name, Type: row.Int4, NotNull: true} }
	filler := func(n int) row.Column { return row.Column{Name: "filler", Type: row.Char, Len: n} }
	return []*row.Table{
		{Name: tpcbHistory, Fill: l.s.Fill, Columns: []row.Column{int8Column("id"), int4("tid"), int4("bid"), int4("aid"), int4("delta"),
			{Name: "mtime", Type: row.Timestamp}, filler(22)}, Indexes: []row.Index{primary("pgbench_history_pkey", 0)}},
		{Name: tpcbBranches, Fill: l.s.Fill, Columns: []row.Column{key("bid"), int4("bbalance"), filler(88)},
			Indexes: []row.Index{primary("pgbench_branches_pkey", 0)}},
		{Name: tpcbTellers, Fill: l.s.Fill, Columns: []row.Column{key("tid"), int4("bid"), int4("tbalance"), filler(84)},
			Indexes: []row.Index{primary("pgbench_tellers_pkey", 0)}},
		{Name: tpcbAccounts, Fill: l.s.Fill, Columns: []row.Column{key("aid"), int4("bid"), int4("abalance"), filler(84)},
			Indexes: []row.Index{primary("pgbench_accounts_pkey", 0)}},
	}
}

func (l *tpcb) index() *row.Index {
	return &row.Index{Name: "pgbench_history_aid", Columns: []row.IndexColumn{{Column: 3}}}
}

// opening: all begin at 0.
func (l *tpcb) opening() []checkers.Balance { return nil }

// fill inserts in batches, the last account last.
func (l *tpcb) fill(conn *db.Conn) error {
	zero, blank := row.NewInt4(0), row.NewChar("")
	num := func(n int64) row.Value { return row.NewInt4(int32(n)) }
	for b := range l.branches() {
		if err := put(conn, tpcbBranches, num(b+1), zero, blank); err != nil {
			return err
		}
	}
	for t := range l.tellers() {
		if err := put(conn, tpcbTellers, num(t+1), num(t/tellersPerBranch+1), zero, blank); err != nil {
			return err
		}
	}
	for a := range l.s.Keys {
		if err := put(conn, tpcbAccounts, num(a+1), num(a%l.branches()+1), zero, blank); err != nil {
			return err
		}
	}
	return nil
}

// put inserts a row unless it is there.
func put(conn *db.Conn, table string, values ...row.Value) error {
	if err := conn.Insert(table, values...); err != nil && codeOf(err) != db.CodeUnique {
		return err
	}
	return nil
}

func (l *tpcb) filled(conn *db.Conn) bool {
	last, err := conn.Get(tpcbAccounts, "", row.NewInt4(int32(l.s.Keys)))
	return err == nil && last != nil
}

func (l *tpcb) transfer(r *host.Rand) []checkers.Posting {
	teller, delta := int64(r.N(uint64(l.tellers()))), int64(r.N(10_001))-5_000
	return []checkers.Posting{
		{Account: int64(r.N(uint64(l.s.Keys))) + 1, Amount: delta},
		{Account: ledgerTeller + teller + 1, Amount: delta},
		{Account: ledgerBranch + teller/tellersPerBranch + 1, Amount: delta},
	}
}

func (l *tpcb) statements(_ *host.Rand, b *db.Batch, id int64, p []checkers.Posting) {
	aid := row.NewInt4(int32(p[0].Account))
	tid, bid := row.NewInt4(int32(p[1].Account-ledgerTeller)), row.NewInt4(int32(p[2].Account-ledgerBranch))
	delta := row.NewInt4(int32(p[0].Amount))
	addTo(b, tpcbAccounts, aid, 2, delta)
	st := b.Add(db.Get)
	st.Table, st.Key = tpcbAccounts, append(st.Key, aid)
	addTo(b, tpcbTellers, tid, 2, delta)
	addTo(b, tpcbBranches, bid, 1, delta)
	st = b.Add(db.Insert)
	st.Table = tpcbHistory
	st.Row = append(st.Row, row.NewInt8(id), tid, bid, aid, delta, row.NewTimestamp(id), row.Null())
}

func (l *tpcb) balances(r *host.Rand, conn *db.Conn, a *checkers.Audit) error {
	for _, t := range []struct {
		name   string
		column int
		base   int64
	}{{tpcbAccounts, 2, 0}, {tpcbTellers, 2, ledgerTeller}, {tpcbBranches, 1, ledgerBranch}} {
		st := db.Stmt{Kind: db.Scan, Table: t.name, Desc: r.Chance(1, 2)}
		if err := readParts(conn, st, &a.LSN, func(v []row.Value) {
			a.Balances = append(a.Balances, checkers.Balance{Account: t.base + v[0].N, Amount: v[t.column].N})
		}); err != nil {
			return err
		}
	}
	return nil
}
