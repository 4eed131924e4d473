package oshost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"tornpage/engine/host"
)

// Time limits on the way to a connection. They bound how long a silent peer can
// hold a task or a socket; nothing that works comes near them.
const (
	dialTimeout  = 5 * time.Second
	helloTimeout = 10 * time.Second
	lingerTime   = 5 * time.Second       // for the peer to answer a close
	redialPause  = 10 * time.Millisecond // between attempts of a datagram stream
)

// network is the sockets of a process. The maps without a mutex belong to the
// loop.
type network struct {
	p         *Process
	listener  net.Listener
	ctx       context.Context // done when the process has ended
	cancel    context.CancelFunc
	gone      sync.WaitGroup
	mu        sync.Mutex
	socks     map[net.Conn]struct{} // nil once the process has ended
	boxes     map[host.Port]*box
	streams   map[host.Addr]*outbox
	listeners map[host.Port]func(host.Conn)
}

func (n *network) start(p *Process) {
	n.p = p
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.socks = map[net.Conn]struct{}{}
	n.boxes = map[host.Port]*box{}
	n.streams = map[host.Addr]*outbox{}
	n.listeners = map[host.Port]func(host.Conn){}
	n.gone.Go(n.accept)
}

// stop closes all sockets and waits for their goroutines.
func (n *network) stop() {
	n.cancel()
	_ = n.listener.Close()
	n.mu.Lock()
	for sock := range n.socks {
		_ = sock.Close()
	}
	n.socks = nil
	n.mu.Unlock()
	n.gone.Wait()
}

// keep remembers a socket, to be closed at the end of the process.
func (n *network) keep(sock net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.socks == nil {
		_ = sock.Close()
		return false
	}
	n.socks[sock] = struct{}{}
	return true
}

// drop closes a socket and forgets it.
func (n *network) drop(sock net.Conn) {
	_ = sock.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.socks, sock)
}

// accept takes connections until the process ends.
func (n *network) accept() {
	for {
		sock, err := n.listener.Accept()
		switch {
		case err == nil:
			if n.keep(sock) {
				n.gone.Go(func() { n.inbound(sock) })
			}
		case n.ctx.Err() != nil:
			return
		default: // out of file descriptors, say: it may pass
			n.p.warnf("accept: %v", err)
			n.pause()
		}
	}
}

// pause waits a little, or until the process ends.
func (n *network) pause() {
	select {
	case <-time.After(redialPause):
	case <-n.ctx.Done():
	}
}

// inbound serves a socket that a peer dialled.
func (n *network) inbound(sock net.Conn) {
	_ = sock.SetDeadline(time.Now().Add(helloTimeout))
	h, from, err := n.readHello(sock)
	if err != nil {
		n.complain(sock, err)
		n.drop(sock)
		return
	}
	_ = sock.SetDeadline(time.Time{})
	if h.stream == streamDatagrams {
		n.readDatagrams(sock, from)
		return
	}
	n.inboundConn(sock, from, h.port)
}

// readHello reads and checks the first frame of a peer.
func (n *network) readHello(sock net.Conn) (hello, host.Addr, error) {
	kind, body, err := readFrame(sock, maxHelloBody)
	if err != nil {
		return hello{}, 0, err
	}
	if kind != frameHello {
		return hello{}, 0, fmt.Errorf("%w: kind %d, want a hello (%d) first", errFrame, kind, frameHello)
	}
	h, err := decodeHello(body)
	if err != nil {
		return hello{}, 0, err
	}
	if h.to != n.p.name {
		return hello{}, 0, fmt.Errorf("%w: %.80q dials %.80q, but this is %q; compare the deployments", errFrame, h.from, h.to, n.p.name)
	}
	i, ok := slices.BinarySearch(n.p.names, h.from)
	if !ok {
		return hello{}, 0, fmt.Errorf("%w: the dialler %.80q is not in the deployment", errFrame, h.from)
	}
	return h, host.Addr(i), nil
}

// complain logs what is wrong with a peer; breaks are everyday.
func (n *network) complain(sock net.Conn, err error) {
	if errors.Is(err, errFrame) || errors.Is(err, errQueue) {
		n.p.warnf("connection with %v dropped: %v", sock.RemoteAddr(), err)
	}
}

// connect dials a process and says hello. Errors are ErrRefused or ErrTimeout.
func (n *network) connect(to host.Addr, stream byte, port host.Port) (net.Conn, error) {
	p := n.p
	fail := func(kind error, err error) error {
		return fmt.Errorf("%s: dial %s (%s), port %d: %w (%v)", p.name, p.names[to], p.peers[to], port, kind, err)
	}
	kindOf := func(err error) error {
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() && !errors.Is(err, syscall.ECONNREFUSED) {
			return host.ErrTimeout
		}
		return host.ErrRefused
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	sock, err := dialer.DialContext(n.ctx, "tcp", p.peers[to])
	if err != nil {
		return nil, fail(kindOf(err), err)
	}
	if !n.keep(sock) {
		return nil, fail(host.ErrRefused, net.ErrClosed)
	}
	_ = sock.SetDeadline(time.Now().Add(dialTimeout))
	h := hello{stream: stream, port: port, boot: p.boot, from: p.name, to: p.names[to]}
	_, err = sock.Write(appendFrame(nil, frameHello, h.encode()))
	if err == nil && stream == streamConn {
		err = readAnswer(sock)
	}
	if err != nil {
		n.drop(sock)
		return nil, fail(kindOf(err), err)
	}
	_ = sock.SetDeadline(time.Time{})
	return sock, nil
}

// readAnswer reads the answer to a hello for a connection.
func readAnswer(r io.Reader) error {
	kind, _, err := readFrame(r, 0)
	switch {
	case err != nil:
		return err
	case kind == frameRefuse:
		return errors.New("the process has no such listener")
	case kind != frameAccept:
		return fmt.Errorf("%w: kind %d, want an answer to a hello", errFrame, kind)
	}
	return nil
}
