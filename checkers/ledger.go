package checkers

import (
	"fmt"
	"slices"

	"tornpage/engine/page"
)

const ledgerCheck = "ledger"

// Posting changes the balance of one account.
type Posting struct {
	Account int64
	Amount  int64
}

// Transfer is a transaction that posts amounts to accounts and writes its
// number into a journal.
type Transfer struct {
	ID       int64 // unique; what the journal holds
	Postings []Posting
	Outcome  Outcome
	Token    page.LSN // of the commit; 0: not known
	Call     int64    // events, as in Op
	Return   int64    // Open: none
}

// Balance is what an account was read to hold.
type Balance struct {
	Account int64
	Amount  int64
}

// Audit is what one snapshot showed.
type Audit struct {
	ID       int64
	LSN      page.LSN  // of the last commit in the snapshot
	Journal  []int64   // the transfers in the journal, in any order
	Whole    bool      // Journal is the whole journal; otherwise it was not read
	Balances []Balance // accounts that were read
	All      bool      // Balances holds every account: its sum counts
	Call     int64     // events
	Return   int64
}

// Ledger is what was recorded of a load that moves amounts between accounts.
type Ledger struct {
	Opening   []Balance // what accounts held before the first transfer; others 0
	Transfers []Transfer
	Audits    []Audit
	Boots     []int64 // events at which a boot of the writer opened
}

