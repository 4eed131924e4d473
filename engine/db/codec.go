package db

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Bounds of messages.
const (
	MaxKeys    = 256     // of a request
	MaxValue   = 8192    // bytes of one value: more than fits on a page
	MaxMessage = 4 << 20 // bytes: MaxKeys+1 values and what is around them
	maxText    = 1 << 10 // bytes of an outcome's text; longer ones are cut
)

// A message is magic, version, kind, CRC-32C of all that follows and of these
// four bytes, body. Integers are little endian.
const (
	magic      = 0x5054 // "TP"
	version    = 1
	kindAsk    = 1
	kindAnswer = 2
	headSize   = 8
	flagUndo   = 1 // Request.Rollback
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// CodecError says which field of a message is wrong.
type CodecError struct {
	Field     string
	Offset    int // bytes from the start of the message
	Got, Want uint64
}

// Error names the field and both values.
func (e *CodecError) Error() string {
	return fmt.Sprintf("message offset %d: %s is %d, want %d (or at most that)", e.Offset, e.Field, e.Got, e.Want)
}

func begin(dst []byte, kind byte) []byte {
	dst = append(dst[:0], make([]byte, headSize)...)
	le.PutUint16(dst, magic)
	dst[2], dst[3] = version, kind
	return dst
}

func seal(b []byte) []byte {
	le.PutUint32(b[4:], sum(b))
	return b
}

func sum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:4], castagnoli), castagnoli, b[headSize:])
}

// AppendRequest encodes r over dst's memory.
func AppendRequest(dst []byte, r *Request) []byte {
	b := begin(dst, kindAsk)
	b = le.AppendUint64(b, r.ID)
	flags := byte(0)
	if r.Rollback {
		flags = flagUndo
	}
	b = append(b, byte(r.Op), flags)
	b = le.AppendUint64(b, uint64(r.AtLeast))
	b = le.AppendUint16(b, uint16(len(r.Keys)))
	for _, k := range r.Keys {
		b = le.AppendUint64(b, uint64(k))
	}
	return seal(appendValues(b, &r.Values))
}

// AppendResponse encodes r over dst's memory.
func AppendResponse(dst []byte, r *Response) []byte {
	b := begin(dst, kindAnswer)
	b = le.AppendUint64(b, r.ID)
	b = append(b, byte(r.Outcome.Status), byte(r.Outcome.Why))
	b = le.AppendUint64(b, uint64(r.Outcome.Token))
	text := r.Outcome.Text[:min(len(r.Outcome.Text), maxText)]
	b = le.AppendUint16(b, uint16(len(text)))
	b = append(b, text...)
	return seal(appendValues(b, &r.Values))
}

// appendValues writes the count, then of each value its length plus one (0:
// absent) and its bytes.
func appendValues(b []byte, v *Values) []byte {
	b = le.AppendUint16(b, uint16(v.Len()))
	for i := range v.Len() {
		x := v.At(i)
		if x == nil {
			b = le.AppendUint16(b, 0)
			continue
		}
		b = le.AppendUint16(b, uint16(len(x)+1))
		b = append(b, x...)
	}
	return b
}

// reader takes a message apart. After an error it gives zeros.
type reader struct {
	b   []byte
	at  int
	err error
}

func (r *reader) fail(field string, got, want uint64) {
	if r.err == nil {
		r.err = &CodecError{field, r.at, got, want}
	}
}

func (r *reader) take(n int, field string) []byte {
	if r.err != nil {
		return nil
	}
	if have := len(r.b) - r.at; n > have {
		r.fail("length of the message before the end of "+field, uint64(have), uint64(n))
		return nil
	}
	b := r.b[r.at : r.at+n]
	r.at += n
	return b
}

func (r *reader) u8(field string, most int) byte {
	b := r.take(1, field)
	if b == nil {
		return 0
	}
	if int(b[0]) > most {
		r.at--
		r.fail(field, uint64(b[0]), uint64(most))
		return 0
	}
	return b[0]
}

func (r *reader) u16(field string, most int) int {
	b := r.take(2, field)
	if b == nil {
		return 0
	}
	n := int(le.Uint16(b))
	if n > most {
		r.at -= 2
		r.fail(field, uint64(n), uint64(most))
		return 0
	}
	return n
}

