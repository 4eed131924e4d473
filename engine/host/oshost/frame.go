package oshost

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"tornpage/engine/host"
)

// A frame is
//
//	length    4 bytes, little-endian: of kind and body
//	checksum  4 bytes: CRC-32C of kind and body
//	kind      1 byte
//	body
//
// TCP's 16-bit sum lets about one damaged segment in 65,536 pass, hence the
// checksum (Stone, Partridge, SIGCOMM 2000).
const frameHeader = 8

// The kinds of frames.
const (
	frameHello    = 1 // first on every TCP connection, from the dialler
	frameAccept   = 2 // answer to a hello for a connection
	frameRefuse   = 3 // the same: nobody listens to the port
	frameMessage  = 4 // of a connection; the body is the message
	frameClose    = 5 // last of a side that closed its connection
	frameDatagram = 6 // of a datagram stream; the body is port and datagram
)

// The longest bodies of frames, in bytes.
const (
	maxHelloBody    = 4 + 2 + 1 + 1 + 8 + 2*(1+maxName)
	maxDatagramBody = 1 + host.MaxDatagram
	maxMessageBody  = host.MaxMessage
)

// readStep is how much is allocated ahead of the bytes that have arrived.
const readStep = 64 << 10

// appendFrame appends a frame whose body is the parts in order.
func appendFrame(b []byte, kind byte, parts ...[]byte) []byte {
	start := len(b)
	b = append(b, make([]byte, frameHeader)...)
	b = append(b, kind)
	for _, part := range parts {
		b = append(b, part...)
	}
	content := b[start+frameHeader:]
	binary.LittleEndian.PutUint32(b[start:], uint32(len(content)))
	binary.LittleEndian.PutUint32(b[start+4:], crc32.Checksum(content, castagnoli))
	return b
}

// errFrame is what is wrong with foreign bytes, as against a broken connection.
var errFrame = errors.New("bad frame")

// errQueue is a peer that does not take what is sent to it.
var errQueue = errors.New("send queue full")

// readFrame reads one frame whose body has at most limit bytes. The error is
// an errFrame, or the reader's: io.EOF only between frames.
func readFrame(r io.Reader, limit int) (kind byte, body []byte, err error) {
	var header [frameHeader]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, nil, err
	}
	n := binary.LittleEndian.Uint32(header[:])
	if n == 0 || n > uint32(limit)+1 {
		return 0, nil, fmt.Errorf("%w: length %d, want 1 to %d", errFrame, n, limit+1)
	}
	content, err := readBytes(r, int(n))
	if err != nil {
		return 0, nil, err
	}
	want, got := binary.LittleEndian.Uint32(header[4:]), crc32.Checksum(content, castagnoli)
	if got != want {
		return 0, nil, fmt.Errorf("%w: checksum of %d bytes is %08x, want %08x", errFrame, n, got, want)
	}
	return content[0], content[1:], nil
}

// readBytes reads n bytes and allocates as they arrive (rule O2).
func readBytes(r io.Reader, n int) ([]byte, error) {
	var b []byte
	for len(b) < n {
		step := min(n-len(b), max(readStep, len(b)))
		b = append(b, make([]byte, step)...)
		if _, err := io.ReadFull(r, b[len(b)-step:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return b, nil
}

// hello says who dials whom and for what.
type hello struct {
	stream byte      // streamDatagrams or streamConn
	port   host.Port // of a connection
	boot   uint64    // of the dialler
	from   string
	to     string // a wrong one tells of addresses mixed up in a deployment
}

const (
	magic   = "torn"
	version = 1 // of the protocol; others are refused

	streamDatagrams = 1
	streamConn      = 2
)

// encode gives the body of a hello frame.
func (h *hello) encode() []byte {
	b := append([]byte(magic), 0, 0, h.stream, byte(h.port))
	binary.LittleEndian.PutUint16(b[4:], version)
	b = binary.LittleEndian.AppendUint64(b, h.boot)
	b = append(append(b, byte(len(h.from))), h.from...)
	return append(append(b, byte(len(h.to))), h.to...)
}

// decodeHello reads the body of a hello frame.
func decodeHello(b []byte) (hello, error) {
	if len(b) < 16 || string(b[:4]) != magic {
		return hello{}, fmt.Errorf("%w: %d bytes that do not begin with %q are no hello", errFrame, len(b), magic)
	}
	if v := binary.LittleEndian.Uint16(b[4:]); v != version {
		return hello{}, fmt.Errorf("%w: protocol version %d, want %d; run the same release everywhere", errFrame, v, version)
	}
	h := hello{stream: b[6], port: host.Port(b[7]), boot: binary.LittleEndian.Uint64(b[8:])}
	if h.stream != streamDatagrams && h.stream != streamConn {
		return hello{}, fmt.Errorf("%w: stream kind %d, want %d or %d", errFrame, h.stream, streamDatagrams, streamConn)
	}
	rest := b[16:]
	for _, name := range []*string{&h.from, &h.to} {
		if len(rest) < 1 || len(rest) < 1+int(rest[0]) {
			return hello{}, fmt.Errorf("%w: hello of %d bytes ends within a name", errFrame, len(b))
		}
		*name = string(rest[1 : 1+int(rest[0])])
		rest = rest[1+int(rest[0]):]
	}
	if len(rest) > 0 {
		return hello{}, fmt.Errorf("%w: %d bytes after the end of a hello", errFrame, len(rest))
	}
	return h, nil
}
