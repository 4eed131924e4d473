package trace

import (
	"fmt"
	"io"
	"time"
)

// Event is one event of a run, in numbers: what they mean is told by Kind.
type Event struct {
	N    uint64 // its number, from 1
	At   int64  // virtual time in nanoseconds
	Kind Kind
	Who  uint32 // the process's address plus one; 0 for the world
	A, B uint64 // arguments: a task, a file, an offset, a length
	Data uint64 // digest of the payload
}

// keep is how many events are kept for a failure report: 12 KiB, so that the
// ring stays in the first-level cache.
const keep = 1 << 8

// kept is an event in the ring; its number follows from its place.
type kept struct {
	at      int64
	kindWho uint64
	a, b    uint64
	data    uint64
}

// Log is the trace of one run.
type Log struct {
	hash uint64
	n    uint64
	ring [keep]kept
	// Full, if set, is called with every event, after it was hashed.
	Full func(*Event)
}

// Add records an event. Its number is N afterwards.
func (l *Log) Add(at int64, k Kind, who uint32, a, b, data uint64) {
	l.n++
	kw := uint64(k)<<56 | uint64(who)
	h := mum(l.hash^uint64(at)^m3, kw^m1)
	l.hash = mum(h^a^m2, b^data^m3) ^ data*m1
	l.ring[l.n%keep] = kept{at, kw, a, b, data}
	if l.Full != nil {
		e := l.event(l.n)
		l.Full(&e)
	}
}

// event is a recent event by its number.
func (l *Log) event(n uint64) Event {
	k := &l.ring[n%keep]
	return Event{n, k.at, Kind(k.kindWho >> 56), uint32(k.kindWho), k.a, k.b, k.data}
}

// N is the number of the last event.
func (l *Log) N() uint64 { return l.n }

// Hash is the running hash.
func (l *Log) Hash() uint64 { return l.hash }

// Last gives up to n of the latest events, oldest first.
func (l *Log) Last(n int) []Event {
	n = min(n, keep, int(min(l.n, keep)))
	out := make([]Event, 0, n)
	for i := l.n - uint64(n) + 1; i <= l.n; i++ {
		out = append(out, l.event(i))
	}
	return out
}

// Print writes the event as one line; name gives a process's name.
func (e *Event) Print(w io.Writer, name func(who uint32) string) error {
	_, err := fmt.Fprintf(w, "%d %v %s %v a=%d b=%d data=%016x\n",
		e.N, time.Duration(e.At), name(e.Who), e.Kind, e.A, e.B, e.Data)
	return err
}
