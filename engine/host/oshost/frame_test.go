package oshost

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/host"
)

func TestFramesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bodies := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 300), 1, 5).Draw(t, "bodies")
		var stream []byte
		for i, body := range bodies {
			cut := rapid.IntRange(0, len(body)).Draw(t, "cut")
			stream = appendFrame(stream, byte(i), body[:cut], body[cut:])
		}
		r := bytes.NewReader(stream)
		for i, want := range bodies {
			kind, got, err := readFrame(r, 300)
			require.NoError(t, err)
			require.Equal(t, byte(i), kind)
			require.True(t, bytes.Equal(want, got))
		}
		_, _, err := readFrame(r, 300)
		require.Equal(t, io.EOF, err)
	})
}

// Every damage of one bit is an error, and so is a stream that ends early.
func TestDamagedFrames(t *testing.T) {
	good := appendFrame(nil, frameMessage, []byte("hello"))
	for i := range good {
		for bit := range 8 {
			bad := slices.Clone(good)
			bad[i] ^= 1 << bit
			_, _, err := readFrame(bytes.NewReader(bad), 100)
			require.Error(t, err, "bit %d of byte %d", bit, i)
		}
		_, _, err := readFrame(bytes.NewReader(good[:i]), 100)
		require.Error(t, err, "the first %d bytes", i)
	}
	_, _, err := readFrame(bytes.NewReader(good), 4)
	require.ErrorIs(t, err, errFrame)
	require.ErrorContains(t, err, "length 6, want 1 to 5")
}

// A length that a peer claims allocates nothing much before bytes arrive.
func TestClaimedLengthAllocatesLittle(t *testing.T) {
	claim := binary.LittleEndian.AppendUint32(nil, host.MaxMessage)
	claim = append(claim, make([]byte, 100)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		_, _, err := readFrame(bytes.NewReader(claim), maxMessageBody)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(10*4*readStep))
}

func FuzzReadFrame(f *testing.F) {
	f.Add(appendFrame(nil, frameMessage, []byte("hello")))
	f.Add(appendFrame(nil, frameClose))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 1000
		kind, body, err := readFrame(bytes.NewReader(b), limit)
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(body), limit)
		want := appendFrame(nil, kind, body)
		require.Equal(t, want, b[:len(want)])
	})
}

func TestHelloReadsBack(t *testing.T) {
	name := rapid.StringN(0, -1, maxName)
	rapid.Check(t, func(t *rapid.T) {
		h := hello{stream: rapid.SampledFrom([]byte{streamDatagrams, streamConn}).Draw(t, "stream"),
			port: host.Port(rapid.Byte().Draw(t, "port")), boot: rapid.Uint64().Draw(t, "boot"),
			from: name.Draw(t, "from"), to: name.Draw(t, "to")}
		b := h.encode()
		require.LessOrEqual(t, len(b), maxHelloBody)
		got, err := decodeHello(b)
		require.NoError(t, err)
		require.Equal(t, h, got)
		for i := range b {
			_, err := decodeHello(b[:i])
			require.ErrorIs(t, err, errFrame)
		}
		_, err = decodeHello(append(b, 0))
		require.ErrorContains(t, err, "1 bytes after the end")
	})
}

func FuzzDecodeHello(f *testing.F) {
	h := hello{stream: streamConn, port: 3, boot: 9, from: "writer", to: "b2"}
	f.Add(h.encode())
	f.Add([]byte("torn\x01\x00\x01\x00aaaaaaaa\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeHello(b)
		if err != nil {
			require.ErrorIs(t, err, errFrame)
			return
		}
		require.Equal(t, b, h.encode())
	})
}

func TestChecksumIsCastagnoli(t *testing.T) {
	// The check value of CRC-32C (RFC 3720, appendix B.4, by its usual test input).
	require.Equal(t, uint32(0xe3069283), crc32.Checksum([]byte("123456789"), castagnoli))
}
