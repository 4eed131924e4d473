package buffer

import (
	"errors"

	"tornpage/engine"
)

// A full disk takes overwrites but no growth, so that some dirty pages can be
// written and others cannot. Reading has to go on (rule B10): while the disk is
// full, victims are clean pages, then pages that were not refused yet, and only
// then one that was.

// teller is a store that says itself that it is short of space: then the pool
// spares it the attempts before the first one has failed, too.
type teller interface {
	// Full reports that changed pages may be refused.
	Full() bool
}

// fullness is what a pool knows of space on disk.
type fullness struct {
	store   teller // nil: the store does not say
	refused int    // frames whose flag is set
}

// now tells whether victims are chosen for a full disk.
func (u *fullness) now() bool { return u.refused > 0 || u.store != nil && u.store.Full() }

// fitness is what a sweep looks for besides no pins and no recent use.
type fitness uint8

const (
	anyFrame  fitness = iota
	clean             // its page need not be written
	unrefused         // nor has writing it been refused
)

func (f *Frame) fits(want fitness) bool {
	switch want {
	case clean:
		return !f.mapped || !f.dirty
	case unrefused:
		return !f.refused
	}
	return true
}

// choose gives a frame to take, nil if all are pinned. last: if its page is
// refused, there is no other to try.
func (p *Pool) choose() (f *Frame, last bool) {
	if !p.full.now() {
		return p.sweep(anyFrame), false
	}
	if f = p.sweep(clean); f != nil {
		return f, false
	}
	if f = p.sweep(unrefused); f != nil {
		return f, false
	}
	return p.sweep(anyFrame), true
}

// notWritten handles an error of writing f, whose page is dirty again.
func (p *Pool) notWritten(f *Frame, err error) {
	if !errors.Is(err, engine.ErrFull) {
		p.Fail(err)
		return
	}
	p.m.Mark("buffer.refused")
	p.stats.Refused++
	if !f.refused {
		f.refused = true
		p.full.refused++
	}
}

// spaceReturned forgets what was refused, once a refused page was taken. That
// another page could be overwritten proves nothing.
func (p *Pool) spaceReturned() {
	for i := range p.frames {
		p.frames[i].refused = false
	}
	p.full.refused = 0
}
