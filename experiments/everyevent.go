package experiments

import (
	"time"

	"tornpage/checkers"
	"tornpage/faults"
	"tornpage/sim"
	"tornpage/sim/draw"
	"tornpage/sim/trace"
)

// downtime is how long a machine stays off after a planned crash.
const downtime = 5 * time.Millisecond

// EveryEvent crashes a machine directly after each event of a run, from first
// to last, and again at a drawn event of the recovery that follows. visit gets
// each result, until it returns false. The plan's own steps stay.
func EveryEvent(p faults.Plan, machine string, first, last uint64, visit func(*Result) bool) error {
	checker := &checkers.Checker{}
	for n := first; n <= last; n++ {
		once := p.WithSteps(append([]faults.Step{crashAfter(n, machine)}, p.Steps...))
		recovery := window{machine: machine}
		r, err := Run(once, Options{Checker: checker, Trace: recovery.see})
		if err != nil {
			return err
		}
		if !visit(r) {
			return nil
		}
		if recovery.to <= recovery.from {
			continue
		}
		d := draw.New(p.Seed, "every event", machine)
		again := recovery.from + 1 + (d.Uint64()+n*7919)%(recovery.to-recovery.from)
		twice := once.WithSteps(append([]faults.Step{once.Steps[0], crashAfter(again, machine)}, p.Steps...))
		if r, err = Run(twice, Options{Checker: checker}); err != nil {
			return err
		}
		if !visit(r) {
			return nil
		}
	}
	return nil
}

func crashAfter(event uint64, machine string) faults.Step {
	return faults.Step{Trigger: faults.OnEvent(event), For: downtime, Action: faults.PowerOff{Machine: machine}}
}

// window finds the events of the first recovery after the planned crash: from
// the boot that follows it to the writer's opening, or for some events where
// the writer is not what booted.
type window struct {
	machine  string
	crashed  bool
	from, to uint64
}

// partEvents is how long a recovery is taken to last that no mark ends.
const partEvents = 60

func (r *window) see(w *sim.World, e *trace.Event) {
	switch {
	case r.to > 0:
	case e.Kind == trace.PowerOff:
		r.crashed = true
	case e.Kind == trace.Boot && r.crashed && r.from == 0 && w.MachineOf(w.ProcessOf(e.Who)) == r.machine:
		r.from = e.N
	case e.Kind == trace.Mark && r.from > 0 && e.Data == sim.MarkKey(openedMark):
		r.to = e.N
	case r.from > 0 && e.N == r.from+partEvents && r.machine != writerName+"-m":
		r.to = e.N
	}
}

// openedMark is the mark of a writer that has opened.
const openedMark = "db.opened"
