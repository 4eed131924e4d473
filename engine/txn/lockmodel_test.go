package txn

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
)

// naive is the lock table as lists: who holds what, and who waits, for each
// lock in order. It shares nothing with the real one but the names.
type naive struct {
	holds []naiveHold // in the order in which they were taken
	waits []naiveWait // of each lock, in the order of its queue
	xids  map[uint32]int
}

type naiveHold struct {
	owner, count int
	id           LockID
	mode         Mode
}

type naiveWait struct {
	owner int
	id    LockID
	mode  Mode
	xid   uint32 // not 0: waits for its end, and for no lock
}

// conflict is PostgreSQL's table of conflicts (documentation, 13.3.1), row by
// row.
var conflictTable = map[Mode]string{
	AccessShare:          ".......#",
	RowShare:             "......##",
	RowExclusive:         "....####",
	ShareUpdateExclusive: "...#####",
	Share:                "..##.###",
	ShareRowExclusive:    "..######",
	Exclusive:            ".#######",
	AccessExclusive:      "########",
}

func conflict(a, b Mode) bool { return conflictTable[a][b-AccessShare] == '#' }

func (n *naive) ownConflict(owner int, id LockID, mode Mode) bool {
	return slices.ContainsFunc(n.holds, func(h naiveHold) bool {
		return h.owner == owner && h.id == id && conflict(h.mode, mode)
	})
}

// blockers is everybody whom w, with those of its queue before it, waits for.
func (n *naive) blockers(w naiveWait, before []naiveWait) (who []int) {
	if w.xid != 0 {
		return []int{n.xids[w.xid]}
	}
	for _, h := range n.holds {
		if h.owner != w.owner && h.id == w.id && conflict(h.mode, w.mode) {
			who = append(who, h.owner)
		}
	}
	for _, p := range before {
		if p.xid == 0 && p.id == w.id && conflict(p.mode, w.mode) {
			who = append(who, p.owner)
		}
	}
	return who
}

// deadlocked reports whether owner, which waits, waits for itself.
func (n *naive) deadlocked(owner int) bool {
	reached := map[int]bool{}
	todo := []int{owner}
	for len(todo) > 0 {
		o := todo[0]
		todo = todo[1:]
		for i, w := range n.waits {
			if w.owner != o {
				continue
			}
			for _, b := range n.blockers(w, n.waits[:i]) {
				if b == owner {
					return true
				}
				if !reached[b] {
					reached[b] = true
					todo = append(todo, b)
				}
			}
		}
	}
	return false
}

// acquire gives "granted", "waits" or "deadlock".
func (n *naive) acquire(owner int, id LockID, mode Mode) string {
	for i, h := range n.holds {
		if h.owner == owner && h.id == id && h.mode == mode {
			n.holds[i].count++
			return "granted"
		}
	}
	at := len(n.waits)
	for i, w := range n.waits {
		if w.xid == 0 && w.id == id && n.ownConflict(owner, id, w.mode) {
			at = i
			break
		}
	}
	w := naiveWait{owner: owner, id: id, mode: mode}
	if len(n.blockers(w, n.waits[:at])) == 0 {
		n.holds = append(n.holds, naiveHold{owner: owner, count: 1, id: id, mode: mode})
		return "granted"
	}
	return n.enqueue(w, at)
}

func (n *naive) enqueue(w naiveWait, at int) string {
	n.waits = slices.Insert(n.waits, at, w)
	if n.deadlocked(w.owner) {
		n.waits = slices.Delete(n.waits, at, at+1)
		return "deadlock"
	}
	return "waits"
}

func (n *naive) waitEnd(owner int, xid uint32) string {
	if _, runs := n.xids[xid]; !runs {
		return "granted"
	}
	return n.enqueue(naiveWait{owner: owner, xid: xid}, len(n.waits))
}

