package remote

import (
	"errors"
	"fmt"

	"tornpage/engine/host"
	"tornpage/engine/wal"
)

// errRefused says that the log host does not have the log that was asked for.
var errRefused = errors.New("the log host refuses the stream")

// stream reads the durable log from the log host, over as many connections as
// it takes, without a gap and without a repetition.
type stream struct {
	m       host.Machine
	cfg     Config
	chain   chain // at the end of what was delivered
	begun   bool  // chain is valid; else it begins where the log host says
	record  func(*wal.Record)
	batch   func()     // after the records of one message
	link    *link      // the present connection, nil: none
	changed *host.Cond // begun, or the connection broke
	failed  error
}

// newStream makes a stream that begins at the log's start, or now. record and
// batch are called as handlers.
func newStream(m host.Machine, cfg Config, fromStart bool, record func(*wal.Record), batch func()) *stream {
	s := &stream{m: m, cfg: cfg, record: record, batch: batch, changed: m.NewCond(host.WaitLogServer)}
	if fromStart {
		s.chain, s.begun = newChain(), true
	}
	return s
}

// run is the stream's task: it keeps it connected, and returns if that makes
// no sense any more.
func (s *stream) run() error {
	for s.failed == nil {
		c, err := s.m.Dial(s.m.Lookup(s.cfg.Log), s.cfg.LogPort)
		if err != nil {
			s.m.Sleep(s.cfg.Retry)
			continue
		}
		l := &link{m: s.m, cfg: &s.cfg, conn: c, asks: true, take: s.take}
		l.lost = func() {
			if s.link == l {
				s.link = nil
				s.changed.Broadcast()
			}
		}
		s.link = l
		l.begin()
		at := wal.LSN(0)
		if s.begun {
			at = s.chain.pos.End
		}
		l.send(&message{kind: msgSubscribe, at: at})
		for s.link == l {
			s.changed.Wait()
		}
		s.m.Mark("remote.stream-broken")
	}
	return s.failed
}

// take is a handler.
func (s *stream) take(m *message) error {
	switch m.kind {
	case msgRefused:
		s.failed = fmt.Errorf("%w: %s", errRefused, m.body)
		return s.failed
	case msgStarted:
		if s.begun {
			return nil
		}
		s.chain.pos = wal.Position{End: m.at, Prev: m.prev, CRC: m.crc}
		s.chain.next, s.chain.running = m.next, append(s.chain.running[:0], m.running...)
		s.begun = true
		s.changed.Broadcast()
		return nil
	case msgRecords:
		return s.records(m)
	}
	return fmt.Errorf("message of kind %d makes no sense here", m.kind)
}

func (s *stream) records(m *message) error {
	at := s.chain.pos.End
	if end := m.at + wal.LSN(len(m.body)); !s.begun || m.at != at || end > m.durable {
		return fmt.Errorf("records from %v to %v, durable to %v; want them to follow %v", m.at, end, m.durable, at)
	}
	s.m.Charge(host.WorkRecordBytes, (len(m.body)+63)/64)
	if err := s.chain.check(m.body, s.record); err != nil {
		return err
	}
	s.batch()
	s.link.send(&message{kind: msgApplied, at: s.chain.pos.End})
	return nil
}
