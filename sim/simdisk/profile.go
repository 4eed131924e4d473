package simdisk

import "fmt"

// Quantiles are the anchors of a latency distribution in nanoseconds: the 0th,
// 50th, 90th, 99th, 99.9th and 99.99th percentile and the maximum. Between two
// anchors a draw is spread evenly.
type Quantiles [7]int64

// Profile is the performance of a kind of disk. All of it is integers.
type Profile struct {
	Name string

	Depth      int32     // commands in service at once, 1 to 64
	ReadIOPS   int64     // per second; 0: unlimited
	WriteIOPS  int64     // per second; 0: unlimited
	ReadBytes  int64     // bytes per second; 0: unlimited
	WriteBytes int64     // bytes per second; 0: unlimited
	MaxIO      int64     // bytes that count as one operation; 0: any size does
	Read       Quantiles // latency of a random read, without queueing and transfer
	Write      Quantiles // latency of a random write, into the device
	Near       Quantiles // latency where the last command ended; zero: as Read and Write
	Barrier    Quantiles // flush of the device's own cache, once its writes arrived
	CacheCall  int64     // ns of a call that the page cache serves
	CacheByte  int64     // ps a byte of it
}

// Check reports what is wrong with the profile.
func (p Profile) Check() error {
	if p.Depth < 1 || p.Depth > maxDepth {
		return fmt.Errorf("disk profile %q: queue depth %d, want 1 to %d", p.Name, p.Depth, maxDepth)
	}
	for _, v := range []int64{p.ReadIOPS, p.WriteIOPS, p.ReadBytes, p.WriteBytes, p.MaxIO, p.CacheCall, p.CacheByte} {
		if v < 0 {
			return fmt.Errorf("disk profile %q: negative limit %d", p.Name, v)
		}
	}
	for _, q := range []Quantiles{p.Read, p.Write, p.Near, p.Barrier} {
		if err := q.check(); err != nil {
			return fmt.Errorf("disk profile %q: %w", p.Name, err)
		}
	}
	return nil
}

// maxLatency bounds a table entry, so that sums of times stay far from 2^63.
const maxLatency = int64(1) << 40

func (q Quantiles) check() error {
	last := int64(0)
	for i, v := range q {
		if v < last || v > maxLatency {
			return fmt.Errorf("quantile %d is %d ns: want ascending, from 0 to %d", i, v, maxLatency)
		}
		last = v
	}
	return nil
}

const (
	us = int64(1000)
	ms = 1000 * us
)

// A cached 8 KiB read through the operating system took 2.0 µs where it was
// measured (one Linux machine): half of it is taken as the call, the rest as
// bytes.
const (
	osCall = 1 * us
	osByte = 122 // ps
)

// fast is for tests: every operation takes a small fixed time, so that time
// moves and nothing queues for long.
var fast = Profile{
	Name: "fast", Depth: 32,
	Read:    Quantiles{10 * us, 10 * us, 10 * us, 10 * us, 10 * us, 10 * us, 10 * us},
	Write:   Quantiles{10 * us, 10 * us, 10 * us, 10 * us, 10 * us, 10 * us, 10 * us},
	Barrier: Quantiles{20 * us, 20 * us, 20 * us, 20 * us, 20 * us, 20 * us, 20 * us},

	CacheCall: osCall, CacheByte: osByte,
}

// hdd is a 7,200 rpm disk. Western Digital Ultrastar DC HC310 specification,
// 4.5.1: average seek 7.4 ms (read) and 8.2 ms (write), at most 10 and 11; a
// revolution 8.33 ms; single track seek 0.23 and 0.32 ms. So a random access is
// single track to longest seek plus 0 to 1 revolution, median 7.4 + 4.16. The
// 99.9th and later percentiles (re-reads: whole further revolutions) and the
// 250 MB/s are the class's, not that sheet's. A command at a time: reordering
// in the drive is not modelled. A barrier after the writes waits a revolution.
var hdd = Profile{
	Name: "hdd", Depth: 1,
	ReadBytes: 250_000_000, WriteBytes: 250_000_000,
	Read:    Quantiles{230 * us, 11_560 * us, 15 * ms, 18_300 * us, 27 * ms, 60 * ms, 200 * ms},
	Write:   Quantiles{320 * us, 12_360 * us, 16 * ms, 19_300 * us, 28 * ms, 60 * ms, 200 * ms},
	Near:    Quantiles{20 * us, 50 * us, 100 * us, 550 * us, 8_330 * us, 17 * ms, 60 * ms},
	Barrier: Quantiles{100 * us, 4_160 * us, 8_330 * us, 8_800 * us, 17 * ms, 50 * ms, 200 * ms},

	CacheCall: osCall, CacheByte: osByte,
}

