package experiments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"tornpage/checkers"
	"tornpage/engine/host/oshost"
	"tornpage/faults"
	"tornpage/sim"
)

// deployment is a run on real machines in progress. One goroutine works on it.
type deployment struct {
	plan    faults.Plan
	opt     DeployOptions
	x       *run // settings, clients and names: nothing runs in it
	world   sim.Config
	servers []string
	exe     string
	dir     string
	board   *board
	procs   map[string]*process
	killed  map[string]uint64
	ends    map[string]int // by process: ends of its own that were no success
	log     []string

	inj     *faults.Injector
	zero    time.Duration // of the plan's time, on the board's clock
	agenda  []due
	quietAt time.Duration // when faults were over, on the board's clock
	loaded  time.Duration // when the clients had done their work
	reboot  time.Duration // when revive acts again
	finish  map[string]bool
	failure error
}

// due is a call of the injector.
type due struct {
	at time.Duration // of the plan's time
	f  func()
}

const (
	deployTick  = 2 * time.Millisecond  // how often the parent looks
	revivePause = 50 * time.Millisecond // between two boots of what is down, as in a simulated run
	maxEnds     = 20                    // ends of its own after which a process is given up
	lastExits   = 3                     // how many reasons of such ends explain a failure
)

// errBound says that a phase took longer than the bound.
var errBound = errors.New("the bound was reached")

// load runs clients and faults until every client is done.
func (d *deployment) load(ctx context.Context) error {
	d.finish = map[string]bool{}
	if err := d.bootAll(); err != nil {
		return err
	}
	begun := func() bool { return d.board.words[boardAnswered].Load() > 0 }
	if err := d.until(ctx, "the first commit", begun); err != nil {
		return err
	}
	d.zero = d.board.now()
	var err error
	if d.inj, err = faults.Inject(d.plan, realWorld{d: d}); err != nil {
		return err
	}
	end, ok := d.plan.QuietAt()
	if !ok {
		end = d.x.s.Horizon
	}
	over := func() bool { return len(d.agenda) == 0 && d.board.now() >= d.zero+end }
	if err := d.until(ctx, "the end of the plan", over); err != nil {
		return err
	}
	d.quietAt = d.board.now()
	d.board.words[boardQuiet].Store(1)
	err = d.until(ctx, "the end of all clients", d.clientsDone)
	d.loaded = d.board.now()
	return err
}

// final kills every server, boots it, and has all keys read.
func (d *deployment) final(ctx context.Context) error {
	d.kill(d.servers...)
	if err := d.start(auditName); err != nil {
		return err
	}
	return d.until(ctx, "the read of all keys", func() bool { return d.finish[auditName] })
}

// until looks after the processes until cond holds.
func (d *deployment) until(ctx context.Context, what string, cond func() bool) error {
	begin := d.board.now()
	for tick := time.NewTicker(deployTick); ; {
		d.reap()
		d.runDue()
		if d.quietAt > 0 {
			d.revive()
		}
		switch {
		case d.failure != nil || ctx.Err() != nil:
			tick.Stop()
			return errors.Join(d.failure, ctx.Err())
		case cond():
			tick.Stop()
			return nil
		case d.board.now()-begin > d.opt.Bound:
			tick.Stop()
			return fmt.Errorf("waiting for %s: %w after %v", what, errBound, d.opt.Bound)
		}
		<-tick.C
	}
}

func (d *deployment) clientsDone() bool {
	return !slices.ContainsFunc(d.x.clients, func(c *client) bool { return !d.finish[clientName(c.worker)] })
}

