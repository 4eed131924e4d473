package remote

import (
	"fmt"
	"slices"

	"tornpage/engine/host"
	"tornpage/engine/wal"
)

// reading is one reader of the stream: a page host or a follower.
type reading struct {
	link    *link
	sent    wal.LSN
	applied wal.LSN
}

// accept is a handler. Each connection becomes a writer's or a reader's by its
// first message.
func (h *logHost) accept(c host.Conn) {
	var r *reading
	l := &link{m: h.m, cfg: &h.cfg, conn: c}
	l.take = func(m *message) error {
		if m.kind == msgSubscribe && r == nil {
			r = h.subscribe(l, m.at)
			return nil
		}
		return h.receive(l, r, m)
	}
	l.lost = func() {
		if h.writer == l {
			h.writer = nil
		}
		h.readers = slices.DeleteFunc(h.readers, func(x *reading) bool { return x == r })
	}
	l.begin()
}

// receive is a handler.
func (h *logHost) receive(l *link, r *reading, m *message) error {
	switch {
	case m.kind == msgTakeOver:
		h.m.Go("takeover", func() { h.takeOver(l) })
	case m.kind == msgResume:
		h.resume(l, m.epoch)
	case m.kind == msgAppend:
		return h.append(l, m)
	case m.kind == msgApplied && r != nil:
		if m.at > r.sent || m.at < r.applied {
			return fmt.Errorf("applied to %v, want %v to %v", m.at, r.applied, r.sent)
		}
		r.applied = m.at
		h.feed(r)
	default:
		return fmt.Errorf("message of kind %d makes no sense here", m.kind)
	}
	return nil
}

// takeOver makes l the connection of a new writer: its epoch is durable, every
// older writer is fenced, and all that came from those is in the log for good
// before it is answered (rules R2, R3).
func (h *logHost) takeOver(l *link) {
	h.taking.Lock()
	defer h.taking.Unlock()
	h.epoch++ // from here on nothing older is accepted
	if old := h.writer; old != nil {
		h.writer = nil
		h.fence(old)
	}
	if err := h.persistEpoch(h.epoch); err != nil {
		h.m.Exit(fmt.Errorf("remote: log host: %w", err))
	}
	for h.stable.pos.End < h.tail.pos.End {
		h.synced.Wait()
	}
	h.m.Mark("remote.taken-over")
	p := h.stable.pos
	h.writer = l
	l.send(&message{kind: msgOpened, epoch: h.epoch, at: p.End, prev: p.Prev, crc: p.CRC, next: h.stable.next})
}

func (h *logHost) fence(l *link) {
	h.m.Mark("remote.fenced")
	l.send(&message{kind: msgFenced, epoch: h.epoch})
	l.close()
}

// resume makes l the new connection of the present writer. It may send again
// from where the log ends here.
func (h *logHost) resume(l *link, epoch uint64) {
	if epoch != h.epoch || h.record.Epoch != epoch {
		h.fence(l)
		return
	}
	if h.writer != nil && h.writer != l {
		h.writer.close()
	}
	h.writer = l
	h.m.Mark("remote.resumed")
	l.send(&message{kind: msgResumed, epoch: epoch, at: h.tail.pos.End})
	h.ack()
}

// append takes records of the present writer, each checked before it counts.
func (h *logHost) append(l *link, m *message) error {
	if l != h.writer || m.epoch != h.epoch {
		h.fence(l)
		return nil
	}
	if at := h.tail.pos.End; m.at != at {
		return fmt.Errorf("records at %v, the log ends at %v", m.at, at)
	}
	h.m.Charge(host.WorkRecordBytes, (len(m.body)+63)/64)
	next := h.tail.clone()
	if err := next.check(m.body, nil); err != nil {
		return err
	}
	h.tail = next
	h.data = append(h.data, m.body...)
	h.arrived.Signal()
	return nil
}

// subscribe begins a stream, at 0: from the durable point on.
func (h *logHost) subscribe(l *link, at wal.LSN) *reading {
	s := &h.stable
	if at > s.pos.End || at != 0 && at < firstLSN {
		text := fmt.Sprintf("the log is durable from %v to %v, asked for %v: it has lost its end, or is another one", firstLSN, s.pos.End, at)
		l.send(&message{kind: msgRefused, body: []byte(text)})
		return nil
	}
	start := message{kind: msgStarted, at: at, durable: s.pos.End}
	if at == 0 {
		start.at, start.prev, start.crc = s.pos.End, s.pos.Prev, s.pos.CRC
		start.next, start.running = s.next, s.running
	}
	l.send(&start)
	r := &reading{link: l, sent: start.at, applied: start.at}
	h.readers = append(h.readers, r)
	h.feed(r)
	return r
}

// feed sends a reader what is durable and fits into its window, in whole
// records: it must never learn of what a crash could still lose (rule R4).
func (h *logHost) feed(r *reading) {
	end := h.stable.pos.End
	for r.sent < end && uint64(r.sent-r.applied) < h.cfg.StreamWindow {
		b := batch(h.at(r.sent)[:end-r.sent])
		r.link.send(&message{kind: msgRecords, at: r.sent, durable: end, body: b})
		r.sent += wal.LSN(len(b))
	}
}

// batch is the longest run of whole records at the start of b within maxBatch
// bytes, and at least one record. The log is checked: lengths are right.
func batch(b []byte) []byte {
	n := 0
	for n < len(b) {
		next := n + pad(le.Uint32(b[n:]))
		if next > maxBatch && n > 0 {
			break
		}
		n = next
	}
	return b[:n]
}
