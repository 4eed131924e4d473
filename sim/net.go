package sim

import (
	"fmt"

	"tornpage/engine/host"
	"tornpage/engine/host/coop"
	"tornpage/engine/invariant"
	"tornpage/sim/draw"
	"tornpage/sim/sched"
	"tornpage/sim/trace"
)

// message is what is under way, or waits in a mailbox. Its size is a cache line.
type message struct {
	kind   uint8
	port   host.Port
	from   host.Addr
	to     host.Addr
	ep     *endpoint // of a connection: the receiving end
	digest uint64
	buf    []byte
	_      [8]byte
}

const (
	msgDatagram = iota
	msgData     // on a connection
	msgDial
	msgAccepted
	msgRefused
	msgHangUp // the other process closed or died
	msgClosed
)

// mailboxCap bounds a port's unread datagrams, as a socket buffer does; later
// ones are lost.
const mailboxCap = 1 << 14

// mailbox holds a port's unread datagrams, first in first out.
type mailbox struct {
	handler func(host.Addr, []byte)
	unread  fifo[uint32]
	waiters fifo[parked]
}

// parked is a task in one certain park.
type parked struct {
	t   *coop.Task
	gen uint32
}

// LinkFaults disturb the messages of one direction between two ends. Rates are
// in parts per million. On a connection whatever is lost or damaged is sent
// again later; only a cut lasts.
type LinkFaults struct {
	Cut     bool
	Drop    uint32
	Dup     uint32
	Reorder uint32
	Corrupt uint32
	Delay   int64 // added to the latency, ns
}

// SetLink sets the faults of messages from one end to the other: each a
// process's name, or a zone's with zone set. Where a process's and a zone's
// faults meet, a message suffers both. The zero value heals.
func (w *World) SetLink(from, to string, fromZone, toZone bool, f LinkFaults) {
	key := [2]uint32{w.endID(from, fromZone), w.endID(to, toZone)}
	w.NoteFault(fmt.Sprintf("link %s %v %s %v %+v", from, fromZone, to, toZone, f))
	if f == (LinkFaults{}) {
		delete(w.links, key)
	} else {
		w.links[key] = &f
	}
	w.faulty = len(w.links) > 0
}

// LinkOf gives what SetLink has set.
func (w *World) LinkOf(from, to string, fromZone, toZone bool) LinkFaults {
	if l := w.links[[2]uint32{w.endID(from, fromZone), w.endID(to, toZone)}]; l != nil {
		return *l
	}
	return LinkFaults{}
}

const zoneEnd = 1 << 31

func (w *World) endID(name string, zone bool) uint32 {
	if !zone {
		return uint32(w.proc(name).addr)
	}
	for _, m := range w.machines {
		if m.zone == name {
			return zoneEnd | m.zoneID
		}
	}
	panic("sim: no machine is in zone " + name)
}

// faultsOf merges what disturbs messages from p to q.
func (w *World) faultsOf(p, q *process) (f LinkFaults) {
	for _, a := range [2]uint32{uint32(p.addr), zoneEnd | p.m.zoneID} {
		for _, b := range [2]uint32{uint32(q.addr), zoneEnd | q.m.zoneID} {
			if l := w.links[[2]uint32{a, b}]; l != nil {
				f.Cut = f.Cut || l.Cut
				f.Drop = max(f.Drop, l.Drop)
				f.Dup = max(f.Dup, l.Dup)
				f.Reorder = max(f.Reorder, l.Reorder)
				f.Corrupt = max(f.Corrupt, l.Corrupt)
				f.Delay += l.Delay
			}
		}
	}
	return f
}

// latencies are Net, made ready.
type latencies struct {
	local, zone, cross draw.Table
	perMessage         int64
	perByte            uint64 // ns a byte, times 2^32
}

func (n *Net) ready() latencies {
	return latencies{
		local: n.Local.Table(), zone: n.Zone.Table(), cross: n.Cross.Table(),
		perMessage: int64(n.PerMessage), perByte: uint64(1_000_000_000) << 32 / uint64(n.Bandwidth),
	}
}

// transit is when a message of n bytes that p sends at time at arrives at q.
func (w *World) transit(p, q *process, at int64, n int, r *draw.Stream) int64 {
	net := &w.net
	a, b := p.m, q.m
	if a == b {
		return at + net.local.Draw(r)
	}
	cost := net.perMessage + int64(uint64(n)*net.perByte>>32)
	a.out = max(a.out, at) + cost*a.slow
	lat := &net.cross
	if a.zoneID == b.zoneID {
		lat = &net.zone
	}
	// The receiving card is taken before the latency, as by a switch that
	// queues for it: after it, a message with a long tail would hold up every
	// later one to that machine, from wherever.
	b.in = max(b.in, a.out) + cost*b.slow
	return b.in + lat.Draw(r)
}

