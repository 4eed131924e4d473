package btree

import (
	"tornpage/engine/buffer"
	"tornpage/engine/page"
)

// Bound is an end of a range. Without a Tuple the range has no such end.
type Bound struct {
	Tuple []byte // a whole index tuple; the cursor keeps a copy
	// Compare orders Tuple (the first argument) against an entry; nil: the
	// tree's. One that looks at the leading key columns only makes all entries
	// equal that begin with the same values.
	Compare   func(bound, entry []byte) int
	Inclusive bool // entries equal to Tuple belong to the range
	// Exact: Tuple is an entry with its TID, and the range ends there, between
	// entries of one key: where an earlier scan stopped. Compare is nil.
	Exact bool
}

// Range says what a scan gives, and in which order.
type Range struct {
	From, To Bound
	Desc     bool // from To down to From
}

// Cursor is a scan under way. It gives the entries that were there all the
// time since Scan, each once and in order, and any of those that came or went
// meanwhile. Between calls it holds no page.
type Cursor struct {
	t        *Tree
	next     *Cursor // of the idle ones
	r        Range
	from, to []byte // the bounds' tuples
	buf      []byte // one leaf's entries, in the order they are given
	at       []uint32
	pos      int    // of the next entry
	last     []byte // the last entry of the leaf before, to go on from
	block    uint32 // the leaf that buf was copied from
	link     uint32 // its sibling in the scan's direction, 0: the scan ends
	epoch    uint64 // of the copy: links are good as long as no page is deleted
	barren   uint32 // leaves in a row that gave nothing
	started  bool
}

// Scan begins a scan. Close gives the cursor back.
func (t *Tree) Scan(r Range) *Cursor {
	c := t.cursors
	if c == nil {
		c = &Cursor{}
	} else {
		t.cursors = c.next
	}
	*c = Cursor{t: t, r: r, buf: c.buf[:0], at: c.at[:0], last: c.last[:0],
		from: append(c.from[:0], r.From.Tuple...), to: append(c.to[:0], r.To.Tuple...)}
	c.bind(&c.r.From, c.from)
	c.bind(&c.r.To, c.to)
	return c
}

func (c *Cursor) bind(b *Bound, tuple []byte) {
	if b.Tuple != nil {
		b.Tuple = tuple
	}
}

// Close ends the scan. The cursor is not used again.
func (c *Cursor) Close() {
	c.next, c.t.cursors = c.t.cursors, c
}

// Next gives the next entry: a whole index tuple, valid until the next call,
// and its row. ok false: there is none, or err says why.
func (c *Cursor) Next() (tuple []byte, tid page.TID, ok bool, err error) {
	for c.pos == len(c.at) {
		if c.started && c.link == 0 {
			return nil, tid, false, nil
		}
		if err := c.load(); err != nil {
			return nil, tid, false, err
		}
	}
	it := c.entry(c.pos)
	c.pos++
	return it, it.TID(), true, nil
}

func (c *Cursor) entry(i int) page.IndexTuple {
	from, to := c.at[i], uint32(len(c.buf))
	if i+1 < len(c.at) {
		to = c.at[i+1]
	}
	return page.IndexTuple(c.buf[from:to:to])
}

// low is the place of the range's lower end, high of its upper end.
func (c *Cursor) low() key {
	return c.place(&c.r.From, -1, c.r.From.Inclusive)
}

func (c *Cursor) high() key {
	return c.place(&c.r.To, 1, !c.r.To.Inclusive)
}

// place is a bound's place: before or behind all entries that are equal to it.
func (c *Cursor) place(b *Bound, open int8, before bool) key {
	if b.Tuple == nil {
		return key{inf: open}
	}
	if b.Exact {
		k := c.t.exactly(b.Tuple)
		if !before {
			k.rank++
		}
		return k
	}
	k := key{tuple: b.Tuple, cmp: b.Compare, rank: rankHigh, prefix: true}
	if b.Compare == nil {
		k.cmp, k.prefix = c.t.cfg.Compare, false
	}
	if before {
		k.rank = rankLow
	}
	return k
}

// load copies the next leaf's entries.
func (c *Cursor) load() error {
	t := c.t
	o := t.begin(0, false)
	defer t.end(o)
	if err := t.open(); err != nil {
		return err
	}
	if n := len(c.at); n > 0 {
		c.last = append(c.last[:0], c.entry(n-1)...)
	}
	c.buf, c.at, c.pos = c.buf[:0], c.at[:0], 0
	f, q, err := c.arrive(o)
	if err != nil {
		return err
	}
	defer t.leave(f, shared)
	if c.epoch != t.epoch {
		c.barren = 0
	}
	c.started, c.block, c.epoch = true, f.ID().Block, t.epoch
	if c.r.Desc {
		err = c.copyDown(f, q)
	} else {
		err = c.copyUp(f, q)
	}
	if c.barren++; len(c.at) > 0 {
		c.barren = 0
	}
	if err == nil && t.lost(c.barren/2) { // each may have been looked for again
		err = t.corrupt(f, "the links between leaves run in a circle, or do not agree: %d leaves without an entry", c.barren)
	}
	return err
}

