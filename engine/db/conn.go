package db

import (
	"fmt"
	"time"

	"tornpage/engine/host"
)

// Conn is one session with a server, for one task at a time. After a time-out
// or a break every call fails: connect again. What calls return lives until
// the next call.
type Conn struct {
	*link
	id      uint64
	state   State
	ended   Outcome
	batch   Batch // of calls with one statement, in memory of its own
	given   Batch // of Exec, in memory of the caller's
	results Results
	none    Result // of a statement without an answer
	after   []byte
}

// Connect blocks for a session with a server process, by its name. timeout
// bounds each call; 0: as long as the connection lives.
func Connect(m host.Machine, server string, port host.Port, timeout time.Duration) (*Conn, error) {
	l, err := dial(m, server, port, timeout)
	if err != nil {
		return nil, err
	}
	return &Conn{link: l}, nil
}

// Lost is the error of a call that was not answered. The connection is of no
// use any more.
type Lost struct {
	// Outcome of the transaction: Unknown if it may have committed. It is
	// Aborted if it cannot, since a session ends with its connection: nobody
	// has seen the batch, or nothing in it commits.
	Outcome Outcome
	Cause   error
}

// Error gives outcome and cause.
func (l *Lost) Error() string {
	return fmt.Sprintf("%v; the transaction is %v: %v", ErrUnanswered, l.Outcome.Status, l.Cause)
}

// Unwrap gives ErrUnanswered and the cause.
func (l *Lost) Unwrap() []error { return []error{ErrUnanswered, l.Cause} }

// State is that of the transaction block after the last answer.
func (c *Conn) State() State { return c.state }

// Outcome is how the last transaction of the session ended.
func (c *Conn) Outcome() Outcome { return c.ended }

// Do sends a batch and waits for its answer, which has a result for each
// statement up to the first that failed. The error is a *Lost; or an *Error if
// the batch makes no sense, which has then not been sent.
func (c *Conn) Do(b *Batch) (*Results, error) {
	if c.broken != nil {
		return nil, c.lose(Aborted, WhyNotSent, c.broken)
	}
	if err := b.Validate(); err != nil {
		return nil, &Error{Code: CodeRequest, Text: err.Error()}
	}
	c.id++
	b.ID = c.id
	c.out = AppendBatch(c.out, b)
	if n := len(c.out); n > MaxMessage {
		return nil, Errorf(CodeLimit, "send fewer statements at once", "batch of %d bytes, at most %d", n, MaxMessage)
	}
	err := c.exchange("batch", c.id)
	if err == nil {
		if err = c.accept(b); err != nil {
			c.giveUp(err)
		}
	}
	switch {
	case err == nil:
		return &c.results, nil
	case mayCommit(c.state, b.Stmts):
		return nil, c.lose(Unknown, WhyBroken, err)
	}
	return nil, c.lose(Aborted, WhyBroken, err)
}

func (c *Conn) lose(status Status, why Why, cause error) error {
	c.ended = Outcome{Status: status, Why: why, Text: cause.Error()}
	c.state = Idle
	return &Lost{c.ended, cause}
}

// accept takes the answer apart and holds it against the question.
func (c *Conn) accept(b *Batch) error {
	r := &c.results
	if err := DecodeResults(c.in, r); err != nil {
		return err
	}
	if r.ID != b.ID {
		return fmt.Errorf("answer to batch %d, want %d", r.ID, b.ID)
	}
	if n, asked := r.Len(), len(b.Stmts); n < 1 || n > asked || n < asked && r.Last().Err == nil {
		return fmt.Errorf("batch %d has %d statements and %d results, the last without an error", b.ID, asked, n)
	}
	for i := range r.list {
		s := &r.list[i]
		if s.Err != nil && i < len(r.list)-1 {
			return fmt.Errorf("batch %d went on after the error of statement %d: %w", b.ID, i+1, s.Err)
		}
		if s.More && s.Rows() == 0 {
			return fmt.Errorf("batch %d: statement %d has more rows, and gave none", b.ID, i+1)
		}
	}
	c.state = r.State
	for i := range r.list {
		if o := r.list[i].Outcome; o != (Outcome{}) {
			c.ended = o
		}
	}
	return nil
}

// mayCommit reports whether the statements, begun in a state, may commit
// something.
func mayCommit(state State, stmts []Stmt) bool {
	block := state != Idle
	for i := range stmts {
		switch k := stmts[i].Kind; {
		case k == Begin:
			block = true
		case k == Rollback:
			block = false
		case k == Commit && block, k.Writes() && !block:
			return true
		}
	}
	return false
}

// Exec executes one statement. The result is never nil: without an answer it
// holds the outcome. The error is the result's, or Do's.
func (c *Conn) Exec(s *Stmt) (*Result, error) {
	c.given.Reset()
	*c.given.slot() = *s
	return c.one(&c.given)
}

// ask begins a batch of one statement.
func (c *Conn) ask(k Kind, table string) *Stmt {
	c.batch.Reset()
	s := c.batch.Add(k)
	s.Table = table
	return s
}

func (c *Conn) one(b *Batch) (*Result, error) {
	r, err := c.Do(b)
	if err != nil {
		c.none.reset()
		switch e := err.(type) {
		case *Lost:
			c.none.Outcome = e.Outcome
		case *Error:
			c.none.Err, c.none.Outcome = e, Outcome{Status: Aborted, Why: WhyRequest, Text: e.Text}
		}
		return &c.none, err
	}
	if s := r.At(0); s.Err != nil {
		return s, s.Err
	}
	return r.At(0), nil
}

func (c *Conn) do() error {
	_, err := c.one(&c.batch)
	return err
}

func (c *Conn) count() (int, error) {
	r, err := c.one(&c.batch)
	return r.Count, err
}
