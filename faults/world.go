package faults

import "time"

// World is what a plan acts on. The Injector is its only caller; the simulator
// implements it. Every method returns at once.
//
// The Injector hands over states, not changes: overlapping steps are merged
// before, so an implementation just stores what it is told. Where a host-level
// and a zone-level state meet in one message, the message suffers both.
type World interface {
	// Names returns what exists; a plan that names anything else is refused.
	Names() Names

	// Now returns the time since the start of the run.
	Now() time.Duration
	// At calls f at a time since the start of the run; a time that is past
	// means now. Calls due at the same time may come in any order.
	At(t time.Duration, f func())
	// OnMark calls f once, inside the count-th mark of that name, counted on
	// one host over all its boots, or on all hosts if host is empty. f may
	// kill the host that is reaching the mark: Kill returns, and the host's
	// task unwinds once f did.
	OnMark(mark, host string, count uint64, f func())
	// OnEvent calls f once, directly after event n.
	OnEvent(n uint64, f func())

	// Kill ends a process; nothing happens if it is down.
	Kill(host string)
	// PowerOff ends a machine's processes and settles its disks; nothing
	// happens if it is off.
	PowerOff(machine string)
	// Boot starts a host, or a machine with all its hosts; nothing happens to
	// what is up, to a host whose machine is off, or to a machine whose zone is
	// down.
	Boot(name string)
	// SetPaused stops a process from running, or lets it run again.
	SetPaused(host string, paused bool)
	// SetZone powers off every machine of a zone, or boots them again.
	SetZone(zone string, up bool)

	// SetCut loses every message from one end to the other, or no longer.
	SetCut(from, to End, cut bool)
	// SetLink sets the faults of messages from one end to the other.
	SetLink(from, to End, faults LinkFaults)
	// SetNIC slows a machine's network card by a factor; 1 is healthy.
	SetNIC(machine string, slow uint32)

	// SetDisk sets the lasting faults of a disk.
	SetDisk(disk DiskName, faults DiskFaults)
	// FailSync makes the next count syncs of a disk fail and drop the dirty
	// pages.
	FailSync(disk DiskName, count uint32)
	// Rot flips bits in so many persisted sectors of a disk.
	Rot(disk DiskName, sectors uint32)
	// Lose replaces a disk by an empty one.
	Lose(disk DiskName)

	// SetClock sets the error of a wall clock: an offset, and how many parts
	// per million it runs fast from now on.
	SetClock(name string, skew time.Duration, drift int64)
}
