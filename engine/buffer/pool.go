package buffer

import (
	"errors"
	"fmt"

	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// Store is the part of a storage that the pool needs; engine.Storage has it.
type Store interface {
	ReadPage(id page.ID, changedBy, at wal.LSN, p *page.Page) error
	Evict(id page.ID, p *page.Page) error
	Durable() wal.LSN
	WaitDurable(lsn wal.LSN) error
}

// Errors of the pool.
var (
	ErrStale  = errors.New("storage gave an older version of the page than the pool has dropped (a lost write?): restore the page")
	ErrFailed = errors.New("the buffer pool has failed with its storage")
)

// Config sizes a pool.
type Config struct {
	Frames   int // pages of 8 KiB; 0: 1,024 (8 MiB); at least 2
	Remember int // dropped pages whose LSN is kept, rounded up to a power of two; 0: four times Frames
}

// Stats counts what a pool did since it was made.
type Stats struct {
	Hits         uint64 // pins of a page that was there
	Reads        uint64 // pages asked of storage
	Evicted      uint64 // pages dropped for another
	EvictedDirty uint64 // of those, written first
	Written      uint64 // pages that Evict took
	Refused      uint64 // pages that Evict did not take: the disk is full
	Cleaned      uint64 // of Written, by the background writer
	Prefetched   uint64 // of Reads, by Prefetch
	Victims      uint64 // frames that the sweep gave
	Made         uint64 // pages that PinNew gave without asking storage
	Dropped      uint64 // pages that Drop forgot
}

// Pool is a buffer pool. Make it with New, give it a store with Attach.
type Pool struct {
	m        host.Machine
	store    Store
	frames   []Frame
	index    frameIndex
	hand     int        // the frame that the sweep looks at next
	passed   uint64     // frames that it has looked at
	taken    uint64     // pages that frames were given to
	unpinned *host.Cond // somebody may find a frame now
	dropping *host.Cond // a frame that Drop waits for has no pins
	lsns     lsnCache
	copies   []*page.Page // idle write buffers
	reserve  reservation
	full     fullness
	cleaner  cleaner
	ahead    prefetcher
	failed   error
	onFail   func(error)
	stats    Stats
}

// Frame is the place of one page. It is valid while it is pinned.
type Frame struct {
	slot    int32 // its number
	id      page.ID
	pins    int32
	usage   uint8 // recent uses, at most maxUsage; the sweep takes one a turn
	mapped  bool  // the index leads here
	reading bool
	writing bool
	dirty   bool
	cut     bool  // its page was cut off: nothing is to be remembered of it
	refused bool  // Evict did not take it: the disk is full
	err     error // why the read failed
	latch   *host.Latch
	io      *host.Cond // a read or write of this frame has ended
	page    page.Page
}

// New makes an empty pool on machine m.
func New(m host.Machine, cfg Config) *Pool {
	if cfg.Frames == 0 {
		cfg.Frames = 1024
	}
	cfg.Frames = max(cfg.Frames, 2)
	if cfg.Remember == 0 {
		cfg.Remember = 4 * cfg.Frames
	}
	p := &Pool{
		m:        m,
		frames:   make([]Frame, cfg.Frames),
		index:    newFrameIndex(cfg.Frames),
		unpinned: m.NewCond(host.WaitBufferPin),
		dropping: m.NewCond(host.WaitBufferPin),
		lsns:     newLSNCache(cfg.Remember),
	}
	p.reserve = reservation{free: cfg.Frames, latch: host.NewLatch(m, host.WaitBufferPin), cond: m.NewCond(host.WaitBufferPin)}
	for i := range p.frames {
		f := &p.frames[i]
		f.slot = int32(i)
		f.latch = host.NewLatch(m, host.WaitBufferContent)
		f.io = m.NewCond(host.WaitBufferIO)
	}
	return p
}

// Attach gives the pool its store, before the first Pin. changedBy bounds the
// LSN of every page that the pool knows nothing of: the end of the log.
func (p *Pool) Attach(s Store, changedBy wal.LSN) {
	p.store = s
	p.full.store, _ = s.(teller)
	p.lsns.bound = max(p.lsns.bound, changedBy)
}

// Frames is the size of the pool in pages.
func (p *Pool) Frames() int { return len(p.frames) }

// Stats are the counts so far.
func (p *Pool) Stats() Stats { return p.stats }

// OnFail has f called once, when the pool fails, with the cause. f must not
// block.
func (p *Pool) OnFail(f func(error)) { p.onFail = f }

// Fail stops the pool for good (rule B8) and wakes who waits for a frame. A
// write-back that fails does so too, unless the disk is full (rule B10):
// PostgreSQL would keep the page dirty and try again later, which only delays
// the end where a disk is broken.
func (p *Pool) Fail(err error) {
	if p.failed != nil {
		return
	}
	p.failed = fmt.Errorf("%w: %w", ErrFailed, err)
	p.unpinned.Broadcast()
	if p.onFail != nil {
		p.onFail(err)
	}
}

// Pin gives the frame of page id, read from storage if it is not here; it
// blocks for that and for a frame. A page that does not exist is zeros.
// engine.ErrFull: every frame that could be freed holds changes that the full
// disk has no room for (rule B10).
func (p *Pool) Pin(id page.ID) (*Frame, error) { return p.pin(id, false) }

func (p *Pool) pin(id page.ID, isNew bool) (*Frame, error) {
	p.m.Charge(host.WorkPageLookup, 1)
	taken := p.taken
	for {
		if p.failed != nil {
			return nil, p.failed
		}
		if i, ok := p.index.get(id); ok {
			return p.found(&p.frames[i])
		}
		f, err := p.victim()
		if err != nil {
			return nil, err
		}
		if _, ok := p.index.get(id); ok { // somebody brought it meanwhile
			p.Unpin(f)
			continue
		}
		if isNew && p.untouched(id, taken) {
			return p.blank(f, id), nil
		}
		return p.read(f, id)
	}
}

// found pins a mapped frame and waits for its read, if one is under way.
func (p *Pool) found(f *Frame) (*Frame, error) {
	f.pins++
	f.usage = min(f.usage+1, maxUsage)
	p.stats.Hits++
	for f.reading {
		f.io.Wait()
	}
	if f.err != nil { // the reader has unmapped the frame; our pin kept the error
		err := f.err
		p.Unpin(f)
		return nil, err
	}
	return f, nil
}

// read fills f, which the caller has pinned, with page id.
func (p *Pool) read(f *Frame, id page.ID) (*Frame, error) {
	p.take(f, id)
	f.reading = true
	p.stats.Reads++
	changed, _ := p.lsns.get(id)
	err := p.store.ReadPage(id, changed, 0, &f.page)
	changed, exact := p.lsns.get(id) // again: the page may have been cut off meanwhile
	if errors.Is(err, engine.ErrNoPage) {
		f.page, err = page.Page{}, nil
	}
	if got := page.LSNOf(id, &f.page); err == nil && exact && got < changed {
		err = fmt.Errorf("%v: got LSN %v, dropped at %v: %w", id, got, changed, ErrStale)
	}
	if f.id != id || !f.reading || f.pins < 1 {
		invariant.Broken("B1", "frame %d became %v while it read %v (pins %d)", f.slot, f.id, id, f.pins)
	}
	f.reading = false
	f.err = err
	f.io.Broadcast()
	if err != nil {
		p.unmap(f)
		p.Unpin(f)
		return nil, err
	}
	return f, nil
}

// take makes f, which is unmapped and pinned, the frame of page id.
func (p *Pool) take(f *Frame, id page.ID) {
	f.id, f.usage, f.err = id, 1, nil
	f.mapped = true
	p.index.put(id, f.slot)
	p.taken++
}

// unmap makes f the frame of no page.
func (p *Pool) unmap(f *Frame) {
	p.index.remove(f.id)
	f.mapped, f.cut = false, false
	if f.refused {
		f.refused = false
		p.full.refused--
	}
}

// Unpin gives the frame back.
func (p *Pool) Unpin(f *Frame) {
	if f.pins <= 0 {
		invariant.Broken("B2", "unpin of %v, which has %d pins", f.id, f.pins)
	}
	f.pins--
	if f.pins == 0 && p.unpinned.Waiting()+p.dropping.Waiting() > 0 {
		p.unpinned.Signal()
		p.dropping.Broadcast()
	}
}

// ID is the page in the frame.
func (f *Frame) ID() page.ID { return f.id }

// Page is the frame's memory. Read it under either latch, write it under the
// exclusive one.
func (f *Frame) Page() *page.Page { return &f.page }

// Lock blocks for the content latch, exclusively.
func (f *Frame) Lock() { f.latch.Lock() }

// Unlock releases the exclusive latch.
func (f *Frame) Unlock() { f.latch.Unlock() }

// RLock blocks for the content latch, shared.
func (f *Frame) RLock() { f.latch.RLock() }

// RUnlock releases the shared latch.
func (f *Frame) RUnlock() { f.latch.RUnlock() }

// MarkDirty says that the page is about to change, or has changed under this
// hold of the latch (rule B3).
func (f *Frame) MarkDirty() {
	if !f.latch.Held() || f.pins <= 0 {
		invariant.Broken("B3", "%v marked dirty with %d pins, exclusive latch %t", f.id, f.pins, f.latch.Held())
	}
	f.dirty = true
}

// Dirty reports whether the page has changes that storage was not given.
func (f *Frame) Dirty() bool { return f.dirty }
