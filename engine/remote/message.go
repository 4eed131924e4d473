package remote

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// kind is what a message says.
type kind uint8

// The messages: who sends them to whom, and what they mean.
const (
	msgTakeOver  kind = iota + 1 // writer to log: I am the writer from now on
	msgOpened                    // log to writer: epoch, end of the log and chain there, next XID
	msgResume                    // writer to log: epoch; a new connection of the same writer
	msgResumed                   // log to writer: at, the end of what the log has of it
	msgAppend                    // writer to log: epoch, records at at
	msgAck                       // log to writer: durable
	msgFenced                    // log to writer: epoch, of the newer writer
	msgSubscribe                 // reader to log: at, where to begin; 0: now
	msgStarted                   // log to reader: at and chain there, durable, next XID, running
	msgRecords                   // log to reader: records at at, durable
	msgApplied                   // reader to log: at, how far it has come
	msgRefused                   // log to reader: why (text)
	msgGetPage                   // to pages: id, page, durable (changed by), at
	msgPage                      // from pages: id, page, status, then the page or a text
	msgGetSize                   // to pages: id, relation, durable (changed by), at
	msgSize                      // from pages: id, relation, status, block, or a text
	msgHold                      // to pages: at, the oldest LSN that will be asked for
	msgPing                      // either way: are you there?
	msgPong                      // yes
	kinds
)

// status is how a request to the page host ended.
type status uint8

// The statuses.
const (
	statusOK     status = iota
	statusNoPage        // does not exist as of at
	statusOld           // at is below what the page host keeps
	statusFailed        // text says why
	statuses
)

// field is a part of a message of a fixed size.
type field uint8

const (
	fEpoch field = iota
	fAt
	fPrev
	fCRC
	fDurable
	fNext
	fID
	fRel
	fBlock
	fStatus
	fRunning // count, then XIDs
	fBody    // the rest of the message
)

// layouts has the fields of each kind, in order. fBody is last.
var layouts = [kinds][]field{
	msgTakeOver:  {fID},
	msgOpened:    {fEpoch, fAt, fPrev, fCRC, fNext},
	msgResume:    {fEpoch},
	msgResumed:   {fEpoch, fAt},
	msgAppend:    {fEpoch, fAt, fBody},
	msgAck:       {fDurable},
	msgFenced:    {fEpoch},
	msgSubscribe: {fAt},
	msgStarted:   {fAt, fPrev, fCRC, fDurable, fNext, fRunning},
	msgRecords:   {fAt, fDurable, fBody},
	msgApplied:   {fAt},
	msgRefused:   {fBody},
	msgGetPage:   {fID, fRel, fBlock, fDurable, fAt},
	msgPage:      {fID, fRel, fBlock, fStatus, fBody},
	msgGetSize:   {fID, fRel, fDurable, fAt},
	msgSize:      {fID, fRel, fBlock, fStatus, fBody},
	msgHold:      {fAt},
	msgPing:      {},
	msgPong:      {},
}

// message is any message; which fields count, layouts says. Body points into
// what was decoded.
type message struct {
	kind    kind
	epoch   uint64
	at      wal.LSN
	prev    wal.LSN
	crc     uint32
	durable wal.LSN
	next    uint32
	id      uint64
	page    page.ID
	status  status
	running []uint32
	body    []byte
}

// A message is magic, version, kind, CRC-32C of these four bytes and of the
// rest, then its fields. Integers are little endian.
const (
	msgMagic   = 0x5272 // "rR"
	msgVersion = 1
	msgHeader  = 8

	// maxBatch bounds the records of one message in bytes, unless a single
	// record is longer. 256 KiB is the largest write that a disk of the gp3
	// kind takes as one operation (EBS guide).
	maxBatch = 256 << 10
	// maxBody bounds a body: a batch, or one record (wal.MaxRecord).
	maxBody = wal.MaxRecord + maxBatch
	// maxRunning bounds the running set: db.Server lets 1,024 sessions in, and
	// each runs one transaction.
	maxRunning = 1 << 16
)

// codecError says which field of a message is wrong.
type codecError struct {
	kind   kind
	offset int
	what   string
	got    uint64
	want   uint64
}

// Error names place and both values.
func (e *codecError) Error() string {
	return fmt.Sprintf("remote: message of kind %d, offset %d: %s is %d, want %d (or at most that)", e.kind, e.offset, e.what, e.got, e.want)
}

