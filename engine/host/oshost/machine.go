package oshost

import (
	"fmt"
	"os"
	"slices"
	"time"

	"tornpage/engine/host"
)

// machine is the process as its tasks see it. Every method first asks whether
// the process lives: that is what makes the dead silent (rule H2).
type machine struct{ p *Process }

var _ host.Machine = machine{}

func (m machine) alive() *Process {
	m.p.group.Alive()
	return m.p
}

func (m machine) Name() string       { return m.alive().name }
func (m machine) Zone() string       { return m.alive().cfg.Zone }
func (m machine) Boot() uint64       { return m.alive().boot }
func (m machine) Now() time.Duration { return time.Duration(m.alive().now()) }
func (m machine) Wall() time.Time    { m.alive(); return time.Now() }

func (m machine) Sleep(d time.Duration) {
	p := m.alive()
	if d <= 0 {
		p.group.Pay()
		return
	}
	p.group.SleepUntil(p.now()+int64(d), host.WaitSleep)
}

func (m machine) After(d time.Duration, f func()) { m.alive().after(int64(d), f) }

func (m machine) Go(name string, f func()) { m.alive().group.Go(name, f) }

func (m machine) NewCond(ev host.WaitEvent) *host.Cond { return m.alive().group.NewCond(ev) }

func (m machine) Charge(w host.Work, n int) { m.alive().charged[w] += uint64(n) }

func (m machine) Pay() { m.alive().group.Pay() }

func (m machine) Rand(site string, entity uint64) host.Rand {
	p := m.alive()
	return host.NewRand(host.RandKey(p.seed, p.name, p.boot, site, entity))
}

func (m machine) Lookup(name string) host.Addr {
	p := m.alive()
	i, ok := slices.BinarySearch(p.names, name)
	if !ok {
		panic(fmt.Sprintf("oshost: %s looks up %q, which is not in the deployment: %q", p.name, name, p.names))
	}
	return host.Addr(i)
}

func (m machine) NameOf(a host.Addr) string {
	p := m.alive()
	if int(a) >= len(p.names) {
		return fmt.Sprintf("address %d of %d", a, len(p.names))
	}
	return p.names[a]
}

func (m machine) Send(to host.Addr, port host.Port, b []byte) { m.alive().net.send(to, port, b) }

func (m machine) Recv(port host.Port, b []byte) (host.Addr, []byte) {
	return m.alive().net.recv(port, b)
}

func (m machine) Handle(port host.Port, f func(from host.Addr, msg []byte)) {
	m.alive().net.handle(port, f)
}

func (m machine) Dial(to host.Addr, port host.Port) (host.Conn, error) {
	c, err := m.alive().net.dial(to, port)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (m machine) Listen(port host.Port, accept func(host.Conn)) {
	m.alive().net.listeners[port] = accept
}

func (m machine) Disk(name string) host.Disk {
	p := m.alive()
	d := p.disks[name]
	if d == nil {
		panic(fmt.Sprintf("oshost: process %s has no disk %q in the deployment", p.name, name))
	}
	return d
}

func (m machine) Mark(name string) { m.alive().marks[name]++ }

func (m machine) Exit(reason error) {
	p := m.alive()
	p.finish(Exited, fmt.Sprint(reason))
	p.group.Alive() // in a handler Kill returns; this does not
}

func (m machine) Logf(format string, args ...any) {
	p := m.alive()
	line := fmt.Sprintf(format, args...)
	if p.opts.Log != nil {
		p.opts.Log(line)
		return
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", p.name, line)
}
