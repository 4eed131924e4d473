package checkers

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
)

// pair is a sound ledger of two transfers between accounts 1 and 2, audited
// before, between and after.
func pair() *Ledger {
	return &Ledger{
		Opening: []Balance{{1, 100}, {2, 50}},
		Transfers: []Transfer{
			{ID: 7, Postings: []Posting{{1, -10}, {2, 10}}, Outcome: Committed, Token: 20, Call: 10, Return: 14},
			{ID: 8, Postings: []Posting{{2, -5}, {1, 5}}, Outcome: Committed, Token: 30, Call: 20, Return: 24},
		},
		Audits: []Audit{
			{ID: 1, LSN: 10, Whole: true, All: true, Balances: []Balance{{1, 100}, {2, 50}}, Call: 5, Return: 8},
			{ID: 2, LSN: 20, Journal: []int64{7}, Whole: true, All: true, Balances: []Balance{{1, 90}, {2, 60}}, Call: 15, Return: 22},
			{ID: 3, LSN: 30, Journal: []int64{8, 7}, Whole: true, All: true, Balances: []Balance{{1, 95}, {2, 55}}, Call: 30, Return: 33},
			{ID: 4, LSN: 30, All: true, Balances: []Balance{{1, 95}, {2, 55}}, Call: 30, Return: 33},
		},
		Boots: []int64{27},
	}
}

// TestLedgerRejects breaks a sound ledger in each way that the check names.
func TestLedgerRejects(t *testing.T) {
	require.Equal(t, Holds, pair().Check().Result)
	for name, c := range map[string]struct {
		edit func(*Ledger)
		want string
	}{
		"lost after recovery": {func(l *Ledger) { l.Audits[2].Journal = []int64{7}; l.Audits[2].Balances = []Balance{{1, 90}, {2, 60}} },
			"audit 3 (events 30..33, snapshot 0/1E) lacks transfer 8"},
		"returned and not there": {func(l *Ledger) { l.Transfers[1].Token = 0; l.Audits[2].Journal = []int64{7} },
			"had returned before"},
		"aborted and there":       {func(l *Ledger) { l.Transfers[0].Outcome = Aborted }, "which was aborted"},
		"beyond the snapshot":     {func(l *Ledger) { l.Transfers[0].Token = 25 }, "beyond it"},
		"from the future":         {func(l *Ledger) { l.Transfers[1].Call = 40; l.Transfers[1].Return = 41 }, "began later"},
		"twice in the journal":    {func(l *Ledger) { l.Audits[1].Journal = []int64{7, 7} }, "twice"},
		"nobody's":                {func(l *Ledger) { l.Audits[1].Journal = []int64{9} }, "nobody began"},
		"recorded twice":          {func(l *Ledger) { l.Transfers[1].ID = 7 }, "recorded twice"},
		"lost update":             {func(l *Ledger) { l.Audits[2].Balances[0].Amount = 100 }, "shows 100 on account 1, want 95"},
		"half a transaction":      {func(l *Ledger) { l.Audits[1].Balances[1].Amount = 50 }, "shows 50 on account 2, want 60"},
		"an account twice":        {func(l *Ledger) { l.Audits[1].Balances = append(l.Audits[1].Balances, Balance{1, 90}) }, "account 1 twice"},
		"an account missing":      {func(l *Ledger) { l.Audits[1].Balances = l.Audits[1].Balances[:1] }, "lacks account 2"},
		"sum without the journal": {func(l *Ledger) { l.Audits[3].Balances[0].Amount = 96 }, "sums up to 151 over 2 accounts, want 150"},
		"came and went": {func(l *Ledger) {
			l.Transfers[0].Outcome, l.Transfers[0].Token, l.Transfers[0].Return = Unknown, 0, Open
			l.Audits[2].Journal, l.Audits[2].Balances = []int64{8}, []Balance{{1, 105}, {2, 45}}
		}, "which audit 2"},
	} {
		l := pair()
		c.edit(l)
		v := l.Check()
		require.Equal(t, Broken, v.Result, name)
		require.Contains(t, v.What, c.want, name)
	}
}

