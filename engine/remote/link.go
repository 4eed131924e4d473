package remote

import (
	"time"

	"tornpage/engine/host"
)

// link is one end of a connection: the codec, and a watch over its silence. A
// break may be seen by one side only, so that whoever waits for the other side
// must ask whether it is there: the side that dialled sends pings, and each
// side gives up a connection on which it has heard nothing for too long.
type link struct {
	m     host.Machine
	cfg   *Config
	conn  host.Conn
	asks  bool
	heard time.Duration
	over  bool
	in    message
	out   []byte
	take  func(*message) error // handler, for each message
	lost  func()               // handler, once, when the other side ends it or is silent
}

// begin starts to receive.
func (l *link) begin() {
	l.heard = l.m.Now()
	l.conn.OnRecv(l.receive)
	l.m.After(l.cfg.Heartbeat, l.beat)
}

// send never blocks.
func (l *link) send(m *message) {
	l.m.Charge(host.WorkMessage, 1)
	l.out = encode(l.out, m)
	l.conn.Send(l.out)
}

// receive is a handler. What does not decode, or does not belong, ends the
// connection.
func (l *link) receive(b []byte, err error) {
	if l.over {
		return
	}
	if err == nil {
		l.m.Charge(host.WorkMessage, 1)
		if err = decode(b, &l.in); err == nil {
			err = l.hear(&l.in)
		}
		if err == nil {
			return
		}
		l.m.Mark("remote.bad-message")
		l.m.Logf("remote: from %s: %v; connection closed", l.m.NameOf(l.conn.Peer()), err)
	}
	l.end()
}

func (l *link) hear(m *message) error {
	l.heard = l.m.Now()
	switch m.kind {
	case msgPing:
		l.send(&message{kind: msgPong})
	case msgPong:
	default:
		return l.take(m)
	}
	return nil
}

// beat is a handler.
func (l *link) beat() {
	switch {
	case l.over:
		return
	case l.m.Now()-l.heard > l.cfg.Silence:
		l.m.Mark("remote.silent")
		l.end()
		return
	case l.asks:
		l.send(&message{kind: msgPing})
	}
	l.m.After(l.cfg.Heartbeat, l.beat)
}

// end gives the connection up and says so to its owner.
func (l *link) end() {
	if !l.over {
		l.close()
		l.lost()
	}
}

// close ends the connection from this side.
func (l *link) close() {
	l.over = true
	l.conn.Close()
}