// settle lets go on who waits for nobody any more, until there is none.
func (n *naive) settle() {
	for again := true; again; {
		again = false
		for i, w := range n.waits {
			if w.xid != 0 {
				if _, runs := n.xids[w.xid]; runs {
					continue
				}
			} else if len(n.blockers(w, n.waits[:i])) > 0 {
				continue
			} else {
				n.holds = append(n.holds, naiveHold{owner: w.owner, count: 1, id: w.id, mode: w.mode})
			}
			n.waits = slices.Delete(n.waits, i, i+1)
			again = true
			break
		}
	}
}

// lockRun is the real table with its users, beside the model.
type lockRun struct {
	*talk
	n      naive
	owners []*Owner
	result []string // of each owner's last request; "": under way
	ids    []LockID // few: contention is what is looked for
}

func newLockRun(t *rapid.T) *lockRun {
	r := &lockRun{talk: newTalk(t, setup{batch: 1000}), n: naive{xids: map[uint32]int{}}}
	r.ids = lockIDs[:rapid.IntRange(1, len(lockIDs)).Draw(t, "locks")]
	for i := range rapid.IntRange(2, 6).Draw(t, "owners") {
		r.owners = append(r.owners, r.table.NewOwner(fmt.Sprint("owner-", i)))
		r.result = append(r.result, "granted")
	}
	return r
}

func (r *lockRun) do(f func()) {
	r.m.Go("step", f)
	r.w.Run(r.w.Now() + time.Millisecond)
}

// ask has owner i make a request, which may not return for long.
func (r *lockRun) ask(i int, request func(o *Owner) error) {
	r.result[i] = ""
	r.do(func() {
		err := request(r.owners[i])
		r.result[i] = "granted"
		if errors.Is(err, ErrDeadlock) {
			r.result[i] = "deadlock"
		}
	})
}

// compare holds the real table against the model.
func (r *lockRun) compare(t *rapid.T) {
	if f := r.w.Failure(); f != nil {
		t.Fatalf("%v", f.Value)
	}
	held := map[int]int{}
	for _, h := range r.n.holds {
		held[h.owner]++
		require.True(t, r.table.Holds(r.owners[h.owner], h.id, h.mode), "%v holds %v on %v", r.owners[h.owner], h.mode, h.id)
		for _, g := range r.n.holds {
			require.False(t, g.owner != h.owner && g.id == h.id && conflict(g.mode, h.mode), "two hold %v", h.id)
		}
	}
	waiting := 0
	for i, o := range r.owners {
		require.Equal(t, held[i], o.Held(), "locks of %v", o)
		if o.waiting() {
			waiting++
			require.Equal(t, "", r.result[i])
		}
		require.Equal(t, slices.ContainsFunc(r.n.waits, func(w naiveWait) bool { return w.owner == i }), o.waiting(), "%v waits", o)
	}
	require.Len(t, r.table.parked, waiting)
	for _, id := range lockIDs {
		var want, got []int
		for _, w := range r.n.waits {
			if w.xid == 0 && w.id == id {
				want = append(want, w.owner)
			}
		}
		if k := r.table.find(id); k != nil {
			for w := k.queue.first; w != nil; w = w.next {
				got = append(got, slices.Index(r.owners, w))
			}
		}
		require.Equal(t, want, got, "queue of %v", id)
	}
}

var lockIDs = []LockID{
	TableLock(1), TableLock(2), RowLock(1, page.TID{Block: 1, Offset: 1}), RowLock(1, page.TID{Block: 1, Offset: 2}), KeyLock(2, 1<<40),
}

// TestLocksAgainstModel: the lock table does what the lists do. Nobody holds
// what conflicts with another's hold; queues are in order; a request is refused
// if it closes a cycle of the whole graph, and only then; and in the end
// everybody has got what he waited for.
func TestLocksAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newLockRun(t)
		defer r.w.Close()
		for range rapid.IntRange(30, 100).Draw(t, "steps") {
			r.step(t)
			r.compare(t)
		}
		for len(r.n.holds) > 0 || len(r.n.waits) > 0 || len(r.n.xids) > 0 {
			r.drain(t)
			r.compare(t)
		}
		require.Zero(t, r.table.Held())
		require.Zero(t, r.table.holds.n)
	})
}

