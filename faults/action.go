package faults

import (
	"strings"
	"time"
)

// Action is what a step does. The set is closed: the types of this package.
type Action interface {
	// Kinds lists the faults that the action brings; none for a cure.
	Kinds() []Kind
	// String returns the action as in a plan.
	String() string
	check() error
	// lasting reports whether the action goes on until it is undone, so that
	// a step may give it a "for".
	lasting() bool
}

// Kill ends a process. Memory is gone, files stay as last written. Undone by
// booting the host.
type Kill struct{ Host string }

// PowerOff ends every process of a machine, and what was not synced becomes
// one of the states that the disk allows. Undone by booting the machine.
type PowerOff struct{ Machine string }

// Boot starts a killed host, or a machine with all its hosts. Nothing happens
// to what is up.
type Boot struct{ Name string }

// Pause stops a process from running; it keeps its memory, and messages to it
// wait. Undone by letting it run again.
type Pause struct{ Host string }

// Zone powers off every machine of a zone, or boots them again.
type Zone struct {
	Zone string
	Up   bool
}

// End is one end of a link: a host, or all hosts of a zone.
type End struct {
	Name string
	Zone bool // Name is a zone's
}

// HostEnd returns the end that is one host.
func HostEnd(host string) End { return End{Name: host} }

// ZoneEnd returns the end that is every host of a zone.
func ZoneEnd(zone string) End { return End{Name: zone, Zone: true} }

// String returns the end as in a plan.
func (e End) String() string {
	if e.Zone {
		return "zone " + e.Name
	}
	return e.Name
}

// Ends are the two ends of a link, in one direction or both.
type Ends struct {
	From, To End
	Both     bool
}

// String returns the ends as in a plan.
func (e Ends) String() string {
	if e.Both {
		return e.From.String() + " <-> " + e.To.String()
	}
	return e.From.String() + " -> " + e.To.String()
}

// Cut loses every message between the ends.
type Cut struct{ Ends Ends }

// Heal undoes all that Cut and Link did to these very ends, in the directions
// named.
type Heal struct{ Ends Ends }

// Link disturbs the messages between the ends.
type Link struct {
	Ends   Ends
	Faults LinkFaults
}

// LinkFaults disturb a link in one direction; zero is a healthy link.
type LinkFaults struct {
	Drop    Rate          // messages lost
	Delay   time.Duration // added to the latency of each message
	Dup     Rate          // datagrams that arrive twice
	Reorder Rate          // datagrams held back behind later ones
	Corrupt Rate          // messages in which bits flip
}

// DiskName names a disk of a machine, "db-m/data" in a plan.
type DiskName struct{ Machine, Disk string }

// String returns the name as in a plan.
func (d DiskName) String() string { return d.Machine + "/" + d.Disk }

// Disk makes a disk misbehave as long as the step lasts.
type Disk struct {
	Disk   DiskName
	Faults DiskFaults
}

// DiskFaults are lasting faults of a disk; zero is a healthy disk.
type DiskFaults struct {
	LostWrite      Rate   // writes acknowledged and never stored
	LostSync       Rate   // syncs that answer and do nothing
	EIORead        Rate   // reads that fail
	EIOWrite       Rate   // writes that fail, with nothing stored
	MisdirectRead  Rate   // reads that return another sector
	MisdirectWrite Rate   // writes that land on another sector
	Full           bool   // nothing can grow
	Stall          bool   // every call waits until the stall ends
	Slow           uint32 // service times are multiplied by this; 0: healthy
}

// FailSync makes the next Count syncs of a disk fail with an I/O error; the
// dirty pages are dropped and the sync after them succeeds.
type FailSync struct {
	Disk  DiskName
	Count uint32
}

// Rot flips bits in so many persisted sectors of a disk.
type Rot struct {
	Disk    DiskName
	Sectors uint32
}

// Lose loses everything on a disk; an empty disk takes its place.
type Lose struct{ Disk DiskName }

// NIC slows a machine's network card: bandwidth is divided, and the cost of a
// message multiplied, by Slow.
type NIC struct {
	Machine string
	Slow    uint32
}

// Clock falsifies the wall clock of a host or of a machine's hosts. Monotonic
// time stays right.
type Clock struct {
	Name  string
	Skew  time.Duration // added to the wall clock
	Drift int64         // parts per million by which it runs fast (or, negative, slow)
}

