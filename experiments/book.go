package experiments

import (
	"tornpage/checkers"
	"tornpage/engine/wal"
)

// book records a ledger: what clients transferred and what audits saw. Each
// entry is in the history too, without keys, for progress.
type book struct {
	rec    *Recorder
	ledger checkers.Ledger
	ids    int64
	audits int64
}

// transfer is one under way: its places in the ledger and in the history.
type transfer struct {
	id int64 // what to write into the journal
	i  int
	op int
}

// begin records the call of a transfer, with a number that no other has.
func (b *book) begin(op checkers.Op, postings ...checkers.Posting) transfer {
	b.ids++
	op.Kind = checkers.Other
	t := transfer{id: b.ids, i: len(b.ledger.Transfers), op: b.rec.begin(op)}
	b.ledger.Transfers = append(b.ledger.Transfers, checkers.Transfer{
		ID: t.id, Postings: postings, Outcome: checkers.Pending,
		Call: b.rec.hist.Ops[t.op].Call, Return: checkers.Open,
	})
	return t
}

// end records its return.
func (b *book) end(t transfer, o checkers.Outcome, token wal.LSN) {
	b.rec.end(t.op, o, token)
	e := &b.ledger.Transfers[t.i]
	e.Outcome, e.Token = o, token
	if o == checkers.Committed || o == checkers.Aborted {
		e.Return = b.rec.hist.Ops[t.op].Return
	}
}

// look records the call of an audit.
func (b *book) look(op checkers.Op) (i int, a checkers.Audit) {
	b.audits++
	op.Kind = checkers.Other
	i = b.rec.begin(op)
	return i, checkers.Audit{ID: b.audits, Call: b.rec.hist.Ops[i].Call}
}

// saw records what an audit of one snapshot showed.
func (b *book) saw(i int, a checkers.Audit) {
	b.rec.end(i, checkers.Committed, a.LSN)
	a.Return = b.rec.hist.Ops[i].Return
	b.ledger.Audits = append(b.ledger.Audits, a)
}

// verdict checks the ledger.
func (b *book) verdict() checkers.Verdict {
	b.ledger.Boots = b.ledger.Boots[:0]
	for _, boot := range b.rec.hist.Boots {
		if !boot.Follower {
			b.ledger.Boots = append(b.ledger.Boots, boot.OpenedAt)
		}
	}
	return b.ledger.Check()
}
