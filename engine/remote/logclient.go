package remote

import (
	"errors"
	"fmt"

	"tornpage/engine"
	"tornpage/engine/invariant"
	"tornpage/engine/wal"
)

// ErrLogLost says that the log host has less than it acknowledged.
var ErrLogLost = errors.New("the log host has lost acknowledged log")

// dialLog blocks until the log host can be reached.
func (w *Writer) dialLog() *link {
	for {
		c, err := w.m.Dial(w.m.Lookup(w.cfg.Log), w.cfg.LogPort)
		if err != nil {
			w.m.Sleep(w.cfg.Retry)
			continue
		}
		l := &link{m: w.m, cfg: &w.cfg, conn: c, asks: true, take: w.take}
		l.lost = func() {
			if w.link == l {
				w.link, w.ready = nil, false
				w.unsent.Signal()
				w.replied.Signal()
			}
		}
		w.link, w.ready, w.reply = l, false, message{}
		l.begin()
		return l
	}
}

// request sends a first message on a new connection and blocks for the answer;
// ok is false if the connection broke before.
func (w *Writer) request(m *message, want kind) (reply message, ok bool) {
	l := w.dialLog()
	l.send(m)
	for w.link == l && w.reply.kind != want && w.durable.Err() == nil {
		w.replied.Wait()
	}
	return w.reply, w.reply.kind == want
}

// takeOver blocks until the log host has made this the writer. An answer that
// is lost costs an epoch and nothing else.
func (w *Writer) takeOver() (message, error) {
	for {
		if o, ok := w.request(&message{kind: msgTakeOver, id: w.m.Boot()}, msgOpened); ok {
			return o, nil
		}
		if err := w.durable.Err(); err != nil {
			return message{}, err
		}
		w.m.Mark("remote.takeover-retried")
		w.m.Sleep(w.cfg.Retry)
	}
}

// runSender is the sender's task: the first record triggers a message, and the
// next one fills until this one has left.
func (w *Writer) runSender() {
	for w.durable.Err() == nil {
		if !w.ready {
			w.reconnect()
			continue
		}
		if n := int(w.sent - w.durable.LSN()); n < len(w.kept) {
			b := batch(w.kept[n:])
			w.gate.Flush()
			w.sent += wal.LSN(len(b))
			w.link.send(&message{kind: msgAppend, epoch: w.epoch, at: w.sent - wal.LSN(len(b)), body: b})
			w.m.Pay() // a message takes its time; the buffer fills meanwhile
			continue
		}
		w.unsent.Wait()
	}
}

// reconnect goes on where the log host has come to, in the same epoch: what it
// had not synced when it died, or what was on the way, is sent again (R5).
func (w *Writer) reconnect() {
	w.m.Mark("remote.reconnecting")
	r, ok := w.request(&message{kind: msgResume, epoch: w.epoch}, msgResumed)
	if !ok || w.link == nil { // it may break between the answer and this task's turn
		w.m.Sleep(w.cfg.Retry)
		return
	}
	switch durable := w.durable.LSN(); {
	case r.at < durable:
		w.stop(fmt.Errorf("%w: it ends at %v, acknowledged to %v; restore its disk", ErrLogLost, r.at, durable))
		return
	case r.at > durable+wal.LSN(len(w.kept)):
		invariant.Broken("R5", "the log host ends at %v, this writer has come to %v in epoch %d", r.at, w.pos.End, w.epoch)
	}
	w.sent = r.at
	w.ready = true
	w.m.Mark("remote.reconnected")
}

// take is a handler.
func (w *Writer) take(m *message) error {
	switch m.kind {
	case msgOpened, msgResumed:
		w.reply = *m
		w.replied.Signal()
	case msgFenced:
		w.stop(fmt.Errorf("%w: epoch %d, this writer has %d", engine.ErrFenced, m.epoch, w.epoch))
	case msgAck:
		return w.acknowledged(m.durable)
	default:
		return fmt.Errorf("message of kind %d makes no sense here", m.kind)
	}
	return nil
}

// acknowledged moves the durable point. On a new connection it may come before
// this writer has seen how far the log host is.
func (w *Writer) acknowledged(to wal.LSN) error {
	from := w.durable.LSN()
	if to <= from {
		return nil
	}
	n := int(to - from)
	if n > len(w.kept) {
		return fmt.Errorf("acknowledged to %v, appended to %v", to, w.pos.End)
	}
	w.kept = append(w.kept[:0], w.kept[n:]...)
	w.sent = max(w.sent, to)
	w.durable.Advance(to)
	w.gate.Open()
	return nil
}

// stop ends the boot (S6).
func (w *Writer) stop(err error) {
	if w.durable.Err() != nil {
		return
	}
	w.m.Logf("remote: writer stops: %v", err)
	w.m.Mark("remote.stopped")
	w.durable.Stop(err)
	w.gate.Stop(err)
	w.unsent.Signal()
	w.replied.Signal()
}
