package experiments

import (
	"fmt"
	"slices"
	"time"

	"tornpage/checkers"
	"tornpage/engine/compute"
	"tornpage/engine/host"
	"tornpage/engine/local"
	"tornpage/faults"
	"tornpage/sim"
	"tornpage/sim/trace"
)

// Options of one run that change nothing in it.
type Options struct {
	Log       func(at time.Duration, process, line string)
	MaxEvents uint64                             // 0: 20 million
	Trace     func(w *sim.World, e *trace.Event) // called for every event
	Checker   *checkers.Checker                  // used again from run to run
	// Load, if not 0, samples what the writer waits for so often, in virtual time.
	Load time.Duration
	// Reuse is used again from run to run, by one run at a time.
	Reuse *sim.Reuse
}

// Result is what a run gave.
type Result struct {
	Plan     faults.Plan
	Why      sim.Why
	Failure  *sim.Failure
	Verdicts []checkers.Verdict
	History  *checkers.History
	Hash     uint64
	Events   uint64
	Virtual  time.Duration
	Marks    map[string]uint64
	Struck   map[string]uint64 // faults that really happened
	Unfired  []int             // steps of the plan that never acted
	Crashes  []sim.Crash
	Refusals []checkers.Exit // boots that did not open, or ended by themselves
	Compute  compute.Stats   // of the writer, over all its boots
	Local    local.Stats
	Load     *Load // with Options.Load
}

// Green reports whether every verdict holds.
func (r *Result) Green() bool {
	return r.Failure == nil && !slices.ContainsFunc(r.Verdicts, func(v checkers.Verdict) bool { return !v.Green() })
}

// run is a run in progress.
type run struct {
	plan    faults.Plan
	s       Settings
	sc      Scenario
	opt     Options
	w       *sim.World
	real    *board // in a process of a deployment, where w is nil
	rec     *Recorder
	obs     *observer
	inj     *faults.Injector
	sampler *sampler
	work    workload
	clients []*client
	left    int
	quietAt time.Duration
	audited bool
	// troubles are errors of the writer's background work.
	troubles []string
	opened   func(host.Machine)
	eng      *compute.Engine // of the writer's present boot
	loc      *local.Storage
	total    engineStats
}

// loadBound is how long clients may take for what is left of their share once
// the faults are over; that they get on at all is for the progress check.
const loadBound = 30 * time.Second

// auditBound is how long the final read of every key may take.
const auditBound = 30 * time.Second

// Run carries out a plan in a simulated world. The error is about the plan;
// what went wrong in the run is in the Result.
func Run(p faults.Plan, opt Options) (*Result, error) {
	x, err := prepare(p, opt)
	if err != nil {
		return nil, err
	}
	defer x.w.Close()
	why := x.load()
	if why == sim.TimeUp || why == sim.Stopped {
		why = x.final()
	}
	return x.result(why), nil
}

func prepare(p faults.Plan, opt Options) (*run, error) {
	sc, err := Find(p.Scenario)
	if err != nil {
		return nil, err
	}
	x := &run{plan: p, sc: sc, opt: opt, rec: &Recorder{}}
	if x.opt.MaxEvents == 0 {
		x.opt.MaxEvents = 20_000_000
	}
	if x.s, err = parse(p); err != nil {
		return nil, err
	}
	x.obs = newObserver(x.rec)
	x.work = sc.load(x)
	if x.w, err = sim.New(sc.world(x)); err != nil {
		return nil, err
	}
	if opt.Load > 0 {
		x.sampler = newSampler(x.w, writerName, opt.Load)
	}
	x.rec.stamp = func() int64 { return int64(x.w.Event()) }
	x.rec.now = x.w.Now
	x.left = len(x.clients)
	at, ok := p.QuietAt()
	if !ok {
		at = x.s.Horizon
	}
	x.quietAt = at
	if opt.Trace != nil || x.sampler != nil {
		x.w.Trace().Full = x.look
	}
	x.inj, err = faults.Inject(p, faults.OnSim{World: x.w})
	return x, err
}

// look is called for every event, if anybody wants to see them.
func (x *run) look(e *trace.Event) {
	if x.sampler != nil {
		x.sampler.look()
	}
	if x.opt.Trace != nil {
		x.opt.Trace(x.w, e)
	}
}

// isQuiet tells clients that the faults are over.
func (x *run) isQuiet() bool {
	if x.real != nil {
		return x.real.quiet()
	}
	return x.w.Now() >= x.quietAt
}

func (x *run) clientEnded() {
	x.left--
	if x.left == 0 && x.real == nil {
		x.w.Stop()
	}
}

