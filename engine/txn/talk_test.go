package txn

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"tornpage/engine"
	"tornpage/engine/buffer"
	"tornpage/engine/heap"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
	"tornpage/sim"
)

// scripted is a log whose durable point the script moves, and a store whose
// status pages the script writes.
type scripted struct {
	k       *talk
	durable wal.LSN
	moved   *host.Cond
	fail    error
	status  map[uint32]*page.Page
}

func (l *scripted) Durable() wal.LSN { return l.durable }

func (l *scripted) WaitDurable(lsn wal.LSN) error {
	for l.durable < lsn && l.fail == nil {
		l.k.say("storage is asked for %d", lsn)
		l.moved.Wait()
	}
	return l.fail
}

func (l *scripted) ReadPage(id page.ID, _, _ wal.LSN, p *page.Page) error {
	l.k.say("status page %d is read", id.Block)
	if old := l.status[id.Block]; old != nil {
		*p = *old
		return nil
	}
	return engine.ErrNoPage
}

func (l *scripted) Evict(page.ID, *page.Page) error { return nil }

type talk struct {
	w     *sim.World
	m     host.Machine
	log   *scripted
	pool  *buffer.Pool
	t     *Manager
	q     *Queue
	locks *Locks
	table *LockTable
	taken map[string]*Snapshot
	xacts map[string]*Xact
	tasks map[string]*Owner
	out   strings.Builder
}

// logging is a machine whose log is part of the conversation.
type logging struct {
	host.Machine
	k *talk
}

func (l logging) Logf(format string, args ...any) { l.k.say("log: "+format, args...) }

// setup is how a conversation starts.
type setup struct {
	first     uint32 // XID; 0: 100
	batch     uint32
	cache     int
	cfg       Config
	published wal.LSN // 0: 1000
}

func (k *talk) say(format string, args ...any) { fmt.Fprintf(&k.out, format+"\n", args...) }

func newTalk(t require.TestingT, s setup) *talk {
	k := &talk{taken: map[string]*Snapshot{}, xacts: map[string]*Xact{}, tasks: map[string]*Owner{}}
	w, err := sim.New(sim.Config{Machines: []sim.Machine{{Name: "m", Zone: "a"}},
		Costs: sim.Costs{host.WorkPageLookup: 1},
		Hosts: []sim.Host{{Name: "h", Machine: "m", Boot: func(m host.Machine) {
			k.m = logging{m, k}
			m.Sleep(time.Hour)
		}}}})
	require.NoError(t, err)
	k.w = w
	w.BootAll()
	w.Run(time.Millisecond)
	k.log = &scripted{k: k, moved: k.m.NewCond(host.WaitDurable), status: map[uint32]*page.Page{}}
	k.pool = buffer.New(k.m, buffer.Config{Frames: 2})
	k.pool.Attach(k.log, 0)
	st := NewStatus(k.m, k.pool, s.cache)
	k.t = NewManager(k.m, st, cmp.Or(s.first, 100), cmp.Or(s.published, 1000), s.batch, func(h uint32) error {
		k.say("horizon %d is logged", h)
		return nil
	})
	k.q = NewQueue(k.m, k.t, k.log, func(xid uint32, lsn wal.LSN) { k.say("%d is published at %d", xid, lsn) })
	k.locks = NewLocks(k.m)
	k.table = NewLockTable(k.m, k.t, s.cfg)
	return k
}

