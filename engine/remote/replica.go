package remote

import (
	"errors"
	"fmt"
	"slices"

	"tornpage/engine"
	"tornpage/engine/db"
	"tornpage/engine/heap"
	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// view is a state that the replica serves: everything that was committed at or
// before lsn, and nothing else.
type view struct {
	lsn     wal.LSN
	running []uint32 // sorted: neither committed nor aborted as of lsn
	next    uint32
	users   int
}

// replica serves reads from a follower.
type replica struct {
	m      host.Machine
	cfg    Config
	f      *Follower
	now    *view
	used   []*view         // older ones that somebody reads, oldest first
	status map[uint32]bool // XIDs that have ended: committed?
	failed error
}

// RunFollower is the boot function of the follower. It serves views on DBPort
// and does not return.
func RunFollower(m host.Machine, cfg Config) {
	cfg = cfg.withDefaults()
	r := &replica{m: m, cfg: cfg, f: NewFollower(m, cfg), status: map[uint32]bool{}}
	lsn, running, err := r.f.Start()
	if err == nil {
		r.begin(lsn, running)
		db.Serve(m, cfg.DBPort, r)
		err = r.follow()
	}
	r.failed = err
	m.Exit(fmt.Errorf("remote: follower: %w", err))
}

func (r *replica) begin(lsn wal.LSN, running engine.Running) {
	r.now = &view{lsn: lsn, running: running.XIDs, next: running.Next}
	r.f.Hold(lsn, 0)
}

// follow moves the view from batch to batch. A batch ends at a durable point
// and has whole mini-transactions, so that each view is one prefix of commits.
func (r *replica) follow() error {
	for {
		b, err := r.f.Next()
		if err != nil {
			return err
		}
		next := chain{pos: wal.Position{End: r.now.lsn}, next: r.now.next, running: slices.Clone(r.now.running)}
		for i := range b.Records {
			if err := next.note(&b.Records[i]); err != nil {
				return err
			}
		}
		v := &view{lsn: b.Durable, running: next.running, next: next.next}
		r.show(v)
	}
}

// show makes v the present view.
func (r *replica) show(v *view) {
	if v.lsn < r.now.lsn {
		invariant.Broken("R7", "the view goes from %v back to %v", r.now.lsn, v.lsn)
	}
	if r.now.users > 0 {
		r.used = append(r.used, r.now)
	}
	r.now = v
	r.m.Mark("remote.view-moved")
	r.hold()
}

// hold promises what the oldest view in use needs.
func (r *replica) hold() {
	r.used = slices.DeleteFunc(r.used, func(v *view) bool { return v.users == 0 })
	oldest := r.now.lsn
	if len(r.used) > 0 {
		oldest = r.used[0].lsn
	}
	r.f.Hold(oldest, 0)
}

// Serving implements db.Backend.
func (r *replica) Serving() bool { return r.failed == nil }

// Do implements db.Backend: views, and nothing that writes or must be the
// latest.
func (r *replica) Do(req *db.Request, resp *db.Response) {
	if req.Op != db.OpView {
		resp.Refuse(db.WhyRequest, fmt.Sprintf("%v on a replica, which serves views only", req.Op))
		return
	}
	v := r.now
	if v.lsn < req.AtLeast {
		r.m.Mark("remote.view-behind")
		resp.Refuse(db.WhyBehind, fmt.Sprintf("the view is at %v, asked for %v", v.lsn, req.AtLeast))
		return
	}
	v.users++
	defer func() { v.users-- }()
	for _, key := range req.Keys {
		if err := r.read(v, key, &resp.Values); err != nil {
			resp.Refuse(db.WhyStorage, err.Error())
			return
		}
	}
	resp.Commit(v.lsn)
}

// read adds the value of one key as of the view.
func (r *replica) read(v *view, key int64, into *db.Values) error {
	if !r.cfg.Geometry.Has(key) {
		return fmt.Errorf("key %d is not in the table: its keys are 0 to %d", key, r.cfg.Geometry.Rows-1)
	}
	id := page.ID{Rel: r.cfg.Rel, Block: r.cfg.Geometry.Block(key)}
	var p page.Page
	if err := r.f.ReadPage(id, v.lsn, &p); err != nil {
		if errors.Is(err, engine.ErrNoPage) {
			into.Add(nil)
			return nil
		}
		return err
	}
	for {
		found, err := heap.Find(id, &p, key, &seen{r, v})
		r.m.Charge(host.WorkTuple, found.Examined)
		if err != nil {
			return err
		}
		if found.Ask == 0 {
			into.Add(found.Value)
			return nil
		}
		if err := r.look(v, found.Ask); err != nil {
			return err
		}
	}
}

// seen is heap.View for one view.
type seen struct {
	r *replica
	v *view
}

// Sees implements heap.View.
func (s *seen) Sees(xid uint32) heap.Verdict {
	if xid >= s.v.next {
		return heap.No
	}
	if _, runs := slices.BinarySearch(s.v.running, xid); runs {
		return heap.No
	}
	committed, known := s.r.status[xid]
	switch {
	case !known:
		return heap.Ask
	case committed:
		return heap.Yes
	}
	return heap.No
}

// look finds out what became of a transaction that has ended as of v. The
// answer is final: what has neither committed nor aborted by then, and does
// not run, was left behind by a crash.
func (r *replica) look(v *view, xid uint32) error {
	var p page.Page
	if err := r.f.ReadPage(page.StatusID(xid), v.lsn, &p); err != nil && !errors.Is(err, engine.ErrNoPage) {
		return err
	}
	r.status[xid] = page.Status(&p, xid) == page.Committed
	return nil
}
