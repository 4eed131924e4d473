package page

import "strconv"

// LSN is a position in the log, in bytes. It prints as PostgreSQL prints it.
type LSN uint64

// String gives the two halves in hexadecimal: 0/1FD8.
func (l LSN) String() string { return string(l.AppendTo(make([]byte, 0, 17))) }

// AppendTo appends String's text to b.
func (l LSN) AppendTo(b []byte) []byte {
	b = appendHex(b, uint32(l>>32))
	b = append(b, '/')
	return appendHex(b, uint32(l))
}

func appendHex(b []byte, v uint32) []byte {
	const digits = "0123456789ABCDEF"
	shift := 28
	for shift > 0 && v>>shift == 0 {
		shift -= 4
	}
	for ; shift >= 0; shift -= 4 {
		b = append(b, digits[v>>shift&0xF])
	}
	return b
}

// Rel is a relation's file number.
type Rel uint32

// ID names a page: a block of a relation.
type ID struct {
	Rel   Rel
	Block uint32
}

// String gives "rel 16384 block 7".
func (id ID) String() string {
	return "rel " + strconv.FormatUint(uint64(id.Rel), 10) + " block " + strconv.FormatUint(uint64(id.Block), 10)
}

// Less orders pages by relation, then block.
func (id ID) Less(o ID) bool {
	return id.Rel < o.Rel || id.Rel == o.Rel && id.Block < o.Block
}
