package faults

import (
	"fmt"
	"time"

	"tornpage/sim"
	"tornpage/sim/simdisk"
)

// OnSim lets plans act on a simulated world.
type OnSim struct{ *sim.World }

var _ World = OnSim{}

// Names implements World.
func (w OnSim) Names() Names {
	n := Names{Hosts: w.Processes(), Machines: w.Machines(), Zones: w.Zones()}
	for _, m := range n.Machines {
		for _, d := range w.Disks(m) {
			n.Disks = append(n.Disks, DiskName{m, d})
		}
	}
	return n
}

// Boot implements World: a machine that is off is switched on, and what is
// down on it is booted.
func (w OnSim) Boot(name string) {
	for _, m := range w.Machines() {
		if m != name {
			continue
		}
		w.PowerOn(m)
		for _, p := range w.Processes() {
			if w.MachineOf(p) == m {
				w.World.Boot(p)
			}
		}
		return
	}
	w.World.Boot(name)
}

// SetZone implements World.
func (w OnSim) SetZone(zone string, up bool) {
	for _, m := range w.MachinesIn(zone) {
		if up {
			w.Boot(m)
		} else {
			w.PowerOff(m)
		}
	}
}

// SetCut implements World.
func (w OnSim) SetCut(from, to End, cut bool) {
	f := w.LinkOf(from.Name, to.Name, from.Zone, to.Zone)
	f.Cut = cut
	w.World.SetLink(from.Name, to.Name, from.Zone, to.Zone, f)
}

// SetLink implements World.
func (w OnSim) SetLink(from, to End, l LinkFaults) {
	f := w.LinkOf(from.Name, to.Name, from.Zone, to.Zone)
	w.World.SetLink(from.Name, to.Name, from.Zone, to.Zone, sim.LinkFaults{
		Cut: f.Cut, Drop: uint32(l.Drop), Dup: uint32(l.Dup), Reorder: uint32(l.Reorder),
		Corrupt: uint32(l.Corrupt), Delay: int64(l.Delay),
	})
}

func (w OnSim) disk(n DiskName) *simdisk.Disk {
	d, err := w.Disk(n.Machine, n.Disk)
	if err != nil {
		panic(err) // Inject has checked the plan's names
	}
	return d
}

// SetDisk implements World.
func (w OnSim) SetDisk(n DiskName, f DiskFaults) {
	w.NoteFault(fmt.Sprintf("disk %v %+v", n, f))
	d := w.disk(n)
	set := func(k simdisk.Fault, r Rate) { d.Set(k, simdisk.Rate{PPM: uint32(r)}) }
	set(simdisk.LostWrite, f.LostWrite)
	set(simdisk.LostSync, f.LostSync)
	set(simdisk.EIORead, f.EIORead)
	set(simdisk.EIOWrite, f.EIOWrite)
	set(simdisk.MisdirectRead, f.MisdirectRead)
	set(simdisk.MisdirectWrite, f.MisdirectWrite)
	d.SetFull(f.Full)
	d.SetSlow(f.Slow)
	w.SetStall(n.Machine, n.Disk, f.Stall)
}

// FailSync implements World.
func (w OnSim) FailSync(n DiskName, count uint32) {
	w.NoteFault(fmt.Sprintf("disk %v fail-sync %d", n, count))
	w.disk(n).Set(simdisk.FailSync, simdisk.Rate{Next: count})
}

// rotBits is how many bits of a sector rot at once: more than a single-bit
// error code would mend.
const rotBits = 3

// Rot implements World.
func (w OnSim) Rot(n DiskName, sectors uint32) {
	w.NoteFault(fmt.Sprintf("disk %v rot %d", n, sectors))
	if _, err := w.disk(n).Rot("*", sectors, rotBits); err != nil {
		panic(err) // the pattern is a constant
	}
}

// Lose implements World.
func (w OnSim) Lose(n DiskName) {
	w.NoteFault(fmt.Sprintf("disk %v lose", n))
	w.disk(n).Loss()
}

// SetClock implements World: the clock is the machine's, also when a process
// is named.
func (w OnSim) SetClock(name string, skew time.Duration, drift int64) {
	for _, p := range w.Processes() {
		if p == name {
			name = w.MachineOf(p)
		}
	}
	w.World.SetClock(name, skew, drift)
}