// TestLedgerUnknown: an unknown transfer may be there or not.
func TestLedgerUnknown(t *testing.T) {
	l := pair()
	l.Transfers[1].Outcome, l.Transfers[1].Token, l.Transfers[1].Return = Unknown, 0, Open
	require.Equal(t, Holds, l.Check().Result)
	l.Audits[2].Journal, l.Audits[2].Balances = []int64{7}, []Balance{{1, 90}, {2, 60}}
	l.Audits[3].Balances = l.Audits[2].Balances
	require.Equal(t, Holds, l.Check().Result)
}

// TestLedgerDrift: where transfers change the sum, balances alone prove nothing.
func TestLedgerDrift(t *testing.T) {
	l := pair()
	l.Transfers[1].Postings = []Posting{{1, 5}}
	l.Audits[2].Balances = []Balance{{1, 95}, {2, 60}}
	l.Audits[3].Balances = []Balance{{1, 1}, {2, 1}}
	require.Equal(t, Holds, l.Check().Result)
}

// TestLedgerSerial draws serial histories, which hold, and damages one balance
// of one audit, which does not.
func TestLedgerSerial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &Ledger{}
		now := map[int64]int64{}
		for a := range int64(4) {
			l.Opening = append(l.Opening, Balance{a, 10 * a})
			now[a] = 10 * a
		}
		var journal []int64
		event, lsn := int64(0), uint64(0)
		for id := range rapid.Int64Range(1, 30).Draw(t, "transfers") {
			tr := Transfer{ID: id, Outcome: rapid.SampledFrom([]Outcome{Committed, Aborted, Unknown}).Draw(t, "outcome"), Call: event, Return: event + 1}
			for range rapid.IntRange(1, 3).Draw(t, "postings") {
				tr.Postings = append(tr.Postings, Posting{rapid.Int64Range(0, 3).Draw(t, "account"), rapid.Int64Range(-9, 9).Draw(t, "amount")})
			}
			took := tr.Outcome == Committed || tr.Outcome == Unknown && rapid.Bool().Draw(t, "took effect")
			if took {
				lsn += 10
				journal = append(journal, id)
				for _, p := range tr.Postings {
					now[p.Account] += p.Amount
				}
			}
			if tr.Outcome == Committed {
				tr.Token = page.LSN(lsn)
			}
			l.Transfers = append(l.Transfers, tr)
			a := Audit{ID: id, LSN: page.LSN(lsn), Journal: append([]int64(nil), journal...), Whole: true, Call: event + 2, Return: event + 3}
			for k := range int64(4) {
				a.Balances = append(a.Balances, Balance{k, now[k]})
			}
			l.Audits = append(l.Audits, a)
			event += 4
		}
		require.Equal(t, Holds, l.Check().Result)
		i := rapid.IntRange(0, len(l.Audits)-1).Draw(t, "audit")
		k := rapid.IntRange(0, 3).Draw(t, "account")
		l.Audits[i].Balances[k].Amount += rapid.SampledFrom([]int64{-1, 1}).Draw(t, "damage")
		require.Equal(t, Broken, l.Check().Result)
	})
}

// TestKeyedLeavesOutOthers: operations without keys are no business of the
// checks of keys and values, and the history keeps them.
func TestKeyedLeavesOutOthers(t *testing.T) {
	h := &History{Ops: []Op{
		{ID: 1, Client: 1, Kind: Other, Outcome: Committed, Call: 1, Return: 2},
		{ID: 2, Client: 1, Kind: Put, Keys: []int64{1}, Values: []uint64{5}, Outcome: Committed, Call: 3, Return: 4},
	}}
	var c Checker
	require.Equal(t, Undecided, Worst(c.Check(h)).Result, "as it is, the history is malformed")
	require.Equal(t, Holds, Worst(c.Check(h.Keyed())).Result)
	require.Len(t, h.Ops, 2)
}
