package row

import (
	"fmt"

	"tornpage/engine/page"
)

// layout checks a tuple's header; bitmap is nil if nothing is null.
func (s *Schema) layout(t page.Tuple) (bitmap, data []byte, err error) {
	if len(t) < page.TupleHeader {
		return nil, nil, fmt.Errorf("tuple of table %q has %d bytes, its header %d; restore the page", s.name, len(t), page.TupleHeader)
	}
	if n := int(t.Infomask2() & page.AttsMask); n != len(s.attrs) {
		return nil, nil, fmt.Errorf("tuple has %d columns, table %q %d; restore the page or the catalog", n, s.name, len(s.attrs))
	}
	nulls := t.Infomask()&page.HasNull != 0
	begin := hoff(len(s.attrs), nulls)
	if t.Hoff() != begin || begin > len(t) {
		return nil, nil, fmt.Errorf("data of a tuple of table %q begins at byte %d of %d, want %d (nulls: %t); restore the page",
			s.name, t.Hoff(), len(t), begin, nulls)
	}
	if nulls {
		bitmap = t[page.TupleHeader:begin]
	}
	return bitmap, t[begin:], nil
}

// isNull reads a bitmap in which a set bit is a value that is there
// (t_bits). nil: nothing is null.
func isNull(bitmap []byte, i int) bool { return bitmap != nil && bitmap[i/8]>>(i%8)&1 == 0 }

// Decode appends the row's values to dst. They point into t. Every byte that
// is not padding is checked, so that what Decode accepts Check accepts too.
func (s *Schema) Decode(t page.Tuple, dst []Value) ([]Value, error) {
	bitmap, data, err := s.layout(t)
	if err != nil {
		return dst, err
	}
	n, at, base := len(dst), 0, t.Hoff()
	for i := range s.attrs {
		a := &s.attrs[i]
		if isNull(bitmap, i) {
			if a.notNull {
				return dst[:n], fmt.Errorf("column %q: %w; restore the page", a.name, ErrNull)
			}
			dst = append(dst, Value{})
			continue
		}
		v, end, err := a.decode(data, at, base)
		if err != nil {
			return dst[:n], err
		}
		dst, at = append(dst, v), end
	}
	if at != len(data) {
		return dst[:n], fmt.Errorf("tuple of table %q has %d bytes after the last column at byte %d; restore the page", s.name, len(data)-at, base+at)
	}
	return dst, nil
}

// DecodeColumn gives one column; it looks at the header and the columns up to
// it alone. The value points into t.
func (s *Schema) DecodeColumn(t page.Tuple, i int) (Value, error) {
	bitmap, data, err := s.layout(t)
	if err != nil {
		return Value{}, err
	}
	at, from := 0, 0
	if bitmap == nil && s.fixed[i] >= 0 {
		at, from = s.fixed[i], i
	}
	for j := from; j < i; j++ {
		if isNull(bitmap, j) {
			continue
		}
		end, ok := 0, false
		if _, end, ok = s.attrs[j].field(data, at); !ok {
			_, _, err := s.attrs[j].decode(data, at, t.Hoff())
			return Value{}, err
		}
		at = end
	}
	if isNull(bitmap, i) {
		return Value{}, nil
	}
	v, _, err := s.attrs[i].decode(data, at, t.Hoff())
	return v, err
}
