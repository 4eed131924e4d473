package sim_test

import (
	"iter"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
	"tornpage/sim"
	"tornpage/sim/draw"
	"tornpage/sim/simdisk"
)

// constant makes every latency the same, so that the benchmarks time the
// kernel and not the spread.
func constant(ns int64) draw.Quantiles { return draw.Quantiles{{PPM: 0, Value: ns}} }

// benchWorld is a world of hosts that all run boot, each on its own machine.
func benchWorld(tb testing.TB, hosts int, boot func(host.Machine)) *sim.World {
	tb.Helper()
	cfg := sim.Config{Seed: 1, MaxEvents: 1 << 62, Net: sim.Net{Zone: draw.Quantiles{{PPM: 0, Value: 1}, {PPM: 1_000_000, Value: 1_000_000}}}}
	for i := range hosts {
		name := "h" + string(rune('0'+i/1000)) + string(rune('0'+i/100%10)) + string(rune('0'+i/10%10)) + string(rune('0'+i%10))
		cfg.Machines = append(cfg.Machines, sim.Machine{Name: name, Zone: "a", Disks: []sim.Disk{{Name: "data", Config: simdisk.Config{}}}})
		cfg.Hosts = append(cfg.Hosts, sim.Host{Name: name, Machine: name, Boot: boot})
	}
	w, err := sim.New(cfg)
	require.NoError(tb, err)
	tb.Cleanup(w.Close)
	return w
}

// BenchmarkPull is the floor: two bare coroutines resumed in turn.
func BenchmarkPull(b *testing.B) {
	var next [2]func() (struct{}, bool)
	for i := range next {
		n, stop := iter.Pull(func(yield func(struct{}) bool) {
			for yield(struct{}{}) {
			}
		})
		defer stop()
		next[i] = n
	}
	b.ReportAllocs()
	start := cpu()
	for i := range b.N {
		next[i&1]()
	}
	b.ReportMetric(float64(cpu()-start)/float64(b.N), "cpu-ns/op")
}

// BenchmarkSwitch: two tasks of one process yield to each other.
func BenchmarkSwitch(b *testing.B) {
	n := 0
	w := benchWorld(b, 1, func(m host.Machine) {
		loop := func() {
			for {
				m.Pay()
				if n++; n == b.N {
					m.Exit(errDone)
				}
			}
		}
		m.Go("other", loop)
		loop()
	})
	runBench(b, w)
}

type doneError struct{}

func (doneError) Error() string { return "done" }

var errDone = doneError{}

// cpu is the processor time of this process so far: on a busy machine it says
// more than the time on the wall.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func runBench(b *testing.B, w *sim.World) {
	w.BootAll()
	b.ReportAllocs()
	b.ResetTimer()
	start := cpu()
	why := w.Run(1 << 62)
	b.StopTimer()
	b.ReportMetric(float64(cpu()-start)/float64(b.N), "cpu-ns/op")
	if f := w.Failure(); f != nil {
		b.Fatalf("%v: %v\n%s", why, f, f.Stack)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
}

// benchMessages: pairs of hosts bounce a 64-byte datagram with a random latency.
func benchMessages(b *testing.B, hosts int, handler bool) {
	n := 0
	var w *sim.World
	w = benchWorld(b, hosts, func(m host.Machine) {
		peer := host.Addr(uint32(m.Lookup(m.Name())) ^ 1)
		buf := make([]byte, 64)
		count := func() {
			if n++; n >= b.N {
				w.Stop()
			}
		}
		if peer&1 == 1 {
			m.Send(peer, 1, buf)
		}
		if handler {
			m.Handle(1, func(from host.Addr, msg []byte) {
				count()
				m.Send(from, 1, msg)
			})
			m.Sleep(1 << 61)
		}
		for {
			from, msg := m.Recv(1, buf)
			count()
			m.Send(from, 1, msg)
		}
	})
	runBench(b, w)
}

func BenchmarkMessage(b *testing.B) {
	b.Run("task/pair", func(b *testing.B) { benchMessages(b, 2, false) })
	b.Run("task/1000", func(b *testing.B) { benchMessages(b, 1000, false) })
	b.Run("handler/pair", func(b *testing.B) { benchMessages(b, 2, true) })
	b.Run("handler/1000", func(b *testing.B) { benchMessages(b, 1000, true) })
}

// benchTimers: tasks sleep for random times.
func benchTimers(b *testing.B, tasks int) {
	n := 0
	var w *sim.World
	w = benchWorld(b, 1, func(m host.Machine) {
		for i := range tasks {
			m.Go("sleeper", func() {
				r := m.Rand("bench.sleep", uint64(i))
				for {
					m.Sleep(time.Duration(1 + r.N(1_000_000)))
					if n++; n >= b.N {
						w.Stop()
					}
				}
			})
		}
		m.Sleep(1 << 61)
	})
	w.BootAll()
	w.Run(1) // all asleep
	runBench(b, w)
}

func BenchmarkTimers1k(b *testing.B)   { benchTimers(b, 1_000) }
func BenchmarkTimers100k(b *testing.B) { benchTimers(b, 100_000) }

// BenchmarkDisk: one task reads or writes an 8 KiB page at random of 64.
func BenchmarkDisk(b *testing.B) {
	run := func(b *testing.B, op func(f host.File, page []byte, off int64, i int)) {
		var w *sim.World
		w = benchWorld(b, 1, func(m host.Machine) {
			f, err := m.Disk("data").Open("f", host.ClassData, true)
			if err != nil {
				m.Exit(err)
			}
			page := make([]byte, 8192)
			for i := range 64 {
				f.WriteAt(page, int64(i)*8192)
			}
			f.Sync()
			r := m.Rand("bench.page", 0)
			b.ResetTimer()
			for i := range b.N {
				op(f, page, int64(r.N(64))*8192, i)
			}
			w.Stop()
			m.Pay()
		})
		runBench(b, w)
	}
	b.Run("read8k", func(b *testing.B) {
		run(b, func(f host.File, page []byte, off int64, _ int) { f.ReadAt(page, off) })
	})
	b.Run("write8k", func(b *testing.B) { // a row and the header change, as an update does
		run(b, func(f host.File, page []byte, off int64, i int) {
			page[0], page[1], page[5000] = byte(i), byte(i>>8), byte(i>>16)
			f.WriteAt(page, off)
			if i%256 == 255 {
				f.Sync()
			}
		})
	})
	b.Run("write8k-all-new", func(b *testing.B) {
		run(b, func(f host.File, page []byte, off int64, i int) {
			for s := 0; s < len(page); s += 512 {
				page[s], page[s+1], page[s+2] = byte(i), byte(i>>8), byte(i>>16)
			}
			f.WriteAt(page, off)
			if i%256 == 255 {
				f.Sync()
			}
		})
	})
	b.Run("sync512", func(b *testing.B) {
		run(b, func(f host.File, page []byte, off int64, i int) {
			page[0], page[1] = byte(i), byte(i>>8)
			f.WriteAt(page[:512], off)
			f.Sync()
		})
	})
}

// BenchmarkParked measures the memory of a parked task.
func BenchmarkParked(b *testing.B) {
	const tasks = 50_000
	for range b.N {
		var before, after runtime.MemStats
		w := benchWorld(b, 1, func(m host.Machine) {
			for range tasks {
				m.Go("parked", func() { m.Sleep(1 << 61) })
			}
			m.Sleep(1 << 61)
		})
		runtime.GC()
		runtime.ReadMemStats(&before)
		w.BootAll()
		w.Run(1)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc+after.StackInuse-before.HeapAlloc-before.StackInuse)/tasks, "B/task")
	}
}
