package heap

import (
	"tornpage/engine/host"
	"tornpage/engine/page"
)

// Scan gives the versions that a transaction sees, block by block. It holds no
// pin between two calls of Next.
type Scan struct {
	h     *Heap
	x     Xact
	next  *Scan // idle
	block uint32
	end   uint32 // blocks when the scan began: later ones hold nothing it sees
	rows  []scanned
	at    int
	bytes []byte // the tuples of rows, one after the other
	roots [page.MaxItems + 1]uint16
}

type scanned struct {
	off, root uint16
	from, to  int // in bytes
}

// readAhead is how many blocks ahead of itself a scan asks for; the pool reads
// a few at a time, and drops hints that are too many for it.
const readAhead = 8

// Scan begins a scan of the whole table. Close ends it.
func (h *Heap) Scan(x Xact) (*Scan, error) {
	n, err := h.pg.Blocks(h.rel)
	if err != nil {
		return nil, err
	}
	s := h.scans
	if s == nil {
		s = &Scan{h: h}
	} else {
		h.scans, s.next = s.next, nil
	}
	s.x, s.block, s.end, s.at, s.rows = x, 0, n, 0, s.rows[:0]
	for b := range min(n, readAhead) {
		h.pg.Pool().Prefetch(h.id(b))
	}
	return s, nil
}

// From makes a scan that has given nothing yet begin with a later block.
func (s *Scan) From(block uint32) { s.block = min(block, s.end) }

// Close gives the scan's memory back.
func (s *Scan) Close() {
	s.x = nil
	s.next, s.h.scans = s.h.scans, s
}

// Next gives the next row, valid until the next call. ok false: there is none.
func (s *Scan) Next() (row Row, ok bool, err error) {
	for s.at == len(s.rows) {
		if s.block == s.end {
			return Row{}, false, nil
		}
		if err := s.fill(); err != nil {
			return Row{}, false, err
		}
		s.block++
	}
	r := s.rows[s.at]
	s.at++
	b := s.block - 1
	return Row{TID: page.TID{Block: b, Offset: r.off}, Root: page.TID{Block: b, Offset: r.root},
		Tuple: page.Tuple(s.bytes[r.from:r.to:r.to])}, true, nil
}

// fill copies what is visible on the scan's block, and lets others run.
func (s *Scan) fill() error {
	h := s.h
	o := h.take()
	defer h.give(o)
	if ahead := s.block + readAhead; ahead > s.block && ahead < s.end {
		h.pg.Pool().Prefetch(h.id(ahead))
	}
	for {
		f, err := h.read(s.block)
		if err != nil || f == nil { // nil: the table was cut
			s.rows, s.at = s.rows[:0], 0
			return err
		}
		err = s.copy(o, f.Page())
		o.prune = len(o.ask) == 0 && h.worthPruning(f.Page(), s.x)
		h.done(f)
		if err != nil {
			return err
		}
		if len(o.ask) == 0 {
			break
		}
		if err := o.resolve(s.x); err != nil {
			return err
		}
	}
	h.m.Pay()
	return o.pruneIfWorth(s.x, s.block)
}

// copy copies what s.x sees on the page, or asks for fates.
func (s *Scan) copy(o *op, p *page.Page) error {
	s.rows, s.at, s.bytes = s.rows[:0], 0, s.bytes[:0]
	heapOnly, looked := false, 0
	all := p.Flags()&page.AllVisible != 0
	for off, last := uint16(1), p.MaxOffset(); off <= last; off++ {
		if p.ItemID(off).Flags() != page.Normal {
			continue
		}
		t := p.Tuple(off)
		if t == nil {
			return s.h.tupleOrNone(p, page.TID{Block: s.block, Offset: off})
		}
		looked++
		if !all {
			switch verdict, xid := visible(t, s.x); verdict {
			case Ask:
				o.ask = append(o.ask, xid)
				continue
			case No:
				continue
			}
		}
		heapOnly = heapOnly || t.Infomask2()&page.HeapOnly != 0
		from := len(s.bytes)
		s.bytes = append(s.bytes, t...)
		s.rows = append(s.rows, scanned{off, off, from, len(s.bytes)})
	}
	s.h.m.Charge(host.WorkTuple, looked)
	if heapOnly && len(o.ask) == 0 {
		s.findRoots(p)
	}
	return nil
}

// findRoots sets the roots of heap-only versions (heap_get_root_tuples).
func (s *Scan) findRoots(p *page.Page) {
	last := p.MaxOffset()
	clear(s.roots[:last+1])
	for off := uint16(1); off <= last; off++ {
		for c := beginChain(p, off); ; {
			at, t := c.next()
			if t == nil || at != off && s.roots[at] != 0 {
				break
			}
			s.roots[at] = off
		}
	}
	for i := range s.rows {
		if r := s.roots[s.rows[i].off]; r != 0 {
			s.rows[i].root = r
		}
	}
}
