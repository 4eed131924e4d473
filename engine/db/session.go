package db

import (
	"errors"

	"tornpage/engine/host"
)

// Sessions is a backend that also executes statements.
type Sessions interface {
	// NewSession begins a session: what a connection has from its first batch
	// to its end. It does not block.
	NewSession() Session
}

// Session is the state of one connection: its transaction block.
type Session interface {
	// Execute executes the statements, which are valid, up to the first that
	// fails, and adds a result for each to out, which is reset. It sets
	// out.State. What Stmt.Refused gives for its state is such a failure. It
	// blocks, and keeps nothing of stmts or out.
	Execute(stmts []Stmt, out *Results)
	// Close rolls back what is open and gives up what is held. It may block.
	// Nothing is called after it.
	Close()
}

// Canceler is a session that can be told to give up.
type Canceler interface {
	// Cancel makes a statement that waits for a lock fail soon, with
	// CodeCancelled, and all after it. It is called in a handler and never
	// blocks; Close follows once Execute has returned.
	Cancel()
}

// inbox takes a connection's messages in a handler, so that its end is seen
// while a statement waits. It holds one message: a client asks once at a time.
type inbox struct {
	arrived *host.Cond
	msg     []byte
	have    bool
	end     error
	cancel  func()
}

var errPipelined = errors.New("a batch was sent before the one before it was taken; wait for each answer")

// receive is a handler.
func (i *inbox) receive(msg []byte, err error) {
	if err == nil && i.have {
		err = errPipelined
	}
	switch {
	case i.end != nil:
		return
	case err != nil:
		i.end = err
		if i.cancel != nil {
			i.cancel()
		}
	default:
		i.msg = append(i.msg[:0], msg...)
		i.have = true
	}
	i.arrived.Signal()
}

// take blocks for the next message, and gives b's memory back for one to come.
func (i *inbox) take(b []byte) ([]byte, error) {
	for !i.have && i.end == nil {
		i.arrived.Wait()
	}
	if i.end != nil {
		return nil, i.end // what was asked and not begun is given up with its client
	}
	i.msg, b = b, i.msg
	i.have = false
	return b, nil
}

// converse serves a connection from its first batch, which is in first.
func (s *Server) converse(c host.Conn, first []byte) {
	sessions, ok := s.backend.(Sessions)
	if !ok {
		s.refuseSessions(c, first)
		return
	}
	session := sessions.NewSession()
	defer session.Close()
	in := &inbox{arrived: s.m.NewCond(host.WaitClient)}
	if can, ok := session.(Canceler); ok {
		in.cancel = can.Cancel
	}
	c.OnRecv(in.receive)
	var batch Batch
	var results Results
	var out []byte
	for msg := first; ; {
		if err := DecodeBatch(msg, &batch); err != nil {
			s.corrupt(c, "batch", err)
			return
		}
		s.Stats.Batches++
		s.m.Charge(host.WorkStatement, len(batch.Stmts))
		results.Reset(batch.ID)
		if s.backend.Serving() {
			session.Execute(batch.Stmts, &results)
		} else {
			results.Refuse(Errorf(CodeClosed, "dial again", "%s does not serve", s.m.Name()))
		}
		out = AppendResults(out, &results)
		s.m.Charge(host.WorkMessage, 1)
		c.Send(out)
		if !s.backend.Serving() {
			return // D5
		}
		var err error
		if msg, err = in.take(msg); err != nil {
			if errors.Is(err, errPipelined) {
				s.corrupt(c, "batch", err)
			}
			return
		}
		s.m.Charge(host.WorkMessage, 1)
	}
}

// refuseSessions answers the first batch of a connection to a backend without
// sessions, and ends the connection.
func (s *Server) refuseSessions(c host.Conn, msg []byte) {
	var batch Batch
	if err := DecodeBatch(msg, &batch); err != nil {
		s.corrupt(c, "batch", err)
		return
	}
	s.Stats.Batches++
	var results Results
	results.Reset(batch.ID)
	results.Refuse(Errorf(CodeNotSupported, "ask the writer", "%s executes no statements", s.m.Name()))
	c.Send(AppendResults(nil, &results))
}

// corrupt tells of a message that breaks its connection.
func (s *Server) corrupt(c host.Conn, what string, err error) {
	s.Stats.Corrupt++
	s.m.Mark("db.corrupt-request")
	s.m.Logf("%s from %s: %v; connection closed", what, s.m.NameOf(c.Peer()), err)
}
