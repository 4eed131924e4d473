package experiments

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"tornpage/checkers"
	"tornpage/engine/invariant"
	"tornpage/faults"
	"tornpage/faults/zoo"
	"tornpage/sim"
)

// Budgets of a run with a planted bug, which may loop or eat memory.
const (
	plantedEvents = 3_000_000        // a sound run has some 20,000
	plantedMemory = 1 << 30          // bytes of heap
	plantedSilent = 20 * time.Second // real time of one run, only a guard
)

// drawPlan is the plan that a scenario draws from a seed.
func drawPlan(scenario string, seed uint64) (faults.Plan, error) {
	sc, err := Find(scenario)
	if err != nil {
		return faults.Plan{}, err
	}
	return sc.Plan(seed), nil
}

// Planted runs one seed of a bug's hunt in this process and says what became
// of it. Whether the bug is on was decided when the process started.
func Planted(b zoo.Bug, seed uint64, opt Options) (zoo.Sighting, error) {
	p, err := b.Plan(seed, drawPlan)
	if err != nil {
		return zoo.Sighting{}, err
	}
	opt.MaxEvents = plantedEvents
	r, err := Run(p, opt)
	if err != nil {
		return zoo.Sighting{}, fmt.Errorf("bug %s, seed %d: %w", b.Name, seed, err)
	}
	s := sighting(b, r)
	s.Seed, s.Steps, s.Hash = seed, len(p.Steps), r.Hash
	if s.Kind != zoo.Green {
		s.Plan = faults.Print(p)
	}
	return s, nil
}

// sighting is rule Z4.
func sighting(b zoo.Bug, r *Result) zoo.Sighting {
	if r.Failure != nil {
		s := zoo.Sighting{Kind: zoo.Panic, What: r.Failure.Error()}
		if _, ok := r.Failure.Value.(*invariant.Violation); ok {
			s.Kind = zoo.Assert
		}
		return s
	}
	if r.Why == sim.TooMany {
		return zoo.Sighting{Kind: zoo.Hang, What: fmt.Sprintf("%d events", r.Events)}
	}
	s := zoo.Sighting{Kind: zoo.Green}
	for _, v := range r.Verdicts {
		switch {
		case v.Result == checkers.Broken:
			s.Checks = append(s.Checks, v.Check)
			if named := slices.Contains(b.Checks, v.Check); named && s.Kind != zoo.Caught {
				s.Kind, s.What = zoo.Caught, v.String()
			} else if !named && s.Kind != zoo.Caught {
				s.Kind, s.What = zoo.Other, v.String()
			}
		case v.Result == checkers.Undecided && s.Kind == zoo.Green:
			s.Kind, s.What = zoo.Unsure, v.String()
		}
	}
	return s
}

// PlantedEnv asks a test program for PlantedRuns: "BUG FROM COUNT".
const PlantedEnv = "TORNPAGE_HUNT"

// PlantedRuns is the part of a hunt that runs in a process of its own, built
// with the overlay: it runs seeds from one on until a check catches the bug,
// and writes a line of JSON for each.
func PlantedRuns(request string, out io.Writer) error {
	f := strings.Fields(request)
	if len(f) != 3 {
		return fmt.Errorf("%s=%q: want a bug, the first seed and the number of seeds", PlantedEnv, request)
	}
	from, err1 := strconv.ParseUint(f[1], 10, 64)
	count, err2 := strconv.ParseUint(f[2], 10, 64)
	bugs, err3 := zoo.All()
	b, err4 := zoo.Named(bugs, f[0])
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			return err
		}
	}
	var c checkers.Checker
	enc := json.NewEncoder(out)
	for seed := from; seed < from+count; seed++ {
		s, err := Planted(b, seed, Options{Checker: &c})
		if err != nil {
			return err
		}
		if err := enc.Encode(s); err != nil || s.Kind == zoo.Caught {
			return err
		}
	}
	return nil
}

// guardMemory ends the process when its heap passes a bound. Exit code 3 tells
// so.
func guardMemory() {
	var m runtime.MemStats
	for {
		time.Sleep(200 * time.Millisecond)
		runtime.ReadMemStats(&m)
		if m.HeapAlloc > plantedMemory {
			fmt.Fprintf(os.Stderr, "heap of %d bytes\n", m.HeapAlloc)
			os.Exit(exitMemory)
		}
	}
}

