package row

import (
	"cmp"
	"fmt"

	"tornpage/engine/page"
)

// Compare orders two entries by their keys, TIDs aside: entries, pivots and
// search tuples. What is not there is below all (R4), save for a search
// tuple's columns. It never panics, whatever the bytes.
func (k *Key) Compare(a, b []byte) int { return k.ComparePrefix(a, b, len(k.attrs)) }

// ComparePrefix compares the first n columns.
func (k *Key) ComparePrefix(a, b []byte, n int) int {
	x, y := open(a, len(k.attrs)), open(b, len(k.attrs))
	if x.any {
		n = min(n, x.atts)
	}
	if y.any {
		n = min(n, y.atts)
	}
	for i := range n {
		if i >= x.atts || i >= y.atts {
			return cmp.Compare(min(x.atts, n), min(y.atts, n))
		}
		t := &k.attrs[i]
		p, q := x.next(t, i), y.next(t, i)
		c := cmp.Compare(p.rank, q.rank)
		switch {
		case p.rank == rankGone || q.rank == rankGone:
			if c != 0 || p.rank == rankGone {
				return c // below all in either direction; both: nothing more to compare
			}
		case c == 0 && p.rank == rankThere:
			c = t.compare(p.data, q.data)
		}
		if c != 0 {
			if t.desc {
				return -c
			}
			return c
		}
	}
	return 0
}

// entry is an index tuple that is walked through.
type entry struct {
	bitmap []byte // nil: nothing is null
	data   []byte // from the tuple's start
	at     int
	atts   int
	any    bool // absent columns equal all
}

// field of an entry: absent below there below null.
type field struct {
	rank int
	data []byte
}

const (
	rankGone = iota
	rankThere
	rankNull
)

func open(t []byte, atts int) entry {
	e := entry{atts: atts, at: keyHead, data: t}
	if len(t) < keyHead {
		return e
	}
	info := le.Uint16(t[6:])
	if info&keyAlt != 0 {
		offset := le.Uint16(t[4:])
		e.atts = min(atts, int(offset&pivotAttrs))
		e.any = offset&pivotAny != 0
	}
	if info&keyNulls != 0 {
		e.at = keyHeadNul
		if len(t) < keyHeadNul {
			e.at = len(t)
			return e
		}
		e.bitmap = t[keyHead:keyHeadNul]
	}
	return e
}

func (e *entry) next(a *attr, i int) field {
	if isNull(e.bitmap, i) {
		return field{rank: rankNull}
	}
	data, end, ok := a.field(e.data, e.at)
	if !ok {
		e.at = len(e.data)
		return field{}
	}
	e.at = end
	return field{rankThere, data}
}

// Comparator is Compare, faster where the key is one int4 or one int8.
func (k *Key) Comparator() func(a, b []byte) int {
	if len(k.attrs) != 1 {
		return k.Compare
	}
	desc := k.attrs[0].desc
	switch k.attrs[0].kind {
	case Int4:
		return func(a, b []byte) int {
			if !plain(a) || !plain(b) {
				return k.Compare(a, b)
			}
			x, y := int32(le.Uint32(a[keyHead:])), int32(le.Uint32(b[keyHead:]))
			if desc {
				x, y = y, x
			}
			return cmp.Compare(x, y)
		}
	case Int8, Timestamp:
		return func(a, b []byte) int {
			if !plain(a) || !plain(b) {
				return k.Compare(a, b)
			}
			x, y := int64(le.Uint64(a[keyHead:])), int64(le.Uint64(b[keyHead:]))
			if desc {
				x, y = y, x
			}
			return cmp.Compare(x, y)
		}
	}
	return k.Compare
}

// plain reports that the first column of an entry, of a pivot or of a search
// tuple is there and not null, and that 8 bytes follow the header: all of it.
func plain(t []byte) bool {
	if len(t) < keyHead+8 {
		return false
	}
	info := le.Uint16(t[6:])
	return info&(keyNulls|keyAlt) == 0 || info&keyNulls == 0 && le.Uint16(t[4:])&pivotAttrs != 0
}

// Decode appends the values of an entry, or of the columns that a pivot has,
// to dst. They point into t. It checks all of t but its TID.
func (k *Key) Decode(t []byte, dst []Value) ([]Value, error) {
	if len(t) < keyHead {
		return dst, fmt.Errorf("entry of index %q has %d bytes, its header %d; reindex", k.name, len(t), keyHead)
	}
	info := le.Uint16(t[6:])
	if n := int(info & keySize); n != len(t) || n%page.Align != 0 {
		return dst, fmt.Errorf("entry of index %q of %d bytes says %d, want a multiple of %d; reindex", k.name, len(t), n, page.Align)
	}
	if info&keyNulls != 0 && len(t) < keyHeadNul {
		return dst, fmt.Errorf("entry of index %q has %d bytes and nulls, want %d; reindex", k.name, len(t), keyHeadNul)
	}
	e := open(t, len(k.attrs))
	end, tail := len(t), 0
	if info&keyAlt != 0 && le.Uint16(t[4:])&pivotTID != 0 {
		tail = pivotTIDSize
	}
	n, variable := len(dst), uint16(0)
	for i := range e.atts {
		if isNull(e.bitmap, i) {
			dst = append(dst, Value{})
			continue
		}
		v, at, err := k.attrs[i].decode(t, e.at, 0)
		if err != nil {
			return dst[:n], fmt.Errorf("entry of index %q: %w", k.name, err)
		}
		if k.attrs[i].size < 0 {
			variable = keyVar
		}
		dst, e.at = append(dst, v), at
	}
	if want := roundUp(e.at, page.Align) + tail; want != end || variable != info&keyVar {
		return dst[:n], fmt.Errorf("entry of index %q ends at byte %d with t_info %04x, its key wants %d and %04x; reindex",
			k.name, end, info, want, info&^keyVar|variable)
	}
	return dst, nil
}

// Validate is Decode without the values.
func (k *Key) Validate(t []byte) error {
	var values [MaxKey]Value
	_, err := k.Decode(t, values[:0])
	return err
}
