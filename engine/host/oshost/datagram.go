package oshost

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"

	"tornpage/engine/host"
	"tornpage/engine/invariant"
)

// box is the datagrams of one port. It belongs to the loop.
type box struct {
	queue   []datagram
	bytes   int
	some    *host.Cond
	handler func(from host.Addr, msg []byte)
}

type datagram struct {
	from host.Addr
	body []byte
}

func (n *network) box(port host.Port) *box {
	b := n.boxes[port]
	if b == nil {
		b = &box{some: n.p.group.NewCond(host.WaitRecv)}
		n.boxes[port] = b
	}
	return b
}

// send is Machine.Send.
func (n *network) send(to host.Addr, port host.Port, b []byte) {
	if len(b) > host.MaxDatagram {
		invariant.Broken("H-size", "datagram of %d bytes from %s to address %d port %d, at most %d", len(b), n.p.name, to, port, host.MaxDatagram)
	}
	if int(to) >= len(n.p.names) {
		n.p.warnf("datagram to address %d dropped: there are %d processes", to, len(n.p.names))
		return
	}
	if to == n.p.self {
		body := slices.Clone(b)
		n.p.later(func() { n.arrived(to, port, body) })
		return
	}
	out := n.streams[to]
	if out == nil {
		out = newOutbox()
		n.streams[to] = out
		n.gone.Go(func() { n.stream(to, out) })
	}
	out.put(maxDatagramOut, frameDatagram, []byte{byte(port)}, b) // a full queue drops
}

// stream is the goroutine that carries the datagrams to one receiver.
func (n *network) stream(to host.Addr, out *outbox) {
	for n.ctx.Err() == nil {
		if out.empty() {
			select {
			case <-out.wake:
			case <-n.ctx.Done():
			}
			continue
		}
		sock, err := n.connect(to, streamDatagrams, 0)
		if err != nil {
			out.take(nil) // the receiver is down: these are lost
			n.pause()
			continue
		}
		broken := make(chan struct{})
		n.gone.Go(func() {
			defer close(broken)
			_, _ = io.Copy(io.Discard, sock) // nothing comes; it ends when the peer does
		})
		_ = out.flow(n.ctx, sock, broken)
		n.drop(sock)
	}
}

// readDatagrams is the goroutine of a stream that a peer dialled.
func (n *network) readDatagrams(sock net.Conn, from host.Addr) {
	defer n.drop(sock)
	r := bufio.NewReaderSize(sock, readStep)
	arrived := newCredit()
	for {
		kind, body, err := readFrame(r, maxDatagramBody)
		if err == nil && (kind != frameDatagram || len(body) < 1) {
			err = fmt.Errorf("%w: kind %d of %d bytes in a datagram stream of %s", errFrame, kind, len(body), n.p.names[from])
		}
		if err != nil {
			n.complain(sock, err)
			return
		}
		if !arrived.take(n.ctx, len(body)) {
			return
		}
		n.p.in.post(func() {
			arrived.give(len(body))
			n.arrived(from, host.Port(body[0]), body[1:])
		})
	}
}

// arrived gives a datagram to its port.
func (n *network) arrived(from host.Addr, port host.Port, body []byte) {
	b := n.box(port)
	if b.handler != nil && len(b.queue) == 0 {
		b.handler(from, body)
		return
	}
	if b.bytes+len(body)+perItem > maxBox {
		return
	}
	b.queue = append(b.queue, datagram{from, body})
	b.bytes += len(body) + perItem
	b.some.Signal()
}

// pop takes the oldest datagram, which must exist.
func (b *box) pop() datagram {
	d := b.queue[0]
	b.queue[0] = datagram{}
	b.queue = b.queue[1:]
	b.bytes -= len(d.body) + perItem
	return d
}

// recv is Machine.Recv.
func (n *network) recv(port host.Port, into []byte) (host.Addr, []byte) {
	b := n.box(port)
	for len(b.queue) == 0 || b.handler != nil {
		b.some.Wait()
	}
	d := b.pop()
	if len(b.queue) > 0 {
		b.some.Signal() // for another task that waits
	}
	return d.from, append(into[:0], d.body...)
}

// handle is Machine.Handle. What waits already is given to f by a handler.
func (n *network) handle(port host.Port, f func(from host.Addr, msg []byte)) {
	b := n.box(port)
	b.handler = f
	if len(b.queue) == 0 {
		return
	}
	if f == nil {
		b.some.Signal()
		return
	}
	n.p.later(func() {
		for b.handler != nil && len(b.queue) > 0 {
			d := b.pop()
			b.handler(d.from, d.body)
		}
	})
}