// bootAll starts every process but the auditor and those that have done their
// work.
func (d *deployment) bootAll() error {
	for _, h := range d.world.Hosts {
		if h.Name != auditName && !d.finish[h.Name] {
			if err := d.start(h.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// revive boots what is down once the faults are over.
func (d *deployment) revive() {
	if now := d.board.now(); now >= d.reboot {
		d.reboot = now + revivePause
		d.fail(d.bootAll())
	}
}

// reap sees which processes have ended by themselves.
func (d *deployment) reap() {
	for _, h := range d.world.Hosts {
		p := d.procs[h.Name]
		if p == nil || p.reaped {
			continue
		}
		select {
		case <-p.done:
			p.reaped = true
			d.ended(h.Name, p.code)
		default:
		}
	}
}

// exitedCode is the code of a process that ended by Machine.Exit.
var exitedCode = oshost.ExitCode(&oshost.Ended{End: oshost.End{Kind: oshost.Exited}})

// ended takes in how a process ended by itself. A server that refuses to go on
// is booted again; a panic, or no start, ends the run.
func (d *deployment) ended(name string, code int) {
	d.logf("%s ended with code %d", name, code)
	switch {
	case code == 0 && !slices.Contains(d.servers, name):
		d.finish[name] = true
	case code == exitedCode && d.zero == 0:
		d.fail(fmt.Errorf("process %s refuses to go on before any fault: see its log", name))
	case code == exitedCode:
		d.ends[name]++
		if d.ends[name] > maxEnds {
			d.fail(fmt.Errorf("process %s has ended by itself %d times", name, d.ends[name]))
		}
	default:
		d.fail(fmt.Errorf("process %s ended with code %d: see its log", name, code))
	}
}

func (d *deployment) fail(err error) {
	if d.failure == nil {
		d.failure = err
	}
}

func (d *deployment) runDue() {
	for len(d.agenda) > 0 && d.zero+d.agenda[0].at <= d.board.now() {
		f := d.agenda[0].f
		d.agenda = slices.Delete(d.agenda, 0, 1)
		f()
	}
}

func (d *deployment) logf(format string, args ...any) {
	line := fmt.Sprintf("%v ", d.board.now().Round(time.Millisecond)) + fmt.Sprintf(format, args...)
	d.log = append(d.log, line)
	if d.opt.Log != nil {
		d.opt.Log(line)
	}
}

// realWorld is what a plan can act on. Deploy has refused plans that need the
// other methods of a World.
type realWorld struct {
	faults.World
	d *deployment
}

// Names implements faults.World.
func (w realWorld) Names() faults.Names {
	var n faults.Names
	for _, h := range w.d.world.Hosts {
		n.Hosts = append(n.Hosts, h.Name)
	}
	return n
}

// Now implements faults.World.
func (w realWorld) Now() time.Duration { return w.d.board.now() - w.d.zero }

// At implements faults.World.
func (w realWorld) At(t time.Duration, f func()) {
	d := w.d
	i, _ := slices.BinarySearchFunc(d.agenda, t, func(e due, t time.Duration) int {
		return cmp.Or(cmp.Compare(e.at, t), -1) // behind those of the same time
	})
	d.agenda = slices.Insert(d.agenda, i, due{t, f})
}

// Kill implements faults.World.
func (w realWorld) Kill(host string) { w.d.kill(host) }

// Boot implements faults.World.
func (w realWorld) Boot(host string) {
	if !w.d.finish[host] {
		w.d.fail(w.d.start(host))
	}
}

// result merges what the processes have recorded and checks it.
func (d *deployment) result(runErr error) (*Deployed, error) {
	accounts, err := readJournals(d.dir, "", nil)
	if err != nil {
		return nil, err
	}
	r := &Deployed{Plan: d.plan, History: merge(accounts), Killed: d.killed, Wall: d.board.now(), Log: d.log}
	if d.inj != nil {
		r.Unfired = d.inj.Unfired()
	}
	if runErr != nil && !errors.Is(runErr, errBound) {
		r.Failure = runErr.Error()
	}
	c := &checkers.Checker{}
	r.Verdicts = append(c.Check(r.History), pagesVerdict(accounts), watermarks(accounts), d.progress(r.History, runErr))
	if !r.Green() {
		r.Tails = map[string]string{}
		for _, h := range d.world.Hosts {
			if text, err := os.ReadFile(d.logPath(h.Name)); err == nil && len(text) > 0 {
				r.Tails[h.Name] = tail(string(text))
			}
		}
	}
	return r, nil
}

// progress holds that the run came to its end, and that each client committed
// operations after the faults.
func (d *deployment) progress(h *checkers.History, runErr error) checkers.Verdict {
	if runErr != nil {
		v := checkers.Verdict{Check: "progress", Result: checkers.Broken, What: runErr.Error()}
		for _, e := range h.Exits[max(0, len(h.Exits)-lastExits):] {
			v.Details = append(v.Details, fmt.Sprintf("%s boot %d ended at event %d: %s", e.Host, e.Boot, e.Event, e.Reason))
		}
		return v
	}
	var workers []int
	for _, c := range d.x.clients {
		workers = append(workers, c.worker)
	}
	return checkers.Progress(h, checkers.Expectation{From: d.quietAt, Bound: d.opt.Bound, End: d.loaded + d.opt.Bound, Workers: workers})
}
