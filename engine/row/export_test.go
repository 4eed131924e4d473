package row

// Sealed is a definition's head around any body.
func Sealed(body []byte) []byte {
	b := append([]byte{0, 0, defVersion, 0, 0, 0, 0, 0}, body...)
	le.PutUint16(b, defMagic)
	le.PutUint32(b[4:], sum(b))
	return b
}
