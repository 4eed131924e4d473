package db

import (
	"strconv"

	"tornpage/engine/wal"
)

// Token is the LSN of a commit (D4). Clients compare tokens and hand them back.
type Token = wal.LSN

// Op is what a request asks for.
type Op uint8

// The operations, with the keys and values that each has.
const (
	OpGet      Op = iota + 1 // one key
	OpPut                    // one key, one value
	OpCAS                    // one key; the new value, then the expected one
	OpMultiPut               // distinct keys, as many values; all or nothing
	OpMultiGet               // keys in one snapshot
	OpView                   // keys in one snapshot, of a replica or of the writer
	ops
)

var opNames = [ops]string{"?", "get", "put", "compare-and-set", "multi-put", "multi-get", "view"}

// String names the operation.
func (o Op) String() string {
	if o < ops {
		return opNames[o]
	}
	return "op " + strconv.Itoa(int(o))
}

// Writes reports whether the operation may change rows.
func (o Op) Writes() bool { return o == OpPut || o == OpCAS || o == OpMultiPut }

// Status is how a transaction ended.
type Status uint8

// The statuses (D1).
const (
	Committed Status = iota + 1
	Aborted
	Unknown
	statuses
)

// String names the status.
func (s Status) String() string {
	return [...]string{"no status", "committed", "aborted", "unknown"}[s%statuses]
}

// Why says why a transaction did not commit, or is not known to have.
type Why uint8

// The reasons.
const (
	WhyNone      Why = iota
	WhyMismatch      // the row did not hold the expected value
	WhyRollback      // the client asked for it
	WhyRequest       // the request makes no sense: keys, sizes, operation
	WhyStorage       // storage gave an error
	WhyBehind        // the view has not reached the token
	WhyClosed        // the server does not serve
	WhyNotSent       // the connection was broken before the request was sent
	WhyBroken        // the connection broke, or the request timed out
	WhyFull          // the disk is full: changes are refused
	WhyStatement     // a statement failed: its error says why
	whys
)

var whyNames = [whys]string{"", "mismatch", "rolled back", "bad request", "storage", "behind",
	"not serving", "not sent", "connection broken", "disk full", "statement failed"}

// String names the reason.
func (w Why) String() string {
	if w < whys {
		return whyNames[w]
	}
	return "why " + strconv.Itoa(int(w))
}

// Outcome is the end of a transaction as its client knows it.
type Outcome struct {
	Status Status
	Why    Why    // WhyNone if committed
	Token  Token  // Committed: D4
	Text   string // of errors, for people
}

// String gives "committed at 0/1FD8", "aborted: mismatch".
func (o Outcome) String() string {
	if o.Status == Committed {
		return "committed at " + o.Token.String()
	}
	s := o.Status.String() + ": " + o.Why.String()
	if o.Text != "" {
		s += ": " + o.Text
	}
	return s
}

// Values is a list of values in memory of its own, used again after Reset.
type Values struct {
	buf   []byte
	spans []span
}

type span struct {
	from, to int32 // from < 0: absent
}

// Reset empties the list.
func (v *Values) Reset() { v.buf, v.spans = v.buf[:0], v.spans[:0] }

// Len is the number of values.
func (v *Values) Len() int { return len(v.spans) }

// At is the i-th value, nil if absent; it lives until the next Reset.
func (v *Values) At(i int) []byte {
	s := v.spans[i]
	switch {
	case s.from < 0:
		return nil
	case s.from == s.to:
		return []byte{}
	}
	return v.buf[s.from:s.to:s.to]
}

// Add appends a copy of b; nil: an absent value.
func (v *Values) Add(b []byte) {
	if b == nil {
		v.spans = append(v.spans, span{-1, -1})
		return
	}
	from := int32(len(v.buf))
	v.buf = append(v.buf, b...)
	v.spans = append(v.spans, span{from, int32(len(v.buf))})
}

// Request is one transaction.
type Request struct {
	ID       uint64 // of the client's choice; the response has it too
	Op       Op
	Rollback bool  // MultiPut: write, then roll back
	AtLeast  Token // View: the commit that it must show
	Keys     []int64
	Values   Values
}

// Reset makes r a request without keys.
func (r *Request) Reset(op Op) {
	r.Op, r.Rollback, r.AtLeast = op, false, 0
	r.Keys = r.Keys[:0]
	r.Values.Reset()
}

// Response is the end of one transaction.
type Response struct {
	ID      uint64
	Outcome Outcome
	Values  Values // reads: one for each key; a mismatch: what the row held
}

// Reset makes r an empty response to request id.
func (r *Response) Reset(id uint64) {
	r.ID, r.Outcome = id, Outcome{}
	r.Values.Reset()
}

// Refuse makes r an aborted response.
func (r *Response) Refuse(why Why, text string) {
	r.Values.Reset()
	r.Outcome = Outcome{Status: Aborted, Why: why, Text: text}
}

// Commit makes r a committed response.
func (r *Response) Commit(at Token) { r.Outcome = Outcome{Status: Committed, Token: at} }

// Backend serves requests: the writer's engine, or a replica.
type Backend interface {
	// Serving reports whether requests are answered; once it has been true
	// and is false again, it stays so.
	Serving() bool
	// Do executes one request and fills resp, which is reset. It blocks. It
	// keeps neither of them.
	Do(req *Request, resp *Response)
}
