package txn

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/heap"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// listed is the transactions as lists: which XIDs are committed, in which
// order, and what each snapshot was when it was taken.
type listed struct {
	commits []listedCommit // published
	aborted map[uint32]bool
	running map[uint32]bool
	old     map[uint32]bool // XIDs of earlier boots: committed?
}

type listedCommit struct {
	lsn  wal.LSN
	xids []uint32
}

// committed reports whether xid is in the first n commits.
func (l *listed) committed(xid uint32, n int) bool {
	if l.old[xid] {
		return true
	}
	return slices.ContainsFunc(l.commits[:n], func(c listedCommit) bool { return slices.Contains(c.xids, xid) })
}

// snapUser is a transaction with what the model knows of it.
type snapUser struct {
	x      *Xact
	level  Level
	frames []snapFrame
	sees   int // commits in its snapshot; -1: it has none
	busy   bool
}

type snapFrame struct {
	name string
	has  bool     // an XID of its own
	xids []uint32 // and those of savepoints released in it
}

func (u *snapUser) own() (xids []uint32) {
	for _, f := range u.frames {
		xids = append(xids, f.xids...)
	}
	return xids
}

type snapRun struct {
	*talk
	l     listed
	queue []listedCommit // entered, not published
	users []*snapUser
	last  wal.LSN
	xids  []uint32 // to be asked about
}

func newSnapRun(t *rapid.T) *snapRun {
	r := &snapRun{last: 1000, l: listed{aborted: map[uint32]bool{}, running: map[uint32]bool{}, old: map[uint32]bool{}}}
	first := uint32(rapid.IntRange(200, 600).Draw(t, "first")) // about the ends of chunks
	cache := rapid.SampledFrom([]int{1, 64, 4096}).Draw(t, "cache")
	r.talk = newTalk(t, setup{first: first, batch: 100, cache: cache})
	r.q.published = func(_ uint32, lsn wal.LSN) {
		require.NotEmpty(t, r.queue)
		c := r.queue[0]
		r.queue = r.queue[1:]
		require.Equal(t, c.lsn, lsn, "T3")
		require.LessOrEqual(t, lsn, r.log.durable, "T2")
		r.l.commits = append(r.l.commits, c)
		for _, xid := range c.xids {
			delete(r.l.running, xid)
		}
	}
	r.xids = []uint32{first - 2, first - 1}
	r.do(func() { r.setStatus(first-1, 1) })
	r.l.old[first-1] = true
	return r
}

func (r *snapRun) do(f func()) {
	r.m.Go("step", f)
	r.w.Run(r.w.Now() + time.Millisecond)
}

// setStatus is what a commit record does to the status page.
func (r *snapRun) setStatus(xid uint32, lsn wal.LSN) {
	f, err := r.pool.Pin(page.StatusID(xid))
	if err != nil {
		panic(err)
	}
	f.Lock()
	f.MarkDirty()
	if f.Page().IsZero() {
		page.InitStatus(f.Page())
	}
	page.SetStatus(f.Page(), xid, page.Committed)
	page.Stamp(f.ID(), f.Page(), lsn)
	f.Unlock()
	r.pool.Unpin(f)
}

// TestSnapshotsAgainstModel: with savepoints, chunks of XIDs that come and go,
// and status caches down to one entry, every view sees exactly the commits that
// were published when it was taken, and its own live changes; and fates are
// right.
func TestSnapshotsAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newSnapRun(t)
		defer r.w.Close()
		for range rapid.IntRange(40, 120).Draw(t, "steps") {
			r.step(t)
			if f := r.w.Failure(); f != nil {
				t.Fatalf("%v", f.Value)
			}
			r.compare(t)
		}
	})
}

func (r *snapRun) step(t *rapid.T) {
	switch rapid.SampledFrom([]string{"use", "use", "use", "durable", "use", "use", "use", "burn"}).Draw(t, "step") {
	case "durable":
		n := wal.LSN(rapid.SampledFrom([]int{1000, 10, 30}).Draw(t, "log"))
		r.do(func() {
			r.log.durable = min(r.last, max(1000, r.log.durable)+n)
			r.log.moved.Broadcast()
		})
	case "burn":
		n := rapid.IntRange(1, 400).Draw(t, "XIDs")
		r.xids = append(r.xids, r.t.Next(), r.t.Next()+uint32(n)-1)
		for i := range n {
			r.l.aborted[r.t.Next()+uint32(i)] = true
		}
		r.do(func() { r.doXact([]string{"burn", fmt.Sprint(n)}) })
	default:
		if i := rapid.IntRange(0, len(r.users)).Draw(t, "user"); i < len(r.users) {
			if u := r.users[i]; !u.busy {
				r.use(t, u)
			}
		} else if len(r.users) < 4 {
			r.open(t)
		}
	}
}

func (r *snapRun) open(t *rapid.T) {
	level := rapid.SampledFrom([]Level{ReadCommitted, RepeatableRead}).Draw(t, "level")
	x, err := r.t.Start(level)
	require.NoError(t, err)
	r.users = append(r.users, &snapUser{x: x, level: level, frames: []snapFrame{{}}, sees: -1})
}

