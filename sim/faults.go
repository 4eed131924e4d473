package sim

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"tornpage/engine/host"
	"tornpage/sim/draw"
	"tornpage/sim/simdisk"
	"tornpage/sim/trace"
)

// struck counts a fault that really happened.
func (w *World) struck(kind string) { w.strikes[kind]++ }

// Strikes gives how often each kind of network fault really happened; those of
// disks are in the disks' own statistics.
func (w *World) Strikes() map[string]uint64 { return maps.Clone(w.strikes) }

// Disk is the state of a disk, to set its faults and read its statistics. It
// must not be written to while the machine runs.
func (w *World) Disk(machine, name string) (*simdisk.Disk, error) {
	m := w.machine(machine)
	if m == nil {
		return nil, fmt.Errorf("sim: no machine is named %q", machine)
	}
	i := slices.IndexFunc(m.disks, func(d *disk) bool { return d.name == name })
	if i < 0 {
		return nil, fmt.Errorf("sim: machine %q has no disk %q", machine, name)
	}
	return m.disks[i].d, nil
}

// NoteFault puts a change of faults that was made outside of the world's own
// methods into the trace.
func (w *World) NoteFault(text string) {
	w.log.Add(w.now, trace.Fault, 0, 0, 0, draw.Key(0, text))
}

// SetNIC slows a machine's network card by a factor; 1 is healthy.
func (w *World) SetNIC(machine string, factor uint32) {
	m := w.machine(machine)
	m.slow = int64(max(factor, 1))
	w.NoteFault(fmt.Sprintf("nic %s %d", machine, factor))
}

// SetClock makes a machine's wall clock wrong by skew now, and fast by drift
// parts per million from now on.
func (w *World) SetClock(machine string, skew time.Duration, drift int64) {
	m := w.machine(machine)
	m.skew, m.drift, m.since = int64(skew), drift, w.now
	w.NoteFault(fmt.Sprintf("clock %s %v %d", machine, skew, drift))
}

// Machines, Processes and Zones give the names, in the order of the
// configuration.
func (w *World) Machines() (names []string) {
	for _, m := range w.machines {
		names = append(names, m.name)
	}
	return names
}

// Processes gives the names of all processes.
func (w *World) Processes() (names []string) {
	for _, p := range w.procs {
		names = append(names, p.name)
	}
	return names
}

// Zones gives the names of the zones.
func (w *World) Zones() (names []string) {
	for _, m := range w.machines {
		if !slices.Contains(names, m.zone) {
			names = append(names, m.zone)
		}
	}
	return names
}

// ProcessOf is the name of the process that a trace event's Who means, "" for
// the world.
func (w *World) ProcessOf(who uint32) string {
	if who == 0 {
		return ""
	}
	return w.procs[who-1].name
}

// MarkKey is what a trace event's Data holds for a mark of that name.
func MarkKey(name string) uint64 { return draw.Key(0, name) }

// MachineOf is the name of a process's machine.
func (w *World) MachineOf(process string) string { return w.proc(process).m.name }

// MachinesIn gives the machines of a zone.
func (w *World) MachinesIn(zone string) (names []string) {
	for _, m := range w.machines {
		if m.zone == zone {
			names = append(names, m.name)
		}
	}
	return names
}

// Disks gives the disks of a machine.
func (w *World) Disks(machine string) (names []string) {
	for _, d := range w.machine(machine).disks {
		names = append(names, d.name)
	}
	return names
}

// Waited is the time that the tasks of a process's present boot spent with the
// wait event, up to now.
func (w *World) Waited(process string, ev host.WaitEvent) time.Duration {
	inc := w.proc(process).inc
	if inc == nil {
		return 0
	}
	return time.Duration(inc.group.Waited(w.now, ev))
}
