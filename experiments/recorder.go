package experiments

import (
	"time"

	"tornpage/checkers"
	"tornpage/engine/host"
	"tornpage/engine/wal"
)

// Recorder collects the history of a run: in a simulated world one for all
// processes, on real machines one for each, merged afterwards.
type Recorder struct {
	stamp   func() int64         // events of one counter
	now     func() time.Duration // virtual time
	hist    checkers.History
	ops     int64
	values  uint64
	clients int
	log     *journal // real machines: written as it happens; nil in a simulated world
}

// begin records the call of an operation and gives its index.
func (r *Recorder) begin(op checkers.Op) int {
	r.ops++
	op.ID = r.ops
	op.Outcome = checkers.Pending
	op.Call, op.Return = r.stamp(), checkers.Open
	op.Start = r.now()
	r.hist.Ops = append(r.hist.Ops, op)
	i := len(r.hist.Ops) - 1
	r.log.op(&r.hist.Ops[i])
	return i
}

// end records the return of operation i.
func (r *Recorder) end(i int, o checkers.Outcome, token wal.LSN) {
	op := &r.hist.Ops[i]
	op.Outcome, op.Token = o, token
	op.Return, op.End = r.stamp(), r.now()
	r.log.op(op)
}

// value is a value that no operation has written yet.
func (r *Recorder) value() uint64 {
	r.values++
	return r.values
}

// client is a client number that nobody had before.
func (r *Recorder) client() int {
	r.clients++
	return r.clients
}

// exit records that a boot ended with a reason.
func (r *Recorder) exit(m host.Machine, reason error) {
	e := checkers.Exit{Host: m.Name(), Boot: m.Boot(), Event: r.stamp(), Reason: reason.Error()}
	r.hist.Exits = append(r.hist.Exits, e)
	r.log.exit(e)
}

// boot records that a process has recovered and begins to serve.
func (r *Recorder) boot(b checkers.Boot) {
	b.OpenedAt = r.stamp()
	r.hist.Boots = append(r.hist.Boots, b)
	r.log.boot(b)
}

// durable records the writer's durable point.
func (r *Recorder) durable(lsn wal.LSN) {
	if n := len(r.hist.Durable); n > 0 && r.hist.Durable[n-1].LSN >= lsn {
		return
	}
	p := checkers.Point{Event: r.stamp(), LSN: lsn}
	r.hist.Durable = append(r.hist.Durable, p)
	r.log.durable(p)
}

// visible records a commit that reads can see from now on.
func (r *Recorder) visible(lsn wal.LSN) {
	c := checkers.Commit{LSN: lsn, Visible: r.stamp()}
	r.hist.Commits = append(r.hist.Commits, c)
	r.log.commit(c)
}
