package buffer

import "tornpage/engine/page"

// PinNew is Pin for a block that the caller knows to be new at the call: no
// record has made it since its relation was last cut there (pager.Unmade).
// Storage is then not asked for it: the page is zeros. Who meets it during the
// call may make it, and the caller gets what he made.
func (p *Pool) PinNew(id page.ID) (*Frame, error) { return p.pin(id, true) }

// untouched tells that page id, which is in no frame, has been in none since
// taken: otherwise somebody may have made it, and it was evicted since.
func (p *Pool) untouched(id page.ID, taken uint64) bool {
	_, exact := p.lsns.get(id)
	return !exact && p.taken == taken
}

// blank makes f, which the caller has pinned, page id of zeros.
func (p *Pool) blank(f *Frame, id page.ID) *Frame {
	p.take(f, id)
	f.page = page.Page{}
	p.stats.Made++
	return f
}

// Drop forgets the blocks of rel from block from on, changed or not, without
// writing them, and what is remembered of them: a page that is made there later
// begins anew (rule B9). It blocks while such a page is read, written or
// pinned; the caller holds no pin on one, and has seen to it that nobody asks
// for one any more: its truncation is in the log.
func (p *Pool) Drop(rel page.Rel, from uint32) {
	p.lsns.forget(rel, from)
	for i := range p.frames {
		f := &p.frames[i]
		f.cut = f.cut || f.mapped && f.id.Rel == rel && f.id.Block >= from
	}
	for i := range p.frames {
		f := &p.frames[i]
		for f.cut && f.id.Rel == rel && f.id.Block >= from {
			if f.pins > 0 { // whoever reads or writes it has it pinned
				p.dropping.Wait()
				continue
			}
			f.dirty = false
			p.unmap(f)
			p.stats.Dropped++
			p.unpinned.Signal()
		}
	}
}
