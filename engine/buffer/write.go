package buffer

import (
	"slices"

	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
)

// Dirty appends the pages that have changes which storage was not given, or
// is just being given (rule B5), in page order.
func (p *Pool) Dirty(buf []page.ID) []page.ID {
	from := len(buf)
	for i := range p.frames {
		if f := &p.frames[i]; f.mapped && (f.dirty || f.writing) {
			buf = append(buf, f.id)
		}
	}
	slices.SortFunc(buf[from:], func(a, b page.ID) int {
		if a.Less(b) {
			return -1
		}
		return 1 // rule B1: no two are equal
	})
	return buf
}

// WriteBack gives the page to storage if it is still dirty, and blocks until
// storage has it. Changes made after its copy was taken stay dirty.
func (p *Pool) WriteBack(id page.ID) error {
	i, ok := p.index.get(id)
	if !ok {
		return p.failed // evicted, and so written, or never dirty
	}
	f := &p.frames[i]
	f.pins++
	err := p.writeBack(f)
	p.Unpin(f)
	return err
}

// writeBack writes a pinned frame's page if it is dirty.
func (p *Pool) writeBack(f *Frame) error {
	for {
		for f.writing || f.reading {
			f.io.Wait()
		}
		f.latch.RLock()
		if !f.writing {
			break
		}
		f.latch.RUnlock()
	}
	if p.failed != nil || !f.dirty {
		f.latch.RUnlock()
		return p.failed
	}
	c := p.takeCopy()
	*c = f.page
	p.m.Charge(host.WorkPageCopy, 1)
	f.dirty, f.writing = false, true
	f.latch.RUnlock()

	err := p.writeCopy(f.id, c)
	f.writing = false
	if err != nil {
		f.dirty = true
		p.notWritten(f, err)
	} else if f.refused {
		p.spaceReturned()
	}
	f.io.Broadcast()
	p.copies = append(p.copies, c)
	return err
}

// writeCopy is the write-ahead rule (B4) followed by the write.
func (p *Pool) writeCopy(id page.ID, c *page.Page) error {
	lsn := page.LSNOf(id, c)
	if err := p.store.WaitDurable(lsn); err != nil {
		return err
	}
	if d := p.store.Durable(); lsn > d {
		invariant.Broken("B4", "%v with LSN %v is to be written, the log is durable to %v", id, lsn, d)
	}
	if err := p.store.Evict(id, c); err != nil {
		return err
	}
	p.stats.Written++
	return nil
}

func (p *Pool) takeCopy() *page.Page {
	if n := len(p.copies); n > 0 {
		c := p.copies[n-1]
		p.copies = p.copies[:n-1]
		return c
	}
	return new(page.Page)
}
