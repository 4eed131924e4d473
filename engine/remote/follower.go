package remote

import (
	"fmt"

	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// Follower is a replica's side of the storage.
type Follower struct {
	m       host.Machine
	stream  *stream
	pages   *pageClient
	arrived *host.Cond
	failed  error
	pending []wal.Record // delivered, not given out
	upTo    wal.LSN      // their end
	batch   engine.Batch
}

var _ engine.Follower = (*Follower)(nil)

// NewFollower makes the follower of one boot.
func NewFollower(m host.Machine, cfg Config) *Follower {
	cfg = cfg.withDefaults()
	f := &Follower{m: m, pages: newPageClient(m, cfg), arrived: m.NewCond(host.WaitLogServer)}
	f.stream = newStream(m, cfg, false, f.record, f.delivered)
	return f
}

// Start begins at the durable point as the log host knows it.
func (f *Follower) Start() (wal.LSN, engine.Running, error) {
	f.m.Go("stream", func() {
		f.failed = f.stream.run()
		f.arrived.Broadcast()
		f.stream.changed.Broadcast()
	})
	for !f.stream.begun && f.failed == nil {
		f.stream.changed.Wait()
	}
	f.upTo = f.stream.chain.pos.End
	return f.upTo, f.stream.chain.state(), f.failed
}

// record is a handler. The record is copied: its bytes are the message's.
func (f *Follower) record(rec *wal.Record) { f.pending = append(f.pending, *rec.Clone()) }

// delivered is a handler.
func (f *Follower) delivered() { f.arrived.Signal() }

// Next blocks for what is durable and was not given out before.
func (f *Follower) Next() (engine.Batch, error) {
	for len(f.pending) == 0 && f.failed == nil {
		f.arrived.Wait()
	}
	if len(f.pending) == 0 {
		return engine.Batch{}, f.failed
	}
	b := &f.batch
	b.Records, f.pending = f.pending, b.Records[:0]
	b.Commits = b.Commits[:0]
	for i := range b.Records {
		rec := &b.Records[i]
		if !rec.IsXactEnd() {
			continue
		}
		x, err := rec.Xact()
		if err != nil {
			return engine.Batch{}, fmt.Errorf("remote: follower: %w", err)
		}
		b.Commits = append(b.Commits, engine.Commit{XID: rec.XID, LSN: rec.End, Aborted: x.Status == page.Aborted})
	}
	b.Durable = b.Records[len(b.Records)-1].End
	return *b, nil
}

// ReadPage asks the page host for exactly the version as of at.
func (f *Follower) ReadPage(id page.ID, at wal.LSN, p *page.Page) error {
	return f.pages.page(id, at, at, p)
}

// Hold keeps the page host from giving up versions from at on. Row versions
// need no holding: pages are read as of the view's LSN, so that what the
// writer prunes later is still there.
func (f *Follower) Hold(at wal.LSN, _ uint32) { f.pages.promise(at) }
