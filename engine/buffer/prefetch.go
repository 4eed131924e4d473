package buffer

import (
	"slices"

	"tornpage/engine/page"
)

const (
	// prefetchReads is how many pages are read ahead at the same time, at
	// most: a few keep a disk with a queue busy, and leave its queue to those
	// who wait. (PostgreSQL's effective_io_concurrency has 1 for one disk.)
	prefetchReads = 4
	// prefetchQueue is how many more are remembered, at most; further hints
	// are lost.
	prefetchQueue = 32
)

// prefetcher is the state of Prefetch.
type prefetcher struct {
	queue []page.ID
	tasks int // that read
}

// Prefetch says that these pages will be wanted soon, the first one soonest. It
// never blocks and promises nothing: pages are read by a few tasks of the
// pool's own, into frames whose page is clean, while nobody waits for a frame and
// half of the pool is not reserved.
func (p *Pool) Prefetch(ids ...page.ID) {
	// More than a quarter of the pool would push out what was read ahead.
	room := len(p.frames) / 4
	for _, id := range ids {
		if _, ok := p.index.get(id); ok || len(p.ahead.queue) >= min(prefetchQueue, room) {
			continue
		}
		p.ahead.queue = append(p.ahead.queue, id)
		if p.ahead.tasks < min(prefetchReads, room) {
			p.ahead.tasks++
			p.m.Go("prefetch", p.readAhead)
		}
	}
}

// readAhead reads what is asked for until nothing is, or no frame can be had.
func (p *Pool) readAhead() {
	for p.failed == nil && len(p.ahead.queue) > 0 {
		id := p.ahead.queue[0]
		p.ahead.queue = slices.Delete(p.ahead.queue, 0, 1)
		if _, ok := p.index.get(id); ok {
			continue
		}
		f := p.spare()
		if f == nil {
			p.ahead.queue = p.ahead.queue[:0]
			break
		}
		f.pins++
		p.drop(f)
		// An error is the business of whoever pins the page: it reads again.
		if f, err := p.read(f, id); err == nil {
			p.stats.Prefetched++
			p.m.Mark("buffer.prefetched")
			p.Unpin(f)
		}
	}
	p.ahead.tasks--
}

// spare gives a frame whose page is clean, nil if there is none or the pool is
// needed for more than hints.
func (p *Pool) spare() *Frame {
	if p.reserve.free < len(p.frames)/2 || p.unpinned.Waiting() > 0 {
		return nil
	}
	return p.sweep(clean)
}