// Send implements host.Machine.
func (m proc) Send(to host.Addr, port host.Port, b []byte) {
	m.group.Alive()
	if len(b) > host.MaxDatagram {
		invariant.Broken("H-size", "datagram of %d bytes from %s to %s port %d, at most %d", len(b), m.p.name, m.NameOf(to), port, host.MaxDatagram)
	}
	w, inc := m.w, m.incarnation
	d := trace.Bytes(uint64(port), b)
	w.log.Add(w.now, trace.Send, m.who(), uint64(to), uint64(len(b)), d)
	q := w.procs[to]
	at := w.transit(m.p, q, w.now+m.group.Debt(), len(b), &inc.sends)
	if w.faulty {
		inc.sendFaulty(q, port, b, d, at)
		return
	}
	w.launch(at, m.p.addr, to, port, d, b)
}

// sendFaulty is Send over a link with faults. Its draws have a stream of their
// own, so that a fault does not move the latencies.
func (m *incarnation) sendFaulty(q *process, port host.Port, b []byte, d uint64, at int64) {
	w := m.w
	f := w.faultsOf(m.p, q)
	r := &m.mischief
	at += f.Delay
	if f.Cut || hit(r, f.Drop) {
		w.struck("net.lost")
		w.log.Add(w.now, trace.Drop, m.who(), uint64(q.addr), 0, d)
		return
	}
	if hit(r, f.Reorder) {
		w.struck("net.reordered")
		at += int64(r.N(uint64(4 * w.net.zone.Draw(r))))
	}
	if hit(r, f.Dup) {
		w.struck("net.doubled")
		w.launch(at+int64(r.N(uint64(w.cfg.Net.Retransmit))), m.p.addr, q.addr, port, d, b)
	}
	ref := w.launch(at, m.p.addr, q.addr, port, d, b)
	if len(b) > 0 && hit(r, f.Corrupt) {
		w.struck("net.corrupted")
		mm := w.messages.at(ref)
		bit := r.N(uint64(len(b)) * 8)
		mm.buf[bit/8] ^= 1 << (bit % 8)
		mm.digest = trace.Bytes(mm.digest, mm.buf)
	}
}

func hit(r *draw.Stream, ppm uint32) bool { return ppm > 0 && r.Chance(uint64(ppm), 1_000_000) }

// launch puts a datagram with a copy of b on its way.
func (w *World) launch(at int64, from, to host.Addr, port host.Port, digest uint64, b []byte) uint32 {
	ref := w.messages.take()
	m := w.messages.at(ref)
	m.kind, m.port, m.from, m.to, m.digest = msgDatagram, port, from, to, digest
	m.buf = append(m.buf[:0], b...)
	w.q.Push(sched.Item{At: at, Kind: evDeliver, Ref: ref})
	return ref
}

func (w *World) release(ref uint32) {
	m := w.messages.at(ref)
	m.ep = nil
	w.messages.free(ref)
}

// deliver is the arrival of a message.
func (w *World) deliver(it sched.Item) {
	msg := w.messages.at(it.Ref) // void once a handler has sent
	if msg.kind != msgDatagram {
		w.deliverConn(it, *msg)
		return
	}
	inc := w.procs[msg.to].inc
	if inc == nil {
		w.release(it.Ref)
		return
	}
	if inc.paused {
		inc.held = append(inc.held, it)
		return
	}
	w.log.Add(w.now, trace.Deliver, inc.who(), uint64(msg.from), uint64(len(msg.buf)), msg.digest)
	mb := inc.mailbox(msg.port)
	switch {
	case mb.handler != nil:
		inc.enter()
		mb.handler(msg.from, msg.buf)
		inc.leave()
		w.release(it.Ref)
	case mb.unread.len() >= mailboxCap:
		w.release(it.Ref)
	default:
		mb.unread.push(it.Ref)
		w.wakeOne(&mb.waiters)
	}
}

// wakeOne lets the event, whose last act it must be, resume the first task that
// still waits, in place of an event of its own: which of several same-time events
// comes next was drawn already.
func (w *World) wakeOne(q *fifo[parked]) {
	for q.len() > 0 {
		p := q.pop()
		if p.t.Gen() == p.gen {
			w.woken = p
			return
		}
	}
}

func (m *incarnation) mailbox(port host.Port) *mailbox {
	for int(port) >= len(m.ports) {
		m.ports = append(m.ports, nil)
	}
	if m.ports[port] == nil {
		m.ports[port] = &mailbox{}
	}
	return m.ports[port]
}

// Recv implements host.Machine.
func (m proc) Recv(port host.Port, b []byte) (host.Addr, []byte) {
	m.group.PayDebt()
	mb := m.mailbox(port)
	for mb.unread.len() == 0 {
		t := m.group.Running()
		mb.waiters.push(parked{t, t.Gen()})
		m.group.Park(host.WaitRecv)
	}
	ref := mb.unread.pop()
	msg := m.w.messages.at(ref)
	b = append(b[:0], msg.buf...)
	from := msg.from
	m.w.release(ref)
	return from, b
}

// Handle implements host.Machine.
func (m proc) Handle(port host.Port, f func(from host.Addr, msg []byte)) {
	m.group.Alive()
	mb := m.mailbox(port)
	mb.handler = f
	if f != nil && mb.unread.len() > 0 {
		m.After(0, func() {
			for mb.handler != nil && mb.unread.len() > 0 {
				ref := mb.unread.pop()
				msg := *m.w.messages.at(ref)
				mb.handler(msg.from, msg.buf)
				m.w.release(ref)
			}
		})
	}
}
