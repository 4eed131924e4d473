package oshost

import (
	"bufio"
	"fmt"
	"net"
	"time"

	"tornpage/engine/host"
	"tornpage/engine/invariant"
)

// conn is one side of a connection. Its fields belong to the loop, but for
// those that its reader and writer were given.
type conn struct {
	n       *network
	peer    host.Addr
	sock    net.Conn
	out     *outbox
	arrived *credit
	some    *host.Cond
	queue   [][]byte // arrived and not yet taken
	err     error    // how it ended
	onRecv  func(msg []byte, err error)
	told    bool // onRecv had its last call
}

func (n *network) newConn(sock net.Conn, peer host.Addr) *conn {
	return &conn{n: n, peer: peer, sock: sock, out: newOutbox(), arrived: newCredit(),
		some: n.p.group.NewCond(host.WaitRecv)}
}

// dial is Machine.Dial.
func (n *network) dial(to host.Addr, port host.Port) (*conn, error) {
	if int(to) >= len(n.p.names) {
		return nil, fmt.Errorf("%s: dial address %d: %w: there are %d processes", n.p.name, to, host.ErrRefused, len(n.p.names))
	}
	t := n.p.group.Running()
	gen := t.Gen()
	var sock net.Conn
	var err error
	n.gone.Go(func() {
		sock, err = n.connect(to, streamConn, port)
		n.p.in.post(func() { n.p.wake(t, gen, 0) })
	})
	n.p.group.Park(host.WaitDial)
	if err != nil {
		return nil, err
	}
	c := n.newConn(sock, to)
	c.start()
	return c, nil
}

// inboundConn offers a socket to the listener of its port and serves it.
func (n *network) inboundConn(sock net.Conn, from host.Addr, port host.Port) {
	accepted := make(chan bool, 1)
	n.p.in.post(func() {
		accept := n.listeners[port]
		accepted <- accept != nil
		if accept == nil {
			return
		}
		c := n.newConn(sock, from)
		c.out.put(maxConnOut, frameAccept)
		c.start()
		accept(c)
	})
	select {
	case ok := <-accepted:
		if !ok {
			_ = sock.SetDeadline(time.Now().Add(lingerTime))
			_, _ = sock.Write(appendFrame(nil, frameRefuse))
			n.drop(sock)
		}
	case <-n.ctx.Done():
		n.drop(sock)
	}
}

// start starts the goroutines of the socket.
func (c *conn) start() {
	broken := make(chan struct{})
	c.n.gone.Go(func() { c.read(broken) })
	c.n.gone.Go(func() {
		if err := c.out.flow(c.n.ctx, c.sock, broken); err != nil {
			_ = c.sock.Close() // wakes the reader
			return
		}
		// The socket is closed by the reader, once the peer has answered: a
		// close with unread bytes resets the connection, and a reset destroys
		// what the peer has not read yet.
		_ = c.sock.SetReadDeadline(time.Now().Add(lingerTime))
		if half, ok := c.sock.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	})
}

// read is the goroutine that reads the socket.
func (c *conn) read(broken chan struct{}) {
	r := bufio.NewReaderSize(c.sock, readStep)
	var end error
	for end == nil {
		kind, body, err := readFrame(r, maxMessageBody)
		switch {
		case err != nil:
			end = c.broken(err)
		case kind == frameMessage:
			if !c.arrived.take(c.n.ctx, len(body)) {
				end = c.broken(c.n.ctx.Err())
				continue
			}
			c.n.p.in.post(func() { c.take(body) })
		case kind == frameClose:
			end = c.closed("by the peer")
		default:
			end = c.broken(fmt.Errorf("%w: kind %d in a connection", errFrame, kind))
		}
	}
	close(broken)
	c.n.drop(c.sock)
	c.n.p.in.post(func() { c.finish(end) })
}

// broken is the error for a break, whose cause is logged if it is foreign bytes.
func (c *conn) broken(cause error) error {
	c.n.complain(c.sock, cause)
	return fmt.Errorf("%s: connection with %s: %w (%v)", c.n.p.name, c.n.p.names[c.peer], host.ErrBroken, cause)
}

func (c *conn) closed(by string) error {
	return fmt.Errorf("%s: connection with %s: %w %s", c.n.p.name, c.n.p.names[c.peer], host.ErrClosed, by)
}

// take takes a message that arrived.
func (c *conn) take(msg []byte) {
	if c.err != nil {
		c.arrived.give(len(msg))
		return
	}
	c.queue = append(c.queue, msg)
	c.some.Signal()
	c.deliver()
}

// finish sets how the connection ended, for the first time only.
func (c *conn) finish(err error) {
	if c.err == nil {
		c.err = err
		c.some.Broadcast()
		c.deliver()
	}
}

// pop takes the oldest message, which must exist.
func (c *conn) pop() []byte {
	msg := c.queue[0]
	c.queue[0] = nil
	c.queue = c.queue[1:]
	c.arrived.give(len(msg))
	return msg
}

// deliver gives to onRecv what there is; it is called in handlers only.
func (c *conn) deliver() {
	for c.onRecv != nil {
		switch {
		case len(c.queue) > 0:
			c.onRecv(c.pop(), nil)
		case c.err != nil && !c.told:
			c.told = true
			c.onRecv(nil, c.err)
		default:
			return
		}
	}
}

func (c *conn) Peer() host.Addr {
	c.n.p.group.Alive()
	return c.peer
}

func (c *conn) Send(b []byte) {
	c.n.p.group.Alive()
	if len(b) > host.MaxMessage {
		invariant.Broken("H-size", "message of %d bytes from %s to %s, at most %d", len(b), c.n.p.name, c.n.p.names[c.peer], host.MaxMessage)
	}
	if c.err != nil || c.out.put(maxConnOut, frameMessage, b) {
		return
	}
	cause := fmt.Errorf("%w: more than %d bytes wait to be sent, and the peer takes none", errQueue, maxConnOut)
	c.err = c.broken(cause)
	_ = c.sock.Close() // ends its reader and writer
	c.some.Broadcast()
	c.n.p.later(c.deliver)
}

func (c *conn) Recv(b []byte) ([]byte, error) {
	c.n.p.group.Alive()
	for c.onRecv != nil || len(c.queue) == 0 && c.err == nil {
		c.some.Wait()
	}
	if len(c.queue) == 0 {
		return nil, c.err
	}
	msg := c.pop()
	if len(c.queue) > 0 {
		c.some.Signal() // for another task that waits
	}
	return append(b[:0], msg...), nil
}

func (c *conn) OnRecv(f func(msg []byte, err error)) {
	c.n.p.group.Alive()
	c.onRecv = f
	c.n.p.later(c.deliver)
}

func (c *conn) Close() {
	c.n.p.group.Alive()
	if c.err != nil {
		return
	}
	for len(c.queue) > 0 {
		c.pop()
	}
	c.err = c.closed("by this side")
	c.out.close(frameClose)
	c.some.Broadcast()
	c.n.p.later(c.deliver)
}