// Quiet ends the faults of the run: everything lasting is undone, everything
// down is booted, and no step fires any more.
type Quiet struct{}

// Kinds implements Action.
func (Kill) Kinds() []Kind { return []Kind{KindKill} }

// Kinds implements Action.
func (PowerOff) Kinds() []Kind { return []Kind{KindPowerOff} }

// Kinds implements Action.
func (Boot) Kinds() []Kind { return nil }

// Kinds implements Action.
func (Pause) Kinds() []Kind { return []Kind{KindPause} }

// Kinds implements Action.
func (z Zone) Kinds() []Kind {
	if z.Up {
		return nil
	}
	return []Kind{KindZoneDown}
}

// Kinds implements Action.
func (Cut) Kinds() []Kind { return []Kind{KindCut} }

// Kinds implements Action.
func (Heal) Kinds() []Kind { return nil }

// Kinds implements Action.
func (l Link) Kinds() []Kind { return kindsOf(l.Faults.fields()) }

// Kinds implements Action.
func (d Disk) Kinds() []Kind { return kindsOf(d.Faults.fields()) }

// Kinds implements Action.
func (FailSync) Kinds() []Kind { return []Kind{KindFailSync} }

// Kinds implements Action.
func (Rot) Kinds() []Kind { return []Kind{KindRot} }

// Kinds implements Action.
func (Lose) Kinds() []Kind { return []Kind{KindLose} }

// Kinds implements Action.
func (NIC) Kinds() []Kind { return []Kind{KindSlowNIC} }

// Kinds implements Action.
func (c Clock) Kinds() []Kind { return kindsOf(c.fields()) }

// Kinds implements Action.
func (Quiet) Kinds() []Kind { return nil }

func (Kill) lasting() bool     { return true }
func (PowerOff) lasting() bool { return true }
func (Boot) lasting() bool     { return false }
func (Pause) lasting() bool    { return true }
func (z Zone) lasting() bool   { return !z.Up }
func (Cut) lasting() bool      { return true }
func (Heal) lasting() bool     { return false }
func (Link) lasting() bool     { return true }
func (Disk) lasting() bool     { return true }
func (FailSync) lasting() bool { return false }
func (Rot) lasting() bool      { return false }
func (Lose) lasting() bool     { return false }
func (NIC) lasting() bool      { return true }
func (Clock) lasting() bool    { return true }
func (Quiet) lasting() bool    { return false }

// String implements Action.
func (k Kill) String() string { return "kill " + k.Host }

// String implements Action.
func (p PowerOff) String() string { return "power-off " + p.Machine }

// String implements Action.
func (b Boot) String() string { return "boot " + b.Name }

// String implements Action.
func (p Pause) String() string { return "pause " + p.Host }

// String implements Action.
func (z Zone) String() string {
	if z.Up {
		return "zone " + z.Zone + " up"
	}
	return "zone " + z.Zone + " down"
}

// String implements Action.
func (c Cut) String() string { return "cut " + c.Ends.String() }

// String implements Action.
func (h Heal) String() string { return "heal " + h.Ends.String() }

// String implements Action.
func (l Link) String() string { return "link " + l.Ends.String() + words(l.Faults.fields()) }

// String implements Action.
func (d Disk) String() string { return "disk " + d.Disk.String() + words(d.Faults.fields()) }

// String implements Action.
func (f FailSync) String() string {
	return "disk " + f.Disk.String() + " fail-sync" + countSuffix(f.Count)
}

// String implements Action.
func (r Rot) String() string { return "disk " + r.Disk.String() + " rot" + countSuffix(r.Sectors) }

// String implements Action.
func (l Lose) String() string { return "disk " + l.Disk.String() + " lose" }

// String implements Action.
func (n NIC) String() string { return "nic " + n.Machine + " slow=" + formatFactor(n.Slow) }

// String implements Action.
func (c Clock) String() string { return "clock " + c.Name + words(c.fields()) }

// String implements Action.
func (Quiet) String() string { return "quiet" }

// words prints the set fields of a group of faults, each with a blank before.
func words(fields []field) string {
	var b strings.Builder
	for _, f := range fields {
		if f.set() {
			b.WriteString(" " + f.String())
		}
	}
	return b.String()
}

// Lasting reports whether an action goes on until it is undone, so that a step
// may give it a "for".
func Lasting(a Action) bool { return a.lasting() }
