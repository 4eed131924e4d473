package sim

import (
	"fmt"
	"slices"

	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/sim/sched"
	"tornpage/sim/trace"
)

// endpoint is one end of a connection.
type endpoint struct {
	w       *World
	inc     *incarnation // its process's boot; nil until accepted
	p       *process
	peer    *endpoint
	port    host.Port
	inbox   fifo[uint32]
	waiters fifo[parked]
	late    fifo[uint32] // what arrived while the process was paused, in order
	onRecv  func([]byte, error)
	err     error // why nothing more can be received, once the inbox is empty
	open    bool  // accepted
	dead    bool  // closed here, or its process is gone
	last    int64 // when what was sent last arrives
	held    []uint32
	since   int64 // when the first of held could not be sent
}

var _ host.Conn = (*endpoint)(nil)

func (e *endpoint) Peer() host.Addr { return e.peer.p.addr }

// Dial implements host.Machine.
func (m proc) Dial(to host.Addr, port host.Port) (host.Conn, error) {
	m.group.PayDebt()
	w := m.w
	a := &endpoint{w: w, inc: m.incarnation, p: m.p, port: port}
	b := &endpoint{w: w, p: w.procs[to], peer: a, port: port}
	a.peer = b
	m.conns = append(m.conns, a)
	w.log.Add(w.now, trace.Connect, m.who(), uint64(to), uint64(port), 0)
	a.push(message{kind: msgDial, port: port, from: m.p.addr, to: to, ep: b}, nil)
	deadline := w.now + int64(w.cfg.Net.BreakAfter)
	for !a.open && a.err == nil && w.now < deadline {
		t := m.group.Running()
		a.waiters.push(parked{t, t.Gen()})
		m.group.SleepUntil(deadline, host.WaitDial)
	}
	switch {
	case a.open:
		return a, nil
	case a.err == host.ErrRefused:
		a.forget()
		return nil, fmt.Errorf("dial %s: %w", b.p.name, a.err)
	}
	// Whichever gave up first, the dial or what it sent.
	a.forget()
	a.dead = true
	return nil, fmt.Errorf("dial %s: %w", b.p.name, host.ErrTimeout)
}

// Listen implements host.Machine.
func (m proc) Listen(port host.Port, accept func(host.Conn)) {
	m.group.Alive()
	i := slices.IndexFunc(m.listen, func(l listener) bool { return l.port == port })
	if i >= 0 {
		m.incarnation.listen[i].accept = accept
		return
	}
	m.incarnation.listen = append(m.incarnation.listen, listener{port, accept})
}

// Send implements host.Conn.
func (e *endpoint) Send(b []byte) {
	e.inc.group.Alive()
	if len(b) > host.MaxMessage {
		invariant.Broken("H-size", "message of %d bytes from %s to %s, at most %d", len(b), e.p.name, e.peer.p.name, host.MaxMessage)
	}
	if e.dead || e.err != nil {
		return
	}
	d := trace.Bytes(uint64(e.port), b)
	e.w.log.Add(e.w.now, trace.Send, e.inc.who(), uint64(e.peer.p.addr), uint64(len(b)), d)
	e.push(message{kind: msgData, port: e.port, from: e.p.addr, to: e.peer.p.addr, ep: e.peer, digest: d}, b)
}

// Recv implements host.Conn.
func (e *endpoint) Recv(b []byte) ([]byte, error) {
	g := e.inc.group
	g.PayDebt()
	for e.inbox.len() == 0 {
		if e.err != nil {
			return nil, e.err
		}
		t := g.Running()
		e.waiters.push(parked{t, t.Gen()})
		g.Park(host.WaitClient)
	}
	ref := e.inbox.pop()
	b = append(b[:0], e.w.messages.at(ref).buf...)
	e.w.release(ref)
	return b, nil
}

// OnRecv implements host.Conn.
func (e *endpoint) OnRecv(f func([]byte, error)) {
	e.inc.group.Alive()
	e.onRecv = f
	if e.inbox.len() > 0 || e.err != nil {
		proc{e.inc}.After(0, e.drain)
	}
}

func (e *endpoint) drain() {
	for e.onRecv != nil && e.inbox.len() > 0 {
		ref := e.inbox.pop()
		buf := e.w.messages.at(ref).buf
		e.onRecv(buf, nil)
		e.w.release(ref)
	}
	if e.err != nil {
		e.tellEnd()
	}
}

func (e *endpoint) tellEnd() {
	if f := e.onRecv; f != nil {
		e.onRecv = nil
		f(nil, e.err)
	}
}

// Close implements host.Conn.
func (e *endpoint) Close() {
	e.inc.group.Alive()
	if e.dead {
		return
	}
	e.goodbye(msgClosed)
	e.err = host.ErrClosed
	e.dropInbox()
	if e.onRecv != nil {
		proc{e.inc}.After(0, e.tellEnd)
	}
	e.w.wakeLater(&e.waiters)
}

// hangUp is what the operating system does for a process that died.
func (e *endpoint) hangUp() { e.goodbye(msgHangUp) }

func (e *endpoint) goodbye(kind uint8) {
	e.forget()
	if !e.dead && (e.open || e.inc == nil) && e.err == nil {
		e.push(message{kind: kind, port: e.port, from: e.p.addr, to: e.peer.p.addr, ep: e.peer}, nil)
	}
	e.dead = true
}

// vanish is the loss of power: nothing is said, and the peer finds out later.
func (e *endpoint) vanish() {
	e.forget()
	e.dead = true
	for _, ref := range e.held {
		e.w.release(ref)
	}
	e.held = nil
	peer := e.peer
	e.w.call(nil, e.w.now+int64(e.w.cfg.Net.BreakAfter), func() { peer.broke(host.ErrBroken) })
}

// forget removes the endpoint from its process's list.
func (e *endpoint) forget() {
	if e.inc == nil {
		return
	}
	c := e.inc.conns
	if i := slices.Index(c, e); i >= 0 {
		c[i] = c[len(c)-1]
		c[len(c)-1] = nil
		e.inc.conns = c[:len(c)-1]
	}
}

func (e *endpoint) dropInbox() {
	for e.inbox.len() > 0 {
		e.w.release(e.inbox.pop())
	}
}

// broke ends the connection at this end.
func (e *endpoint) broke(err error) {
	if e.dead || e.err != nil {
		return
	}
	e.err = err
	if e.inc == nil {
		return
	}
	e.w.log.Add(e.w.now, trace.Break, e.inc.who(), uint64(e.peer.p.addr), uint64(e.port), 0)
	e.forget()
	switch {
	case e.onRecv == nil || e.inbox.len() > 0:
	case e.inc.paused:
		e.w.call(e.inc, e.w.now, e.tellEnd)
	default:
		e.inc.enter()
		e.tellEnd()
		e.inc.leave()
	}
	e.w.wakeLater(&e.waiters)
}

// wakeLater makes all that wait ready.
func (w *World) wakeLater(q *fifo[parked]) {
	for q.len() > 0 {
		p := q.pop()
		w.q.Push(sched.Item{At: w.now, Kind: evWake, Ref: p.t.Index(), Gen: p.gen})
	}
}
