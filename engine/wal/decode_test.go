package wal_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// rel and number of a block reference to rel 16384 block 7.
var blockTail = []byte{0x7F, 6, 0, 0, 5, 0, 0, 0, 0, 0x40, 0, 0, 7, 0, 0, 0}

func TestDecodeBlockByHand(t *testing.T) {
	b := raw([]byte{3, 0x20, 2, 0}, blockTail, []byte{255, 1}, []byte("dtm"))
	r, _, err := wal.Decode(b, 0x100, 0)
	require.NoError(t, err)
	require.Len(t, r.Blocks, 1)
	require.Equal(t, page.ID{Rel: 16384, Block: 7}, r.Blocks[0].ID)
	require.EqualValues(t, 3, r.Blocks[0].Slot)
	require.Equal(t, "dt m", string(r.Blocks[0].Data)+" "+string(r.Main))
	require.EqualValues(t, wal.Tablespace, r.Blocks[0].Space)
	require.EqualValues(t, wal.Database, r.Blocks[0].DB)

	skipped := raw([]byte{253, 1, 2}, []byte{252, 1, 2, 3, 4}, []byte{255, 1}, []byte("m"))
	r, _, err = wal.Decode(skipped, 0x100, 0)
	require.NoError(t, err, "origin and top-level XID are read over")
	require.Equal(t, "m", string(r.Main))
}

// raw is a record of the given parts with the right length and CRC.
func raw(parts ...[]byte) []byte {
	b := append(make([]byte, wal.RecordHeader), bytes.Join(parts, nil)...)
	b[17] = byte(wal.RmgrHeap)
	fixCRC(b)
	return b
}

// Every length and flag that does not fit is named, with its byte.
func TestDecodeErrors(t *testing.T) {
	image := func(length, hole uint16, flags byte) []byte {
		h := binary.LittleEndian.AppendUint16([]byte{0, 0x10, 0, 0}, length)
		return append(binary.LittleEndian.AppendUint16(h, hole), flags)
	}
	for want, b := range map[string][]byte{
		"byte 0: 5 bytes, a record header has 24":                        make([]byte, 5),
		"byte 24: block id 33, want 0 to 32":                             raw([]byte{33, 0, 0, 0}),
		"byte 24: block header cut off":                                  raw([]byte{0, 0}),
		"byte 24: data header cut off":                                   raw([]byte{255}),
		"byte 24: main data of 16777216 bytes":                           raw([]byte{254, 0, 0, 0, 1}),
		"byte 24: 1 bytes follow the headers, which announce 9":          raw([]byte{255, 9}, []byte("x")),
		"byte 24: data length 0, data flag true":                         raw([]byte{0, 0x20, 0, 0}, blockTail),
		"byte 24: block 0 is of the same relation as none":               raw([]byte{0, 0x80, 0, 0, 7, 0, 0, 0}),
		"byte 28: relation cut off":                                      raw([]byte{0, 0, 0, 0}, blockTail[:8]),
		"byte 40: block number cut off":                                  raw([]byte{0, 0, 0, 0}, blockTail[:13]),
		"byte 44: block id 0 after 0":                                    raw([]byte{0, 0, 0, 0}, blockTail, []byte{0, 0, 0, 0}, blockTail),
		"byte 24: block 0 announces 60000 bytes, the record has 44":      raw([]byte{0, 0x20, 0x60, 0xEA}, blockTail),
		"byte 28: image header cut off":                                  raw([]byte{0, 0x10, 0, 0, 1}),
		"byte 28: image flags 06: compressed":                            raw(image(100, 0, 6), blockTail),
		"byte 28: image of 9000 bytes, hole flag false":                  raw(image(9000, 0, 2), blockTail),
		"byte 28: image of 8192 bytes, hole flag true":                   raw(image(8192, 5, 3), blockTail),
		"byte 28: image of 100 bytes, hole flag false":                   raw(image(100, 0, 2), blockTail),
		"byte 28: hole at 101 of an image of 100 bytes, hole flag true":  raw(image(100, 101, 3), blockTail),
		"byte 28: hole at 24 of an image of 8192 bytes, hole flag false": raw(image(8192, 24, 2), blockTail),
		"byte 44: 1 bytes follow the headers, which announce 2":          raw([]byte{0, 0x20, 2, 0}, blockTail, []byte("x")),
	} {
		_, _, err := wal.Decode(b, 0x1FD8, 0)
		require.ErrorContains(t, err, "record at 0/1FD8, "+want)
	}
	b := raw([]byte{255, 1}, []byte("m"))
	b[17] = 22
	_, _, err := wal.Decode(b, 0, 0)
	require.ErrorContains(t, err, "resource manager 22, want below 22")
	_, _, err = wal.Decode(append(raw(), 0), 0, 0)
	require.ErrorContains(t, err, "length 24, have 25 bytes")
}
