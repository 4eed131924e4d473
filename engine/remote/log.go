package remote

import (
	"errors"
	"fmt"
	"io"

	"tornpage/engine/host"
	"tornpage/engine/wal"
)

const (
	logName   = "log"
	epochName = "epoch"
)

// logHost is the log machine: it has the whole log in memory and in one file,
// and syncs what comes in as fast as it can.
type logHost struct {
	m      host.Machine
	cfg    Config
	disk   host.Disk
	file   host.File
	epochs host.File

	data    []byte // the log from firstLSN on
	tail    chain  // at its end: received
	stable  chain  // at the durable point
	record  wal.Control
	epoch   uint64 // of the newest writer; record.Epoch once it is durable
	writer  *link  // the connection of that writer, nil: none
	readers []*reading
	taking  *host.Latch // one takeover at a time
	arrived *host.Cond  // the log has grown
	synced  *host.Cond  // the durable point has moved
}

// RunLog is the boot function of the log host. It does not return.
func RunLog(m host.Machine, cfg Config) {
	cfg = cfg.withDefaults()
	h := &logHost{
		m: m, cfg: cfg, disk: m.Disk(cfg.LogDisk),
		taking:  host.NewLatch(m, host.WaitLogServer),
		arrived: m.NewCond(host.WaitWALWriter),
		synced:  m.NewCond(host.WaitWALSync),
	}
	if err := h.recover(); err != nil {
		m.Exit(fmt.Errorf("remote: log host: %w", err))
	}
	m.Logf("remote: log host: epoch %d, log ends at %v", h.epoch, h.tail.pos.End)
	m.Listen(cfg.LogPort, h.accept)
	for {
		for h.tail.pos.End == h.stable.pos.End {
			h.arrived.Wait()
		}
		if err := h.sync(); err != nil {
			m.Exit(fmt.Errorf("remote: log host: %w; nothing above %v was acknowledged", err, h.stable.pos.End))
		}
	}
}

// at is the log from an LSN on.
func (h *logHost) at(lsn wal.LSN) []byte { return h.data[lsn-firstLSN:] }

// sync makes what has arrived durable, as one write: while it lasts, the next
// one gathers. Crash: any part of the write may be there; the chain tells.
func (h *logHost) sync() error {
	from, taken := h.stable.pos.End, h.tail.clone()
	b := h.at(from)[:taken.pos.End-from]
	if _, err := h.file.WriteAt(b, int64(from-firstLSN)); err != nil {
		return fmt.Errorf("write %s at %v: %w", logName, from, err)
	}
	if err := h.file.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", logName, err)
	}
	h.settle(taken)
	h.m.Mark("remote.log-synced")
	h.synced.Broadcast()
	h.ack()
	for _, r := range h.readers {
		h.feed(r)
	}
	return nil
}

// settle takes in that the log up to c is durable.
func (h *logHost) settle(c chain) {
	h.stable = c
	if h.cfg.Synced != nil {
		h.cfg.Synced(c.pos.End)
	}
}

// ack tells the writer how far the log is durable.
func (h *logHost) ack() {
	if h.writer != nil {
		h.writer.send(&message{kind: msgAck, durable: h.stable.pos.End})
	}
}

// recover reads the log, cuts off what does not fit, and writes the rest
// again: what the operating system shows after a failed sync is not on the
// disk (as in storage local, rule L9).
func (h *logHost) recover() (err error) {
	if h.file, err = h.disk.Open(logName, host.ClassWAL, true); err != nil {
		return fmt.Errorf("open %s: %w", logName, err)
	}
	size, err := h.file.Size()
	if err != nil {
		return fmt.Errorf("size of %s: %w", logName, err)
	}
	h.data = make([]byte, size)
	if n, err := h.file.ReadAt(h.data, 0); size > 0 && int64(n) < size {
		return fmt.Errorf("read %s: %d bytes of %d: %w", logName, n, size, err)
	}
	h.tail = newChain()
	for rest := h.data; len(rest) > 0; {
		_, n, err := h.tail.step(rest)
		if err != nil {
			h.m.Mark("remote.tail-cut")
			h.m.Logf("remote: log host: the log ends at %v of %v: %v", h.tail.pos.End, firstLSN+wal.LSN(size), err)
			break
		}
		rest = rest[n:]
	}
	h.data = h.data[:h.tail.pos.End-firstLSN]
	if _, err := h.file.WriteAt(h.data, 0); err != nil {
		return fmt.Errorf("write %s again: %w", logName, err)
	}
	if err := h.file.Truncate(int64(len(h.data))); err != nil {
		return fmt.Errorf("truncate %s: %w", logName, err)
	}
	if err := h.file.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", logName, err)
	}
	if err := h.recoverEpoch(); err != nil {
		return err
	}
	if err := h.disk.SyncDir(); err != nil {
		return fmt.Errorf("sync the directory of disk %s: %w", h.cfg.LogDisk, err)
	}
	h.settle(h.tail.clone())
	return nil
}

// recoverEpoch reads the epoch: the newer of two slots, written in turn, in
// the form of PostgreSQL's control file.
func (h *logHost) recoverEpoch() (err error) {
	if h.epochs, err = h.disk.Open(epochName, host.ClassControl, true); err != nil {
		return fmt.Errorf("open %s: %w", epochName, err)
	}
	var b [wal.ControlSpacing + wal.ControlSlot]byte
	n, err := h.epochs.ReadAt(b[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s: %w", epochName, err)
	}
	clear(b[n:])
	c, _, err := wal.ChooseControl(b[:wal.ControlSlot], b[wal.ControlSpacing:])
	switch {
	case err == nil:
		h.record, h.epoch = c, c.Epoch
	case len(h.data) > 0:
		// The first writer's epoch was durable before its first record.
		return fmt.Errorf("%s: %w", epochName, err)
	}
	return nil
}

// persistEpoch makes the epoch durable.
func (h *logHost) persistEpoch(epoch uint64) error {
	c := h.record
	c.State, c.Epoch, c.Seq = wal.InProduction, epoch, h.record.Seq+1
	if _, err := h.epochs.WriteAt(c.Encode(nil), wal.SlotOffset(c.Seq)); err != nil {
		return fmt.Errorf("write %s: %w", epochName, err)
	}
	if err := h.epochs.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", epochName, err)
	}
	h.record = c
	return nil
}
