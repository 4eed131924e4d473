package plangen

import (
	"time"

	"pgregory.net/rapid"

	"tornpage/faults"
)

// Any draws plans of every form that the text format allows: strange names,
// comments, settings, extreme times, several faults in one step.
func Any() *rapid.Generator[faults.Plan] {
	return rapid.Custom(func(t *rapid.T) faults.Plan {
		p := faults.Plan{Steps: rapid.SliceOfN(anyStep(t), 0, 8).Draw(t, "steps")}
		if len(p.Steps) == 0 {
			p.Steps = nil
		}
		p.Seed = rapid.Uint64().Draw(t, "seed")
		p.Scenario = name("/").Draw(t, "scenario")
		p.Params = anySettings(t, "params")
		p.Config = anySettings(t, "config")
		p.Comment = comment(t)
		return p
	})
}

func name(more string) *rapid.Generator[string] {
	return rapid.StringMatching(`[A-Za-z0-9_][A-Za-z0-9_.:` + more + `-]{0,12}`)
}

func comment(t *rapid.T) []string {
	line := rapid.StringMatching(`(|[!-~µß]([ -~]{0,20}[!-~])?)`)
	lines := rapid.SliceOfN(line, 0, 2).Draw(t, "comment")
	if len(lines) == 0 {
		return nil
	}
	return lines
}

func anySettings(t *rapid.T, line string) []faults.KV {
	keys := rapid.SliceOfNDistinct(name("/"), 0, 6, rapid.ID[string]).Draw(t, line)
	var kvs []faults.KV
	for _, k := range keys {
		value := rapid.StringMatching(`[!-~µß]{1,30}`).Draw(t, "value")
		kvs = append(kvs, faults.KV{Key: k, Value: value})
	}
	return kvs
}

// anyStep draws steps over names that are drawn too, with wider ranges than a
// space gives.
func anyStep(t *rapid.T) *rapid.Generator[faults.Step] {
	// A host called zone cannot be an end, since the word starts a zone's end.
	host := name("").Filter(func(s string) bool { return s != "zone" })
	two := func(what string) []string { return rapid.SliceOfN(host, 2, 2).Draw(t, what) }
	s := faults.Space{Names: faults.Names{Hosts: two("hosts"), Machines: two("machines"), Zones: two("zones")}}
	if s.Hosts[0] == s.Hosts[1] {
		s.Hosts = s.Hosts[:1]
	}
	if s.Zones[0] == s.Zones[1] {
		s.Zones = s.Zones[:1]
	}
	s.Marks = rapid.SliceOfN(name("/"), 1, 2).Draw(t, "marks")
	s.Disks = []faults.DiskName{{Machine: s.Machines[0], Disk: host.Draw(t, "disk")}}
	s.Horizon = 24 * time.Hour
	base := Step(s)
	return rapid.Custom(func(t *rapid.T) faults.Step {
		step := base.Draw(t, "step")
		switch a := step.Action.(type) {
		case faults.Link:
			a.Faults = faults.LinkFaults{
				Drop: maybe(t, rate()), Delay: maybe(t, micros(1, time.Hour)) + 1,
				Dup: maybe(t, rate()), Reorder: maybe(t, rate()), Corrupt: maybe(t, rate()),
			}
			step.Action = a
		case faults.Disk:
			a.Faults = faults.DiskFaults{
				LostWrite: maybe(t, rate()), LostSync: maybe(t, rate()), EIORead: maybe(t, rate()),
				EIOWrite: maybe(t, rate()), MisdirectRead: maybe(t, rate()), MisdirectWrite: maybe(t, rate()),
				Full: rapid.Bool().Draw(t, "full"), Stall: rapid.Bool().Draw(t, "stall"),
				Slow: maybe(t, rapid.Uint32Range(2, 1_000_000)),
			}
			if a.Faults == (faults.DiskFaults{}) {
				a.Faults.Full = true
			}
			step.Action = a
		case faults.Clock:
			a.Skew, a.Drift = time.Duration(maybe(t, nonZero(1<<50))), nonZero(999_999).Draw(t, "drift")
			step.Action = a
		}
		step.Comment = comment(t)
		return step
	})
}

// maybe draws a value or, as often, its zero.
func maybe[T any](t *rapid.T, g *rapid.Generator[T]) T {
	var zero T
	if rapid.Bool().Draw(t, "set") {
		return g.Draw(t, "value")
	}
	return zero
}