// arrive latches the leaf to go on with: the sibling, if the link to it can
// still be trusted, or else the one where the entries after the last begin.
func (c *Cursor) arrive(o *op) (*buffer.Frame, page.IndexOpaque, error) {
	t := c.t
	if c.started && c.epoch == t.epoch {
		if !c.r.Desc {
			return t.moveRight(o, &key{inf: -1}, c.link, 0, shared)
		}
		f, q, err := t.visit(c.link, 0, shared)
		if err != nil || q.Next == c.block && !q.Has(page.IndexDeleted) {
			return f, q, err // a half-dead leaf is as good as an empty one
		}
		t.leave(f, shared)
	}
	if c.started {
		t.m.Mark("btree.scan-again")
	}
	k := c.resume()
	return t.descend(o, &k, 0, shared)
}

// resume is where the entries that are still to be given begin.
func (c *Cursor) resume() key {
	switch {
	case len(c.last) > 0:
		return c.t.exactly(c.last)
	case c.r.Desc:
		return c.high()
	}
	return c.low()
}

// copyUp copies a leaf's entries from where the scan goes on to the range's
// upper end.
func (c *Cursor) copyUp(f *buffer.Frame, q page.IndexOpaque) error {
	p, from, to := f.Page(), c.resume(), c.high()
	off, ok := search(p, q, &from)
	c.link = q.Next
	for ; ok && off <= p.MaxOffset(); off++ {
		it := p.IndexTuple(off)
		if ok = it != nil; !ok {
			break
		}
		if len(c.last) > 0 && from.compare(it) == 0 {
			continue // it was the last one given
		}
		if to.compare(it) < 0 {
			c.link = 0
			return nil
		}
		c.keep(it)
	}
	if !ok {
		return c.t.corrupt(f, "entry %d of %d is damaged", off, p.MaxOffset())
	}
	// Nothing on later pages is at or below the high key.
	if q.Next != 0 && to.inf == 0 {
		if high := p.IndexTuple(1); high != nil && to.compare(high) <= 0 {
			c.link = 0
		}
	}
	return nil
}

// copyDown copies a leaf's entries from where the scan goes on down to the
// range's lower end.
func (c *Cursor) copyDown(f *buffer.Frame, q page.IndexOpaque) error {
	p, from, to := f.Page(), c.low(), c.resume()
	off, ok := search(p, q, &to)
	c.link = q.Prev
	for ok && off > q.First() {
		off--
		it := p.IndexTuple(off)
		if ok = it != nil; !ok {
			break
		}
		if from.compare(it) > 0 {
			c.link = 0
			return nil
		}
		c.keep(it)
	}
	if !ok {
		return c.t.corrupt(f, "entry %d of %d is damaged", off, p.MaxOffset())
	}
	return nil
}

func (c *Cursor) keep(it page.IndexTuple) {
	c.at = append(c.at, uint32(len(c.buf)))
	c.buf = append(c.buf, it...)
}

// Lookup appends to dst the rows of all entries whose key equals tuple's, in
// order. Warm, it does not allocate.
func (t *Tree) Lookup(tuple []byte, dst []page.TID) ([]page.TID, error) {
	o := t.begin(0, false)
	defer t.end(o)
	k := key{tuple: tuple, cmp: t.cfg.Compare, rank: rankLow}
	f, q, err := t.descend(o, &k, 0, shared)
	if err != nil {
		return dst, err
	}
	for steps := uint32(0); ; steps++ {
		more := false
		dst, more, err = t.equal(f, q, &k, dst)
		if err == nil && t.lost(steps) {
			err = t.corrupt(f, "right links run in a circle: %d leaves of one key", steps)
		}
		t.leave(f, shared)
		if err != nil || !more {
			return dst, err
		}
		if f, q, err = t.moveRight(o, &key{inf: -1}, q.Next, 0, shared); err != nil {
			return dst, err
		}
	}
}

// equal appends the rows of a leaf's entries that have k's key. more: the next
// leaf may have some.
func (t *Tree) equal(f *buffer.Frame, q page.IndexOpaque, k *key, dst []page.TID) (rows []page.TID, more bool, err error) {
	p := f.Page()
	off, ok := search(p, q, k)
	for ; ok && off <= p.MaxOffset(); off++ {
		it := p.IndexTuple(off)
		if ok = it != nil; !ok {
			break
		}
		if k.cmp(k.tuple, it) != 0 {
			return dst, false, nil
		}
		dst = append(dst, it.TID())
	}
	if !ok {
		return dst, false, t.corrupt(f, "entry %d of %d is damaged", off, p.MaxOffset())
	}
	if q.Next == 0 {
		return dst, false, nil
	}
	high := p.IndexTuple(1)
	return dst, high != nil && k.cmp(k.tuple, high) >= 0, nil
}
