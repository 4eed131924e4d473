package experiments

import (
	"encoding/binary"
	"errors"
	"time"

	"tornpage/checkers"
	"tornpage/engine/db"
	"tornpage/engine/host"
)

// dbPort is where writers and replicas answer clients.
const dbPort host.Port = 1

// register is one client of the register workload: gets, puts,
// compare-and-sets, multi-key reads and writes of one group of keys, rollbacks,
// and, where there is a replica, views of it. It outlives boots of its process.
type register struct {
	client
	s       *Settings
	rec     *Recorder
	writer  string
	replica string // "": none

	id       int      // changes after each unknown outcome
	last     []uint64 // what the client believes each key to hold
	seen     db.Token // its newest token, for sessions on the replica
	flight   int      // one more than the index of the operation under way
	answered bool     // the last operation committed
}

// registerLoad is the workload.
type registerLoad struct{ x *run }

func newRegisterLoad(x *run) workload { return registerLoad{x} }

func (l registerLoad) one(replica string) *register {
	x := l.x
	return &register{s: &x.s, rec: x.rec, writer: writerName, replica: replica, last: make([]uint64, x.s.Keys)}
}

func (l registerLoad) client(_ int, replica string) (*client, func(host.Machine)) {
	c := l.one(replica)
	return &c.client, c.boot
}

// verdicts has nothing to add: all that this load does is in the history.
func (l registerLoad) verdicts() []checkers.Verdict { return nil }

// audit reads every key.
func (l registerLoad) audit(m host.Machine) {
	c := l.one("")
	c.id = c.rec.client()
	for k := int64(0); k < c.s.Keys; {
		conn, err := db.Dial(m, writerName, dbPort, time.Second)
		if err != nil {
			m.Sleep(10 * time.Millisecond)
			continue
		}
		for ; k < c.s.Keys && conn.Broken() == nil; k++ {
			c.read(c.op(checkers.Get, k), conn, false)
			if conn.Broken() != nil {
				break
			}
		}
	}
}

// boot is the client's process.
func (c *register) boot(m host.Machine) {
	r := m.Rand("register", uint64(c.worker))
	if c.flight > 0 { // the process died and will never know
		c.rec.end(c.flight-1, checkers.Unknown, 0)
		c.flight = 0
	}
	c.id = c.rec.client()
	var conns [2]*db.Client
	for c.next(m, &r, c.s.Think) {
		side, name := 0, c.writer
		if c.replica != "" && r.Chance(1, 4) {
			side, name = 1, c.replica
		}
		if conns[side] == nil || conns[side].Broken() != nil {
			conn, err := db.Dial(m, name, dbPort, c.s.Timeout)
			if err != nil {
				m.Sleep(5*time.Millisecond + time.Duration(r.N(uint64(5*time.Millisecond))))
				continue
			}
			conns[side] = conn
		}
		c.answered = false
		if side == 1 {
			c.view(&r, conns[side])
		} else {
			c.operate(&r, conns[side])
		}
		c.flight = 0
		c.did(c.answered)
	}
}

// hotKeys is how many of the first keys get half of all operations, so that
// clients meet, while the rest keeps the pool busy.
const hotKeys = 6

// key draws the key of an operation on one.
func (c *register) key(r *host.Rand) int64 {
	if r.Chance(1, 2) {
		return int64(r.N(uint64(min(c.s.Keys, hotKeys))))
	}
	return int64(r.N(uint64(c.s.Keys)))
}

// group draws the keys of an operation on several.
func (c *register) group(r *host.Rand) []int64 {
	g := c.key(r) / c.s.Group
	var keys []int64
	for k := g * c.s.Group; k < min(c.s.Keys, (g+1)*c.s.Group); k++ {
		keys = append(keys, k)
	}
	return keys
}

func (c *register) op(kind checkers.Kind, keys ...int64) checkers.Op {
	return checkers.Op{Client: c.id, Worker: c.worker, Kind: kind, Keys: keys, Host: c.writer}
}

// operate does one operation on the writer.
func (c *register) operate(r *host.Rand, conn *db.Client) {
	one := c.key(r)
	if !r.Chance(uint64(c.s.Writes), 100) {
		if r.Chance(1, 2) {
			c.read(c.op(checkers.Get, one), conn, false)
		} else {
			c.read(c.op(checkers.MultiGet, c.group(r)...), conn, false)
		}
		return
	}
	if c.s.Groups {
		c.write(c.op(checkers.MultiPut, c.group(r)...), conn, false)
		return
	}
	switch r.N(8) {
	case 0, 1, 2:
		c.write(c.op(checkers.Put, one), conn, false)
	case 3, 4:
		op := c.op(checkers.CAS, one)
		op.Old = c.last[one]
		c.write(op, conn, false)
	case 5:
		c.write(c.op(checkers.MultiPut, c.group(r)...), conn, true)
	default:
		c.write(c.op(checkers.MultiPut, c.group(r)...), conn, false)
	}
}