func (r *snapRun) use(t *rapid.T, u *snapUser) {
	top := &u.frames[len(u.frames)-1]
	switch rapid.SampledFrom([]string{"xid", "savepoint", "statement", "commit", "rollback", "xid", "savepoint", "release", "no statement", "abort"}).Draw(t, "use") {
	case "statement":
		u.x.Statement()
		if u.sees < 0 || u.level == ReadCommitted {
			u.sees = len(r.l.commits)
		}
	case "no statement":
		r.do(u.x.EndStatement)
		if u.level == ReadCommitted {
			u.sees = -1
		}
	case "xid":
		r.write(t, u)
	case "savepoint":
		name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")
		require.NoError(t, u.x.Savepoint(name))
		u.frames = append(u.frames, snapFrame{name: name})
	case "rollback":
		if len(u.frames) > 1 {
			r.rollback(t, u)
		}
	case "release":
		if len(u.frames) > 1 {
			require.NoError(t, u.x.Release(top.name))
			u.frames = u.frames[:len(u.frames)-1]
			into := &u.frames[len(u.frames)-1]
			into.xids = append(into.xids, top.xids...)
		}
	case "commit":
		r.commit(t, u)
	case "abort":
		for _, xid := range u.own() {
			delete(r.l.running, xid)
			r.l.aborted[xid] = true
		}
		r.do(u.x.Abort)
		r.gone(u)
	}
}

func (r *snapRun) gone(u *snapUser) {
	r.users = slices.DeleteFunc(r.users, func(o *snapUser) bool { return o == u })
}

// write takes an XID for each open level that has none, outermost first.
func (r *snapRun) write(t *rapid.T, u *snapUser) {
	var got uint32
	next := r.t.Next()
	want := next
	for i := range u.frames {
		if f := &u.frames[i]; !f.has {
			f.has = true
			f.xids = append(f.xids, next)
			r.xids = append(r.xids, next)
			r.l.running[next] = true
			want = next
			next++
		}
	}
	if want == next { // nothing was taken
		want = u.frames[len(u.frames)-1].xids[0]
	}
	r.do(func() { got, _ = u.x.XID() })
	require.Equal(t, want, got)
	require.Equal(t, next, r.t.Next())
}

func (r *snapRun) rollback(t *rapid.T, u *snapUser) {
	at := rapid.IntRange(1, len(u.frames)-1).Draw(t, "to") // perhaps one that is hidden
	name := u.frames[at].name
	for at = len(u.frames) - 1; u.frames[at].name != name; at-- {
	}
	var want []uint32
	for _, f := range u.frames[at:] {
		want = append(want, f.xids...)
	}
	var dead []uint32
	var err error
	r.do(func() { dead, err = u.x.RollbackTo(name) })
	require.NoError(t, err)
	require.ElementsMatch(t, want, dead)
	require.True(t, slices.IsSorted(dead))
	for _, xid := range dead {
		delete(r.l.running, xid)
		r.l.aborted[xid] = true
	}
	u.frames = append(u.frames[:at], snapFrame{name: name})
}

func (r *snapRun) commit(t *rapid.T, u *snapUser) {
	xid, subs := u.x.Tree()
	if xid == 0 {
		require.Empty(t, u.own())
		r.do(u.x.End)
		r.gone(u)
		return
	}
	require.ElementsMatch(t, u.own(), append([]uint32{xid}, subs...))
	u.busy = true
	r.last += wal.LSN(rapid.IntRange(1, 20).Draw(t, "record"))
	lsn := r.last
	r.queue = append(r.queue, listedCommit{lsn, u.own()})
	r.do(func() {
		for _, x := range u.own() {
			r.setStatus(x, lsn)
		}
		r.q.Lock()
		c := r.q.Enter(xid, lsn, subs...)
		r.q.Unlock()
		if err := r.q.Wait(c); err != nil {
			panic(err)
		}
		u.x.End()
		r.gone(u)
	})
}

// compare asks about every XID in every view.
func (r *snapRun) compare(t *rapid.T) {
	require.True(t, slices.Equal(slices.Sorted(maps.Keys(r.l.running)), r.t.RunningXIDs()), "%v run, want %v", r.t.RunningXIDs(), r.l.running)
	require.Equal(t, len(r.l.running), r.t.open)
	oldest, held := len(r.l.commits), 0
	for _, u := range r.users {
		if u.sees >= 0 {
			oldest = min(oldest, u.sees)
			held++
		}
	}
	require.Equal(t, held, r.t.Horizon().Snapshots)
	wrong := ""
	r.do(func() {
		var v View
		v.Begin(r.t)
		for _, xid := range append(slices.Clone(r.xids), r.t.Next()) {
			for i, u := range r.users {
				if u.sees < 0 {
					continue
				}
				want := slices.Contains(u.own(), xid) || r.l.committed(xid, u.sees)
				if got := r.xactSees(u.x, xid); got != want {
					wrong += fmt.Sprintf("user %d sees %d: %t, want %t\n", i, xid, got, want)
				}
			}
			got := v.Fate(xid)
			if got == heap.AskFate {
				if err := v.Resolve(xid); err != nil {
					panic(err)
				}
				got = v.Fate(xid)
			}
			if want := r.fate(xid, oldest); got != want {
				wrong += fmt.Sprintf("fate of %d: %d, want %d\n", xid, got, want)
			}
		}
	})
	require.Empty(t, wrong)
}

func (r *snapRun) fate(xid uint32, oldest int) heap.Fate {
	switch {
	case r.l.running[xid] || xid >= r.t.Next():
		return heap.Running
	case r.l.committed(xid, oldest):
		return heap.Gone
	case r.l.committed(xid, len(r.l.commits)):
		return heap.Recent
	}
	return heap.Aborted
}
