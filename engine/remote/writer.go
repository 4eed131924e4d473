package remote

import (
	"fmt"

	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/local/lsnwait"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// Writer is the writer's storage. It lives for one boot.
type Writer struct {
	m     host.Machine
	cfg   Config
	pages *pageClient

	// Insertion.
	insertion *host.Latch
	pos       wal.Position // where the next record goes
	nextXID   uint32
	blocks    map[page.Rel]uint32
	cut       map[page.Rel]bool // by this boot: blocks has the exact size
	gate      *lsnwait.Gate

	// The log that is not acknowledged, see logclient.go.
	epoch   uint64
	kept    []byte     // from the durable point on
	sent    wal.LSN    // how far it was sent on this connection
	link    *link      // the connection, nil: none
	ready   bool       // the log host has answered on it
	unsent  *host.Cond // there is something to send, or the connection broke
	replied *host.Cond // the log host has answered, or the connection broke
	reply   message
	durable *lsnwait.Point
}

var _ engine.Storage = (*Writer)(nil)

// NewWriter makes the storage of one boot of a writer.
func NewWriter(m host.Machine, cfg Config) *Writer {
	cfg = cfg.withDefaults()
	w := &Writer{
		m: m, cfg: cfg, pages: newPageClient(m, cfg),
		insertion: host.NewLatch(m, host.WaitWALInsert),
		blocks:    map[page.Rel]uint32{},
		cut:       map[page.Rel]bool{},
		unsent:    m.NewCond(host.WaitWALWriter),
		replied:   m.NewCond(host.WaitLogServer),
		durable:   lsnwait.New(m),
	}
	w.gate = lsnwait.NewGate(m, cfg.Unacknowledged, func() uint64 { return uint64(w.pos.End - w.durable.LSN()) })
	return w
}

// Open takes over the log: it blocks until the log host has fenced every older
// writer and everything that those left behind is durable. Then it logs a
// shutdown checkpoint, as PostgreSQL does when recovery ends: readers of the
// log learn that what ran before has aborted.
func (w *Writer) Open() (engine.State, error) {
	o, err := w.takeOver()
	if err != nil {
		return engine.State{}, err
	}
	w.epoch, w.nextXID = o.epoch, o.next
	w.pos = wal.Position{End: o.at, Prev: o.prev, CRC: o.crc}
	w.sent = o.at
	w.durable.Advance(o.at)
	w.ready = w.link != nil
	w.m.Mark("remote.took-over")
	w.m.Go("log sender", w.runSender)

	var m wal.MTR
	wal.CheckpointRecord(&m, wal.Checkpoint{Redo: o.at, NextXID: w.nextXID, Time: w.m.Wall().Unix()}, true)
	m.Build(0)
	end, err := w.Append(&m, 0)
	if err == nil {
		err = w.durable.Wait(end)
	}
	st := engine.State{Survived: o.at, End: end, Epoch: o.epoch, NextXID: w.nextXID}
	w.m.Logf("remote: open: epoch %d, log ended at %v, next XID %d", st.Epoch, st.Survived, st.NextXID)
	return st, err
}

// Admit blocks while too much log is unacknowledged.
func (w *Writer) Admit(bytes int) error { return w.gate.Admit(bytes) }

// Floor is 0: pages are made from the log, and nothing can tear.
func (w *Writer) Floor() wal.LSN { return 0 }

// Durable is the end of the log that the log host has synced.
func (w *Writer) Durable() wal.LSN { return w.durable.LSN() }

// WaitDurable blocks until the log host has synced the log up to lsn, however
// often the connection breaks meanwhile.
func (w *Writer) WaitDurable(lsn wal.LSN) error { return w.durable.Wait(lsn) }

// Append numbers the record and leaves it to the sender's task. The latch is
// held over all of it, since each record's CRC starts from its predecessor's.
func (w *Writer) Append(m *wal.MTR, builtFor wal.LSN) (wal.LSN, error) {
	w.insertion.Lock()
	defer w.insertion.Unlock()
	if err := w.durable.Err(); err != nil {
		return 0, err
	}
	at := w.pos
	rec, crc := m.Finish(at.Prev, at.CRC)
	n := pad(uint32(len(rec)))
	end := at.End + wal.LSN(n)
	w.pos = wal.Position{End: end, Prev: at.End, CRC: crc}
	w.m.Charge(host.WorkRecordBytes, (len(rec)+63)/64)
	w.m.Pay() // the LSN is assigned; nothing at or above it may be sent yet

	if w.durable.LSN()+wal.LSN(len(w.kept)) != at.End {
		invariant.Broken("R1", "record for %v, but %d bytes are kept from %v on", at.End, len(w.kept), w.durable.LSN())
	}
	w.kept = append(w.kept, rec...)
	w.kept = append(w.kept, make([]byte, n-len(rec))...)
	m.Stamp(end)
	w.resize(m)
	w.gate.Spent(len(rec))
	w.unsent.Signal()
	return end, nil
}

// resize keeps up with the sizes that a record changes.
func (w *Writer) resize(m *wal.MTR) {
	for i := range m.Blocks() {
		if id, p, _, _ := m.Block(i); p != nil && id.Block >= w.blocks[id.Rel] {
			w.blocks[id.Rel] = id.Block + 1
		}
	}
	if rel, blocks, ok := m.Truncation(); ok {
		w.blocks[rel], w.cut[rel] = blocks, true
	}
}

// ReadPage asks the page host, which waits until it has read the log up to
// changedBy.
func (w *Writer) ReadPage(id page.ID, changedBy, at wal.LSN, p *page.Page) error {
	if err := w.durable.Err(); err != nil {
		return err
	}
	if at == 0 && w.cut[id.Rel] && id.Block >= w.blocks[id.Rel] {
		// The page host need not have heard of the cut.
		return fmt.Errorf("%w: %v: the relation was cut to %d blocks", engine.ErrNoPage, id, w.blocks[id.Rel])
	}
	return w.pages.page(id, changedBy, at, p)
}

// Evict does nothing: the buffer pool keeps the LSN, and asks with it.
func (w *Writer) Evict(id page.ID, p *page.Page) error {
	if lsn := page.LSNOf(id, p); lsn > w.Durable() {
		invariant.Broken("S4", "%v with LSN %v is evicted, the log is durable to %v", id, lsn, w.Durable())
	}
	return w.durable.Err()
}

// Size asks the page host for what is durable, and adds what this writer has
// appended since. After a truncation the writer knows by itself.
func (w *Writer) Size(r page.Rel, at wal.LSN) (uint32, error) {
	if err := w.durable.Err(); err != nil {
		return 0, err
	}
	if at != 0 {
		return w.pages.size(r, at, at)
	}
	if w.cut[r] {
		return w.blocks[r], nil
	}
	n, err := w.pages.size(r, w.durable.LSN(), 0)
	if w.cut[r] { // meanwhile
		return w.blocks[r], err
	}
	return max(n, w.blocks[r]), err
}