func (r *reader) u64(field string) uint64 {
	if b := r.take(8, field); b != nil {
		return le.Uint64(b)
	}
	return 0
}

// head checks what all messages begin with.
func (r *reader) head(kind byte) {
	switch n := len(r.b); {
	case n < headSize:
		r.fail("length", uint64(n), headSize)
		return
	case n > MaxMessage:
		r.fail("length", uint64(n), MaxMessage)
		return
	}
	if got, want := le.Uint32(r.b[4:]), sum(r.b); got != want {
		r.at = 4
		r.fail("CRC-32C", uint64(got), uint64(want))
	}
	if got := le.Uint16(r.b); got != magic {
		r.fail("magic", uint64(got), magic)
	}
	r.at = 2
	if r.b[2] != version {
		r.fail("version", uint64(r.b[2]), version)
	}
	r.at = 3
	if r.b[3] != kind {
		r.fail("kind of message", uint64(r.b[3]), uint64(kind))
	}
	r.at = headSize
}

func (r *reader) values(v *Values) {
	v.Reset()
	for range r.u16("number of values", MaxKeys+1) {
		n := r.u16("length of a value", MaxValue+1)
		switch {
		case r.err != nil:
			return
		case n == 0:
			v.Add(nil)
		default:
			if b := r.take(n-1, "value"); b != nil {
				v.Add(b)
			}
		}
	}
}

func (r *reader) end() error {
	if r.at < len(r.b) {
		r.fail("bytes after the end", uint64(len(r.b)-r.at), 0)
	}
	return r.err
}

// DecodeRequest decodes b into q, whose memory it uses. After an error q's
// contents mean nothing.
func DecodeRequest(b []byte, q *Request) error {
	r := reader{b: b}
	r.head(kindAsk)
	q.ID = r.u64("request number")
	q.Reset(Op(r.u8("operation", int(ops)-1)))
	q.Rollback = r.u8("flags", flagUndo) == flagUndo
	q.AtLeast = Token(r.u64("token"))
	n := r.u16("number of keys", MaxKeys)
	keys := r.take(8*n, "keys")
	for i := 0; i < len(keys); i += 8 {
		q.Keys = append(q.Keys, int64(le.Uint64(keys[i:])))
	}
	r.values(&q.Values)
	return r.end()
}

// DecodeResponse decodes b into p, whose memory it uses. After an error p's
// contents mean nothing.
func DecodeResponse(b []byte, p *Response) error {
	r := reader{b: b}
	r.head(kindAnswer)
	p.Reset(r.u64("request number"))
	p.Outcome.Status = Status(r.u8("status", int(statuses)-1))
	p.Outcome.Why = Why(r.u8("reason", int(whys)-1))
	p.Outcome.Token = Token(r.u64("token"))
	if text := r.take(r.u16("length of the text", maxText), "text"); len(text) > 0 {
		p.Outcome.Text = string(text)
	}
	r.values(&p.Values)
	if r.err == nil && p.Outcome.Status == 0 {
		r.fail("status", 0, uint64(Committed))
	}
	return r.end()
}

// Validate checks that the request has the keys and values of its operation.
func (r *Request) Validate() error {
	keys, values := 1, 0
	switch r.Op {
	case OpGet:
	case OpPut:
		values = 1
	case OpCAS:
		values = 2
	case OpMultiPut:
		keys, values = max(1, len(r.Keys)), max(1, len(r.Keys))
	case OpMultiGet, OpView:
		keys = max(1, len(r.Keys))
	default:
		return fmt.Errorf("operation %d is not known", r.Op)
	}
	switch {
	case len(r.Keys) != keys || len(r.Keys) > MaxKeys:
		return fmt.Errorf("%v with %d keys, want %d, at most %d", r.Op, len(r.Keys), keys, MaxKeys)
	case r.Values.Len() != values:
		return fmt.Errorf("%v with %d values, want %d", r.Op, r.Values.Len(), values)
	case r.Rollback && r.Op != OpMultiPut:
		return fmt.Errorf("%v cannot be rolled back, multi-put can", r.Op)
	}
	for i := range values {
		if n := len(r.Values.At(i)); n > MaxValue {
			return fmt.Errorf("value %d of %v has %d bytes, at most %d", i, r.Op, n, MaxValue)
		}
	}
	return nil
}
