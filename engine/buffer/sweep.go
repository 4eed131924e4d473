package buffer

import (
	"errors"

	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
)

// maxUsage bounds how many turns of the hand a page survives without a use.
// Source: PostgreSQL's BM_MAX_USAGE_COUNT.
const maxUsage = 5

// victim gives an unmapped frame with one pin, the caller's. It blocks to
// write a dirty page, and while every frame is pinned.
func (p *Pool) victim() (*Frame, error) {
	for {
		if p.failed != nil {
			return nil, p.failed
		}
		f, last := p.choose()
		if f == nil {
			p.unpinned.Wait()
			continue
		}
		f.pins++
		if f.mapped && f.dirty {
			p.m.Mark("buffer.evicted-dirty")
			if err := p.writeBack(f); err != nil {
				p.Unpin(f)
				if !last && errors.Is(err, engine.ErrFull) {
					continue
				}
				return nil, err
			}
			p.stats.EvictedDirty++
		}
		if f.pins > 1 || f.dirty { // somebody found a use for it meanwhile
			p.Unpin(f)
			continue
		}
		p.drop(f)
		p.stats.Victims++
		return f, nil
	}
}

// sweep moves the hand to the next frame that fits without pins and uses, nil
// if there is none. Each turn takes one use from every frame that it passes and
// that fits, so that maxUsage+1 turns find one.
func (p *Pool) sweep(fits fitness) *Frame {
	for range (maxUsage + 1) * len(p.frames) {
		f := &p.frames[p.hand]
		p.hand++
		p.passed++
		if p.hand == len(p.frames) {
			p.hand = 0
		}
		switch {
		case f.pins > 0 || !f.fits(fits):
		case f.usage > 0:
			f.usage--
		default:
			return f
		}
	}
	return nil
}

// drop forgets the page in f and remembers its LSN.
func (p *Pool) drop(f *Frame) {
	if f.reading || f.writing {
		invariant.Broken("B2", "%v dropped during I/O (pins %d)", f.id, f.pins)
	}
	f.err = nil
	if !f.mapped {
		return
	}
	p.m.Mark("buffer.evicted")
	p.stats.Evicted++
	if lsn := page.LSNOf(f.id, &f.page); lsn > 0 && !f.cut {
		p.lsns.put(f.id, lsn)
	}
	p.unmap(f)
}

// reservation hands out pins in order of arrival (rule B7).
type reservation struct {
	free  int
	latch *host.Latch // the queue: its holder is the next to be served
	cond  *host.Cond
}

// Reserve blocks until the caller may hold n pins at once, whatever others
// that reserve do. n is at most Frames.
func (p *Pool) Reserve(n int) {
	r := &p.reserve
	if n > len(p.frames) {
		invariant.Broken("B7", "%d pins reserved in a pool of %d frames", n, len(p.frames))
	}
	r.latch.Lock()
	for r.free < n {
		r.cond.Wait()
	}
	r.free -= n
	r.latch.Unlock()
}

// Release gives n reserved pins back.
func (p *Pool) Release(n int) {
	r := &p.reserve
	r.free += n
	if r.free > len(p.frames) {
		invariant.Broken("B7", "%d more pins released than reserved", r.free-len(p.frames))
	}
	r.cond.Signal()
}
