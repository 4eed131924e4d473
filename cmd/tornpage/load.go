package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tornpage/engine/host"
	"tornpage/experiments"
)

// loadFlags ask for the load by wait event.
type loadFlags struct {
	load  bool
	every time.Duration
}

func (l *loadFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&l.load, "load", false, "print what the writer's sessions waited for, over simulated time")
	c.Flags().DurationVar(&l.every, "load-every", 0, "length of an interval of --load; 0: a twentieth of the run")
}

// interval is how often to look: finer than what is shown if the length of the
// run is not known yet.
func (l *loadFlags) interval() time.Duration {
	switch {
	case !l.load:
		return 0
	case l.every > 0:
		return l.every
	}
	return 10 * time.Millisecond
}

// loadRows is how many intervals are shown where nobody said how long they are.
const loadRows = 20

// shown joins intervals so that about loadRows are left.
func (l *loadFlags) shown(all []experiments.LoadSample) []experiments.LoadSample {
	if l.every > 0 || len(all) <= loadRows {
		return all
	}
	n := (len(all) + loadRows - 1) / loadRows
	var out []experiments.LoadSample
	for part := range slices.Chunk(all, n) {
		s := part[0]
		for _, more := range part[1:] {
			s.To, s.Boots = more.To, s.Boots+more.Boots
			for ev := range s.Waited {
				s.Waited[ev] += more.Waited[ev]
			}
		}
		out = append(out, s)
	}
	return out
}

// loadColumns is how many wait events have a column of their own.
const loadColumns = 6

// busiest are the wait events with the most time, without those of tasks that
// have nothing to do.
func busiest(samples []experiments.LoadSample) []host.WaitEvent {
	var total [host.WaitEvents]time.Duration
	for i := range samples {
		for ev, d := range samples[i].Waited {
			total[ev] += d
		}
	}
	var events []host.WaitEvent
	for ev := range host.WaitEvents {
		if total[ev] > 0 && !experiments.Idle(ev) {
			events = append(events, ev)
		}
	}
	slices.SortStableFunc(events, func(a, b host.WaitEvent) int { return cmp.Compare(total[b], total[a]) })
	return events
}

// printLoad prints average active sessions by wait event, an interval a line.
func (a *app) printLoad(l *experiments.Load, f *loadFlags) {
	samples := f.shown(l.Samples)
	events := busiest(samples)
	columns := events[:min(len(events), loadColumns)]
	fmt.Fprintf(a.out, "\nload of %s: average active sessions by wait event (idle tasks are not counted)\n", l.Process)
	header := []any{"from", "active"}
	for _, ev := range columns {
		header = append(header, host.EventName(ev))
	}
	if len(events) > len(columns) {
		header = append(header, "others")
	}
	t := newTable(append(header, "")...)
	t.SetColumnConfigs(right(1, 2, 3, 4, 5, 6, 7, 8, 9))
	peak := 0.0
	for i := range samples {
		peak = max(peak, active(&samples[i], events))
	}
	for i := range samples {
		s := &samples[i]
		row := []any{span(s.From), fmt.Sprintf("%.2f", active(s, events))}
		for _, ev := range columns {
			row = append(row, sessions(s.Active(ev)))
		}
		if len(events) > len(columns) {
			row = append(row, sessions(active(s, events[len(columns):])))
		}
		t.AppendRow(append(row, bar(active(s, events), peak)+booted(s)))
	}
	a.print(t)
}

func active(s *experiments.LoadSample, events []host.WaitEvent) float64 {
	sum := 0.0
	for _, ev := range events {
		sum += s.Active(ev)
	}
	return sum
}

// sessions prints a number of sessions; nothing for none.
func sessions(x float64) string {
	if x == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", x)
}

// loadBar is the length of the longest bar.
const loadBar = 24

func bar(x, peak float64) string {
	if peak == 0 {
		return ""
	}
	return strings.Repeat("#", int(x/peak*loadBar+0.5))
}

func booted(s *experiments.LoadSample) string {
	if s.Boots == 0 {
		return ""
	}
	return " " + plural(int(s.Boots), "boot")
}

// loadJSON is one interval.
type loadJSON struct {
	FromNS int64              `json:"from_ns"`
	ToNS   int64              `json:"to_ns"`
	Boots  uint64             `json:"boots,omitempty"`
	Active map[string]float64 `json:"active_sessions"`
}

func jsonOfLoad(l *experiments.Load, f *loadFlags) (out []loadJSON) {
	for _, s := range f.shown(l.Samples) {
		j := loadJSON{FromNS: int64(s.From), ToNS: int64(s.To), Boots: s.Boots, Active: map[string]float64{}}
		for _, ev := range busiest([]experiments.LoadSample{s}) {
			j.Active[host.EventName(ev)] = s.Active(ev)
		}
		out = append(out, j)
	}
	return out
}
