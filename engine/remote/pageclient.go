package remote

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// ErrOld says that the page host does not keep versions so old.
var ErrOld = errors.New("the version is older than the page host keeps: begin a new view")

// pageClient asks the page host, over as many connections as it takes.
type pageClient struct {
	m       host.Machine
	cfg     Config
	link    *link // nil: none
	dialing *host.Latch
	calls   map[uint64]*call
	free    []*call
	lastID  uint64
	hold    wal.LSN // promised; said again on a new connection
}

// call is one request under way.
type call struct {
	cond   *host.Cond
	link   *link
	want   kind
	id     page.ID
	p      *page.Page // where the page goes
	blocks uint32
	done   bool
	broken bool
	err    error
}

func newPageClient(m host.Machine, cfg Config) *pageClient {
	return &pageClient{m: m, cfg: cfg, calls: map[uint64]*call{}, dialing: host.NewLatch(m, host.WaitPageServer)}
}

// page blocks for a page as of at, once the page host has come to changedBy.
func (c *pageClient) page(id page.ID, changedBy, at wal.LSN, p *page.Page) error {
	k := c.take(msgPage, id, p)
	return c.ask(k, &message{kind: msgGetPage, page: id, durable: changedBy, at: at})
}

// size blocks for the number of blocks of a relation as of at.
func (c *pageClient) size(r page.Rel, changedBy, at wal.LSN) (uint32, error) {
	k := c.take(msgSize, page.ID{Rel: r}, nil)
	err := c.ask(k, &message{kind: msgGetSize, page: page.ID{Rel: r}, durable: changedBy, at: at})
	return k.blocks, err
}

// promise says that nothing older than at will be asked for.
func (c *pageClient) promise(at wal.LSN) {
	if at <= c.hold {
		return
	}
	c.hold = at
	if c.link != nil {
		c.link.send(&message{kind: msgHold, at: c.hold})
	}
}

func (c *pageClient) take(want kind, id page.ID, p *page.Page) *call {
	var k *call
	if n := len(c.free); n > 0 {
		k = c.free[n-1]
		c.free = c.free[:n-1]
	} else {
		k = &call{cond: c.m.NewCond(host.WaitPageServer)}
	}
	k.want, k.id, k.p, k.blocks, k.err = want, id, p, 0, nil
	return k
}

// ask sends m, again if the connection breaks, until there is an answer.
func (c *pageClient) ask(k *call, m *message) error {
	for {
		l := c.connect()
		c.lastID++
		m.id = c.lastID
		k.link, k.done, k.broken = l, false, false
		c.calls[m.id] = k
		l.send(m)
		for !k.done && !k.broken {
			k.cond.Wait()
		}
		delete(c.calls, m.id)
		if k.done {
			c.free = append(c.free, k)
			return k.err
		}
		c.m.Mark("remote.page-retried")
	}
}

// connect gives the connection, a new one if there is none. It blocks until
// the page host can be reached.
func (c *pageClient) connect() *link {
	for c.link == nil {
		c.dialing.Lock()
		if c.link == nil {
			c.dial()
		}
		c.dialing.Unlock()
	}
	return c.link
}

func (c *pageClient) dial() {
	conn, err := c.m.Dial(c.m.Lookup(c.cfg.Pages), c.cfg.PagePort)
	if err != nil {
		c.m.Sleep(c.cfg.Retry)
		return
	}
	l := &link{m: c.m, cfg: &c.cfg, conn: conn, asks: true}
	l.take = func(m *message) error { return c.answered(l, m) }
	l.lost = func() { c.lost(l) }
	c.link = l
	l.begin()
	if c.hold != 0 {
		l.send(&message{kind: msgHold, at: c.hold})
	}
}

// lost is a handler: who waits asks again.
func (c *pageClient) lost(l *link) {
	if c.link == l {
		c.link = nil
	}
	for _, id := range slices.Sorted(maps.Keys(c.calls)) {
		if k := c.calls[id]; k.link == l && !k.done {
			k.broken = true
			k.cond.Signal()
		}
	}
}

// answered is a handler. An answer must be to a request of this connection,
// for the same page: slots are used again (Neon #12371).
func (c *pageClient) answered(l *link, m *message) error {
	k := c.calls[m.id]
	if k == nil || k.link != l || k.want != m.kind || k.id.Rel != m.page.Rel || m.kind == msgPage && k.id != m.page {
		return fmt.Errorf("answer %d of kind %d for %v, which nobody asked for", m.id, m.kind, m.page)
	}
	switch m.status {
	case statusNoPage:
		k.err = fmt.Errorf("%w: %v", engine.ErrNoPage, m.page)
	case statusOld:
		k.err = fmt.Errorf("%v: %w (%s)", m.page, ErrOld, m.body)
	case statusFailed:
		k.err = fmt.Errorf("page host: %v: %s", m.page, m.body)
	case statusOK:
		k.blocks = m.page.Block
		if m.kind == msgPage {
			if len(m.body) != page.Size {
				return fmt.Errorf("answer %d: %v of %d bytes, want %d", m.id, m.page, len(m.body), page.Size)
			}
			copy(k.p[:], m.body)
		}
	}
	k.done = true
	k.cond.Signal()
	return nil
}