// sataSSD is a SATA flash disk without power-loss protection. Samsung 870 EVO
// data sheet: 560 and 530 MB/s, 98,000 and 88,000 random 4 KiB IOPS at queue
// depth 32 (so Depth 32). Median latencies are what one command at a time gives
// in that class (some 13,000 and 36,000 IOPS); the tail and the barrier, which
// must program flash, are the class's: no sheet states them.
var sataSSD = Profile{
	Name: "sata-ssd", Depth: 32,
	ReadIOPS: 98_000, WriteIOPS: 88_000, ReadBytes: 560_000_000, WriteBytes: 530_000_000,
	Read:    Quantiles{50 * us, 77 * us, 110 * us, 250 * us, 1 * ms, 5 * ms, 30 * ms},
	Write:   Quantiles{20 * us, 28 * us, 45 * us, 200 * us, 2 * ms, 10 * ms, 50 * ms},
	Barrier: Quantiles{300 * us, 700 * us, 1_500 * us, 4 * ms, 10 * ms, 30 * ms, 100 * ms},

	CacheCall: osCall, CacheByte: osByte,
}

// nvme is a data-centre flash disk with power-loss protection. Intel P4500
// 2 TB, as in Lenovo's product guide: 490,000 and 38,000 random 4 KiB IOPS, 3.2
// and 1.05 GB/s, access latency 85 µs (random read) and 20 µs (random write).
// Protection makes the barrier one command of about a write's time. Tails are
// the class's.
var nvme = Profile{
	Name: "nvme", Depth: 64,
	ReadIOPS: 490_000, WriteIOPS: 38_000, ReadBytes: 3_200_000_000, WriteBytes: 1_050_000_000,
	Read:    Quantiles{60 * us, 85 * us, 105 * us, 160 * us, 400 * us, 2 * ms, 10 * ms},
	Write:   Quantiles{10 * us, 20 * us, 26 * us, 60 * us, 250 * us, 2 * ms, 10 * ms},
	Barrier: Quantiles{10 * us, 20 * us, 30 * us, 80 * us, 400 * us, 3 * ms, 15 * ms},

	CacheCall: osCall, CacheByte: osByte,
}

// gp3 is a network volume. Amazon EBS user guide: 3,000 IOPS and 125 MiB/s
// without extra charge, an operation is up to 256 KiB, latency in single-digit
// milliseconds. A synchronous 8 KiB write to a virtual disk measured 0.36 ms,
// taken as the lower half of Write plus Barrier; medians and tails are the
// class's, with the single-digit promise put at the 99.9th percentile.
var gp3 = Profile{
	Name: "gp3", Depth: 64,
	ReadIOPS: 3000, WriteIOPS: 3000, ReadBytes: 125 << 20, WriteBytes: 125 << 20, MaxIO: 256 << 10,
	Read:    Quantiles{250 * us, 500 * us, 900 * us, 2 * ms, 9 * ms, 40 * ms, 300 * ms},
	Write:   Quantiles{250 * us, 450 * us, 900 * us, 2 * ms, 9 * ms, 40 * ms, 300 * ms},
	Barrier: Quantiles{50 * us, 100 * us, 200 * us, 600 * us, 4 * ms, 20 * ms, 100 * ms},

	CacheCall: osCall, CacheByte: osByte,
}

// Profiles lists the names of the profiles, sorted.
func Profiles() []string { return []string{"fast", "gp3", "hdd", "nvme", "sata-ssd"} }

// ProfileByName gives the profile of a name.
func ProfileByName(name string) (Profile, error) {
	for _, p := range [...]Profile{fast, gp3, hdd, nvme, sataSSD} {
		if p.Name == name {
			return p, nil
		}
	}
	return Profile{}, fmt.Errorf("no disk profile %q; there are %q", name, Profiles())
}