func (r *lockRun) step(t *rapid.T) {
	i := rapid.IntRange(0, len(r.owners)-1).Draw(t, "owner")
	o := r.owners[i]
	if o.waiting() {
		if rapid.IntRange(0, 9).Draw(t, "cancel") == 0 {
			r.do(func() { r.table.Cancel(o, errors.New("canceled")) })
			r.n.waits = slices.DeleteFunc(r.n.waits, func(w naiveWait) bool { return w.owner == i })
			r.n.settle()
		}
		return
	}
	id := rapid.SampledFrom(r.ids).Draw(t, "lock")
	m := rapid.SampledFrom([]Mode{Share, Exclusive}).Draw(t, "mode")
	if id.Kind == KindTable {
		m = rapid.SampledFrom([]Mode{1, 2, 3, 4, 5, 6, 7, 8}).Draw(t, "table mode")
	}
	switch rapid.SampledFrom([]string{"acquire", "acquire", "acquire", "acquire", "acquire", "acquire", "try", "give-up", "begin", "wait"}).Draw(t, "step") {
	case "acquire":
		want := r.n.acquire(i, id, m)
		r.ask(i, func(o *Owner) error { return r.table.Acquire(o, id, m) })
		r.expect(t, i, want)
	case "try":
		saved := slices.Clone(r.n.waits)
		want := r.n.acquire(i, id, m)
		r.n.waits = saved
		r.do(func() {
			ok, err := r.table.TryAcquire(o, id, m)
			r.result[i] = fmt.Sprint(ok, err)
		})
		require.Equal(t, fmt.Sprint(want == "granted", nil), r.result[i])
	case "begin":
		r.do(func() {
			xid, err := r.t.begin(o)
			r.result[i] = fmt.Sprint(err)
			r.n.xids[xid] = i
		})
		require.Equal(t, "<nil>", r.result[i])
	case "wait":
		xid := uint32(rapid.IntRange(99, int(r.t.Next())).Draw(t, "xid"))
		want := r.n.waitEnd(i, xid)
		r.ask(i, func(o *Owner) error { return r.table.WaitEnd(o, xid) })
		r.expect(t, i, want)
	default:
		r.giveUp(t, i)
	}
}

// giveUp releases something of owner i's, or everything, or ends an XID.
func (r *lockRun) giveUp(t *rapid.T, i int) {
	o := r.owners[i]
	for _, xid := range r.t.RunningXIDs() {
		if r.n.xids[xid] == i {
			delete(r.n.xids, xid)
			r.do(func() { r.t.Aborted(xid) })
			r.n.settle()
			return
		}
	}
	if rapid.Bool().Draw(t, "all") {
		r.do(func() { r.table.ReleaseAll(o) })
		r.n.holds = slices.DeleteFunc(r.n.holds, func(h naiveHold) bool { return h.owner == i })
		r.n.settle()
		return
	}
	at := slices.IndexFunc(r.n.holds, func(h naiveHold) bool { return h.owner == i })
	if at < 0 {
		return
	}
	h := &r.n.holds[at]
	r.do(func() { r.table.Release(o, h.id, h.mode) })
	if h.count--; h.count == 0 {
		r.n.holds = slices.Delete(r.n.holds, at, at+1)
		r.n.settle()
	}
}

// drain has everybody who waits for nobody give up all there is.
func (r *lockRun) drain(t *rapid.T) {
	free := slices.IndexFunc(r.owners, func(o *Owner) bool {
		i := slices.Index(r.owners, o)
		return !o.waiting() && (o.Held() > 0 || slices.ContainsFunc(r.t.RunningXIDs(), func(x uint32) bool { return r.n.xids[x] == i }))
	})
	require.GreaterOrEqual(t, free, 0, "everybody waits: %+v", r.n)
	r.giveUp(t, free)
}

func (r *lockRun) expect(t *rapid.T, i int, want string) {
	got := r.result[i]
	if got == "" {
		got = "waits"
	}
	require.Equal(t, want, got, "owner %d of %+v", i, r.n)
}
