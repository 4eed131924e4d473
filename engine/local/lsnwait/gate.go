package lsnwait

import (
	"slices"

	"tornpage/engine/host"
)

// Gate is back-pressure: it holds callers back while too much is under way.
// What was granted and not yet spent counts as under way until Flush; then it
// is forgotten, since callers may spend less than they asked for, or nothing.
//
// When nothing is under way everybody is let in: a caller that was let in may
// be waiting for a row lock of one that is held back here, and then nothing
// would ever come to make room. So the limit is where callers begin to be held
// back, and not a bound.
type Gate struct {
	m       host.Machine
	limit   uint64
	used    func() uint64 // bytes under way
	granted uint64
	queue   []*held // in order of arrival
	free    []*held
	stopped error
	Held    uint64 // calls that had to wait
}

// held is a caller that waits for room.
type held struct {
	bytes   uint64
	in      bool
	refused error
	cond    *host.Cond
}

// NewGate makes a gate that holds callers back beyond limit bytes.
func NewGate(m host.Machine, limit int, used func() uint64) *Gate {
	return &Gate{m: m, limit: uint64(limit), used: used}
}

// Admit blocks until there is room for n bytes, or gives the error of Stop.
func (g *Gate) Admit(n int) error {
	if g.stopped != nil {
		return g.stopped
	}
	bytes := uint64(max(n, 0))
	if len(g.queue) == 0 && g.room(bytes) {
		g.granted += bytes
		return nil
	}
	g.Held++
	g.m.Mark("wal.buffer-full")
	h := g.take()
	h.bytes, h.in, h.refused = bytes, false, nil
	g.queue = append(g.queue, h)
	for !h.in && h.refused == nil && g.stopped == nil {
		h.cond.Wait()
	}
	in, refused := h.in, h.refused
	g.free = append(g.free, h)
	switch {
	case in:
		return nil
	case refused != nil:
		return refused
	}
	return g.stopped
}

func (g *Gate) take() *held {
	if n := len(g.free); n > 0 {
		h := g.free[n-1]
		g.free = g.free[:n-1]
		return h
	}
	return &held{cond: g.m.NewCond(host.WaitWALBuffer)}
}

func (g *Gate) room(bytes uint64) bool {
	used := g.used()
	return used == 0 || used+g.granted+bytes <= g.limit
}

// Spent says that n bytes of what was granted are under way now.
func (g *Gate) Spent(n int) { g.granted -= min(g.granted, uint64(n)) }

// Flush forgets what was granted.
func (g *Gate) Flush() { g.granted = 0 }

// Open lets in who fits now, in order of arrival.
func (g *Gate) Open() {
	for len(g.queue) > 0 && g.stopped == nil && g.room(g.queue[0].bytes) {
		h := g.queue[0]
		g.queue = slices.Delete(g.queue, 0, 1)
		g.granted += h.bytes
		h.in = true
		h.cond.Signal()
	}
}

// Refuse turns away with err who waits now.
func (g *Gate) Refuse(err error) {
	for _, h := range g.queue {
		h.refused = err
		h.cond.Signal()
	}
	g.queue = g.queue[:0]
}

// Stop turns everybody away with err.
func (g *Gate) Stop(err error) {
	if g.stopped != nil {
		return
	}
	g.stopped = err
	for _, h := range g.queue {
		h.cond.Signal()
	}
	g.queue = nil
}
