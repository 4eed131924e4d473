package faults_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/faults"
	"tornpage/faults/plangen"
)

// fakeWorld writes down what it is told. Calls due at the same time come last
// in, first out: the order must not matter.
type fakeWorld struct {
	names  faults.Names
	now    time.Duration
	timers []timer
	marks  []mark
	events map[uint64][]func()
	log    []string
}

type timer struct {
	at time.Duration
	f  func()
}

type mark struct {
	name, host string
	left       uint64
	f          func()
}

func (w *fakeWorld) note(format string, args ...any) {
	w.log = append(w.log, faults.FormatDuration(w.now)+" "+fmt.Sprintf(format, args...))
}

func (w *fakeWorld) Names() faults.Names          { return w.names }
func (w *fakeWorld) Now() time.Duration           { return w.now }
func (w *fakeWorld) At(t time.Duration, f func()) { w.timers = append(w.timers, timer{t, f}) }
func (w *fakeWorld) OnEvent(n uint64, f func())   { w.events[n] = append(w.events[n], f) }
func (w *fakeWorld) OnMark(name, host string, count uint64, f func()) {
	w.marks = append(w.marks, mark{name, host, count, f})
}

func (w *fakeWorld) Kill(host string)                      { w.note("kill %s", host) }
func (w *fakeWorld) PowerOff(machine string)               { w.note("power-off %s", machine) }
func (w *fakeWorld) Boot(name string)                      { w.note("boot %s", name) }
func (w *fakeWorld) SetPaused(host string, paused bool)    { w.note("paused %s %v", host, paused) }
func (w *fakeWorld) SetZone(zone string, up bool)          { w.note("zone %s up=%v", zone, up) }
func (w *fakeWorld) SetCut(from, to faults.End, cut bool)  { w.note("cut %v -> %v %v", from, to, cut) }
func (w *fakeWorld) SetNIC(machine string, slow uint32)    { w.note("nic %s %dx", machine, slow) }
func (w *fakeWorld) FailSync(d faults.DiskName, n uint32)  { w.note("fail-sync %v %d", d, n) }
func (w *fakeWorld) Rot(d faults.DiskName, sectors uint32) { w.note("rot %v %d", d, sectors) }
func (w *fakeWorld) Lose(d faults.DiskName)                { w.note("lose %v", d) }
func (w *fakeWorld) SetLink(from, to faults.End, l faults.LinkFaults) {
	if l == (faults.LinkFaults{}) {
		w.note("link %v -> %v healthy", from, to)
		return
	}
	w.note("%v", faults.Link{Ends: faults.Ends{From: from, To: to}, Faults: l})
}
func (w *fakeWorld) SetDisk(d faults.DiskName, f faults.DiskFaults) {
	if f == (faults.DiskFaults{}) {
		w.note("disk %v healthy", d)
		return
	}
	w.note("%v", faults.Disk{Disk: d, Faults: f})
}
func (w *fakeWorld) SetClock(name string, skew time.Duration, drift int64) {
	w.note("clock %s skew=%v drift=%dppm", name, skew, drift)
}

// reach runs what waits for a mark.
func (w *fakeWorld) reach(name, host string) {
	for i := range w.marks {
		m := &w.marks[i]
		if m.name == name && (m.host == "" || m.host == host) && m.left > 0 {
			if m.left--; m.left == 0 {
				m.f()
			}
		}
	}
}

// until runs all timers up to a time.
func (w *fakeWorld) until(end time.Duration) {
	for {
		due := -1
		for i, t := range w.timers {
			if t.at <= end && (due < 0 || t.at <= w.timers[due].at) {
				due = i
			}
		}
		if due < 0 {
			break
		}
		t := w.timers[due]
		w.timers = slices.Delete(w.timers, due, due+1)
		w.now = max(w.now, t.at)
		t.f()
	}
	w.now = max(w.now, end)
}

func newWorld() *fakeWorld {
	return &fakeWorld{events: map[uint64][]func(){}, names: faults.Names{
		Hosts:    []string{"db", "b2", "c1"},
		Machines: []string{"db-m", "b2-m", "c1-m"},
		Zones:    []string{"a", "b"},
		Disks:    []faults.DiskName{{Machine: "db-m", Disk: "data"}, {Machine: "b2-m", Disk: "data"}},
		Marks:    []string{"hotlog.written", "recovery.truncated"},
	}}
}

