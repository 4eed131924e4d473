package experiments

import (
	"tornpage/checkers"
	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/engine/row"
)

// The tables of the bank.
const (
	bankAccounts = "accounts"
	bankJournal  = "journal"
	bankByBranch = "accounts_branch"
	bankByOwner  = "journal_account"
	bankOpening  = 1000 // of each account
	bankBranches = 4
)

// bank moves amounts between two of its accounts, so that their sum stays.
type bank struct{ s *Settings }

func newBankLoad(x *run) workload { return newLedgerLoad(x, &bank{&x.s}) }

func (l *bank) tables() []*row.Table {
	return []*row.Table{{
		Name: bankJournal, Fill: l.s.Fill,
		Columns: []row.Column{int8Column("id"), int8Column("account"), int8Column("amount"), {Name: "note", Type: row.Text}},
		Indexes: []row.Index{primary("journal_pkey", 0)},
	}, {
		Name: bankAccounts, Fill: l.s.Fill,
		Columns: []row.Column{int8Column("id"), {Name: "branch", Type: row.Int4}, int8Column("balance"), {Name: "pad", Type: row.Text}},
		Indexes: []row.Index{primary("accounts_pkey", 0), {Name: bankByBranch, Columns: []row.IndexColumn{{Column: 1}}}},
	}}
}

func (l *bank) index() *row.Index {
	return &row.Index{Name: bankByOwner, Columns: []row.IndexColumn{{Column: 1}, {Column: 0, Desc: true}}}
}

func (l *bank) opening() (b []checkers.Balance) {
	for a := range l.s.Keys {
		b = append(b, checkers.Balance{Account: a, Amount: bankOpening})
	}
	return b
}

func (l *bank) fill(conn *db.Conn) error {
	for a := range l.s.Keys {
		err := conn.Insert(bankAccounts, row.NewInt8(a), row.NewInt4(int32(a%bankBranches)), row.NewInt8(bankOpening), row.NewText(padding(a, l.s.Value)))
		if err != nil && codeOf(err) != db.CodeUnique {
			return err
		}
	}
	return nil
}

func (l *bank) filled(conn *db.Conn) bool {
	last, err := conn.Get(bankAccounts, "", row.NewInt8(l.s.Keys-1))
	return err == nil && last != nil
}

func (l *bank) transfer(r *host.Rand) []checkers.Posting {
	n := uint64(l.s.Keys)
	from, amount := r.N(n), 1+int64(r.N(100))
	to := (from + 1 + r.N(n-1)) % n
	return []checkers.Posting{{Account: int64(from), Amount: -amount}, {Account: int64(to), Amount: amount}}
}

// statements post in either order, so that two transfers can wait for each
// other.
func (l *bank) statements(r *host.Rand, b *db.Batch, id int64, p []checkers.Posting) {
	post := func(account, amount int64) { addTo(b, bankAccounts, row.NewInt8(account), 2, row.NewInt8(amount)) }
	if r.Chance(1, 8) { // what is undone leaves no trace
		b.Add(db.Savepoint).Name = "oops"
		post(p[1].Account, 1_000_000)
		b.Add(db.RollbackTo).Name = "oops"
	}
	first := r.N(2)
	post(p[first].Account, p[first].Amount)
	post(p[1-first].Account, p[1-first].Amount)
	if r.Chance(1, 8) { // moves the account's entry in the second index
		st := b.Add(db.Update)
		st.Table, st.Key = bankAccounts, append(st.Key, row.NewInt8(p[0].Account))
		st.Sets = append(st.Sets, db.Set{Column: 1, Value: row.NewInt4(int32(r.N(bankBranches)))},
			db.Set{Column: 3, Value: row.NewText(padding(id, l.s.Value))})
	}
	if r.Chance(1, 16) { // closes an account and opens it again: the row is another
		l.replace(r, b, p[1].Account)
	}
	st := b.Add(db.Insert)
	st.Table = bankJournal
	st.Row = append(st.Row, row.NewInt8(id), row.NewInt8(p[0].Account), row.NewInt8(p[1].Amount), row.NewText(padding(id, l.s.Value)))
}

// replace deletes a row that the transaction has locked, and inserts nothing in
// its place but what a rollback to a savepoint brings back.
func (l *bank) replace(_ *host.Rand, b *db.Batch, account int64) {
	b.Add(db.Savepoint).Name = "closed"
	st := b.Add(db.Delete)
	st.Table, st.Key = bankAccounts, append(st.Key, row.NewInt8(account))
	st = b.Add(db.Insert)
	st.Table = bankAccounts
	st.Row = append(st.Row, row.NewInt8(account), row.NewInt4(0), row.NewInt8(0), row.NewText("reopened"))
	b.Add(db.RollbackTo).Name = "closed"
	b.Add(db.Release).Name = "closed"
}

func (l *bank) balances(r *host.Rand, conn *db.Conn, a *checkers.Audit) error {
	st := db.Stmt{Kind: db.Scan, Table: bankAccounts, Desc: r.Chance(1, 2)}
	if r.Chance(1, 2) {
		st.Index = bankByBranch
	}
	return readParts(conn, st, &a.LSN, func(v []row.Value) {
		a.Balances = append(a.Balances, checkers.Balance{Account: v[0].N, Amount: v[2].N})
	})
}
