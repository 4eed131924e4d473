package db

import (
	"strconv"

	"tornpage/engine/host"
)

// maxSessions bounds the connections of a server at one time; PostgreSQL's
// max_connections is 100 by default.
const maxSessions = 1024

// Server answers requests that arrive on a port.
type Server struct {
	m        host.Machine
	backend  Backend
	sessions int
	accepted uint64
	Stats    ServerStats
}

// ServerStats counts what a server did.
type ServerStats struct {
	Requests uint64
	Batches  uint64 // of statements
	Corrupt  uint64 // messages that did not decode
	Refused  uint64 // connections, since the backend did not serve or there were too many
}

// Serve answers requests to port from now on, one task a connection.
func Serve(m host.Machine, port host.Port, b Backend) *Server {
	s := &Server{m: m, backend: b}
	m.Listen(port, s.accept)
	return s
}

// accept is a handler.
func (s *Server) accept(c host.Conn) {
	if !s.backend.Serving() || s.sessions >= maxSessions {
		s.Stats.Refused++
		c.Close()
		return
	}
	s.sessions++
	s.accepted++
	s.m.Go("session "+strconv.FormatUint(s.accepted, 10), func() {
		s.session(c)
		s.sessions--
	})
}

// session serves one connection until it breaks: requests, or from its first
// batch on statements.
func (s *Server) session(c host.Conn) {
	var in, out []byte
	var req Request
	var resp Response
	defer c.Close()
	for {
		var err error
		if in, err = c.Recv(in); err != nil {
			return
		}
		s.m.Charge(host.WorkMessage, 1)
		if isBatch(in) {
			s.converse(c, in)
			return
		}
		if err := DecodeRequest(in, &req); err != nil {
			s.corrupt(c, "request", err)
			return
		}
		s.Stats.Requests++
		s.answer(&req, &resp)
		out = AppendResponse(out, &resp)
		s.m.Charge(host.WorkMessage, 1)
		c.Send(out)
		if !s.backend.Serving() {
			return // D5
		}
	}
}

func (s *Server) answer(req *Request, resp *Response) {
	s.m.Charge(host.WorkStatement, 1)
	resp.Reset(req.ID)
	if err := req.Validate(); err != nil {
		resp.Refuse(WhyRequest, err.Error())
		return
	}
	if !s.backend.Serving() {
		resp.Refuse(WhyClosed, "")
		return
	}
	s.backend.Do(req, resp)
}