// view reads a group from the replica, now and then with a session token.
func (c *register) view(r *host.Rand, conn *db.Client) {
	op := c.op(checkers.View, c.group(r)...)
	op.Host = c.replica
	if r.Chance(1, 2) {
		op.AtLeast = c.seen
	}
	c.read(op, conn, true)
}

func (c *register) read(op checkers.Op, conn *db.Client, view bool) {
	i := c.rec.begin(op)
	c.flight = i + 1
	var values *db.Values
	var token db.Token
	var err error
	if view {
		values, token, err = conn.View(op.Keys, op.AtLeast)
	} else {
		values, token, err = conn.MultiGet(op.Keys)
	}
	if err != nil {
		c.failed(i, err)
		return
	}
	results := make([]uint64, len(op.Keys))
	for j := range results {
		results[j] = decodeValue(values.At(j))
		c.last[op.Keys[j]] = results[j]
	}
	c.rec.hist.Ops[i].Results = results
	c.answered = true
	c.rec.end(i, checkers.Committed, token)
	c.seen = max(c.seen, token)
}

// failed records a read without an answer: refused, or unknown.
func (c *register) failed(i int, err error) {
	var refused *db.Refused
	if errors.As(err, &refused) {
		c.rec.end(i, checkers.Aborted, 0)
		return
	}
	c.rec.end(i, checkers.Unknown, 0)
	c.id = c.rec.client()
}

func (c *register) write(op checkers.Op, conn *db.Client, rollback bool) {
	op.Values = make([]uint64, len(op.Keys))
	bytes := make([][]byte, len(op.Keys))
	for j := range op.Values {
		op.Values[j] = c.rec.value()
		bytes[j] = c.encodeValue(op.Values[j])
	}
	i := c.rec.begin(op)
	c.flight = i + 1
	var o db.Outcome
	var held []byte
	switch {
	case op.Kind == checkers.Put:
		o = conn.Put(op.Keys[0], bytes[0])
	case op.Kind == checkers.CAS:
		o, held = conn.CompareAndSet(op.Keys[0], c.oldValue(op.Old), bytes[0])
	case rollback:
		o = conn.Rollback(op.Keys, bytes)
	default:
		o = conn.MultiPut(op.Keys, bytes)
	}
	rec := &c.rec.hist.Ops[i]
	switch {
	case o.Status == db.Committed:
		c.answered = true
		rec.OK = op.Kind == checkers.CAS
		c.rec.end(i, checkers.Committed, o.Token)
		c.seen = max(c.seen, o.Token)
		for j, k := range op.Keys {
			c.last[k] = op.Values[j]
		}
	case o.Why == db.WhyMismatch:
		rec.Results = []uint64{decodeValue(held)}
		c.last[op.Keys[0]] = rec.Results[0]
		c.rec.end(i, checkers.Committed, o.Token)
	case o.Status == db.Aborted:
		c.rec.end(i, checkers.Aborted, 0)
	default:
		c.rec.end(i, checkers.Unknown, 0)
		c.id = c.rec.client()
	}
}

// encodeValue makes a value of bytes: its number, padded to a length that the
// number decides, so that a compare-and-set can name it again, or to the full
// length.
func (c *register) encodeValue(v uint64) []byte {
	n := 8
	if c.s.Fixed {
		n = c.s.Value
	} else if c.s.Value > 8 {
		n += int(host.Mix(v) % uint64(c.s.Value-7))
	}
	b := make([]byte, n)
	binary.LittleEndian.PutUint64(b, v)
	for i := 8; i < n; i++ {
		b[i] = byte(v) + byte(i)
	}
	return b
}

func (c *register) oldValue(v uint64) []byte {
	if v == 0 {
		return nil
	}
	return c.encodeValue(v)
}

// damaged stands for a value whose bytes are no value that a client wrote.
const damaged = ^uint64(0)

// decodeValue is the inverse of encodeValue: absent is 0.
func decodeValue(b []byte) uint64 {
	if b == nil {
		return 0
	}
	if len(b) < 8 {
		return damaged
	}
	v := binary.LittleEndian.Uint64(b)
	for i := 8; i < len(b); i++ {
		if b[i] != byte(v)+byte(i) {
			return damaged
		}
	}
	return v
}
