package row

import "strconv"

// Type is the type of a column and of a value.
type Type uint8

// The types. The zero Type is that of a null value; no column has it.
const (
	Int4      Type = iota + 1 // 32 bits, signed
	Int8                      // 64 bits, signed
	Text                      // bytes, compared as bytes
	Bytea                     // bytes, compared as bytes
	Bool                      // false is below true
	Char                      // char(n): n bytes, padded with blanks, which do not count
	Timestamp                 // microseconds since 2000-01-01 UTC, as in PostgreSQL
	types
)

var typeNames = [types]string{"null", "int4", "int8", "text", "bytea", "bool", "char", "timestamp"}

// String is the type's name in PostgreSQL; "null" for the zero Type.
func (t Type) String() string {
	if t < types {
		return typeNames[t]
	}
	return "type " + strconv.Itoa(int(t))
}

// Known reports a type that a column can have.
func (t Type) Known() bool { return t > 0 && t < types }

// Bytes reports whether values of the type hold bytes (Value.B) and not a
// number (Value.N).
func (t Type) Bytes() bool { return t == Text || t == Bytea || t == Char }

// size is typlen, and the alignment typalign (pg_type.dat); -1: a varlena,
// which is aligned to 4 bytes if its header has 4.
func (t Type) size() (size, align int) {
	switch t {
	case Int4:
		return 4, 4
	case Int8, Timestamp:
		return 8, 8
	case Bool:
		return 1, 1
	}
	return -1, 4
}
