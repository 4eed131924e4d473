package row

import (
	"fmt"
	"hash/crc32"
)

// A stored definition is a head, magic, version and CRC-32C of all other
// bytes, and a body. Integers are little endian. The largest has 5,755 bytes.
const (
	defMagic   = 0x4454 // "TD"
	defVersion = 1
	defHead    = 8 // magic u16, version u8, zero u8, CRC u32

	// MaxDefinition bounds the bytes of a stored definition.
	MaxDefinition = defHead + 1 + MaxName + 3 + MaxColumns*(1+MaxName+4) + MaxIndexes*(1+MaxName+3+2*MaxKey)

	flagNotNull = 1
	flagUnique  = 1
	flagPrimary = 2
	flagDesc    = 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:4], castagnoli), castagnoli, b[defHead:])
}

// AppendTable appends the stored form of a definition, which must be valid.
func AppendTable(dst []byte, t *Table) []byte {
	from := len(dst)
	dst = append(dst, make([]byte, defHead)...)
	le.PutUint16(dst[from:], defMagic)
	dst[from+2] = defVersion
	dst = appendName(dst, t.Name)
	dst = append(dst, byte(t.Fill), byte(len(t.Columns)), byte(len(t.Indexes)))
	for i := range t.Columns {
		c := &t.Columns[i]
		dst = appendName(dst, c.Name)
		dst = append(dst, byte(c.Type), flag(c.NotNull, flagNotNull))
		dst = le.AppendUint16(dst, uint16(c.Len))
	}
	for i := range t.Indexes {
		dst = appendIndex(dst, &t.Indexes[i])
	}
	le.PutUint32(dst[from+4:], sum(dst[from:]))
	return dst
}

func appendIndex(dst []byte, x *Index) []byte {
	dst = appendName(dst, x.Name)
	dst = append(dst, flag(x.Unique, flagUnique)|flag(x.Primary, flagPrimary), byte(x.Fill), byte(len(x.Columns)))
	for _, c := range x.Columns {
		dst = append(dst, byte(c.Column), flag(c.Desc, flagDesc))
	}
	return dst
}

func appendName(dst []byte, s string) []byte { return append(append(dst, byte(len(s))), s...) }

func flag(set bool, bit byte) byte {
	if set {
		return bit
	}
	return 0
}

// DefError says where a stored definition is wrong.
type DefError struct {
	Field     string
	Offset    int // bytes from its start
	Got, Want uint64
}

// Error names the field and both values.
func (e *DefError) Error() string {
	return fmt.Sprintf("stored definition, byte %d: %s is %d, want %d (or at most that); restore the catalog",
		e.Offset, e.Field, e.Got, e.Want)
}

// defReader takes a definition apart. After an error it gives zeros.
type defReader struct {
	b   []byte
	at  int
	err error
}

func (r *defReader) fail(field string, at int, got, want uint64) {
	if r.err == nil {
		r.err = &DefError{field, at, got, want}
	}
}

func (r *defReader) take(n int, field string) []byte {
	if r.err != nil {
		return nil
	}
	if have := len(r.b) - r.at; n > have {
		r.fail("length before the end of "+field, r.at, uint64(have), uint64(n))
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

func (r *defReader) u8(field string, most int) int {
	b := r.take(1, field)
	if b == nil {
		return 0
	}
	if int(b[0]) > most {
		r.fail(field, r.at-1, uint64(b[0]), uint64(most))
		return 0
	}
	return int(b[0])
}

func (r *defReader) name(field string) string {
	return string(r.take(r.u8("length of the "+field, MaxName), field))
}

// DecodeTable decodes a stored definition and validates it.
func DecodeTable(b []byte) (*Table, error) {
	r := defReader{b: b}
	r.head()
	t := &Table{Name: r.name("table's name"), Fill: r.u8("fill factor", 100)}
	columns, indexes := r.u8("number of columns", MaxColumns), r.u8("number of indexes", MaxIndexes)
	for i := 0; i < columns && r.err == nil; i++ {
		c := Column{Name: r.name("column's name"), Type: Type(r.u8("type", int(types)-1)),
			NotNull: r.u8("column's flags", flagNotNull) != 0}
		if n := r.take(2, "column's length"); n != nil {
			c.Len = int(le.Uint16(n))
		}
		t.Columns = append(t.Columns, c)
	}
	for i := 0; i < indexes && r.err == nil; i++ {
		t.Indexes = append(t.Indexes, r.index())
	}
	if r.at < len(b) {
		r.fail("number of bytes after the end", r.at, uint64(len(b)-r.at), 0)
	}
	if r.err != nil {
		return nil, r.err
	}
	if err := t.Validate(); err != nil {
		return nil, fmt.Errorf("stored definition: %w; restore the catalog", err)
	}
	return t, nil
}

func (r *defReader) head() {
	switch n := len(r.b); {
	case n < defHead:
		r.fail("length", 0, uint64(n), defHead)
		return
	case n > MaxDefinition:
		r.fail("length", 0, uint64(n), MaxDefinition)
		return
	}
	if got, want := le.Uint32(r.b[4:]), sum(r.b); got != want {
		r.fail("CRC-32C", 4, uint64(got), uint64(want))
	}
	if got := le.Uint16(r.b); got != defMagic {
		r.fail("magic", 0, uint64(got), defMagic)
	}
	if got := le.Uint16(r.b[2:]); got != defVersion {
		r.fail("version", 2, uint64(got), defVersion)
	}
	r.at = defHead
}

func (r *defReader) index() Index {
	x := Index{Name: r.name("index's name")}
	flags := r.u8("index's flags", flagUnique|flagPrimary)
	x.Unique, x.Primary = flags&flagUnique != 0, flags&flagPrimary != 0
	x.Fill = r.u8("index's fill factor", 100)
	n := r.u8("number of the index's columns", MaxKey)
	for i := 0; i < n && r.err == nil; i++ {
		x.Columns = append(x.Columns, IndexColumn{Column: r.u8("index's column", MaxColumns-1), Desc: r.u8("direction", flagDesc) != 0})
	}
	return x
}

// AppendIndexDef appends the form that an index has within a definition: for
// messages that have a checksum of their own.
func AppendIndexDef(dst []byte, x *Index) []byte { return appendIndex(dst, x) }

// DecodeIndexDef decodes it and says how many bytes it had. Table.ValidateIndex
// does the rest.
func DecodeIndexDef(b []byte) (Index, int, error) {
	r := defReader{b: b}
	x := r.index()
	return x, r.at, r.err
}
