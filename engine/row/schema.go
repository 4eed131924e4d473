package row

import (
	"errors"
	"fmt"
	"math"

	"tornpage/engine/invariant"
	"tornpage/engine/page"
)

// What Check and Add find; errors wrap one of them.
var (
	ErrNull  = errors.New("null in a NOT NULL column")
	ErrType  = errors.New("wrong type")
	ErrLimit = errors.New("too long")
)

// Schema is how the rows of a table are laid out: made once for a definition,
// never changed, for any number of users.
type Schema struct {
	name  string
	attrs []attr
	// fixed[i] is the offset of column i in a row's data if no column before
	// it is null or of variable width; -1 where that says nothing.
	fixed []int
}

// NewSchema lays out a valid definition. It keeps nothing of t but its strings.
func NewSchema(t *Table) *Schema {
	s := &Schema{name: t.Name, attrs: make([]attr, len(t.Columns)), fixed: make([]int, len(t.Columns))}
	at := 0
	for i := range t.Columns {
		a := newAttr(&t.Columns[i])
		s.attrs[i], s.fixed[i] = a, -1
		if at >= 0 {
			s.fixed[i] = at
			if a.size > 0 {
				s.fixed[i] = roundUp(at, a.align)
				at = s.fixed[i] + a.size
			} else {
				at = -1
			}
		}
	}
	return s
}

// Columns is the number of columns.
func (s *Schema) Columns() int { return len(s.attrs) }

// least is the size of the smallest tuple whose columns are not null where
// they must not be.
func (s *Schema) least() int {
	var empty Value
	size, nulls := 0, false
	for i := range s.attrs {
		if s.attrs[i].notNull {
			size = s.attrs[i].after(size, &empty)
		} else {
			nulls = true
		}
	}
	return hoff(len(s.attrs), nulls) + size
}

// hoff is where data begins in a heap tuple.
func hoff(atts int, nulls bool) int {
	if !nulls {
		return page.TupleHoff
	}
	return roundUp(page.TupleHeader+(atts+7)/8, page.Align)
}

// CheckColumn checks that the value may stand in column i.
func (s *Schema) CheckColumn(i int, v *Value) error {
	if i < 0 || i >= len(s.attrs) {
		return fmt.Errorf("column %d of table %q, which has %d: %w", i, s.name, len(s.attrs), ErrType)
	}
	return s.attrs[i].check(v)
}

func (a *attr) check(v *Value) error {
	switch {
	case v.IsNull():
		if a.notNull {
			return fmt.Errorf("column %q: %w; give a value", a.name, ErrNull)
		}
		return nil
	case v.Kind != a.kind:
		return fmt.Errorf("column %q is %v, the value %v: %w", a.name, a.kind, v.Kind, ErrType)
	case a.kind == Char && len(v.B) > a.len:
		return fmt.Errorf("column %q is char(%d), the value has %d bytes: %w", a.name, a.len, len(v.B), ErrLimit)
	case a.kind == Bool && v.N&^1 != 0:
		return fmt.Errorf("column %q is bool, the value %d: %w", a.name, v.N, ErrRange)
	case a.kind == Int4 && (v.N < math.MinInt32 || v.N > math.MaxInt32):
		return fmt.Errorf("column %q is int4, the value %d: %w", a.name, v.N, ErrRange)
	}
	return nil
}

// Check checks that the values make a row: number, types, nulls, length. Keys
// have a limit of their own: see Key.Check.
func (s *Schema) Check(values []Value) error {
	if len(values) != len(s.attrs) {
		return fmt.Errorf("%d values for the %d columns of table %q: %w", len(values), len(s.attrs), s.name, ErrType)
	}
	for i := range values {
		if err := s.attrs[i].check(&values[i]); err != nil {
			return err
		}
	}
	if n := s.Size(values); n > page.MaxTupleSize {
		return fmt.Errorf("row of table %q has %d bytes, header included, at most %d: %w; split it over several rows",
			s.name, n, page.MaxTupleSize, ErrLimit)
	}
	return nil
}

// Size is the number of bytes that AppendTuple makes.
func (s *Schema) Size(values []Value) int {
	size, nulls := 0, false
	for i := range values {
		if values[i].IsNull() {
			nulls = true
			continue
		}
		size = s.attrs[i].after(size, &values[i])
	}
	return hoff(len(s.attrs), nulls) + size
}

// AppendTuple builds the heap tuple of a row that Check accepts, in dst's
// spare capacity where that suffices: Xmin xid, no Xmax. Only the tuple is
// returned, as by page.NewTuple. Chars are padded.
func (s *Schema) AppendTuple(dst []byte, xid uint32, values []Value) page.Tuple {
	if len(values) != len(s.attrs) {
		invariant.Broken("R1", "%d values for the %d columns of table %q", len(values), len(s.attrs), s.name)
	}
	from := len(dst)
	mask := page.XmaxInvalid
	for i := range values {
		if values[i].IsNull() {
			mask |= page.HasNull
			break
		}
	}
	begin := hoff(len(values), mask&page.HasNull != 0)
	dst = append(dst, make([]byte, begin)...)
	for i := range values {
		v := &values[i]
		if v.IsNull() {
			continue
		}
		if v.Kind != s.attrs[i].kind {
			invariant.Broken("R1", "column %q is %v, the value %v", s.attrs[i].name, s.attrs[i].kind, v.Kind)
		}
		if s.attrs[i].size < 0 {
			mask |= page.HasVarWidth
		}
		if mask&page.HasNull != 0 {
			dst[from+page.TupleHeader+i/8] |= 1 << (i % 8)
		}
		dst = s.attrs[i].put(dst, from, v)
	}
	t := page.Tuple(dst[from:])
	t.SetXmin(xid)
	t.SetInfomask(mask)
	t.SetInfomask2(uint16(len(values)) & page.AttsMask)
	t.SetHoff(uint8(begin))
	return t
}
