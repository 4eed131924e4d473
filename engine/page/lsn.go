package page

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
