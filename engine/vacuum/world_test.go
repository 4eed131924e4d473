package vacuum

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"

	"tornpage/engine"
	"tornpage/engine/buffer"
	"tornpage/engine/compute/computetest"
	"tornpage/engine/fsm"
	"tornpage/engine/heap"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/pager"
	"tornpage/engine/wal"
)

// The world of the tests: a small table over a storage in memory. Rows are a
// key and a value; an index is a relation of tuples (key, TID) that are
// searched one by one, so that it shares nothing with a real index but what
// vacuum asks of one. Transactions commit by a record that stands for a commit
// record, so that a crash decides about them as it does about pages.

const tableRel = page.Rel(20000)

func indexRel(i int) page.Rel { return tableRel + 1 + page.Rel(i) }

// world survives boots.
type world struct {
	mem     computetest.Mem
	cfg     Config
	frames  int
	indexes int
	lines   int // line pointers that a page of the table may have
	pad     int // bytes added to a row
	moves   uint64
	deletes uint64 // of eight operations of a client, less two
	xid     uint32
	states  []map[int64]int64 // states[n]: after n commits
	place   map[uint32]int    // XID: the number of its commit, from 1
	limbo   []*xact           // commit record appended, not yet published
	value   int64
	crash   int // exit after so many more records of vacuum; 0: never
	reads   int // checks that readers made
}

func newWorld() *world {
	return &world{xid: 10, states: []map[int64]int64{{}}, place: map[uint32]int{}, frames: 8, lines: 100}
}

// xact is a transaction of one key.
type xact struct {
	xid   uint32
	key   int64
	value int64 // 0: deleted
	lsn   wal.LSN
}

// boot is one boot of the world.
type boot struct {
	w       *world
	m       host.Machine
	st      *crashing
	pg      *pager.Pager
	free    fsm.Map
	vac     *Vacuum
	turn    *host.Latch // commits one after the other, so in LSN order
	grow    *host.Latch // one task at a time looks for a page
	keys    map[int64]bool
	open    map[uint32]bool
	held    map[int]int // snapshots: how many tasks hold the one of n commits
	rand    host.Rand
	locked  bool // the table, by vacuum
	users   int  // tasks that use the table
	unlock  *host.Cond
	wanting int
	late    bool // the table grows before the lock is had
}

// crashing ends the process after a given number of vacuum's records.
type crashing struct {
	*computetest.Storage
	b      *boot
	counts bool
	full   bool
}

// Admit implements engine.Storage.
func (c *crashing) Admit(n int) error {
	if c.full {
		return engine.ErrFull
	}
	return c.Storage.Admit(n)
}

var errCrash = errors.New("crash as planned")

// Append implements engine.Storage.
func (c *crashing) Append(m *wal.MTR, floor wal.LSN) (wal.LSN, error) {
	lsn, err := c.Storage.Append(m, floor)
	if err != nil || !c.counts || c.b.w.crash == 0 {
		return lsn, err
	}
	if c.b.w.crash--; c.b.w.crash == 0 {
		if err := c.WaitDurable(lsn); err != nil {
			return lsn, err
		}
		c.b.m.Exit(errCrash)
	}
	return lsn, nil
}

func (w *world) boot(m host.Machine) (*boot, error) {
	st := w.mem.Boot(m)
	st.Moves = w.moves
	found, err := st.Open()
	if err != nil {
		return nil, err
	}
	b := &boot{w: w, m: m, turn: host.NewLatch(m, host.WaitCommitQueue), grow: host.NewLatch(m, host.WaitSpace),
		keys: map[int64]bool{}, open: map[uint32]bool{}, held: map[int]int{}, rand: m.Rand("world", 0), unlock: m.NewCond(host.WaitTuple)}
	b.st = &crashing{Storage: st, b: b}
	for _, x := range w.limbo {
		if x.lsn <= found.End {
			w.publish(x)
		}
	}
	w.limbo = nil
	pool := buffer.New(m, buffer.Config{Frames: w.frames, Remember: 4})
	pool.Attach(b.st, found.End)
	b.pg = pager.New(m, pool, nil)
	b.pg.Attach(b.st)
	b.vac = New(b.pg, Table{Rel: tableRel, Free: &b.free, Lines: w.lines, Lock: Lock{Try: b.tryLock, Unlock: b.unlockTable,
		Wanted: func() bool { return b.wanting > 0 }}}, w.cfg)
	return b, nil
}

func (w *world) publish(x *xact) {
	next := maps.Clone(w.states[len(w.states)-1])
	if x.value == 0 {
		delete(next, x.key)
	} else {
		next[x.key] = x.value
	}
	w.states = append(w.states, next)
	w.place[x.xid] = len(w.states) - 1
}

// use and leave are a shared table lock, tryLock and unlockTable the exclusive one.
func (b *boot) use() {
	b.wanting++
	for b.locked {
		b.unlock.Wait()
	}
	b.wanting--
	b.users++
}

func (b *boot) leave() { b.users-- }

func (b *boot) tryLock() bool {
	if b.users > 0 {
		return false
	}
	if b.late { // somebody was just before
		b.late = false
		if _, err := b.pg.Extend(tableRel); err != nil {
			return false
		}
	}
	b.locked = true
	return true
}

func (b *boot) unlockTable() {
	b.locked = false
	b.unlock.Broadcast()
}

// Fate implements heap.Fates.
func (b *boot) Fate(xid uint32) heap.Fate {
	if b.open[xid] {
		return heap.Running
	}
	n, ok := b.w.place[xid]
	if !ok {
		return heap.Aborted
	}
	for h := range b.held { //tornvet:ordered a minimum does not depend on order
		if h < n {
			return heap.Recent
		}
	}
	return heap.Gone
}

// horizon is b's fates, some of which have to be asked for.
type horizon struct {
	b     *boot
	known map[uint32]bool
}

// Fate implements heap.Fates.
func (h *horizon) Fate(xid uint32) heap.Fate {
	f := h.b.Fate(xid)
	if f != heap.Running && !h.known[xid] {
		return heap.AskFate
	}
	return f
}

// Resolve implements Horizon.
func (h *horizon) Resolve(xids ...uint32) error {
	h.b.m.Sleep(1)
	for _, x := range xids {
		if h.b.open[x] {
			return fmt.Errorf("fate of %d asked for while it runs", x)
		}
		h.known[x] = true
	}
	return nil
}

// vacuum runs one, its records counted for the planned crash.
func (b *boot) vacuum() (Stats, error) {
	var xs []Index
	for i := range b.w.indexes {
		xs = append(xs, &toyIndex{b, i})
	}
	b.st.counts = true
	s, err := b.vac.Run(&horizon{b, map[uint32]bool{}}, xs)
	b.st.counts = false
	return s, err
}

// rowData is a row's user data; entryData an index entry's.
func rowData(key, value int64, pad int) []byte {
	d := binary.LittleEndian.AppendUint64(nil, uint64(key))
	d = binary.LittleEndian.AppendUint64(d, uint64(value))
	return append(d, make([]byte, pad)...)
}

func rowOf(t page.Tuple) (key, value int64) {
	d := t.Data()
	return int64(binary.LittleEndian.Uint64(d)), int64(binary.LittleEndian.Uint64(d[8:]))
}

func entryData(key int64, tid page.TID) []byte {
	return rowData(key, int64(tid.Block)<<16|int64(tid.Offset), 0)
}

func entryOf(t page.Tuple) (key int64, tid page.TID) {
	key, v := rowOf(t)
	return key, page.TID{Block: uint32(v >> 16), Offset: uint16(v)}
}

var _ engine.Storage = (*crashing)(nil)
