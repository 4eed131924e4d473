package sim_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
	"tornpage/sim"
	"tornpage/sim/simdisk"
	"tornpage/sim/trace"
)

// rich is a world in which everything happens: four processes on three
// machines in two zones exchange datagrams and messages, compute, write and
// sync files, meet latches' conditions and marks, while kills, power-offs, link
// faults, pauses, wrong clocks, slow cards and stalled disks come and go.
func rich(tb testing.TB, seed uint64) *lab {
	cfg := sim.Config{Seed: seed, MaxEvents: 200_000, Net: sim.Net{BreakAfter: 30 * time.Millisecond, Retransmit: 3 * time.Millisecond}}
	for _, m := range []string{"m1", "m2", "m3"} {
		cfg.Machines = append(cfg.Machines, sim.Machine{
			Name: m, Zone: map[string]string{"m1": "x", "m2": "x", "m3": "y"}[m], Cores: 1 + int(seed%2),
			Disks: []sim.Disk{{Name: "data", Config: simdisk.Config{Sector: 512, CachePages: 8}}},
		})
	}
	for i, name := range []string{"a", "b", "c", "d"} {
		cfg.Hosts = append(cfg.Hosts, sim.Host{Name: name, Machine: []string{"m1", "m2", "m3", "m1"}[i], Boot: richBoot})
	}
	l := newLab(tb, cfg)
	l.BootAll()
	richFaults(l)
	return l
}

var richNames = []string{"a", "b", "c", "d"}

// richBoot is what every process does.
func richBoot(m host.Machine) {
	r := m.Rand("test.rich", 0)
	peer := func() host.Addr { return m.Lookup(richNames[r.N(4)]) }
	work := m.NewCond(host.WaitWork)
	todo := 0
	m.Handle(1, func(from host.Addr, msg []byte) {
		m.Charge(host.WorkMessage, 1)
		if todo++; len(msg) < 40 {
			m.Send(from, 1, append(msg, '!'))
		}
		work.Signal()
	})
	m.Listen(2, func(c host.Conn) {
		c.OnRecv(func(msg []byte, err error) {
			if err == nil {
				c.Send(msg)
			}
		})
	})
	m.Go("worker", func() {
		for {
			for todo == 0 {
				work.WaitFor(2_000_000)
				todo += int(r.N(2))
			}
			todo--
			m.Charge(host.WorkStatement, int(r.N(300)))
			m.Pay()
			m.Mark("worked")
		}
	})
	m.Go("talker", func() {
		for {
			m.Send(peer(), 1, make([]byte, r.N(30)))
			m.Sleep(time.Duration(r.N(1_000_000)))
			from, msg := host.Addr(0), []byte(nil)
			if r.Chance(1, 20) {
				m.After(time.Millisecond, func() { m.Send(peer(), 3, []byte("late")) })
				from, msg = m.Recv(3, nil)
			}
			m.Logf("talk %d %d at %v", from, len(msg), m.Wall())
		}
	})
	m.Go("client", func() { richClient(m, &r) })
	richFiles(m, &r)
}

func richClient(m host.Machine, r *host.Rand) {
	for {
		m.Sleep(time.Duration(r.N(3_000_000)))
		c, err := m.Dial(m.Lookup(richNames[r.N(4)]), 2)
		if err != nil {
			m.Logf("%v", err)
			continue
		}
		for range 5 {
			c.Send(bytes.Repeat([]byte{byte(r.N(256))}, int(r.N(3000))))
			msg, err := c.Recv(nil)
			if err != nil {
				m.Logf("call: %v", err)
				break
			}
			m.Charge(host.WorkRecordBytes, len(msg)/64)
		}
		c.Close()
	}
}

func richFiles(m host.Machine, r *host.Rand) {
	d := m.Disk("data")
	f, err := d.Open(m.Name(), host.ClassWAL, true)
	if err != nil {
		m.Exit(err)
	}
	page := make([]byte, 8192)
	for i := 0; ; i++ {
		off := int64(r.N(20)) * 8192
		n, err := f.ReadAt(page, off)
		m.Logf("read %d %v %x", n, err, trace.Bytes(1, page[:n]))
		page[r.N(8192)]++
		if _, err := f.WriteAt(page, off); err != nil {
			m.Exit(err)
		}
		if r.Chance(1, 3) {
			m.Logf("sync %v", f.Sync())
		}
		if r.Chance(1, 20) {
			m.Logf("names %v", d.SyncDir())
		}
		m.Mark("wrote")
	}
}

// richFaults schedules what goes wrong.
func richFaults(l *lab) {
	at := func(ms int, f func()) { l.At(time.Duration(ms)*time.Millisecond, f) }
	at(5, func() {
		l.SetLink("a", "b", false, false, sim.LinkFaults{Drop: 100_000, Dup: 100_000, Reorder: 200_000})
	})
	at(8, func() { l.SetLink("x", "y", true, true, sim.LinkFaults{Corrupt: 200_000, Delay: 200_000}) })
	at(10, func() { l.Kill("b") })
	at(11, func() { l.Boot("b") })
	at(14, func() { l.SetPaused("a", true) })
	at(16, func() { l.SetClock("m3", time.Hour, 500); l.SetNIC("m2", 7) })
	at(19, func() { l.SetPaused("a", false) })
	at(20, func() { l.PowerOff("m1") })
	at(24, func() { l.PowerOn("m1") })
	at(25, func() { l.SetStall("m2", "data", true) })
	at(28, func() { l.SetStall("m2", "data", false) })
	at(30, func() { l.SetLink("y", "x", true, true, sim.LinkFaults{Cut: true}) })
	at(70, func() { l.SetLink("y", "x", true, true, sim.LinkFaults{}) })
	l.OnMark("worked", "c", 20, func() { l.PowerOff("m3"); l.At(l.Now()+time.Millisecond, func() { l.PowerOn("m3") }) })
	l.OnMark("wrote", "", 300, func() { l.Kill("d"); l.At(l.Now()+time.Millisecond, func() { l.Boot("d") }) })
	l.OnEvent(2000, func() { l.Kill("a"); l.Boot("a") })
}

const richTime = 100 * time.Millisecond

// record is all that can be seen of a run.
type record struct {
	events []trace.Event
	said   []string
	hash   uint64
	name   func(who uint32) string
}

// traced runs a world up to a time and records it.
func traced(tb testing.TB, l *lab, until time.Duration) *record {
	r := &record{name: l.ProcessOf}
	l.Trace().Full = func(e *trace.Event) { r.events = append(r.events, *e) }
	l.must(tb, until)
	for i, s := range l.said {
		r.said = append(r.said, fmt.Sprintf("%v %s", l.when[i], s))
	}
	r.hash = l.Hash()
	return r
}

// same compares runs and prints the first event in which they differ.
func same(tb require.TestingT, want, got *record) {
	for i := range min(len(want.events), len(got.events)) {
		if want.events[i] != got.events[i] {
			var b bytes.Buffer
			require.NoError(tb, want.events[i].Print(&b, want.name))
			require.NoError(tb, got.events[i].Print(&b, got.name))
			require.Fail(tb, "the runs differ first in", b.String())
		}
	}
	require.Equal(tb, len(want.events), len(got.events), "one run goes on after the other has ended")
	require.Equal(tb, want.hash, got.hash, "the events are equal, the hashes are not")
	require.Equal(tb, want.said, got.said, "the events are equal, what the processes saw is not")
}
