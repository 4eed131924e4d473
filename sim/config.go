package sim

import (
	"fmt"
	"time"

	"tornpage/engine/host"
	"tornpage/sim/draw"
	"tornpage/sim/simdisk"
)

// Config describes a world. Zero values mean the documented defaults; New
// copies it and never edits the caller's.
type Config struct {
	Seed     uint64
	Machines []Machine
	Hosts    []Host
	Net      Net
	Costs    Costs
	// Quantum is how long a task keeps a core while others wait for one.
	// Default 1 ms.
	Quantum time.Duration
	// MaxEvents ends a run that goes on for ever, for instance a loop that
	// sleeps. Default 200 million.
	MaxEvents uint64
	// Reuse lends what worlds that were closed before have left; nil: nothing.
	// It changes nothing in the run.
	Reuse *Reuse
	// Log receives the processes' log lines; nil drops them.
	Log func(at time.Duration, process, line string)
}

// Machine is a computer: cores, disks and a wall clock, in a zone.
type Machine struct {
	Name  string
	Zone  string
	Cores int // default 2
	Disks []Disk
}

// Disk is a disk of a machine.
type Disk struct {
	Name   string
	Config simdisk.Config
}

// Host is a process: it lives on a machine and runs Boot at each of its boots.
type Host struct {
	Name    string
	Machine string
	Boot    func(host.Machine)
}

// Net describes the links. Latencies are one way, in nanoseconds.
type Net struct {
	// Local, Zone and Cross are the latencies between two processes of one
	// machine, of two machines of one zone, and of two zones. Defaults: 15 µs,
	// 60 µs and 500 µs at the median, each with a tail to ten times that. They
	// are placeholders of the usual orders of magnitude inside one region, to
	// be replaced by a fit where an experiment depends on them.
	Local, Zone, Cross draw.Quantiles
	// Bandwidth of a machine's network card in bytes a second, each way.
	// Default 1,250,000,000 (10 Gbit/s).
	Bandwidth int64
	// PerMessage is what a message costs the card beside its bytes. Default
	// 500 ns.
	PerMessage time.Duration
	// Retransmit is how long a connection waits before it sends again what was
	// lost. Default 20 ms.
	Retransmit time.Duration
	// BreakAfter is how long a connection, or a dial, tries before it gives
	// up, and how long the silence of a dead machine goes unnoticed. Default
	// 400 ms.
	BreakAfter time.Duration
}

// Costs says how long a unit of each kind of work takes, in nanoseconds.
type Costs [host.Works]int64

// DefaultCosts are of the order of what PostgreSQL 15 spends on one core of a
// server of 2020. They are not yet calibrated against a measurement.
func DefaultCosts() Costs {
	return Costs{
		host.WorkStatement:    4_000,
		host.WorkTuple:        120,
		host.WorkPageLookup:   150,
		host.WorkRecord:       500,
		host.WorkRecordBytes:  12,
		host.WorkPageChecksum: 1_200,
		host.WorkPageCopy:     400,
		host.WorkRedo:         900,
		host.WorkMessage:      1_500,
		host.WorkPrune:        2_500,
	}
}

// tail is a latency with the given median, a narrow body and a long tail.
func tail(median int64) draw.Quantiles {
	return draw.Quantiles{
		{PPM: 0, Value: median * 8 / 10}, {PPM: 500_000, Value: median},
		{PPM: 950_000, Value: median * 13 / 10}, {PPM: 999_000, Value: median * 3}, {PPM: 1_000_000, Value: median * 10},
	}
}

// minBandwidth keeps the time of the longest message within 64 bits of fixed
// point (see latencies.perByte).
const minBandwidth = 4_000_000

// check names the first thing that is wrong.
func (n *Net) check() error {
	for _, q := range []struct {
		name string
		q    draw.Quantiles
	}{{"Local", n.Local}, {"Zone", n.Zone}, {"Cross", n.Cross}} {
		if !q.q.Valid() || len(q.q) == 0 || q.q[0].Value < 0 {
			return fmt.Errorf("sim: Net.%s is no distribution: want quantiles from 0 to 1,000,000 ppm, rising, not negative, no step of 2.1 s or more", q.name)
		}
	}
	if n.Bandwidth < minBandwidth || n.PerMessage < 0 || n.Retransmit <= 0 || n.BreakAfter <= 0 {
		return fmt.Errorf("sim: Net: bandwidth %d, per message %v, retransmit %v, break after %v: want at least %d bytes/s and positive times",
			n.Bandwidth, n.PerMessage, n.Retransmit, n.BreakAfter, minBandwidth)
	}
	return nil
}

func (n *Net) defaults() {
	if n.Local == nil {
		n.Local = tail(15_000)
	}
	if n.Zone == nil {
		n.Zone = tail(60_000)
	}
	if n.Cross == nil {
		n.Cross = tail(500_000)
	}
	if n.Bandwidth == 0 {
		n.Bandwidth = 1_250_000_000
	}
	if n.PerMessage == 0 {
		n.PerMessage = 500 * time.Nanosecond
	}
	if n.Retransmit == 0 {
		n.Retransmit = 20 * time.Millisecond
	}
	if n.BreakAfter == 0 {
		n.BreakAfter = 400 * time.Millisecond
	}
}