// exitMemory is the exit code of a hunt that used too much memory.
const exitMemory = 3

// Hunter scores bugs with a test program of this package that was built with
// their overlay.
type Hunter struct {
	Program string // see BuildHunter
	Trials  int    // for each bug, over disjoint seeds
}

// BuildHunter builds the program: dir gets it, and the overlay.
func BuildHunter(root, dir string, bugs []zoo.Bug) (program string, err error) {
	program = dir + "/hunter"
	return program, zoo.Go(root, bugs, dir, "test", "-vet=off", "-c", "-o", program, "./experiments")
}

// rangeOf is the first seed of a trial. Ranges are wider than any budget.
func rangeOf(trial int) uint64 { return 1_000_000 * uint64(trial+1) }

// Score hunts one bug.
func (h Hunter) Score(b zoo.Bug) (zoo.Score, error) {
	s := zoo.Score{Bug: b}
	for i := range h.Trials {
		t, err := h.trial(b, rangeOf(i))
		if err != nil {
			return s, err
		}
		s.Trials = append(s.Trials, t)
	}
	return s, nil
}

func (h Hunter) trial(b zoo.Bug, first uint64) (zoo.Trial, error) {
	t := zoo.Trial{Apart: map[zoo.Kind]int{}, Found: zoo.Sighting{Kind: zoo.Green}}
	for t.Seeds < b.Seeds && t.Escaped() {
		err := h.runs(b.Name, b.Name, first+t.Seeds, b.Seeds-t.Seeds, func(s zoo.Sighting) {
			t.Seeds++
			if s.Kind == zoo.Caught {
				t.Found = s
			} else if s.Kind != zoo.Green {
				t.Apart[s.Kind]++
			}
		})
		if err == nil && !t.Escaped() {
			err = h.control(b, &t)
		}
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// control is rule Z5: a plan that is not green with the bug off proves nothing.
func (h Hunter) control(b zoo.Bug, t *zoo.Trial) error {
	return h.runs("", b.Name, t.Found.Seed, 1, func(s zoo.Sighting) {
		if s.Kind != zoo.Green {
			t.Apart[zoo.Tainted]++
			t.Control = s.What + "\n" + t.Found.Plan
			t.Found = zoo.Sighting{Kind: zoo.Tainted}
		}
	})
}

// runs runs seeds in a process and tells see of each. It comes back early when
// the process hangs or grows, which counts as a sighting of that seed.
func (h Hunter) runs(on, bug string, from, count uint64, see func(zoo.Sighting)) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := exec.CommandContext(ctx, h.Program)
	c.Env = append(os.Environ(), zoo.Env+"="+on, fmt.Sprintf("%s=%s %d %d", PlantedEnv, bug, from, count))
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	guard := time.AfterFunc(plantedSilent, cancel)
	next := from
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		guard.Reset(plantedSilent)
		var s zoo.Sighting
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return fmt.Errorf("a hunt for %s wrote %q: %w", bug, lines.Text(), err)
		}
		next++
		see(s)
	}
	err = c.Wait()
	switch hung := !guard.Stop(); {
	case hung && ctx.Err() != nil:
		see(zoo.Sighting{Seed: next, Kind: zoo.Hang, What: fmt.Sprintf("silent for %v", plantedSilent)})
		return nil
	case c.ProcessState.ExitCode() == exitMemory:
		see(zoo.Sighting{Seed: next, Kind: zoo.Memory, What: stderr.String()})
		return nil
	case err != nil:
		return fmt.Errorf("a hunt for %s ended at seed %d: %w\n%s", bug, next, err, stderr.String())
	}
	return nil
}

// BoardLine is one line of the scoreboard.
func BoardLine(s zoo.Score) string {
	return fmt.Sprintf("%-28s seeds %-22v caught by %s; apart: %s; escaped %d of %d; %d steps",
		s.Bug.Name, s.Estimate(), cmp.Or(s.CaughtBy(), "nothing"), cmp.Or(s.Apart(), "nothing"),
		s.Escaped(), len(s.Trials), s.Steps())
}