// load runs clients and faults, until every client is done.
func (x *run) load() sim.Why {
	x.revive()
	why := x.w.Run(x.quietAt)
	if why != sim.TimeUp {
		return why
	}
	x.revive()
	for end := x.quietAt + loadBound; x.left > 0 && why == sim.TimeUp && x.w.Now() < end; {
		why = x.w.Run(min(x.w.Now()+50*time.Millisecond, end))
		x.revive()
	}
	x.left = 0 // whoever goes on after the bound stops nothing any more
	return why
}

// revive switches on and boots all that is down, as an operator would: at the
// start, and once the faults are over.
func (x *run) revive() {
	for _, m := range x.w.Machines() {
		x.w.PowerOn(m)
	}
	for _, p := range x.w.Processes() {
		if p != auditName {
			x.w.Boot(p)
		}
	}
}

// final is rule X4: power-off of every machine that has disks, recovery, and a
// read of every key.
func (x *run) final() sim.Why {
	for _, m := range x.w.Machines() {
		if len(x.w.Disks(m)) > 0 {
			x.w.PowerOff(m)
		}
	}
	x.revive()
	x.w.Boot(auditName)
	end := x.w.Now() + auditBound
	why := sim.TimeUp
	for !x.audited && why == sim.TimeUp && x.w.Now() < end {
		why = x.w.Run(min(x.w.Now()+50*time.Millisecond, end))
		x.revive()
	}
	x.collect()
	return why
}

// audit is the process that reads everything at the end.
func (x *run) audit(m host.Machine) {
	x.work.audit(m)
	x.audited = true
	if x.real == nil {
		x.w.Stop()
	}
}

// collect adds the counters of the writer's last boot: when the next one begins,
// however that one ended, and at the end of the run.
func (x *run) collect() {
	if x.eng == nil {
		return
	}
	addStats(&x.total.Compute, x.eng.Stats())
	if x.loc != nil {
		addLocal(&x.total.Local, x.loc.Stats())
	}
	x.eng, x.loc = nil, nil
}

// result runs the checks.
func (x *run) result(why sim.Why) *Result {
	nameBoots(&x.rec.hist)
	r := &Result{
		Plan: x.plan, Why: why, Failure: x.w.Failure(), History: &x.rec.hist,
		Hash: x.w.Hash(), Events: x.w.Event(), Virtual: x.w.Now(),
		Marks: x.w.Marks(), Struck: x.struck(), Unfired: x.inj.Unfired(), Crashes: x.w.Crashes(),
		Refusals: x.rec.hist.Exits, Compute: x.total.Compute, Local: x.total.Local,
	}
	if x.sampler != nil {
		r.Load = x.sampler.end()
	}
	c := x.opt.Checker
	if c == nil {
		c = &checkers.Checker{}
	}
	r.Verdicts = append(r.Verdicts, c.Check(x.rec.hist.Keyed())...)
	r.Verdicts = append(r.Verdicts, x.work.verdicts()...)
	r.Verdicts = append(r.Verdicts, x.obs.pages, x.obs.marks.Verdict(), x.progress(why))
	return r
}

// progress holds the run to what the scenario owes inside its budget.
func (x *run) progress(why sim.Why) checkers.Verdict {
	var workers []int
	for _, c := range x.clients {
		if !c.finish || c.after > 0 {
			workers = append(workers, c.worker)
		}
	}
	v := checkers.Progress(&x.rec.hist, checkers.Expectation{
		From: x.quietAt, Bound: x.sc.patience(), End: x.w.Now(), Workers: workers,
	})
	if !v.Green() {
		v.Details = append(v.Details, x.exits()...)
	}
	if v.Green() && !x.audited {
		v.Result = checkers.Broken
		v.What = fmt.Sprintf("not everything could be read within %v of the last recovery: %v", auditBound, why)
		v.Details = x.exits()
	}
	return v
}

// exits are the reasons for which processes ended by themselves, each once.
func (x *run) exits() (lines []string) {
	seen := map[string]bool{}
	for _, e := range x.rec.hist.Exits {
		if !seen[e.Reason] && len(lines) < 4 {
			seen[e.Reason] = true
			lines = append(lines, fmt.Sprintf("%s ended its boot %d at event %d: %s", e.Host, e.Boot, e.Event, e.Reason))
		}
	}
	return lines
}

// struck gathers what faults really did.
func (x *run) struck() map[string]uint64 {
	out := x.w.Strikes()
	for _, m := range x.w.Machines() {
		for _, n := range x.w.Disks(m) {
			d, err := x.w.Disk(m, n)
			if err != nil {
				continue
			}
			st := d.Stats()
			for k, c := range st.Struck {
				if c > 0 {
					out["disk."+faultName(k)] += c
				}
			}
			if st.Losses > 0 {
				out["disk.lost"] += st.Losses
			}
		}
	}
	for _, c := range x.w.Crashes() {
		out["power-off"]++
		out["torn-page"] += uint64(c.Torn())
	}
	return out
}
