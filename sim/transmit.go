package sim

import (
	"slices"

	"tornpage/engine/host"
	"tornpage/sim/sched"
	"tornpage/sim/trace"
)

// push sends a message of a connection, behind those that still wait.
func (e *endpoint) push(msg message, b []byte) {
	ref := e.w.messages.take()
	m := e.w.messages.at(ref)
	msg.buf = append(m.buf[:0], b...)
	*m = msg
	if len(e.held) == 0 && e.try(ref) {
		return
	}
	if len(e.held) == 0 {
		e.since = e.w.now
		e.w.call(nil, e.w.now+int64(e.w.cfg.Net.Retransmit), e.retry)
	}
	e.held = append(e.held, ref)
}

// try puts a message on its way unless the link is cut. What a faulty link
// loses or damages arrives one retransmission later.
func (e *endpoint) try(ref uint32) bool {
	w := e.w
	at, extra := w.now, int64(0)
	var r = &e.p.sends
	if e.inc != nil {
		at += e.inc.group.Debt()
		r = &e.inc.sends
	}
	if w.faulty {
		f := w.faultsOf(e.p, e.peer.p)
		if f.Cut {
			w.struck("net.held")
			return false
		}
		extra = f.Delay
		if hit(&e.p.mischief, f.Drop) || hit(&e.p.mischief, f.Corrupt) {
			w.struck("net.resent")
			extra += int64(w.cfg.Net.Retransmit)
		}
	}
	// What delays this message keeps no network card busy.
	at = max(w.transit(e.p, e.peer.p, at, len(w.messages.at(ref).buf), r)+extra, e.last+1)
	e.last = at
	w.q.Push(sched.Item{At: at, Kind: evDeliver, Ref: ref})
	return true
}

// retry sends what a cut held up, or gives up: then this end breaks, and the
// other may never know.
func (e *endpoint) retry() {
	w := e.w
	for len(e.held) > 0 && e.try(e.held[0]) {
		e.held = e.held[1:]
		e.since = w.now
	}
	if len(e.held) == 0 {
		e.held = nil
		return
	}
	if w.now-e.since < int64(w.cfg.Net.BreakAfter) {
		w.call(nil, w.now+int64(w.cfg.Net.Retransmit), e.retry)
		return
	}
	for _, ref := range e.held {
		w.release(ref)
	}
	e.held = nil
	e.broke(host.ErrBroken)
}

// wasHeld is the Gen of a delivery that a paused process was spared before.
const wasHeld = 1

// deliverConn is the arrival of a message of a connection.
func (w *World) deliverConn(it sched.Item, msg message) {
	e := msg.ep
	inc := e.inc
	if inc == nil {
		inc = e.p.inc // a dial goes to whoever lives now
	}
	if inc != nil && inc.paused && !inc.ended {
		if it.Gen != wasHeld {
			e.late.push(it.Ref)
		}
		inc.held = append(inc.held, it)
		return
	}
	if e.late.len() > 0 {
		if it.Gen != wasHeld {
			e.late.push(it.Ref)
		}
		w.inTurn(e, it.Ref)
		msg = *w.messages.at(it.Ref)
	}
	if msg.kind == msgData && !e.dead && e.err == nil {
		w.receive(e, it.Ref, msg)
		return
	}
	w.release(it.Ref)
	switch msg.kind {
	case msgData:
		// The other side does not know yet that this one is gone. A machine
		// that is on says so, as TCP's reset does; one that is off says nothing.
		if e.p.m.on {
			e.push(message{kind: msgHangUp, port: e.port, from: e.p.addr, to: e.peer.p.addr, ep: e.peer}, nil)
		}
	case msgDial:
		w.dialed(e, inc)
	case msgAccepted:
		if e.dead { // the dial timed out before
			e.push(message{kind: msgHangUp, port: e.port, from: e.p.addr, to: e.peer.p.addr, ep: e.peer}, nil)
			return
		}
		e.open = true
		w.wakeOne(&e.waiters)
	case msgRefused:
		e.broke(host.ErrRefused)
	case msgHangUp:
		e.broke(host.ErrBroken)
	case msgClosed:
		e.broke(host.ErrClosed)
	}
}

// inTurn makes ref, whose event has come, the first of the late messages: the
// events of what was held come in a drawn order, the messages must not.
func (w *World) inTurn(e *endpoint, ref uint32) {
	q := e.late.items[e.late.head:]
	if first := q[0]; first != ref {
		a, b := w.messages.at(first), w.messages.at(ref)
		*a, *b = *b, *a
		q[slices.Index(q, ref)] = first
	}
	e.late.pop()
}

func (w *World) receive(e *endpoint, ref uint32, msg message) {
	w.log.Add(w.now, trace.Deliver, e.inc.who(), uint64(msg.from), uint64(len(msg.buf)), msg.digest)
	if e.onRecv != nil && e.inbox.len() == 0 {
		e.inc.enter()
		e.onRecv(msg.buf, nil)
		e.inc.leave()
		w.release(ref)
		return
	}
	e.inbox.push(ref)
	w.wakeOne(&e.waiters)
}

// dialed is the arrival of a dial at end e.
func (w *World) dialed(e *endpoint, inc *incarnation) {
	reply := message{kind: msgRefused, port: e.port, from: e.p.addr, to: e.peer.p.addr, ep: e.peer}
	if inc == nil {
		if e.p.m.on {
			e.push(reply, nil)
		}
		e.dead = true
		return
	}
	for _, l := range inc.listen {
		if l.port != e.port {
			continue
		}
		e.inc, e.open = inc, true
		inc.conns = append(inc.conns, e)
		w.log.Add(w.now, trace.Connect, inc.who(), uint64(e.peer.p.addr), uint64(e.port), 1)
		reply.kind = msgAccepted
		e.push(reply, nil)
		inc.enter()
		l.accept(e)
		inc.leave()
		return
	}
	e.push(reply, nil)
	e.dead = true
}
