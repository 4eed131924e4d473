package faults

import (
	"time"

	"tornpage/sim/draw"
)

// drawer draws the parts of one step from the step's own stream.
type drawer struct {
	draw.Stream
	space  Space
	level  uint64        // 0 calm to 3 wild
	active time.Duration // faults act before this time, at least 1us
}

// step draws a step of that kind; false if the space has no target for it.
func (d *drawer) step(k Kind) (Step, bool) {
	var s Step
	left := d.active
	if len(d.space.Marks) > 0 && d.Chance(1, 3) {
		s.Trigger = d.mark()
	} else {
		us := d.N(uint64(d.active / time.Microsecond))
		s.Trigger = At(time.Duration(us) * time.Microsecond)
		left -= s.Trigger.Time
	}
	length := min(d.octave(100*time.Microsecond, d.active/4), left)
	s.Action = d.action(k, s.Trigger)
	if s.Action == nil {
		return Step{}, false
	}
	if s.Action.lasting() {
		s.For = length
	}
	return s, true
}

// mark draws a trigger by mark: mostly the mark itself, for that is the rare
// moment, sometimes shortly after it; on one host in half the draws.
func (d *drawer) mark() Trigger {
	t := OnMark(1+d.N(4), pick(d, d.space.Marks), "")
	hosts := d.space.Markers
	if hosts == nil {
		hosts = d.space.Hosts
	}
	if len(hosts) > 0 && d.Chance(1, 2) {
		t.Host = pick(d, hosts)
	}
	if d.Chance(1, 4) {
		t.Delay = d.octave(10*time.Microsecond, 10*time.Millisecond)
	}
	return t
}

// action draws an action of that kind, or nil if the space has no target.
func (d *drawer) action(k Kind, t Trigger) Action {
	switch k {
	case KindKill, KindPause:
		return d.process(k, t)
	case KindPowerOff, KindSlowNIC:
		return d.machine(k)
	case KindZoneDown:
		if len(d.space.Zones) == 0 {
			return nil
		}
		return Zone{Zone: pick(d, d.space.Zones)}
	case KindCut, KindDrop, KindDelay, KindDup, KindReorder, KindCorrupt:
		return d.link(k)
	case KindSkew, KindDrift:
		return d.clock(k)
	}
	return d.disk(k)
}

// process draws a kill or a pause. One triggered by a mark on a host strikes
// that host: a crash exactly there is what marks are for.
func (d *drawer) process(k Kind, t Trigger) Action {
	if len(d.space.Hosts) == 0 {
		return nil
	}
	host := pick(d, d.space.Hosts)
	if t.Host != "" {
		host = t.Host
	}
	if k == KindKill {
		return Kill{host}
	}
	return Pause{host}
}

func (d *drawer) machine(k Kind) Action {
	if len(d.space.Machines) == 0 {
		return nil
	}
	machine := pick(d, d.space.Machines)
	if k == KindPowerOff {
		return PowerOff{machine}
	}
	return NIC{machine, d.factor()}
}

func (d *drawer) clock(k Kind) Action {
	if len(d.space.Hosts) == 0 {
		return nil
	}
	c := Clock{Name: pick(d, d.space.Hosts)}
	if k == KindSkew {
		c.Skew = d.octave(time.Millisecond, 10*time.Second)
	} else {
		c.Drift = int64(1 + d.N(1000)) // a bad quartz is off by some 100 ppm
	}
	if d.Chance(1, 2) {
		c.Skew, c.Drift = -c.Skew, -c.Drift
	}
	return c
}

// link draws a cut or a link fault between two different ends, a quarter of
// them whole zones.
func (d *drawer) link(k Kind) Action {
	hosts, zones := d.space.Hosts, d.space.Zones
	if len(hosts) < 2 {
		return nil
	}
	e := Ends{From: HostEnd(pick(d, hosts)), Both: d.Chance(1, 2)}
	other := d.N(uint64(len(hosts) - 1)) // index among the hosts that are not From
	for i, h := range hosts {
		if h == e.From.Name && uint64(i) <= other {
			other++
			break
		}
	}
	e.To = HostEnd(hosts[other])
	if len(zones) > 0 && d.Chance(1, 4) {
		e.To = ZoneEnd(pick(d, zones))
	}
	if k == KindCut {
		return Cut{e}
	}
	l := Link{Ends: e}
	d.set(k, l.Faults.fields())
	return l
}

func (d *drawer) disk(k Kind) Action {
	if len(d.space.Disks) == 0 {
		return nil
	}
	disk := pick(d, d.space.Disks)
	switch k {
	case KindFailSync:
		return FailSync{disk, 1 + uint32(d.N(d.level+1))}
	case KindRot:
		return Rot{disk, 1 << d.N(2*d.level+1)}
	case KindLose:
		return Lose{disk}
	}
	a := Disk{Disk: disk}
	d.set(k, a.Faults.fields())
	return a
}

// set draws the value of the one field of that kind.
func (d *drawer) set(k Kind, fields []field) {
	for _, f := range fields {
		switch {
		case f.kind != k:
		case f.rate != nil:
			*f.rate = d.rate()
		case f.factor != nil:
			*f.factor = d.factor()
		case f.flag != nil:
			*f.flag = true
		case f.dur != nil:
			*f.dur = d.octave(100*time.Microsecond, time.Millisecond<<(2*d.level))
		}
	}
}

// rate draws a chance: up to 0.1% in a calm plan, up to 20% in a wild one.
func (d *drawer) rate() Rate {
	rates := [...]Rate{100, 1_000, 10_000, 50_000, 200_000}
	return rates[d.N(d.level+2)]
}

// factor draws how slow a device is: twice in a calm plan, up to 128 times in
// a wild one.
func (d *drawer) factor() uint32 { return 2 << d.N(2*d.level+1) }

// octave draws a time from least to most such that each doubling is equally
// likely, in whole microseconds; least if most is below it.
func (d *drawer) octave(least, most time.Duration) time.Duration {
	octaves := uint64(1)
	for t := least; t <= most/2; t *= 2 {
		octaves++
	}
	t := least << d.N(octaves)
	t += time.Duration(d.N(uint64(t/time.Microsecond))) * time.Microsecond
	return max(min(t, most), least)
}

// pick draws one of a list that is not empty.
func pick[T any](d *drawer, from []T) T { return from[d.N(uint64(len(from)))] }
