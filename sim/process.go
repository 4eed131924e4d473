package sim

import (
	"fmt"
	"time"

	"tornpage/engine/host"
	"tornpage/engine/host/coop"
	"tornpage/sim/draw"
	"tornpage/sim/sched"
	"tornpage/sim/trace"
)

// incarnation is one boot of a process: the host.Machine of its tasks, and the
// coop.Driver below them.
type incarnation struct {
	w        *World
	p        *process
	group    *coop.Group
	ports    []*mailbox // by port
	number   uint32     // of the process in the trace
	paused   bool
	ended    bool
	sends    draw.Stream // draws of the network for what this process sends
	mischief draw.Stream // draws of faulty links
	boot     uint64
	listen   []listener
	conns    []*endpoint
	held     []sched.Item
}

type listener struct {
	port   host.Port
	accept func(host.Conn)
}

func (m *incarnation) who() uint32 { return m.number }

// Now implements coop.Driver; the method of host.Machine is on proc below.
func (m *incarnation) Now() int64 { return m.w.now }

// Wake implements coop.Driver.
func (m *incarnation) Wake(t *coop.Task, gen uint32, at int64) {
	m.w.q.Push(sched.Item{At: at, Kind: evWake, Ref: t.Index(), Gen: gen})
}

// enter and leave stand around a handler (rule H6): a panic between them is the
// handler's, and its debt keeps a core busy afterwards.
func (m *incarnation) enter() { m.w.handling = m }

func (m *incarnation) leave() {
	m.w.handling = nil
	if m.group.Debt() > 0 {
		m.w.addJob(m.p.m, job{left: m.group.TakeDebt(), epoch: m.p.m.epoch})
	}
}

// proc is the host.Machine view of an incarnation. It is a type of its own
// because Now means nanoseconds to the task core and a Duration to the engine.
type proc struct{ *incarnation }

var _ host.Machine = proc{}

func (m proc) Name() string { return m.p.name }
func (m proc) Zone() string { return m.p.m.zone }
func (m proc) Boot() uint64 { return m.boot }

func (m proc) Now() time.Duration { return time.Duration(m.w.now) }

func (m proc) Wall() time.Time {
	m.group.Alive()
	return time.Unix(0, m.p.m.wall(m.w.now)).UTC()
}

// wallEpoch is where the machines' dates begin: 2030-01-01 UTC.
const wallEpoch = 1_893_456_000_000_000_000

func (m *machine) wall(now int64) int64 {
	return wallEpoch + now + m.skew + (now-m.since)/1_000_000*m.drift
}

func (m proc) Sleep(d time.Duration) {
	if d <= 0 {
		m.group.Pay()
		return
	}
	m.group.PayDebt()
	m.group.SleepUntil(m.w.now+int64(d), host.WaitSleep)
}

func (m proc) After(d time.Duration, f func()) {
	m.group.Alive()
	m.w.call(m.incarnation, m.w.now+m.group.Debt()+max(int64(d), 0), f)
}

func (m proc) Go(name string, f func()) {
	t := m.group.Go(name, f)
	m.w.log.Add(m.w.now, trace.TaskStart, m.who(), uint64(t.ID()), 0, 0)
}

func (m proc) NewCond(ev host.WaitEvent) *host.Cond { return m.group.NewCond(ev) }

func (m proc) Charge(k host.Work, n int) { m.group.Charge(m.w.cfg.Costs[k] * int64(n)) }

func (m proc) Pay() { m.group.Pay() }

func (m proc) Rand(site string, entity uint64) host.Rand {
	return host.NewRand(host.RandKey(m.w.cfg.Seed, m.p.name, m.boot, site, entity))
}

func (m proc) Lookup(name string) host.Addr {
	a, ok := m.w.byName[name]
	if !ok {
		panic(fmt.Sprintf("sim: no process is named %q", name))
	}
	return a
}

func (m proc) NameOf(a host.Addr) string {
	if int(a) >= len(m.w.procs) {
		return fmt.Sprintf("address %d", a)
	}
	return m.w.procs[a].name
}

func (m proc) Disk(name string) host.Disk {
	for _, d := range m.p.m.disks {
		if d.name == name {
			return volume{m.incarnation, d}
		}
	}
	panic(fmt.Sprintf("sim: machine %q has no disk %q", m.p.m.name, name))
}

func (m proc) Exit(reason error) {
	m.group.Alive()
	m.p.last = reason
	m.w.log.Add(m.w.now, trace.Exit, m.who(), m.boot, 0, draw.Key(0, reason.Error()))
	m.logf("exit: %v", reason)
	m.end()
}

func (m proc) Logf(format string, args ...any) {
	m.group.Alive()
	m.logf(format, args...)
}

func (m *incarnation) logf(format string, args ...any) {
	if m.w.cfg.Log != nil {
		m.w.cfg.Log(m.w.Now(), m.p.name, fmt.Sprintf(format, args...))
	}
}
