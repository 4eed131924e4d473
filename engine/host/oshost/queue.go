package oshost

import (
	"context"
	"net"
	"sync"
)

// Bounds of queues, in bytes (rule O3).
const (
	maxConnOut     = 64 << 20 // unsent on a connection: four of the longest messages
	maxDatagramOut = 4 << 20  // unsent to one receiver: 64 of the longest datagrams
	maxArrived     = 8 << 20  // read from one socket and not yet taken
	maxBox         = 16 << 20 // datagrams that wait for a Recv of one port
	perItem        = 64       // memory of a queued item besides its bytes
	maxSpare       = 1 << 20  // a buffer longer than this is not kept for use again
)

// outbox is the encoded frames that a socket's writer has still to send.
type outbox struct {
	mu      sync.Mutex
	buf     []byte
	closing bool
	wake    chan struct{} // one slot
}

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

// put queues a frame unless more than limit bytes would wait.
func (o *outbox) put(limit int, kind byte, parts ...[]byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	size := frameHeader + 1
	for _, part := range parts {
		size += len(part)
	}
	if o.closing || len(o.buf)+size > limit {
		return false
	}
	o.buf = appendFrame(o.buf, kind, parts...)
	o.poke()
	return true
}

// close queues a last frame; nothing can be queued after it.
func (o *outbox) close(kind byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf = appendFrame(o.buf, kind)
	o.closing = true
	o.poke()
}

func (o *outbox) poke() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take gives what is queued, for spare; closing says that it is the last.
func (o *outbox) take(spare []byte) (buf []byte, closing bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if cap(spare) > maxSpare {
		spare = nil
	}
	buf = o.buf
	o.buf = spare[:0]
	return buf, o.closing
}

// empty reports whether nothing is queued.
func (o *outbox) empty() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.buf) == 0
}

// flow writes what is queued to the socket until the queue was closed (nil) or
// the socket breaks. broken is closed when its reader has seen the break.
func (o *outbox) flow(ctx context.Context, sock net.Conn, broken <-chan struct{}) error {
	var buf []byte
	var closing bool
	for {
		if buf, closing = o.take(buf); len(buf) > 0 {
			if _, err := sock.Write(buf); err != nil {
				return err
			}
		}
		if closing {
			return nil
		}
		if !o.empty() {
			continue
		}
		select {
		case <-o.wake:
		case <-broken:
			return net.ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// credit bounds the bytes that one reader has handed to the loop and that were
// not taken yet.
type credit struct {
	mu   sync.Mutex
	used int
	free chan struct{} // one slot, for the one reader
}

func newCredit() *credit { return &credit{free: make(chan struct{}, 1)} }

// take waits until n more bytes may be handed over.
func (c *credit) take(ctx context.Context, n int) bool {
	for {
		c.mu.Lock()
		if c.used < maxArrived {
			c.used += n + perItem
			c.mu.Unlock()
			return true
		}
		c.mu.Unlock()
		select {
		case <-c.free:
		case <-ctx.Done():
			return false
		}
	}
}

// give says that an item of n bytes was taken.
func (c *credit) give(n int) {
	c.mu.Lock()
	c.used -= n + perItem
	c.mu.Unlock()
	select {
	case c.free <- struct{}{}:
	default:
	}
}
