package heap

import (
	"fmt"

	"tornpage/engine/page"
)

// Verdict answers a question about a transaction.
type Verdict uint8

// The verdicts. Ask: its status is not at hand; find it out, without a latch,
// and start over.
const (
	No Verdict = iota
	Yes
	Ask
)

// View decides what a reader sees.
type View interface {
	// Sees tells whether the transaction's effects belong to the view.
	Sees(xid uint32) Verdict
}

// Found is where a search ended.
type Found struct {
	Off      uint16 // the visible version's offset, 0: the row is absent
	Value    []byte // in the page
	Ask      uint32 // not 0: the status of this XID decides; search again with it
	Examined int    // versions of the row looked at
}

// Corrupt says that an item of a heap page is no row.
type Corrupt struct {
	ID     page.ID
	Off    uint16
	Reason string
}

// Error names place and next step.
func (c *Corrupt) Error() string {
	return fmt.Sprintf("%v item %d: %s; restore the page", c.ID, c.Off, c.Reason)
}

// frozen reports a version that counts as made before everything.
func frozen(t page.Tuple) bool { return t.Infomask()&page.XminFrozen == page.XminFrozen }

// xmaxOf is the XID that deleted or superseded t, 0 if none did.
func xmaxOf(t page.Tuple) uint32 {
	if t.Infomask()&(page.XmaxInvalid|page.XmaxLockOnly) != 0 {
		return 0
	}
	return t.Xmax()
}

// visible decides for one version.
func visible(t page.Tuple, v View) (verdict Verdict, ask uint32) {
	if verdict, ask = made(t, v); verdict != Yes {
		return verdict, ask
	}
	switch verdict, ask = ended(t, v); verdict {
	case No:
		return Yes, 0
	case Yes:
		return No, 0
	}
	return Ask, ask
}

// made tells whether v sees the making of the version.
func made(t page.Tuple, v View) (verdict Verdict, ask uint32) {
	if frozen(t) {
		return Yes, 0
	}
	xmin := t.Xmin()
	return v.Sees(xmin), xmin
}

// ended tells whether v sees its end.
func ended(t page.Tuple, v View) (verdict Verdict, ask uint32) {
	xmax := xmaxOf(t)
	if xmax == 0 {
		return No, 0
	}
	return v.Sees(xmax), xmax
}

// Find searches the page for the version of key that v sees. A page of zeros
// has no rows. The search for the key stands for an index, which would lead to
// the row's line pointer at once; it does not count as work.
func Find(id page.ID, p *page.Page, key int64, v View) (f Found, err error) {
	lines := p[page.HeaderSize : page.HeaderSize+page.ItemIDSize*int(p.MaxOffset())]
	for i := 0; i < len(lines); i += page.ItemIDSize {
		item := page.ItemID(le.Uint32(lines[i:]))
		if item.Flags() != page.Normal {
			continue
		}
		off := uint16(i/page.ItemIDSize + 1)
		// Most tuples are of other keys: only the key is looked at.
		from, n := item.Offset(), item.Len()
		if n < page.TupleHoff+keySize || from+n > page.Size {
			return f, &Corrupt{id, off, "no tuple"}
		}
		t := page.Tuple(p[from : from+n])
		hoff := t.Hoff()
		if hoff+keySize > n {
			return f, &Corrupt{id, off, "no tuple header"}
		}
		if int64(le.Uint64(t[hoff:])) != key {
			continue
		}
		f.Examined++
		_, value, ok := ParseRow(t.Data())
		if !ok {
			return f, &Corrupt{id, off, "tuple data is no key with a value"}
		}
		switch verdict, ask := visible(t, v); verdict {
		case Yes:
			f.Off, f.Value = off, value
			return f, nil
		case Ask:
			f.Ask = ask
			return f, nil
		}
	}
	return f, nil
}
