package remote

import (
	"fmt"
	"slices"

	"tornpage/engine"
	"tornpage/engine/wal"
)

// firstLSN is where the log begins; 0 means none.
const firstLSN wal.LSN = 4096

// chain reads records that follow each other without gaps, and keeps what one
// needs to know of those before: the place, and which transactions run. The
// log is nothing but records, each padded to a multiple of 8 and each with a
// CRC that starts from its predecessor's, so that LSN, previous LSN, length
// and CRC of PostgreSQL's record header are all the framing there is.
type chain struct {
	pos     wal.Position
	next    uint32   // no XID from here on was used
	running []uint32 // sorted: XIDs with records and without an end
	rec     wal.Record
}

func newChain() chain { return chain{pos: wal.Position{End: firstLSN}, next: firstXID} }

// firstXID is PostgreSQL's FirstNormalTransactionId.
const firstXID = 3

// state is what a follower begins with.
func (c *chain) state() engine.Running {
	return engine.Running{XIDs: slices.Clone(c.running), Next: c.next}
}

// clone is an independent copy of the place.
func (c *chain) clone() chain {
	return chain{pos: c.pos, next: c.next, running: slices.Clone(c.running)}
}

// step reads the first record of b, which begins at the chain's end. The
// record is valid until the next step and as long as b. n is its length with
// padding.
func (c *chain) step(b []byte) (rec *wal.Record, n int, err error) {
	at := c.pos.End
	if len(b) < wal.RecordHeader {
		return nil, 0, fmt.Errorf("record at %v: %d bytes, a header has %d", at, len(b), wal.RecordHeader)
	}
	total := le.Uint32(b)
	if total < wal.RecordHeader || total > wal.MaxRecord || pad(total) > len(b) {
		return nil, 0, fmt.Errorf("record at %v: length %d, want %d to %d, have %d bytes", at, total, wal.RecordHeader, wal.MaxRecord, len(b))
	}
	crc, err := c.rec.Decode(b[:total], at, c.pos.CRC)
	if err != nil {
		return nil, 0, err
	}
	if c.rec.Prev != c.pos.Prev {
		return nil, 0, fmt.Errorf("record at %v: prev %v, want %v", at, c.rec.Prev, c.pos.Prev)
	}
	if err := c.note(&c.rec); err != nil {
		return nil, 0, err
	}
	c.pos = wal.Position{End: c.rec.End, Prev: at, CRC: crc}
	return &c.rec, pad(total), nil
}

// pad is a record's length with its padding.
func pad(n uint32) int { return int((n + 7) &^ 7) }

// note keeps the next XID and the running set. Every boot of a writer begins
// with a shutdown checkpoint: what ran before has aborted (rule S7).
func (c *chain) note(rec *wal.Record) error {
	if rec.Rmgr == wal.RmgrXLOG {
		switch rec.Op() {
		case wal.InfoNextXID:
			next, err := rec.NextXID()
			if err != nil {
				return err
			}
			c.next = max(c.next, next)
		case wal.InfoCheckpointShutdown:
			p, err := rec.Checkpoint()
			if err != nil {
				return err
			}
			c.next = max(c.next, p.NextXID)
			c.running = c.running[:0]
		}
	}
	if rec.XID == 0 {
		return nil
	}
	c.next = max(c.next, rec.XID+1)
	if !rec.IsXactEnd() {
		if i, runs := slices.BinarySearch(c.running, rec.XID); !runs {
			c.running = slices.Insert(c.running, i, rec.XID)
		}
		return nil
	}
	x, err := rec.Xact()
	if err != nil {
		return err
	}
	c.ended(rec.XID)
	for i := range x.Subs.Len() {
		c.ended(x.Subs.At(i))
	}
	return nil
}

// ended takes a transaction or subtransaction off the running set.
func (c *chain) ended(xid uint32) {
	c.next = max(c.next, xid+1)
	if i, runs := slices.BinarySearch(c.running, xid); runs {
		c.running = slices.Delete(c.running, i, i+1)
	}
}

// check reads all of b, which must end with a record's end, and calls f for
// each record.
func (c *chain) check(b []byte, f func(*wal.Record)) error {
	for len(b) > 0 {
		rec, n, err := c.step(b)
		if err != nil {
			return err
		}
		if f != nil {
			f(rec)
		}
		b = b[n:]
	}
	return nil
}