const head = "tornpage plan 1\nscenario s\nseed 1\n"

// Steps in, calls on the world with their times out.
//
//	inject   the steps of a plan, on a new world
//	mark     name=... on=...; event n=...: the world reaches it
//	run      until=...: time passes
func TestInject(t *testing.T) {
	datadriven.Walk(t, "testdata/inject", func(t *testing.T, path string) {
		var w *fakeWorld
		var in *faults.Injector
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "inject":
				p, err := faults.Parse("p", head+d.Input)
				require.NoError(t, err)
				w = newWorld()
				if in, err = faults.Inject(p, w); err != nil {
					return err.Error()
				}
			case "mark":
				var name, host string
				d.ScanArgs(t, "name", &name)
				d.ScanArgs(t, "on", &host)
				w.reach(name, host)
			case "event":
				var n uint64
				d.ScanArgs(t, "n", &n)
				for _, f := range w.events[n] {
					f()
				}
			case "run":
				var until string
				d.ScanArgs(t, "until", &until)
				end, err := faults.ParseDuration(until)
				require.NoError(t, err)
				w.until(end)
			case "unfired":
				return fmt.Sprintf("%v quiet=%v", in.Unfired(), in.Quiet())
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			log := strings.Join(w.log, "\n")
			w.log = nil
			return cmp.Or(log, "nothing")
		})
	})
}

// After a quiet step the world is as healthy as before the plan, whatever came.
func TestQuietUndoesEverything(t *testing.T) {
	space := faults.Space{
		Names: newWorld().names, Scenario: "s",
		Horizon: 20 * time.Millisecond, Quiet: 5 * time.Millisecond,
	}
	rapid.Check(t, func(t *rapid.T) {
		p := plangen.Plan(space).Draw(t, "plan")
		w := newWorld()
		in, err := faults.Inject(p, w)
		require.NoError(t, err)
		for range 6 {
			w.until(w.now + 2*time.Millisecond)
			w.reach(rapid.SampledFrom(w.names.Marks).Draw(t, "mark"), rapid.SampledFrom(w.names.Hosts).Draw(t, "on"))
		}
		w.until(space.Horizon - space.Quiet)
		require.True(t, in.Quiet())
		require.Empty(t, unhealthy(w.log), "%v\n%v", p, w.log)
		calls := len(w.log)
		for range 6 {
			for _, m := range w.names.Marks {
				w.reach(m, "db")
			}
		}
		w.until(time.Hour)
		require.Len(t, w.log, calls, "something acts after quiet: %v", w.log[calls:])
	})
}

// unhealthy replays a log and returns what is still wrong at its end.
func unhealthy(log []string) []string {
	wrong := map[string]bool{}
	for _, line := range log {
		_, call, _ := strings.Cut(line, " ")
		verb, rest, _ := strings.Cut(call, " ")
		switch verb {
		case "kill", "power-off":
			wrong["down "+rest] = true
		case "boot":
			delete(wrong, "down "+rest)
		case "paused", "zone", "nic":
			name, state, _ := strings.Cut(rest, " ")
			wrong[verb+name] = state != "false" && state != "up=true" && state != "1x"
		case "cut":
			i := strings.LastIndex(rest, " ")
			wrong[verb+rest[:i]] = rest[i:] == " true"
		case "clock":
			name, state, _ := strings.Cut(rest, " ")
			wrong[verb+name] = state != "skew=0s drift=0ppm"
		case "disk":
			name, state, _ := strings.Cut(rest, " ")
			wrong[verb+name] = state != "healthy"
		case "link":
			words := strings.Fields(rest)
			n := 3 + strings.Count(rest, "zone ")
			wrong[verb+strings.Join(words[:n], " ")] = words[n] != "healthy"
		}
	}
	var left []string
	for what, bad := range wrong {
		if bad {
			left = append(left, what)
		}
	}
	slices.Sort(left)
	return left
}
