package checkers

import (
	"math"
	"slices"
	"time"

	"tornpage/engine/page"
)

// Kind is what a client asked for.
type Kind uint8

// The kinds of operations. Get, MultiGet and View read; Put and MultiPut
// write; CAS does both.
const (
	Get      Kind = iota + 1 // one key, on the writer
	Put                      // one key
	CAS                      // one key: write Values[0] if the key holds Old
	MultiPut                 // several keys in one transaction
	MultiGet                 // several keys in one snapshot, on the writer
	View                     // one or several keys in one read view of a replica
	// Other has no keys here: another check judges it, and only progress counts
	// it. Keyed leaves it out for the checks of keys and values.
	Other
)

// Outcome is what the client knows of its operation's end.
type Outcome uint8

// The outcomes. A Pending operation had no end when the history was closed;
// checks treat it as Unknown.
const (
	Committed Outcome = iota + 1
	Aborted
	Unknown
	Pending
)

// Open is the Return of an operation that never returned.
const Open int64 = math.MaxInt64

// Op is one operation of one client. Values are identities that no other
// operation writes to the same key; 0 means absent.
type Op struct {
	ID      int64   // unique in the history
	Client  int     // takes a new number after each Unknown; its operations never overlap
	Worker  int     // the client's task, whose number stays; progress is asked of workers
	Kind    Kind    // what was asked
	Outcome Outcome // what the client knows
	OK      bool    // CAS: the value was swapped

	Keys    []int64  // distinct
	Values  []uint64 // Put, MultiPut, CAS: what was written to each key; 0 deletes
	Old     uint64   // CAS: the expected value
	Results []uint64 // reads: what each key held; failed CAS: what the key held, if told

	// Token is, for a committed write, its commit LSN; for a View, the view's
	// LSN; for a read on the writer, its snapshot's LSN. 0: not known.
	Token page.LSN
	// AtLeast is the session token sent along: the view must have reached it.
	AtLeast page.LSN

	// Call and Return are event numbers from one counter, never times: events
	// of one virtual instant are still ordered. Intervals are closed, so equal
	// stamps count as concurrent. Return is Open if there was none.
	Call, Return int64
	// Start and End are virtual times since the run began. Only progress and
	// reports use them; they order nothing.
	Start, End time.Duration

	Host string // the host that the request was sent to
	Boot uint64 // that host's boot; 0: not known
}

// Reads reports whether the operation answers with values.
func (o *Op) Reads() bool { return o.Kind == Get || o.Kind == MultiGet || o.Kind == View }

// Writes reports whether the operation may change a key.
func (o *Op) Writes() bool { return o.Kind == Put || o.Kind == MultiPut || o.Kind == CAS }

// Boot is a process that has recovered and begun to serve.
type Boot struct {
	Host     string
	Boot     uint64
	OpenedAt int64    // event at which it opened, after recovery had decided
	End      page.LSN // end of its log as recovery found it; 0: not recorded, not checked
	Follower bool     // a replica: opening it ends no writer's commits
}

// Point says that the writer's durable point was LSN from Event on.
type Point struct {
	Event int64
	LSN   page.LSN
}

// Exit is a boot that ended or refused to open.
type Exit struct {
	Host   string
	Boot   uint64
	Event  int64
	Reason string // one line
}

// Commit is a commit that became durable and visible. Publication follows
// durability; a commit that recovery found and nobody had published becomes
// visible when that boot opens.
type Commit struct {
	LSN     page.LSN
	Visible int64 // event at which the writer showed it to its own snapshots
	Op      int64 // the operation whose commit it is; 0: not known
}

// KeyValue is a key with its value.
type KeyValue struct {
	Key   int64
	Value uint64
}

// History is what was recorded of a run. Recorders append; Durable and Commits
// are in order of events, everything else may be in any order.
type History struct {
	Ops     []Op
	Boots   []Boot
	Exits   []Exit
	Durable []Point
	Commits []Commit
	Initial []KeyValue // what keys held before the first operation; others were absent
}

// Keyed is the history without operations of kind Other, which have no place
// in the checks of keys and values.
func (h *History) Keyed() *History {
	other := func(o Op) bool { return o.Kind == Other }
	if !slices.ContainsFunc(h.Ops, other) {
		return h
	}
	k := *h
	k.Ops = slices.DeleteFunc(slices.Clone(h.Ops), other)
	return &k
}
