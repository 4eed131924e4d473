package db

import (
	"fmt"
	"strconv"

	"tornpage/engine/invariant"
	"tornpage/engine/row"
)

// Code says what kind of error a statement met.
type Code uint8

// The codes.
const (
	CodeSerialization Code = iota + 1 // repeatable read lost a race: try the transaction again
	CodeDeadlock                      // the transaction was chosen to end a deadlock: try it again
	CodeUnique                        // a key is there already
	CodeNotNull
	CodeNoTable
	CodeNoIndex
	CodeExists       // a table, index or savepoint of that name
	CodeRequest      // the statement makes no sense: types, columns, transaction block
	CodeLimit        // something is too long, or there are too many
	CodeDiskFull     // try again when there is space
	CodeFailedBlock  // the transaction has failed: roll back
	CodeNotSupported //
	CodeStorage      // storage, or a damaged page
	CodeClosed       // the server does not serve (any more)
	CodeCancelled    // the client is gone, or asked for it
	codes
)

var codeNames = [codes]string{"no error", "serialization conflict", "deadlock", "unique violation", "not null", "no such table",
	"no such index", "exists", "bad request", "limit", "disk full", "in failed transaction", "not supported", "storage", "closed", "cancelled"}

// String names the code.
func (c Code) String() string {
	if c < codes {
		return codeNames[c]
	}
	return "code " + strconv.Itoa(int(c))
}

// Retry reports whether the same transaction, begun again, may well succeed.
func (c Code) Retry() bool { return c == CodeSerialization || c == CodeDeadlock }

// Error is why a statement failed.
type Error struct {
	Code Code
	Text string // names the objects and values, at most 1,024 bytes
	Hint string // what to do, if anything, at most 1,024 bytes
}

// Errorf makes an Error.
func Errorf(code Code, hint, format string, args ...any) *Error {
	return &Error{Code: code, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// Error gives code, text and hint.
func (e *Error) Error() string {
	s := e.Code.String()
	if e.Text != "" {
		s += ": " + e.Text
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// State is that of a session's transaction block after a batch.
type State uint8

// The states (PostgreSQL's I, T and E).
const (
	Idle   State = iota // each statement is a transaction
	Open                // between Begin and its end
	Failed              // a statement has failed: only Rollback, RollbackTo, and Commit, which then rolls back
	states
)

// String names the state.
func (s State) String() string {
	if s < states {
		return [...]string{"idle", "open", "failed"}[s]
	}
	return "state " + strconv.Itoa(int(s))
}

// Result is what a statement came to.
type Result struct {
	Count   int     // rows inserted, found, updated, deleted
	Err     *Error  // nil: it succeeded
	Outcome Outcome // of statements that ended a transaction: Commit, Rollback, or any outside a block; else zero
	At      Token   // the last commit in the statement's snapshot
	More    bool    // rows are left: ask again, with After = Next
	Next    []byte  // with More: after the last row; opaque
	columns int
	values  []row.Value
	buf     []byte
}

func (r *Result) reset() {
	*r = Result{Next: r.Next[:0], values: r.values[:0], buf: r.buf[:0]}
}

// Rows is the number of rows that it holds.
func (r *Result) Rows() int {
	if r.columns == 0 {
		return 0
	}
	return len(r.values) / r.columns
}

// Columns is the number of values in each row.
func (r *Result) Columns() int { return r.columns }

// Row is the i-th row; it lives until the results are used again.
func (r *Result) Row(i int) []row.Value {
	return r.values[i*r.columns : (i+1)*r.columns : (i+1)*r.columns]
}

// Fail makes r the result of a statement that failed; what it held is
// dropped.
func (r *Result) Fail(err *Error) {
	r.reset()
	r.Err = err
}

// Bounds of an answer: its rows are cut when they pass the first two, but each
// result may hold one row. So the answer to MaxStmts statements stays below
// MaxMessage and maxValues.
const (
	maxRowBytes  = 2 << 20
	maxRowValues = maxValues - MaxStmts*row.MaxColumns
	maxValues    = 64 << 10
	// maxFirstRow is the longest row: of a page, or one text of a finding.
	maxFirstRow = MaxValue + row.MaxColumns*valueHead
	valueHead   = 9 // bytes of a value that is no bytes, at most
)

// Results is the answer to a batch, in memory that is used again after Reset.
type Results struct {
	ID    uint64
	State State
	list  []Result
	bytes int // of rows, so far
	count int // of their values
}

// Reset empties r.
func (r *Results) Reset(id uint64) {
	r.ID, r.State, r.list, r.bytes, r.count = id, Idle, r.list[:0], 0, 0
}

// Len is the number of statements that were executed.
func (r *Results) Len() int { return len(r.list) }

// At is the result of statement i, from 0.
func (r *Results) At(i int) *Result { return &r.list[i] }

// Last is the result of the last statement that was executed, nil if none was.
func (r *Results) Last() *Result {
	if len(r.list) == 0 {
		return nil
	}
	return &r.list[len(r.list)-1]
}

// Add appends an empty result. Results added before may move: keep no pointers
// to them.
func (r *Results) Add() *Result {
	if n := len(r.list); n < cap(r.list) {
		r.list = r.list[:n+1]
	} else {
		r.list = append(r.list, Result{})
	}
	s := &r.list[len(r.list)-1]
	s.reset()
	return s
}

// Refuse makes r the answer to a batch of which nothing was executed.
func (r *Results) Refuse(err *Error) {
	r.Reset(r.ID)
	s := r.Add()
	s.Err, s.Outcome = err, Outcome{Status: Aborted, Why: WhyStatement}
}

// AddRow appends a copy of a row to the last result. All rows of a result have
// as many values. false: the answer is full; the caller sets More and Next,
// which lead to this row. A result's first row always fits.
func (r *Results) AddRow(values []row.Value) bool {
	s := r.Last()
	size := 0
	for i := range values {
		size += valueHead + len(values[i].B)
	}
	if n := len(values); size > maxFirstRow || n < 1 || n > row.MaxColumns || s.columns != 0 && n != s.columns {
		invariant.Broken("D9", "a row of %d values and %d bytes after rows of %d values, at most %d values and %d bytes",
			n, size, s.columns, row.MaxColumns, maxFirstRow)
	}
	if s.Rows() > 0 && (r.bytes+size > maxRowBytes || r.count+len(values) > maxRowValues) {
		return false
	}
	r.bytes, r.count = r.bytes+size, r.count+len(values)
	s.columns = len(values)
	for i := range values {
		v := values[i]
		if v.Kind.Bytes() {
			from := len(s.buf)
			s.buf = append(s.buf, v.B...)
			v.B = s.buf[from:len(s.buf):len(s.buf)]
		}
		s.values = append(s.values, v)
	}
	return true
}

// AddText is AddRow for one text, which is cut if it is too long.
func (r *Results) AddText(text string) bool {
	v := [1]row.Value{row.NewText(text[:min(len(text), MaxValue)])}
	return r.AddRow(v[:])
}
