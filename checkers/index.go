package checkers

import (
	"cmp"
	"fmt"
	"slices"

	"tornpage/engine/page"
)

// kv is a value at a key, the key by its number in the index. Two words
// without padding: its hash is then one instruction sequence.
type kv struct {
	key int64
	val uint64
}

// index is what every check needs to know of a history, made once. Operations
// are named by their place in History.Ops, keys by small numbers.
type index struct {
	h    *History
	keys map[int64]int32
	name []int64 // key number to key
	off  []int32 // operation i has key numbers num[off[i]:off[i+1]]
	num  []int32

	byID    map[int64]int32
	byCall  []int32      // operations in order of Call
	writer  map[kv]int32 // who writes a value; fromStart if it was there
	lastOp  map[int]int32
	commits []Commit // by LSN
	boots   []Boot   // writers', by OpenedAt

	lsnOf   []page.LSN // commit LSN of a write, 0 if not known
	initial []uint64   // by key number
}

// fromStart stands for a value that was there before the first operation.
const fromStart int32 = -1

// nobody stands for a value that no operation writes.
const nobody int32 = -2

func (x *index) keysOf(i int32) []int32 { return x.num[x.off[i]:x.off[i+1]] }

// writerOf says who wrote what a read saw.
func (x *index) writerOf(key int32, val uint64) int32 {
	if i, ok := x.writer[kv{int64(key), val}]; ok {
		return i
	}
	if val == 0 {
		return fromStart
	}
	return nobody
}

// build fills the index and returns what is malformed about the history.
func (x *index) build(h *History) error {
	x.reset(h)
	for i := range h.Initial {
		k := x.number(h.Initial[i].Key)
		x.initial[k] = h.Initial[i].Value
		x.writer[kv{int64(k), h.Initial[i].Value}] = fromStart
	}
	for i := range h.Ops {
		if err := x.addOp(int32(i)); err != nil {
			return err
		}
	}
	x.off = append(x.off, int32(len(x.num)))
	slices.SortFunc(x.byCall, func(a, b int32) int {
		return cmp.Or(cmp.Compare(h.Ops[a].Call, h.Ops[b].Call), cmp.Compare(a, b))
	})
	if err := x.clients(); err != nil {
		return err
	}
	return x.order()
}

func (x *index) reset(h *History) {
	if x.keys == nil {
		x.keys = make(map[int64]int32)
		x.byID = make(map[int64]int32, len(h.Ops))
		x.writer = make(map[kv]int32, len(h.Ops))
		x.lastOp = make(map[int]int32)
	}
	clear(x.keys)
	clear(x.byID)
	clear(x.writer)
	clear(x.lastOp)
	x.h = h
	x.name, x.off, x.num = x.name[:0], x.off[:0], x.num[:0]
	x.byCall, x.lsnOf, x.initial = x.byCall[:0], x.lsnOf[:0], x.initial[:0]
	x.commits, x.boots = x.commits[:0], x.boots[:0]
}

func (x *index) number(key int64) int32 {
	k, ok := x.keys[key]
	if !ok {
		k = int32(len(x.name))
		x.keys[key] = k
		x.name = append(x.name, key)
		x.initial = append(x.initial, 0)
	}
	return k
}

func (x *index) addOp(i int32) error {
	o := &x.h.Ops[i]
	if err := o.wellFormed(); err != nil {
		return fmt.Errorf("op %d: %w", o.ID, err)
	}
	if first, ok := x.byID[o.ID]; ok {
		return fmt.Errorf("op %d: two operations have this number, called at events %d and %d",
			o.ID, x.h.Ops[first].Call, o.Call)
	}
	x.byID[o.ID] = i
	x.byCall = append(x.byCall, i)
	x.off = append(x.off, int32(len(x.num)))
	lsn := page.LSN(0)
	if o.Writes() && o.Outcome == Committed && (o.Kind != CAS || o.OK) {
		lsn = o.Token
	}
	x.lsnOf = append(x.lsnOf, lsn)
	for n, key := range o.Keys {
		k := x.number(key)
		if slices.Contains(x.num[x.off[i]:], k) {
			return fmt.Errorf("op %d: key %d twice", o.ID, key)
		}
		x.num = append(x.num, k)
		if !o.Writes() || o.Values[n] == 0 || o.Kind == CAS && o.Outcome == Committed && !o.OK {
			continue
		}
		at := kv{int64(k), o.Values[n]}
		if first, ok := x.writer[at]; ok {
			return x.twice(first, o, key, at.val)
		}
		x.writer[at] = i
	}
	return nil
}