// encode encodes m over dst's memory.
func encode(dst []byte, m *message) []byte {
	b := append(dst[:0], make([]byte, msgHeader)...)
	le.PutUint16(b, msgMagic)
	b[2], b[3] = msgVersion, byte(m.kind)
	for _, f := range layouts[m.kind] {
		switch f {
		case fEpoch:
			b = le.AppendUint64(b, m.epoch)
		case fAt:
			b = le.AppendUint64(b, uint64(m.at))
		case fPrev:
			b = le.AppendUint64(b, uint64(m.prev))
		case fCRC:
			b = le.AppendUint32(b, m.crc)
		case fDurable:
			b = le.AppendUint64(b, uint64(m.durable))
		case fNext:
			b = le.AppendUint32(b, m.next)
		case fID:
			b = le.AppendUint64(b, m.id)
		case fRel:
			b = le.AppendUint32(b, uint32(m.page.Rel))
		case fBlock:
			b = le.AppendUint32(b, m.page.Block)
		case fStatus:
			b = append(b, byte(m.status))
		case fRunning:
			b = le.AppendUint32(b, uint32(len(m.running)))
			for _, x := range m.running {
				b = le.AppendUint32(b, x)
			}
		case fBody:
			b = append(b, m.body...)
		}
	}
	le.PutUint32(b[4:], messageSum(b))
	return b
}

func messageSum(b []byte) uint32 {
	return crc32.Update(crc32.Checksum(b[:4], castagnoli), castagnoli, b[msgHeader:])
}

// decode decodes b into m, whose memory it uses again. After an error m's
// contents mean nothing.
func decode(b []byte, m *message) error {
	running := m.running[:0]
	*m = message{running: running}
	if len(b) < msgHeader || len(b) > msgHeader+maxBody+64+4*maxRunning {
		return &codecError{0, 0, "length", uint64(len(b)), msgHeader + maxBody}
	}
	m.kind = kind(b[3])
	if got := le.Uint16(b); got != msgMagic {
		return &codecError{m.kind, 0, "magic", uint64(got), msgMagic}
	}
	if b[2] != msgVersion {
		return &codecError{m.kind, 2, "version", uint64(b[2]), msgVersion}
	}
	if got, want := le.Uint32(b[4:]), messageSum(b); got != want {
		return &codecError{m.kind, 4, "CRC-32C", uint64(got), uint64(want)}
	}
	if m.kind == 0 || m.kind >= kinds {
		return &codecError{m.kind, 3, "kind", uint64(m.kind), uint64(kinds) - 1}
	}
	r := reader{b: b, at: msgHeader, kind: m.kind}
	for _, f := range layouts[m.kind] {
		r.field(f, m)
	}
	if r.err == nil && r.at < len(b) {
		r.fail("bytes after the end", uint64(len(b)-r.at), 0)
	}
	return r.err
}

// reader takes a message apart; after an error it gives zeros.
type reader struct {
	b    []byte
	at   int
	kind kind
	err  error
}

func (r *reader) fail(what string, got, want uint64) {
	if r.err == nil {
		r.err = &codecError{r.kind, r.at, what, got, want}
	}
}

func (r *reader) take(n int) []byte {
	if r.err == nil && n > len(r.b)-r.at {
		r.fail("bytes left", uint64(len(r.b)-r.at), uint64(n))
	}
	if r.err != nil {
		return make([]byte, min(n, 8))
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

func (r *reader) u32() uint32 { return le.Uint32(r.take(4)) }
func (r *reader) u64() uint64 { return le.Uint64(r.take(8)) }

func (r *reader) field(f field, m *message) {
	switch f {
	case fEpoch:
		m.epoch = r.u64()
	case fAt:
		m.at = wal.LSN(r.u64())
	case fPrev:
		m.prev = wal.LSN(r.u64())
	case fCRC:
		m.crc = r.u32()
	case fDurable:
		m.durable = wal.LSN(r.u64())
	case fNext:
		m.next = r.u32()
	case fID:
		m.id = r.u64()
	case fRel:
		m.page.Rel = page.Rel(r.u32())
	case fBlock:
		m.page.Block = r.u32()
	case fStatus:
		if m.status = status(r.take(1)[0]); m.status >= statuses {
			r.fail("status", uint64(m.status), uint64(statuses)-1)
		}
	case fRunning:
		r.running(m)
	case fBody:
		if n := len(r.b) - r.at; r.err == nil && n > maxBody {
			r.fail("body", uint64(n), maxBody)
		} else if r.err == nil {
			m.body = r.take(n)
		}
	}
}

func (r *reader) running(m *message) {
	n := r.u32()
	if r.err == nil && (n > maxRunning || int(n) > (len(r.b)-r.at)/4) {
		r.fail("running transactions", uint64(n), uint64(min(maxRunning, (len(r.b)-r.at)/4)))
	}
	if r.err != nil {
		return
	}
	for range n {
		x := r.u32()
		if k := len(m.running); k > 0 && x <= m.running[k-1] {
			r.fail("running XID, which must ascend,", uint64(x), uint64(m.running[k-1])+1)
			return
		}
		m.running = append(m.running, x)
	}
}
