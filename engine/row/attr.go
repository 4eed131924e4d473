package row

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
)

var le = binary.LittleEndian

// Headers of a varlena (postgres.h): one byte, 2n+1 for n bytes in all, up to
// 127; or four, 4n for n bytes in all. Other low bits mean compressed or out of
// line, which this engine has not.
const (
	varHeader = 4
	varShort  = 126 // most bytes of data under a header of one byte (VARATT_SHORT_MAX less it)
)

// attr is how values of a column are laid out.
type attr struct {
	name    string
	kind    Type
	size    int // bytes; -1: varlena
	align   int
	len     int // of Char
	notNull bool
	desc    bool // of a key
}

func newAttr(c *Column) attr {
	a := attr{name: c.Name, kind: c.Type, len: c.Len, notNull: c.NotNull}
	a.size, a.align = c.Type.size()
	return a
}

func roundUp(n, align int) int { return (n + align - 1) &^ (align - 1) }

// after is where the value ends if the one before it ends at offset at.
func (a *attr) after(at int, v *Value) int {
	if a.size > 0 {
		return roundUp(at, a.align) + a.size
	}
	n := len(v.B)
	if a.kind == Char {
		n = a.len
	}
	if n <= varShort {
		return at + 1 + n
	}
	return roundUp(at, varHeader) + varHeader + n
}

// put appends the value. b[from:] is what offsets count from.
func (a *attr) put(b []byte, from int, v *Value) []byte {
	switch {
	case a.size < 0:
		return a.putBytes(b, from, v.B)
	case a.size == 1:
		return append(b, byte(v.N))
	case a.size == 4:
		return le.AppendUint32(pad(b, from, 4), uint32(v.N))
	}
	return le.AppendUint64(pad(b, from, 8), uint64(v.N))
}

func (a *attr) putBytes(b []byte, from int, data []byte) []byte {
	n := len(data)
	if a.kind == Char {
		n = a.len
	}
	if n <= varShort {
		b = append(b, byte(n+1)<<1|1)
	} else {
		b = le.AppendUint32(pad(b, from, varHeader), uint32(n+varHeader)<<2)
	}
	b = append(b, data...)
	for n -= len(data); n > 0; {
		k := min(n, len(blanks))
		b = append(b, blanks[:k]...)
		n -= k
	}
	return b
}

const blanks = "                                                                "

func pad(b []byte, from, align int) []byte {
	for (len(b)-from)&(align-1) != 0 {
		b = append(b, 0)
	}
	return b
}

// field finds the value after offset at of b: its bytes without header, and
// where it ends. false: they are not all there.
func (a *attr) field(b []byte, at int) (data []byte, end int, ok bool) {
	if a.size < 0 {
		return varlena(b, at)
	}
	at = roundUp(at, a.align)
	end = at + a.size
	if end > len(b) {
		return nil, 0, false
	}
	return b[at:end:end], end, true
}

// varlena finds a varlena as PostgreSQL does: where a header could begin a byte
// that is not zero is one, a zero byte is padding before a header of 4 bytes.
func varlena(b []byte, at int) (data []byte, end int, ok bool) {
	if at >= len(b) {
		return nil, 0, false
	}
	if h := b[at]; h&1 != 0 {
		from := at + 1
		end = at + int(h>>1)
		if end < from || end > len(b) { // a total of 0 marks a value out of line
			return nil, 0, false
		}
		return b[from:end:end], end, true
	}
	if b[at] == 0 {
		at = roundUp(at, varHeader)
	}
	if at&(varHeader-1) != 0 || at+varHeader > len(b) {
		return nil, 0, false
	}
	h := le.Uint32(b[at:])
	n := uint64(h >> 2)
	if h&3 != 0 || n < varHeader || n > uint64(len(b)-at) {
		return nil, 0, false
	}
	end = at + int(n)
	return b[at+varHeader : end : end], end, true
}

// value is what the bytes of a field mean.
func (a *attr) value(data []byte) Value {
	switch a.size {
	case 1:
		return Value{Kind: a.kind, N: int64(data[0])}
	case 4:
		return Value{Kind: a.kind, N: int64(int32(le.Uint32(data)))}
	case 8:
		return Value{Kind: a.kind, N: int64(le.Uint64(data))}
	}
	return Value{Kind: a.kind, B: data}
}

// fits reports whether the bytes of a field are a value of the type.
func (a *attr) fits(data []byte) bool {
	switch a.kind {
	case Bool:
		return data[0] <= 1
	case Char:
		return len(data) == a.len
	}
	return true
}

// decode is field, value and fits, with errors that say what is wrong where.
// at counts from b's start; base is added in errors.
func (a *attr) decode(b []byte, at, base int) (v Value, end int, err error) {
	data, end, ok := a.field(b, at)
	if !ok {
		return v, 0, fmt.Errorf("%s column %q after byte %d of %d: not there, cut short, or with a header that is not known; restore the page",
			a.kind, a.name, base+at, base+len(b))
	}
	if !a.fits(data) {
		if a.kind == Bool {
			return v, 0, fmt.Errorf("bool column %q at byte %d is %d, want 0 or 1; restore the page", a.name, base+end-1, data[0])
		}
		return v, 0, fmt.Errorf("char column %q before byte %d has %d bytes, want %d; restore the page", a.name, base+end, len(data), a.len)
	}
	return a.value(data), end, nil
}

// compare orders the bytes of two fields, neither of them null; the direction
// is left to the caller.
func (a *attr) compare(x, y []byte) int {
	switch a.kind {
	case Int4:
		return cmp.Compare(int32(le.Uint32(x)), int32(le.Uint32(y)))
	case Int8, Timestamp:
		return cmp.Compare(int64(le.Uint64(x)), int64(le.Uint64(y)))
	case Char:
		return bytes.Compare(trim(x), trim(y))
	}
	return bytes.Compare(x, y)
}
