package vacuum

import (
	"tornpage/engine/heap"
	"tornpage/engine/page"
)

// sight is what a look at one pruned page found; its memory is used again.
type sight struct {
	rows       bool     // a line pointer leads to a row or to another: the page is not empty
	allVisible bool     // every snapshot, present and to come, sees every row
	cutoff     uint32   // the largest XID that this rests on
	live       uint64   // rows
	recent     uint64   // dead ones that must stay
	dead       []uint16 // dead line pointers
	free       int      // bytes for one more row
	ask        []uint32 // not empty: the fates of these XIDs are needed first
}

// look fills s from p (heap_page_is_all_visible and the counting part of
// lazy_scan_prune). Dead line pointers speak against all-visible: an index
// may lead there. lines is how many line pointers a page may have.
func (s *sight) look(p *page.Page, fates heap.Fates, lines int) {
	s.forget()
	s.allVisible = true
	unused, last := false, p.MaxOffset()
	for off := uint16(1); off <= last; off++ {
		switch p.ItemID(off).Flags() {
		case page.Unused:
			unused = true
		case page.Dead:
			s.dead = append(s.dead, off)
			s.allVisible = false
		case page.Redirect:
			s.rows = true
		case page.Normal:
			s.rows = true
			if t := p.Tuple(off); t != nil {
				s.judge(t, fates)
			} else {
				s.allVisible = false // heap's Check speaks of it
			}
		}
	}
	if !s.rows || len(s.ask) > 0 { // wal rule W8: an empty page is never marked
		s.allVisible = false
	}
	if unused || int(last) < lines {
		s.free = p.Free()
	}
}

func (s *sight) forget() { *s = sight{dead: s.dead[:0], ask: s.ask[:0]} }

// judge looks at one version.
func (s *sight) judge(t page.Tuple, fates heap.Fates) {
	if t.Infomask()&page.XminFrozen != page.XminFrozen {
		xmin := t.Xmin()
		switch s.fate(xmin, fates) {
		case heap.Gone:
			s.cutoff = max(s.cutoff, xmin)
		case heap.Recent:
			s.allVisible = false
		default: // running, aborted since the pruning, or not at hand
			s.allVisible = false
			return
		}
	}
	if t.Infomask()&(page.XmaxInvalid|page.XmaxLockOnly) != 0 || t.Xmax() == 0 {
		s.live++
		return
	}
	switch s.fate(t.Xmax(), fates) {
	case heap.Aborted:
		s.live++
	case heap.Running:
		s.live++
		s.allVisible = false
	default:
		s.recent++
		s.allVisible = false
	}
}

func (s *sight) fate(xid uint32, fates heap.Fates) heap.Fate {
	f := fates.Fate(xid)
	if f == heap.AskFate {
		s.ask = append(s.ask, xid)
	}
	return f
}
