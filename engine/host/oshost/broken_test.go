package oshost

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
	"tornpage/engine/host/hosttest"
)

// broken is a machine, with its disk and files, in which single methods are
// replaced by wrong ones.
type broken struct {
	host.Machine
	sleep  func(d time.Duration)
	now    func() time.Duration
	after  func(d time.Duration, f func())
	spawn  func(name string, f func())
	charge func(w host.Work, n int)
	mark   func(name string)
	exit   func(err error)
	send   func(to host.Addr, port host.Port, b []byte)
	recv   func(port host.Port, b []byte) (host.Addr, []byte)
	lookup func(name string) host.Addr
	rand   func(site string, entity uint64) host.Rand
	dial   func(to host.Addr, port host.Port) (host.Conn, error)
	disk   func(name string) host.Disk
}

// sound is a machine with nothing broken yet.
func sound(m host.Machine) *broken {
	return &broken{Machine: m, sleep: m.Sleep, now: m.Now, after: m.After, spawn: m.Go, charge: m.Charge, mark: m.Mark,
		exit: m.Exit, send: m.Send, recv: m.Recv, lookup: m.Lookup, rand: m.Rand, dial: m.Dial, disk: m.Disk}
}

func (b *broken) Sleep(d time.Duration)                                { b.sleep(d) }
func (b *broken) Now() time.Duration                                   { return b.now() }
func (b *broken) After(d time.Duration, f func())                      { b.after(d, f) }
func (b *broken) Go(name string, f func())                             { b.spawn(name, f) }
func (b *broken) Charge(w host.Work, n int)                            { b.charge(w, n) }
func (b *broken) Mark(name string)                                     { b.mark(name) }
func (b *broken) Exit(err error)                                       { b.exit(err) }
func (b *broken) Send(to host.Addr, p host.Port, msg []byte)           { b.send(to, p, msg) }
func (b *broken) Recv(p host.Port, buf []byte) (host.Addr, []byte)     { return b.recv(p, buf) }
func (b *broken) Lookup(name string) host.Addr                         { return b.lookup(name) }
func (b *broken) Rand(site string, entity uint64) host.Rand            { return b.rand(site, entity) }
func (b *broken) Dial(to host.Addr, port host.Port) (host.Conn, error) { return b.dial(to, port) }
func (b *broken) Disk(name string) host.Disk                           { return b.disk(name) }

type brokenDisk struct {
	host.Disk
	open   func(name string, class host.FileClass, create bool) (host.File, error)
	list   func() ([]string, error)
	remove func(name string) error
}

func (d *brokenDisk) Open(name string, class host.FileClass, create bool) (host.File, error) {
	return d.open(name, class, create)
}
func (d *brokenDisk) List() ([]string, error)  { return d.list() }
func (d *brokenDisk) Remove(name string) error { return d.remove(name) }

// onDisk breaks the disk of a machine.
func onDisk(b func(d *brokenDisk)) func(m *broken) {
	return func(m *broken) {
		m.disk = func(name string) host.Disk {
			d := m.Machine.Disk(name)
			broken := &brokenDisk{Disk: d, open: d.Open, list: d.List, remove: d.Remove}
			b(broken)
			return broken
		}
	}
}

// onFile breaks the files of a machine.
func onFile(wrap func(f host.File) host.File) func(m *broken) {
	return onDisk(func(d *brokenDisk) {
		d.open = func(name string, class host.FileClass, create bool) (host.File, error) {
			f, err := d.Disk.Open(name, class, create)
			if err != nil {
				return nil, err
			}
			return wrap(f), nil
		}
	})
}

// The ways in which files are broken.
type (
	noEOF     struct{ host.File }
	noGrowth  struct{ host.File }
	neverShut struct{ host.File }
	offByOne  struct{ host.File }
)

