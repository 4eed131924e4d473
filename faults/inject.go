package faults

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Injector carries out a plan on a world.
//
// It holds faults that overlap: a disk under two steps gets the stronger of
// each fault (skews and drifts add up), and what two steps hold down comes up
// when the last of them ends. What is due at the same time runs in a fixed
// order, whatever the world does with ties: ends first, then starts in the
// order of the plan.
type Injector struct {
	plan   Plan
	world  World
	fired  []bool
	active []effect
	agenda []entry // sorted by due time, ends first, then step
	quiet  bool
}

// effect is a lasting action that acts now; a link in both directions is two.
type effect struct {
	step   int
	slot   string // what the world holds one state for, as slotOf has it
	action Action
}

// entry is something to do at a known time.
type entry struct {
	due  time.Duration
	step int
	ends bool // undo the step, else start it
}

// Inject checks a plan and prepares its steps on a world that has not started
// yet, or has just been set up at the plan's start.
func Inject(p Plan, w World) (*Injector, error) {
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("plan for %s: %w", p.Scenario, err)
	}
	if err := w.Names().Check(p); err != nil {
		return nil, fmt.Errorf("plan for %s: %w", p.Scenario, err)
	}
	in := &Injector{plan: p, world: w, fired: make([]bool, len(p.Steps))}
	for i, s := range p.Steps {
		switch t := s.Trigger; t.Kind {
		case AtTime:
			in.schedule(entry{due: t.Time, step: i})
		case AfterEvent:
			w.OnEvent(t.Event, func() { in.reached(i) })
		case AfterMark:
			w.OnMark(t.Mark, t.Host, t.Count, func() { in.reached(i) })
		}
	}
	return in, nil
}

// Unfired returns the indexes of the steps that have not acted: a mark that
// was never reached, or a time after the end of the run.
func (in *Injector) Unfired() []int {
	var steps []int
	for i, fired := range in.fired {
		if !fired {
			steps = append(steps, i)
		}
	}
	return steps
}

// Quiet reports whether a quiet step has ended the faults of the run.
func (in *Injector) Quiet() bool { return in.quiet }

// reached is called at the mark or event of step i.
func (in *Injector) reached(i int) {
	if d := in.plan.Steps[i].Trigger.Delay; d != 0 {
		in.schedule(entry{due: in.world.Now() + d, step: i})
		return
	}
	in.start(i)
}

func (in *Injector) schedule(e entry) {
	at, _ := slices.BinarySearchFunc(in.agenda, e, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(rank(a), rank(b)), cmp.Compare(a.step, b.step))
	})
	in.agenda = slices.Insert(in.agenda, at, e)
	in.world.At(e.due, in.run)
}

// rank puts ends before starts.
func rank(e entry) int {
	if e.ends {
		return 0
	}
	return 1
}

// run does all that is due. The world calls it once an entry; the first call
// of several at a time does the work of all.
func (in *Injector) run() {
	for len(in.agenda) > 0 && in.agenda[0].due <= in.world.Now() {
		e := in.agenda[0]
		in.agenda = slices.Delete(in.agenda, 0, 1)
		if e.ends {
			in.lift(func(x effect) bool { return x.step == e.step })
		} else {
			in.start(e.step)
		}
	}
}

// start lets step i act.
func (in *Injector) start(i int) {
	if in.quiet {
		return
	}
	in.fired[i] = true
	s := in.plan.Steps[i]
	// Before the action: it may end the very task that runs this.
	if s.For != 0 {
		in.schedule(entry{due: in.world.Now() + s.For, step: i, ends: true})
	}
	for _, a := range oneWay(s.Action) {
		if a.lasting() {
			in.active = append(in.active, effect{step: i, slot: slotOf(a), action: a})
		}
		in.act(a)
	}
}

// oneWay splits an action on both directions of a link into two.
func oneWay(a Action) []Action {
	var split []Action
	switch a := a.(type) {
	case Cut:
		for _, w := range a.Ends.arrows() {
			split = append(split, Cut{Ends{From: w.from, To: w.to}})
		}
	case Link:
		for _, w := range a.Ends.arrows() {
			split = append(split, Link{Ends{From: w.from, To: w.to}, a.Faults})
		}
	case Heal:
		for _, w := range a.Ends.arrows() {
			split = append(split, Heal{Ends{From: w.from, To: w.to}})
		}
	default:
		split = append(split, a)
	}
	return split
}

func (in *Injector) act(a Action) {
	switch a := a.(type) {
	case Kill:
		in.world.Kill(a.Host)
	case PowerOff:
		in.world.PowerOff(a.Machine)
	case Boot:
		in.drop(func(x effect) bool { return x.action == Kill{a.Name} || x.action == PowerOff{a.Name} })
		in.world.Boot(a.Name)
	case Zone:
		if a.Up {
			in.drop(func(x effect) bool { return x.action == Zone{Zone: a.Zone} })
		}
		in.world.SetZone(a.Zone, a.Up)
	case Heal:
		in.lift(func(x effect) bool {
			return x.slot == slotOf(Cut(a)) || x.slot == slotOf(Link{Ends: a.Ends})
		})
	case FailSync:
		in.world.FailSync(a.Disk, a.Count)
	case Rot:
		in.world.Rot(a.Disk, a.Sectors)
	case Lose:
		in.world.Lose(a.Disk)
	case Quiet:
		in.quiet, in.agenda = true, nil
		in.lift(func(effect) bool { return true })
	default:
		in.refresh(a)
	}
}

// drop forgets effects and returns them.
func (in *Injector) drop(which func(effect) bool) []effect {
	var dropped, kept []effect
	for _, x := range in.active {
		if which(x) {
			dropped = append(dropped, x)
		} else {
			kept = append(kept, x)
		}
	}
	in.active = kept
	return dropped
}

// lift forgets effects and tells the world what remains, once a slot.
func (in *Injector) lift(which func(effect) bool) {
	told := map[string]bool{}
	for _, x := range in.drop(which) {
		if !told[x.slot] {
			told[x.slot] = true
			in.refresh(x.action)
		}
	}
}