// Check holds every audit against the transfers:
//
//   - the journal has each transfer once, none that nobody began, none that was
//     aborted, each that was acknowledged at or below the snapshot's LSN (it
//     was lost otherwise), and none with a commit above it;
//   - each balance is its opening plus what the journal's transfers posted (an
//     update was lost otherwise, or half a transaction seen);
//   - no account is read twice, and none is missing where all were read;
//   - a transfer that returned before the audit was called is there, and one
//     called after the audit returned is not;
//   - what one snapshot shows, no snapshot at or above its LSN lacks;
//   - where only balances were read, all of them, their sum is that of the
//     openings, if no transfer of the ledger changes the sum.
//
// It is linear in what was recorded, but for a sort, and needs no search: the
// journal says which unknown transfers took effect.
func (l *Ledger) Check() Verdict {
	c := ledgerWork{l: l, byID: make(map[int64]int, len(l.Transfers)), firstSeen: make([]int, len(l.Transfers))}
	for i := range l.Transfers {
		t := &l.Transfers[i]
		if j, twice := c.byID[t.ID]; twice {
			return broken(ledgerCheck, []int64{t.ID}, "transfer %d was recorded twice, called at events %d and %d",
				t.ID, l.Transfers[j].Call, t.Call)
		}
		c.byID[t.ID] = i
		c.firstSeen[i] = -1
		for _, p := range t.Postings {
			c.drifts = c.drifts || p.Amount != 0 && !balanced(t)
		}
	}
	audits := make([]int, len(l.Audits))
	for i := range audits {
		audits[i] = i
	}
	slices.SortStableFunc(audits, func(a, b int) int {
		switch x, y := l.Audits[a].LSN, l.Audits[b].LSN; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	for _, i := range audits {
		if v := c.audit(i); v.Result != Holds {
			return v
		}
	}
	return holds(ledgerCheck)
}

// balanced reports a transfer that leaves the sum of all accounts as it was.
func balanced(t *Transfer) bool {
	sum := int64(0)
	for _, p := range t.Postings {
		sum += p.Amount
	}
	return sum == 0
}

// ledgerWork is one check in progress.
type ledgerWork struct {
	l         *Ledger
	byID      map[int64]int
	firstSeen []int // the audit, in LSN order, that first showed the transfer; -1: none
	drifts    bool  // some transfer changes the sum of all accounts
}

func (c *ledgerWork) audit(i int) Verdict {
	a := &c.l.Audits[i]
	if !a.Whole {
		return c.sum(a)
	}
	present := make([]bool, len(c.l.Transfers))
	for _, id := range a.Journal {
		k, known := c.byID[id]
		if !known {
			return broken(ledgerCheck, []int64{id}, "%s shows transfer %d, which nobody began", describeAudit(a), id)
		}
		if present[k] {
			return broken(ledgerCheck, []int64{id}, "%s shows %s twice", describeAudit(a), c.describe(k))
		}
		present[k] = true
	}
	for k := range c.l.Transfers {
		if v := c.transfer(i, k, present[k]); v.Result != Holds {
			return v
		}
	}
	return c.balances(a, present)
}

// transfer holds one transfer's presence in an audit against its outcome.
func (c *ledgerWork) transfer(i, k int, present bool) Verdict {
	a, t := &c.l.Audits[i], &c.l.Transfers[k]
	ops := []int64{t.ID}
	if present {
		switch {
		case t.Outcome == Aborted:
			return broken(ledgerCheck, ops, "%s shows %s, which was aborted", describeAudit(a), c.describe(k))
		case t.Token > a.LSN && t.Outcome == Committed:
			return broken(ledgerCheck, ops, "%s shows %s, which is beyond it", describeAudit(a), c.describe(k))
		case t.Call > a.Return:
			return broken(ledgerCheck, ops, "%s shows %s, which began later", describeAudit(a), c.describe(k))
		}
		if c.firstSeen[k] < 0 {
			c.firstSeen[k] = i
		}
		return holds(ledgerCheck)
	}
	if t.Outcome == Committed && t.Token != 0 && t.Token <= a.LSN {
		v := broken(ledgerCheck, ops, "%s lacks %s", describeAudit(a), c.describe(k))
		v.Details = c.boots(t.Return, a.Return)
		return v
	}
	if t.Outcome == Committed && t.Return < a.Call {
		v := broken(ledgerCheck, ops, "%s lacks %s, which had returned before", describeAudit(a), c.describe(k))
		v.Details = c.boots(t.Return, a.Return)
		return v
	}
	if s := c.firstSeen[k]; s >= 0 {
		v := broken(ledgerCheck, ops, "%s lacks %s, which %s shows", describeAudit(a), c.describe(k), describeAudit(&c.l.Audits[s]))
		v.Details = c.boots(c.l.Audits[s].Call, a.Return)
		return v
	}
	return holds(ledgerCheck)
}

// balances holds the accounts against the journal of the same snapshot.
func (c *ledgerWork) balances(a *Audit, present []bool) Verdict {
	want := make(map[int64]int64, len(a.Balances))
	for _, b := range c.l.Opening {
		want[b.Account] = b.Amount
	}
	for k, is := range present {
		if !is {
			continue
		}
		for _, p := range c.l.Transfers[k].Postings {
			want[p.Account] += p.Amount
		}
	}
	if v := c.each(a); v.Result != Holds {
		return v
	}
	for _, b := range a.Balances {
		if b.Amount == want[b.Account] {
			continue
		}
		v := broken(ledgerCheck, nil, "%s shows %d on account %d, want %d by the transfers that it shows", describeAudit(a), b.Amount, b.Account, want[b.Account])
		v.Ops, v.Details = c.posted(b.Account, present)
		return v
	}
	return holds(ledgerCheck)
}

// each holds that an audit read no account twice and, if it read all of them,
// each that the ledger opened with.
func (c *ledgerWork) each(a *Audit) Verdict {
	seen := make(map[int64]bool, len(a.Balances))
	for _, b := range a.Balances {
		if seen[b.Account] {
			return broken(ledgerCheck, nil, "%s shows account %d twice", describeAudit(a), b.Account)
		}
		seen[b.Account] = true
	}
	for _, b := range c.l.Opening {
		if a.All && !seen[b.Account] {
			return broken(ledgerCheck, nil, "%s lacks account %d", describeAudit(a), b.Account)
		}
	}
	return holds(ledgerCheck)
}

// posted are the last few transfers that an audit shows for an account.
func (c *ledgerWork) posted(account int64, present []bool) (ops []int64, lines []string) {
	const few = 5
	for k := len(present) - 1; k >= 0 && len(lines) < few; k-- {
		if !present[k] {
			continue
		}
		for _, p := range c.l.Transfers[k].Postings {
			if p.Account == account {
				ops = append(ops, c.l.Transfers[k].ID)
				lines = append(lines, fmt.Sprintf("%s posted %+d to it", c.describe(k), p.Amount))
			}
		}
	}
	return ops, lines
}

// sum checks an audit of balances alone.
func (c *ledgerWork) sum(a *Audit) Verdict {
	if v := c.each(a); v.Result != Holds {
		return v
	}
	if !a.All || c.drifts {
		return holds(ledgerCheck)
	}
	got, want := int64(0), int64(0)
	for _, b := range a.Balances {
		got += b.Amount
	}
	for _, b := range c.l.Opening {
		want += b.Amount
	}
	if got == want {
		return holds(ledgerCheck)
	}
	return broken(ledgerCheck, nil, "%s sums up to %d over %d accounts, want %d: no transfer changes the sum",
		describeAudit(a), got, len(a.Balances), want)
}

// boots names the writer's boots that opened between two events.
func (c *ledgerWork) boots(from, to int64) (lines []string) {
	for _, e := range c.l.Boots {
		if e >= from && e <= to {
			lines = append(lines, fmt.Sprintf("a boot of the writer opened in between, at event %d", e))
		}
	}
	return lines
}

func (c *ledgerWork) describe(k int) string {
	t := &c.l.Transfers[k]
	text := fmt.Sprintf("transfer %d (%v, events %d..%s", t.ID, t.Outcome, t.Call, eventName(t.Return))
	if t.Token != 0 {
		text += ", commit LSN " + t.Token.String()
	}
	return text + ")"
}

func describeAudit(a *Audit) string {
	return fmt.Sprintf("audit %d (events %d..%s, snapshot %v)", a.ID, a.Call, eventName(a.Return), a.LSN)
}

func eventName(e int64) string {
	if e == Open {
		return "open"
	}
	return fmt.Sprint(e)
}