func (f noEOF) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(b, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (f noGrowth) Truncate(size int64) error {
	if old, err := f.Size(); err != nil || size > old {
		return err
	}
	return f.File.Truncate(size)
}

func (neverShut) Close() error { return nil }

func (f offByOne) WriteAt(b []byte, off int64) (int, error) {
	return f.File.WriteAt(b, off|1)
}

// twice is a connection that gives every message again.
type twice struct {
	host.Conn
	last *[]byte
}

func (c twice) Recv(b []byte) ([]byte, error) {
	if *c.last != nil {
		again := *c.last
		*c.last = nil
		return again, nil
	}
	msg, err := c.Conn.Recv(b)
	*c.last = slices.Clone(msg)
	return msg, err
}

// breakages say for a case what it must find.
var breakages = map[string]struct {
	breaks func(m *broken)
	want   string
}{
	"go-never-switches":     {func(m *broken) { m.spawn = func(_ string, f func()) { f() } }, "tasks ran inside Go"},
	"charge-never-switches": {func(m *broken) { m.charge = func(host.Work, int) { m.Pay() } }, "a task ran inside Charge"},
	"mark-never-switches":   {func(m *broken) { m.mark = func(string) { m.Pay() } }, "a task ran inside Mark"},
	"sleep-zero-yields":     {func(m *broken) { m.sleep = func(time.Duration) {} }, "did not run in 10,000 calls"},
	"sleep-is-long-enough":  {func(m *broken) { m.sleep = func(d time.Duration) { m.Pay() } }, ") took "},
	"now-never-decreases":   {func(m *broken) { m.now = func() time.Duration { return -m.Machine.Now() } }, "Now went from"},
	"after-once":            {func(m *broken) { m.after = func(_ time.Duration, f func()) { f() } }, "called "},
	"exit-in-boot":          {func(m *broken) { m.exit = func(error) {} }, "returned, want exited"},
	"rand-is-keyed": {func(m *broken) {
		m.rand = func(site string, _ uint64) host.Rand { return m.Machine.Rand(site, 0) }
	}, "the draws of host.RandKey"},
	"names-and-addresses": {func(m *broken) { m.lookup = func(string) host.Addr { return 0 } }, `NameOf(Lookup("three")) is "one"`},
	"datagram-is-copied": {func(m *broken) {
		m.send = func(to host.Addr, p host.Port, b []byte) { m.After(0, func() { m.Machine.Send(to, p, b) }) }
	}, "bytes written after Send"},
	"datagram-too-long": {func(m *broken) { m.send = func(host.Addr, host.Port, []byte) {} }, "returned, want panicked"},
	"datagram-recv-appends": {func(m *broken) {
		m.recv = func(p host.Port, _ []byte) (host.Addr, []byte) { return m.Machine.Recv(p, nil) }
	}, "did not use the buffer"},
	"conn-order": {func(m *broken) {
		m.dial = func(to host.Addr, port host.Port) (host.Conn, error) {
			c, err := m.Machine.Dial(to, port)
			return twice{c, new([]byte)}, err
		}
	}, "message 1 is 00000000"},
	"list-is-sorted": {onDisk(func(d *brokenDisk) {
		d.list = func() ([]string, error) {
			names, err := d.Disk.List()
			slices.Reverse(names)
			return names, err
		}
	}), "List gives"},
	"missing-file": {onDisk(func(d *brokenDisk) {
		d.remove = func(name string) error {
			if err := d.Disk.Remove(name); !errors.Is(err, host.ErrNotExist) {
				return err
			}
			return nil
		}
	}), "Remove: error <nil>, want no such file"},
	"two-handles": {onDisk(func(d *brokenDisk) {
		d.open = func(name string, class host.FileClass, create bool) (host.File, error) {
			if create {
				_ = d.Disk.Remove(name)
			}
			return d.Disk.Open(name, class, create)
		}
	}), "the second handle"},
	"read-past-the-end": {onFile(func(f host.File) host.File { return noEOF{f} }), "error <nil>, want EOF"},
	"truncate":          {onFile(func(f host.File) host.File { return noGrowth{f} }), "after growing again: size 5001"},
	"closed-file":       {onFile(func(f host.File) host.File { return neverShut{f} }), "of a closed file: error"},
	"random-file":       {onFile(func(f host.File) host.File { return offByOne{f} }), "after step"},
	"kill-keeps-writes": {onFile(func(f host.File) host.File { return offByOne{f} }), "f after a kill"},
}

// The suite finds each of these breakages by the case that is about it.
func TestSuiteFindsBrokenMachines(t *testing.T) {
	for name, b := range breakages {
		t.Run(name, func(t *testing.T) {
			c, err := hosttest.Find(name)
			require.NoError(t, err)
			for i, h := range c.Hosts {
				boot := h.Boot
				c.Hosts[i].Boot = func(m host.Machine) error {
					wrong := sound(m)
					if !h.Serves {
						b.breaks(wrong)
					}
					return boot(wrong)
				}
			}
			err = hosttest.Run(c, newLocalWorld(t, c))
			require.ErrorContains(t, err, b.want)
			require.True(t, strings.HasPrefix(err.Error(), "case "+name+": "+c.Says), err.Error())
		})
	}
}
