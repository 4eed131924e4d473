package db

import (
	"errors"
	"fmt"
	"time"

	"tornpage/engine/host"
)

// Client is one connection to a server, for one task at a time. After a
// time-out or a break every call fails: dial again.
type Client struct {
	*link
	id   uint64
	req  Request
	resp Response
}

// ErrUnanswered says that a read was not answered; it has no effect.
var ErrUnanswered = errors.New("the server did not answer")

// Dial blocks for a connection to a server process, by its name. timeout
// bounds each request; 0: as long as the connection lives.
func Dial(m host.Machine, server string, port host.Port, timeout time.Duration) (*Client, error) {
	l, err := dial(m, server, port, timeout)
	if err != nil {
		return nil, err
	}
	return &Client{link: l}, nil
}

// call sends c.req and waits for its response. sent false: nobody has seen
// the request.
func (c *Client) call() (sent bool, err error) {
	if c.broken != nil {
		return false, c.broken
	}
	if err := c.req.Validate(); err != nil {
		return false, &badRequest{err}
	}
	c.id++
	c.req.ID = c.id
	c.out = AppendRequest(c.out, &c.req)
	if err := c.exchange(c.req.Op.String(), c.id); err != nil {
		return true, err
	}
	if err := DecodeResponse(c.in, &c.resp); err != nil {
		c.giveUp(err)
		return true, err
	}
	if c.resp.ID != c.id {
		c.giveUp(fmt.Errorf("response to request %d, want %d", c.resp.ID, c.id))
		return true, c.broken
	}
	return true, nil
}

// write calls and turns what is not known into Unknown.
func (c *Client) write() Outcome {
	sent, err := c.call()
	switch {
	case !sent && errors.As(err, new(*badRequest)):
		return Outcome{Status: Aborted, Why: WhyRequest, Text: err.Error()}
	case !sent:
		return Outcome{Status: Aborted, Why: WhyNotSent, Text: err.Error()}
	case err != nil:
		return Outcome{Status: Unknown, Why: WhyBroken, Text: err.Error()}
	}
	return c.resp.Outcome
}

func (c *Client) read() (*Values, Token, error) {
	if _, err := c.call(); err != nil {
		return nil, 0, fmt.Errorf("%v: %w: %w", c.req.Op, ErrUnanswered, err)
	}
	if o := c.resp.Outcome; o.Status != Committed {
		return nil, 0, &Refused{c.req.Op, o}
	}
	if got, want := c.resp.Values.Len(), len(c.req.Keys); got != want {
		c.giveUp(fmt.Errorf("%v answered with %d values, want %d", c.req.Op, got, want))
		return nil, 0, c.broken
	}
	return &c.resp.Values, c.resp.Outcome.Token, nil
}

// badRequest is a request that was not worth sending.
type badRequest struct{ error }

// Refused is the error of a read that the server did not answer with values.
type Refused struct {
	Op      Op
	Outcome Outcome
}

// Error names operation and reason.
func (r *Refused) Error() string { return r.Op.String() + " " + r.Outcome.String() }

// Get reads a row; nil: absent. The value lives until the next call.
func (c *Client) Get(key int64) ([]byte, Token, error) {
	c.req.Reset(OpGet)
	c.req.Keys = append(c.req.Keys, key)
	v, at, err := c.read()
	if err != nil {
		return nil, 0, err
	}
	return v.At(0), at, nil
}

// Put writes a row; nil deletes it.
func (c *Client) Put(key int64, value []byte) Outcome {
	c.req.Reset(OpPut)
	c.req.Keys = append(c.req.Keys, key)
	c.req.Values.Add(value)
	return c.write()
}

// CompareAndSet writes a row if it holds old (nil: if it is absent). If it
// does not, the outcome is aborted by WhyMismatch, and held is what it holds,
// which lives until the next call.
func (c *Client) CompareAndSet(key int64, old, value []byte) (o Outcome, held []byte) {
	c.req.Reset(OpCAS)
	c.req.Keys = append(c.req.Keys, key)
	c.req.Values.Add(value)
	c.req.Values.Add(old)
	o = c.write()
	if o.Why == WhyMismatch && c.resp.Values.Len() == 1 {
		held = c.resp.Values.At(0)
	}
	return o, held
}

// MultiPut writes several rows, all or none.
func (c *Client) MultiPut(keys []int64, values [][]byte) Outcome {
	return c.multiPut(keys, values, false)
}

// Rollback writes several rows and rolls back: nobody may ever read them.
func (c *Client) Rollback(keys []int64, values [][]byte) Outcome {
	return c.multiPut(keys, values, true)
}

func (c *Client) multiPut(keys []int64, values [][]byte, rollback bool) Outcome {
	c.req.Reset(OpMultiPut)
	c.req.Rollback = rollback
	c.req.Keys = append(c.req.Keys, keys...)
	for _, v := range values {
		c.req.Values.Add(v)
	}
	return c.write()
}

// MultiGet reads several rows in one snapshot. The values live until the next
// call.
func (c *Client) MultiGet(keys []int64) (*Values, Token, error) {
	c.req.Reset(OpMultiGet)
	c.req.Keys = append(c.req.Keys, keys...)
	return c.read()
}

// View reads several rows in one snapshot that shows the commit atLeast; a
// replica answers it too.
func (c *Client) View(keys []int64, atLeast Token) (*Values, Token, error) {
	c.req.Reset(OpView)
	c.req.AtLeast = atLeast
	c.req.Keys = append(c.req.Keys, keys...)
	return c.read()
}
