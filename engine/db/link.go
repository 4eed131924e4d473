package db

import (
	"fmt"
	"time"

	"tornpage/engine/host"
)

// link is a client's end of a connection: one message out, one back.
type link struct {
	m       host.Machine
	conn    host.Conn
	timeout time.Duration
	arrived *host.Cond
	in, out []byte
	waiting bool
	have    bool  // in holds the answer
	broken  error // why the connection is of no use any more
}

func dial(m host.Machine, server string, port host.Port, timeout time.Duration) (*link, error) {
	conn, err := m.Dial(m.Lookup(server), port)
	if err != nil {
		return nil, fmt.Errorf("dial %s port %d: %w", server, port, err)
	}
	l := &link{m: m, conn: conn, timeout: timeout, arrived: m.NewCond(host.WaitClient)}
	conn.OnRecv(l.receive)
	return l, nil
}

// receive is a handler. What nobody waits for is dropped, since an answer that
// is still being read lies in in.
func (l *link) receive(msg []byte, err error) {
	switch {
	case err != nil:
		if l.broken == nil {
			l.broken = err
		}
	case l.waiting && !l.have:
		l.in = append(l.in[:0], msg...)
		l.have = true
	}
	l.arrived.Signal()
}

// Close breaks the connection.
func (l *link) Close() { l.giveUp(host.ErrClosed) }

// Broken is why the connection is of no use any more, nil while it is.
func (l *link) Broken() error { return l.broken }

func (l *link) giveUp(err error) {
	if l.broken == nil {
		l.broken = err
	}
	l.conn.Close()
}

// exchange sends out and waits for the answer, in in. After a time-out, whose
// error names the request, the connection is given up.
func (l *link) exchange(what string, id uint64) error {
	l.waiting, l.have = true, false
	l.m.Charge(host.WorkMessage, 1)
	l.conn.Send(l.out)
	deadline := l.m.Now() + l.timeout
	for !l.have && l.broken == nil {
		if l.timeout == 0 {
			l.arrived.Wait()
			continue
		}
		left := deadline - l.m.Now()
		if left <= 0 {
			l.giveUp(fmt.Errorf("%s of request %d after %v: %w", what, id, l.timeout, host.ErrTimeout))
			break
		}
		l.arrived.WaitFor(int64(left))
	}
	l.waiting = false
	if !l.have {
		return l.broken
	}
	l.m.Charge(host.WorkMessage, 1)
	return nil
}