func num(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// do runs one line, in a task of its own.
func (k *talk) do(line string) {
	f := strings.Fields(line)
	switch f[0] {
	case "begin":
		xid, err := k.t.Begin()
		k.say("begun: %d, %v", xid, err)
	case "commit": // commit XID at LSN
		k.q.Lock()
		c := k.q.Enter(uint32(num(f[1])), wal.LSN(num(f[3])))
		k.q.Unlock()
		err := k.q.Wait(c)
		k.say("%s: %v", line, err)
	case "abort":
		k.t.Aborted(uint32(num(f[1])))
	case "durable":
		k.log.durable = wal.LSN(num(f[1]))
		k.log.moved.Broadcast()
	case "storage-fails":
		k.log.fail = errors.New("storage stopped")
		k.log.moved.Broadcast()
	case "take":
		k.taken[f[1]] = k.t.Take()
		k.say("%s: as of %d", f[1], k.taken[f[1]].LSN)
	case "give":
		k.t.Give(k.taken[f[1]])
	case "sees": // sees NAME XID...
		k.sees(f[1], f[2:])
	case "fate":
		k.fates(f[1:])
	case "page": // page XID committed: on the status page, not in the cache
		xid := uint32(num(f[1]))
		p := new(page.Page)
		page.InitStatus(p)
		page.SetStatus(p, xid, page.Committed)
		page.Stamp(page.StatusID(xid), p, 1)
		k.log.status[page.StatusBlock(xid)] = p
	case "wait-moved":
		k.say("waited: %v", k.t.WaitMoved(k.t.Moves()))
	case "lock":
		k.locks.Lock(num(f[2]))
		k.say("%s has %s", f[1], f[2])
	case "unlock":
		k.locks.Unlock(num(f[1]))
	case "state":
		k.say("published %d, oldest snapshot %d, running %v, keys locked %d", k.t.Published(), k.t.Oldest(), k.t.RunningXIDs(), k.locks.Held())
	default:
		if !k.doXact(f) && !k.doLock(f) {
			k.say("unknown verb %q", line)
		}
	}
}

func (k *talk) sees(name string, xids []string) {
	var v View
	v.Begin(k.t)
	v.Set(k.taken[name])
	for _, x := range xids {
		xid := uint32(num(x))
		answer := v.Sees(xid)
		if answer == heap.Ask {
			if err := v.Resolve(xid); err != nil {
				k.say("%v", err)
				continue
			}
			answer = v.Sees(xid)
		}
		k.say("%s sees %d: %t", name, xid, answer == heap.Yes)
	}
}

func (k *talk) fates(xids []string) {
	var v View
	v.Begin(k.t)
	names := map[heap.Fate]string{heap.Running: "running", heap.Aborted: "aborted", heap.Recent: "recent", heap.Gone: "gone", heap.AskFate: "not at hand"}
	for _, x := range xids {
		k.say("%s: %s", x, names[v.Fate(uint32(num(x)))])
	}
}

func TestConversations(t *testing.T) {
	datadriven.Walk(t, "testdata/talk", func(t *testing.T, path string) {
		var k *talk
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "start" {
				var first, batch uint64
				var s setup
				d.MaybeScanArgs(t, "first", &first)
				d.MaybeScanArgs(t, "batch", &batch)
				d.MaybeScanArgs(t, "cache", &s.cache)
				d.MaybeScanArgs(t, "locks", &s.cfg.LocksPerOwner)
				d.MaybeScanArgs(t, "subs", &s.cfg.SubXIDs)
				d.MaybeScanArgs(t, "savepoints", &s.cfg.Savepoints)
				s.first, s.batch = uint32(first), uint32(batch)
				k = newTalk(t, s)
				t.Cleanup(k.w.Close)
				return ""
			}
			k.out.Reset()
			for _, line := range strings.Split(d.Input, "\n") {
				k.m.Go(line, func() { k.do(line) })
				k.w.Run(k.w.Now() + time.Millisecond)
				if f := k.w.Failure(); f != nil {
					return k.out.String() + fmt.Sprintf("panic: %v", f.Value)
				}
			}
			return k.out.String()
		})
	})
}

// TestCommitOrder: whatever the durable point does, commits are published in
// LSN order, none before it is durable, and each waiter returns once.
func TestCommitOrder(t *testing.T) {
	for seed := range uint64(20) {
		k := newTalk(t, setup{batch: 1000})
		defer k.w.Close()
		r := host.NewRand(host.Mix(seed + 1))
		var published []wal.LSN
		k.q.published = func(_ uint32, lsn wal.LSN) {
			require.LessOrEqual(t, lsn, k.log.durable, "T2")
			published = append(published, lsn)
		}
		next, returned := wal.LSN(1000), 0
		for range 50 {
			k.m.Go("committer", func() {
				k.m.Sleep(time.Duration(r.N(1_000_000)))
				xid, err := k.t.Begin()
				require.NoError(t, err)
				k.q.Lock()
				next += wal.LSN(1 + r.N(9))
				lsn := next
				k.m.Sleep(time.Duration(r.N(20_000))) // as Append may switch
				c := k.q.Enter(xid, lsn)
				k.q.Unlock()
				require.NoError(t, k.q.Wait(c))
				require.GreaterOrEqual(t, k.t.Published(), lsn)
				returned++
			})
		}
		k.m.Go("log", func() {
			for returned < 50 {
				k.m.Sleep(time.Duration(r.N(100_000)))
				k.log.durable = min(next, k.log.durable+wal.LSN(r.N(40)))
				k.log.durable = max(k.log.durable, 1000)
				k.log.moved.Broadcast()
			}
		})
		k.w.Run(time.Minute)
		require.Nil(t, k.w.Failure())
		require.Equal(t, 50, returned)
		require.True(t, slices.IsSorted(published), "T3: %v", published)
		require.Empty(t, k.t.RunningXIDs())
	}
}