func (x *index) twice(first int32, o *Op, key int64, val uint64) error {
	if first == fromStart {
		return fmt.Errorf("op %d: key %d held %d from the start; give every write a value of its own",
			o.ID, key, val)
	}
	return fmt.Errorf("op %d: key %d gets %d as in op %d; give every write a value of its own",
		o.ID, key, val, x.h.Ops[first].ID)
}

// wellFormed reports what an operation alone has wrong.
func (o *Op) wellFormed() error {
	n := len(o.Keys)
	switch {
	case o.Kind < Get || o.Kind > View:
		return fmt.Errorf("kind %d is none", o.Kind)
	case o.Outcome < Committed || o.Outcome > Pending:
		return fmt.Errorf("outcome %d is none", o.Outcome)
	case n == 0 || n > 1 && (o.Kind == Get || o.Kind == Put || o.Kind == CAS):
		return fmt.Errorf("%d keys for a %v", n, o.Kind)
	case o.Writes() && len(o.Values) != n:
		return fmt.Errorf("%d values for %d keys", len(o.Values), n)
	case o.Reads() && o.Outcome == Committed && len(o.Results) != n:
		return fmt.Errorf("%d results for %d keys", len(o.Results), n)
	case o.Kind == CAS && len(o.Results) > 1:
		return fmt.Errorf("%d results for one key", len(o.Results))
	case o.Call < 0 || o.Return < o.Call:
		return fmt.Errorf("called at event %d, returned at event %d", o.Call, o.Return)
	case o.Return == Open && (o.Outcome == Committed || o.Outcome == Aborted):
		return fmt.Errorf("%v, yet it never returned", o.Outcome)
	}
	return nil
}

// clients checks that each client waits for an answer before it asks again,
// and takes a new number after an unknown outcome.
func (x *index) clients() error {
	for _, i := range x.byCall {
		o := &x.h.Ops[i]
		if last, ok := x.lastOp[o.Client]; ok {
			p := &x.h.Ops[last]
			if p.Outcome == Unknown || p.Outcome == Pending {
				return fmt.Errorf("op %d: client %d goes on after op %d, whose outcome is %v; give it a new number",
					o.ID, o.Client, p.ID, p.Outcome)
			}
			if p.Return > o.Call {
				return fmt.Errorf("op %d: client %d calls at event %d, before its op %d returned at event %d",
					o.ID, o.Client, o.Call, p.ID, p.Return)
			}
		}
		x.lastOp[o.Client] = i
	}
	return nil
}

// order sorts commits by LSN and writers' boots by event, and takes over
// commit LSNs of operations whose client never learned them.
func (x *index) order() error {
	x.commits = append(x.commits, x.h.Commits...)
	slices.SortStableFunc(x.commits, func(a, b Commit) int { return cmp.Compare(a.LSN, b.LSN) })
	for _, c := range x.commits {
		if c.Op == 0 {
			continue
		}
		i, ok := x.byID[c.Op]
		if !ok {
			return fmt.Errorf("commit at %v: no operation has number %d", c.LSN, c.Op)
		}
		if x.lsnOf[i] == 0 && x.h.Ops[i].Writes() {
			x.lsnOf[i] = c.LSN
		}
	}
	for _, b := range x.h.Boots {
		if !b.Follower {
			x.boots = append(x.boots, b)
		}
	}
	slices.SortStableFunc(x.boots, func(a, b Boot) int { return cmp.Compare(a.OpenedAt, b.OpenedAt) })
	return nil
}

// nextBoot returns the event at which the writer's next boot after the one
// that got operation i opened, or Open if none did. What was not durable by
// then never will be: an opening boot fences the ones before it.
func (x *index) nextBoot(i int32) int64 {
	o := &x.h.Ops[i]
	if o.Boot == 0 {
		return Open
	}
	opened := Open
	for _, b := range x.boots {
		if b.Host == o.Host && b.Boot == o.Boot {
			opened = b.OpenedAt
		}
	}
	for _, b := range x.boots {
		later := b.Host == o.Host && b.Boot > o.Boot || b.OpenedAt > opened
		// A request called after that opening reached a boot of its own: the
		// recorder's word on the boot is then no bound.
		if later && b.OpenedAt >= o.Call {
			return b.OpenedAt
		}
	}
	return Open
}
