package experiments

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"tornpage/checkers"
	"tornpage/engine/host"
	"tornpage/faults"
	"tornpage/sim"
)

// DeployOptions say how Deploy works; they change nothing in what is run.
type DeployOptions struct {
	// Dir is where files, journals and logs go; it must not exist, and stays.
	// Empty: a directory for temporary files, gone when Deploy returns.
	Dir string
	// Bound is how long the run may go without reaching its next phase before
	// that is a breach of progress. It decides only when to give up. Default
	// one minute.
	Bound time.Duration
	// Log gets a line for each process that starts, is killed or ends.
	Log func(line string)
}

// Deployed is what a run on real machines gave.
type Deployed struct {
	Plan     faults.Plan
	Verdicts []checkers.Verdict
	History  *checkers.History
	Killed   map[string]uint64 // SIGKILLs by process, those at the end included
	Unfired  []int             // steps of the plan that never acted
	Failure  string            // a process panicked or did not start; else empty
	Wall     time.Duration
	Log      []string          // starts, kills and ends of processes
	Tails    map[string]string // of a run that is not green: the end of each process's log
}

// Green reports whether every verdict holds and no process failed.
func (d *Deployed) Green() bool {
	return d.Failure == "" && !slices.ContainsFunc(d.Verdicts, func(v checkers.Verdict) bool { return !v.Green() })
}

// tailLines is how many lines of each log and of the history explain a failure.
const tailLines = 25

// String is one line for a green run, and all that explains one that is not.
func (d *Deployed) String() string {
	var b strings.Builder
	kills := uint64(0)
	for _, n := range d.Killed {
		kills += n
	}
	fmt.Fprintf(&b, "%s: %d operations, %d boots, %d SIGKILLs in %v\n", d.Plan.Scenario, len(d.History.Ops),
		len(d.History.Boots), kills, d.Wall.Round(time.Millisecond))
	for _, v := range d.Verdicts {
		fmt.Fprintf(&b, "%v\n", v)
	}
	if d.Green() {
		return b.String()
	}
	if d.Failure != "" {
		fmt.Fprintf(&b, "failure: %s\n", d.Failure)
	}
	fmt.Fprintf(&b, "--- processes\n%s\n", strings.Join(d.Log, "\n"))
	for _, name := range slices.Sorted(maps.Keys(d.Tails)) {
		fmt.Fprintf(&b, "--- log of %s\n%s", name, d.Tails[name])
	}
	fmt.Fprintf(&b, "--- history\n%s--- plan\n%s", tail(d.History.String()), faults.Print(d.Plan))
	return b.String()
}

// tail is the last lines of a text.
func tail(text string) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines-1):], "")
}

// Deploy runs a plan on real machines: each process of the scenario is an
// operating system process (this program, started again: see DeployChild) on
// oshost, with the real clock, TCP on loopback and files in a directory.
//
// The faults of a real run are SIGKILL and reboot. A kill keeps the operating
// system's cache, so all that was written survives: what loses or tears data
// that was not synced shows up in the simulator alone, as do faults of
// networks, disks and clocks. A plan that has them is refused. What a real run
// adds is that the same boot functions work on real clocks, sockets and files,
// and that memory lost at any instant of a real schedule is recovered from.
//
// The plan's time begins with the first operation that a client is told to be
// committed. After the last fault the clients go on until each has committed
// some more; then every server is killed, booted, and all keys are read. The
// checks are those of the simulated run, on the merged journals of all
// processes (see board on why their stamps can be compared). Time decides no
// verdict but that of progress, by Bound.
//
// The error is about the plan or the machine; what went wrong in the run is in
// the result. No process and, without Dir, no file is left behind.
func Deploy(ctx context.Context, p faults.Plan, opt DeployOptions) (*Deployed, error) {
	if opt.Bound <= 0 {
		opt.Bound = time.Minute
	}
	if err := onlyKills(p); err != nil {
		return nil, err
	}
	d, err := newDeployment(p, opt)
	if err != nil {
		return nil, err
	}
	runErr := d.load(ctx)
	if runErr == nil {
		runErr = d.final(ctx)
	}
	d.stopAll()
	if ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), d.clean())
	}
	r, err := d.result(runErr)
	return r, errors.Join(err, d.clean())
}

// onlyKills refuses a plan that needs the simulator.
func onlyKills(p faults.Plan) error {
	sc, err := Find(p.Scenario)
	if err != nil {
		return err
	}
	if len(sc.steps) > 0 {
		return fmt.Errorf("scenario %s cannot be deployed: its faults need the simulator", sc.Name)
	}
	for i, s := range p.Steps {
		switch s.Action.(type) {
		case faults.Kill, faults.Boot, faults.Quiet:
			if s.Trigger.Kind == faults.AtTime {
				continue
			}
		}
		return fmt.Errorf("step %d, %q: real machines know kill, boot and quiet at given times alone; "+
			"other faults, marks and events need the simulator", i+1, strings.TrimSpace(s.String()))
	}
	return nil
}

// KillPlan draws a plan that can be deployed: the settings that the seed's
// plan has, and so many kills of servers, each followed by a reboot.
func (s Scenario) KillPlan(seed uint64, kills int) (faults.Plan, error) {
	p := s.Plan(seed)
	p.Steps = nil
	x, err := forReal(p)
	if err != nil {
		return p, err
	}
	servers := x.servers(x.sc.world(x))
	r := host.NewRand(host.RandKey(seed, "deploy", 0, "kills", 0))
	at := time.Duration(0)
	for range kills {
		at += killGap/4 + time.Duration(r.N(uint64(killGap)))
		p.Steps = append(p.Steps, faults.Step{
			Trigger: faults.At(at.Round(time.Millisecond)),
			For:     time.Millisecond * time.Duration(1+r.N(40)),
			Action:  faults.Kill{Host: servers[r.N(uint64(len(servers)))]},
		})
	}
	return p, nil
}

// killGap is the longest pause between two kills, but for a quarter: about ten
// times what the small engines of the scenarios take to start and recover.
const killGap = 400 * time.Millisecond

// servers are the processes that are neither clients nor the auditor.
func (x *run) servers(cfg sim.Config) []string {
	var names []string
	for _, h := range cfg.Hosts {
		if !x.isClient(h.Name) && h.Name != auditName {
			names = append(names, h.Name)
		}
	}
	return names
}

func (x *run) isClient(name string) bool {
	return slices.ContainsFunc(x.clients, func(c *client) bool { return clientName(c.worker) == name })
}

// clean removes what the deployment has made.
func (d *deployment) clean() error {
	err := d.board.close()
	if d.opt.Dir == "" {
		err = errors.Join(err, os.RemoveAll(d.dir))
	}
	return err
}
