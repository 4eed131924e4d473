package simdisk

import "fmt"

// Fault is a kind of fault. Those before Full have a Rate.
type Fault uint8

// The kinds of fault; doc.go has their meaning.
const (
	EIORead Fault = iota
	EIOWrite
	FailSync
	LostSync
	LostWrite
	MisdirectRead
	MisdirectWrite
	Full
	Stall
	Slow
	Rot
	numFaults
)

var faultNames = [numFaults]string{
	"eio-read", "eio-write", "fail-sync", "lost-sync", "lost-write",
	"misdirect-read", "misdirect-write", "full", "stall", "slow", "rot",
}

// String is the name of the fault, as in plans.
func (k Fault) String() string {
	if k < numFaults {
		return faultNames[k]
	}
	return fmt.Sprintf("fault %d", uint8(k))
}

// Faults lists the kinds of fault.
func Faults() []Fault {
	all := make([]Fault, numFaults)
	for i := range all {
		all[i] = Fault(i)
	}
	return all
}

// Rate says how often a fault strikes: each of the next Next operations, and
// after that PPM of a million, by a draw. Zero: never.
type Rate struct {
	PPM  uint32
	Next uint32
}

// million is the denominator of Rate.PPM.
const million = 1_000_000

// faultState is what is switched on. Switches are the plan's: a power-off and a
// loss leave them.
type faultState struct {
	active bool // some rate is not zero
	full   bool
	rates  [Full]Rate
}

// Set switches a fault that has a rate; the zero Rate switches it off. What it
// did to bytes until then stays.
func (d *Disk) Set(k Fault, r Rate) {
	if k >= Full {
		return
	}
	s := &d.faults
	s.rates[k] = r
	s.active = s.rates != [Full]Rate{}
}

// RateOf is what is set now, with what is left of Next.
func (d *Disk) RateOf(k Fault) Rate {
	if k >= Full {
		return Rate{}
	}
	return d.faults.rates[k]
}

// SetFull makes the disk full, or not: while it is, nothing can grow and no
// file be created.
func (d *Disk) SetFull(on bool) { d.faults.full = on }

// Forever is a time in ns beyond the end of every run.
const Forever = int64(1) << 62

// SetStall makes the device answer nothing before a time in ns; 0 ends it.
// Calls that were given a completion time keep it. If nobody knows the end yet,
// say Forever: then Done methods that need the device answer Forever and leave
// its queue alone, and whoever waits must look again (Stalled).
func (d *Disk) SetStall(until int64) { d.dev.stall = until }

// Stalled reports a stall without a known end: wait until it is over before
// asking a Done method.
func (d *Disk) Stalled() bool { return d.dev.stall >= Forever }

// SetSlow multiplies the device's service times; 0 and 1 are healthy.
func (d *Disk) SetSlow(factor uint32) { d.dev.slow = int64(min(max(factor, 1), maxSlow)) }

// maxSlow keeps times far from 2^63.
const maxSlow = 1 << 20

// strikes decides whether a fault strikes operation n of an entity.
func (d *Disk) strikes(k Fault, id, n uint64) bool {
	r := &d.faults.rates[k]
	switch {
	case r.Next > 0:
		r.Next--
		d.faults.active = d.faults.rates != [Full]Rate{}
	case r.PPM == 0:
		return false
	default:
		s := d.stream(siteFault+uint64(k), id, n, d.crashes)
		if !s.Chance(uint64(r.PPM), million) {
			return false
		}
	}
	d.stats.Struck[k]++
	return true
}
