package row

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Value is a value of a column. The zero Value is null.
type Value struct {
	Kind Type   // 0: null
	N    int64  // Int4, Int8, Bool (0 or 1), Timestamp
	B    []byte // Text, Bytea, Char; decoded values point into what they were decoded from
}

// Null is the null value, of any type.
func Null() Value { return Value{} }

// NewInt4 is an int4.
func NewInt4(n int32) Value { return Value{Kind: Int4, N: int64(n)} }

// NewInt8 is an int8.
func NewInt8(n int64) Value { return Value{Kind: Int8, N: n} }

// NewText is a text.
func NewText(s string) Value { return Value{Kind: Text, B: []byte(s)} }

// NewBytea is a bytea, which keeps b.
func NewBytea(b []byte) Value { return Value{Kind: Bytea, B: b} }

// NewBool is a bool.
func NewBool(b bool) Value {
	v := Value{Kind: Bool}
	if b {
		v.N = 1
	}
	return v
}

// NewChar is a char(n), padded or not.
func NewChar(s string) Value { return Value{Kind: Char, B: []byte(s)} }

// NewTimestamp is a timestamp of so many microseconds since 2000-01-01 UTC.
func NewTimestamp(us int64) Value { return Value{Kind: Timestamp, N: us} }

// IsNull reports a null.
func (v Value) IsNull() bool { return v.Kind == 0 }

// String gives numbers in decimal, texts quoted, bytea in hexadecimal, "null".
func (v Value) String() string {
	switch v.Kind {
	case 0:
		return "null"
	case Text:
		return strconv.Quote(string(v.B))
	case Char:
		return strconv.Quote(string(trim(v.B)))
	case Bytea:
		return fmt.Sprintf("\\x%x", v.B)
	case Bool:
		return strconv.FormatBool(v.N != 0)
	}
	return strconv.FormatInt(v.N, 10)
}

// trim cuts the blanks that a char is padded with.
func trim(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return b
}

// Compare orders values of one type, null above all others. Values of
// different types are ordered by type, so that the order is total.
func Compare(a, b Value) int {
	switch {
	case a.Kind == 0 || b.Kind == 0:
		return cmp.Compare(nullRank(a), nullRank(b))
	case a.Kind != b.Kind:
		return cmp.Compare(a.Kind, b.Kind)
	case a.Kind == Char:
		return bytes.Compare(trim(a.B), trim(b.B))
	case a.Kind.Bytes():
		return bytes.Compare(a.B, b.B)
	}
	return cmp.Compare(a.N, b.N)
}

func nullRank(v Value) int {
	if v.IsNull() {
		return 1
	}
	return 0
}

// ErrRange says that a number is out of its type's range.
var ErrRange = errors.New("out of range")

// Add is v plus delta, numbers of one type. A null on either side gives null;
// an overflow gives ErrRange, another type ErrType.
func Add(v, delta Value) (Value, error) {
	if v.IsNull() || delta.IsNull() {
		return Value{}, nil
	}
	if v.Kind != delta.Kind || v.Kind != Int4 && v.Kind != Int8 {
		return Value{}, fmt.Errorf("%v plus %v: %w; add an int4 to an int4 or an int8 to an int8", v.Kind, delta.Kind, ErrType)
	}
	sum := v.N + delta.N
	if (sum > v.N) != (delta.N > 0) && delta.N != 0 || v.Kind == Int4 && (sum < math.MinInt32 || sum > math.MaxInt32) {
		return Value{}, fmt.Errorf("%d plus %d: %v %w; use a wider column", v.N, delta.N, v.Kind, ErrRange)
	}
	return Value{Kind: v.Kind, N: sum}, nil
}
