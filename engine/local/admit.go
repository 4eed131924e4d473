package local

import (
	"tornpage/engine"
	"tornpage/engine/host"
)

// admission is the back-pressure. What was granted and not yet appended counts
// as used until the writer takes the buffer; then it is forgotten, since
// callers may append less than they asked for, or nothing at all.
type admission struct {
	granted int
	queue   []*held // in order of arrival
	free    []*held
}

// held is a caller that waits for room.
type held struct {
	bytes int
	in    bool
	cond  *host.Cond
}

// Admit blocks while the buffer is full. An empty buffer admits everybody: a
// caller that was let in may be waiting for a row lock of one that is held
// back here, and then no write would ever come to make room.
func (s *Storage) Admit(bytes int) error {
	a := &s.admission
	if s.closed {
		return engine.ErrStopped
	}
	bytes = max(bytes, 0)
	if len(a.queue) == 0 && s.room(bytes) {
		a.granted += bytes
		return nil
	}
	s.stats.Held++
	s.m.Mark("wal.buffer-full")
	h := a.take(s.m)
	h.bytes, h.in = bytes, false
	a.queue = append(a.queue, h)
	for !h.in && !s.closed {
		h.cond.Wait()
	}
	in := h.in
	a.free = append(a.free, h)
	if !in {
		return engine.ErrStopped
	}
	return nil
}

func (a *admission) take(m host.Machine) *held {
	if n := len(a.free); n > 0 {
		h := a.free[n-1]
		a.free = a.free[:n-1]
		return h
	}
	return &held{cond: m.NewCond(host.WaitWALBuffer)}
}

// room tells whether so many bytes more may be on their way into the buffer.
func (s *Storage) room(bytes int) bool {
	used := uint64(s.ins.End - s.durable.LSN())
	return used == 0 || used+uint64(s.admission.granted)+uint64(bytes) <= uint64(s.cfg.WALBuffer)
}

// admitHeld lets in who fits after a write, in order of arrival.
func (s *Storage) admitHeld() {
	a := &s.admission
	for len(a.queue) > 0 && s.room(a.queue[0].bytes) {
		h := a.queue[0]
		a.queue = append(a.queue[:0], a.queue[1:]...)
		a.granted += h.bytes
		h.in = true
		h.cond.Signal()
	}
}

// stop turns everybody away.
func (a *admission) stop() {
	for _, h := range a.queue {
		h.cond.Signal()
	}
	a.queue = nil
}
