package sim

import (
	"fmt"
	"io"

	"tornpage/engine/host"
	"tornpage/sim/draw"
	"tornpage/sim/simdisk"
	"tornpage/sim/trace"
)

// volume is a disk as one boot of a process sees it.
type volume struct {
	*incarnation
	disk *disk
}

// file is an open file of one boot of a process.
type file struct {
	*incarnation
	disk   *disk
	f      *simdisk.File
	class  host.FileClass
	closed bool
}

var (
	_ host.Disk = volume{}
	_ host.File = (*file)(nil)
)

// until parks the running task until a device is done.
func (m *incarnation) until(at int64, ev host.WaitEvent) {
	m.group.SleepUntil(max(at, m.w.now), ev)
}

// ready parks the running task while the device is stalled.
func (m *incarnation) ready(d *disk, ev host.WaitEvent) {
	for d.d.Stalled() {
		m.w.struck("disk.stall")
		t := m.group.Running()
		d.stalled.push(parked{t, t.Gen()})
		m.group.Park(ev)
	}
}

// SetStall makes a disk answer nothing, or answer again.
func (w *World) SetStall(machine, name string, on bool) {
	for _, d := range w.machine(machine).disks {
		switch {
		case d.name != name:
		case on:
			d.d.SetStall(simdisk.Forever)
		default:
			d.d.SetStall(0)
			w.wakeLater(&d.stalled)
		}
	}
}

// wrap names the place of an error.
func (d *disk) wrap(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s/%s/%s: %w", op, d.m.name, d.name, name, err)
}

func (v volume) note(op uint64, name string) {
	v.w.log.Add(v.w.now, trace.Name, v.who(), op, v.disk.id, draw.Key(0, name))
}

func (v volume) Open(name string, class host.FileClass, create bool) (host.File, error) {
	v.group.PayDebt()
	v.ready(v.disk, host.WaitName)
	v.until(v.disk.d.NameDone(v.w.now), host.WaitName)
	if err := host.CheckFileName(name); err != nil {
		return nil, v.disk.wrap("open", name, err)
	}
	v.note(1, name)
	f, err := v.disk.d.Open(name, create)
	if err != nil {
		return nil, v.disk.wrap("open", name, err)
	}
	return &file{incarnation: v.incarnation, disk: v.disk, f: f, class: class}, nil
}

func (v volume) Remove(name string) error {
	v.group.PayDebt()
	v.ready(v.disk, host.WaitName)
	v.until(v.disk.d.NameDone(v.w.now), host.WaitName)
	v.note(2, name)
	return v.disk.wrap("remove", name, v.disk.d.Remove(name))
}

func (v volume) Rename(old, name string) error {
	v.group.PayDebt()
	v.ready(v.disk, host.WaitName)
	v.until(v.disk.d.NameDone(v.w.now), host.WaitName)
	if err := host.CheckFileName(name); err != nil {
		return v.disk.wrap("rename", old, err)
	}
	v.note(3, old)
	v.note(4, name)
	return v.disk.wrap("rename", old, v.disk.d.Rename(old, name))
}

func (v volume) List() ([]string, error) {
	v.group.PayDebt()
	v.ready(v.disk, host.WaitName)
	v.until(v.disk.d.NameDone(v.w.now), host.WaitName)
	return v.disk.d.List(), nil
}

func (v volume) SyncDir() error {
	v.group.PayDebt()
	cut := v.disk.d.DirPoint()
	v.ready(v.disk, host.WaitDirSync)
	v.until(v.disk.d.SyncDirDone(v.w.now), host.WaitDirSync)
	v.note(5, "")
	return v.disk.wrap("sync", "", v.disk.d.SyncDirTo(cut))
}

// ReadAt lets the device do its work first and copies then, so that what was
// written meanwhile is read.
func (f *file) ReadAt(b []byte, off int64) (int, error) {
	if err := f.usable("read"); err != nil {
		return 0, err
	}
	f.ready(f.disk, f.class.ReadEvent())
	f.until(f.f.ReadDone(f.w.now, off, len(b)), f.class.ReadEvent())
	n, err := f.f.ReadAt(b, off)
	f.w.log.Add(f.w.now, trace.Read, f.who(), f.id(), uint64(off), uint64(n))
	if err != nil && err != io.EOF {
		return n, f.disk.wrap("read", f.f.Name(), err)
	}
	return n, err
}

// WriteAt takes effect at once, at risk; then the caller waits.
func (f *file) WriteAt(b []byte, off int64) (int, error) {
	if err := f.usable("write"); err != nil {
		return 0, err
	}
	f.ready(f.disk, f.class.WriteEvent())
	digest, err := f.f.WriteAt(b, off)
	f.w.log.Add(f.w.now, trace.Write, f.who(), f.id(), uint64(off), digest)
	f.until(f.f.WriteDone(f.w.now, len(b)), f.class.WriteEvent())
	if err != nil {
		return 0, f.disk.wrap("write", f.f.Name(), err)
	}
	return len(b), nil
}

// Sync covers what was written before the call, and only once it is done.
func (f *file) Sync() error {
	if err := f.usable("sync"); err != nil {
		return err
	}
	cut := f.f.SyncPoint()
	f.ready(f.disk, f.class.SyncEvent())
	f.until(f.f.SyncDone(f.w.now), f.class.SyncEvent())
	f.w.log.Add(f.w.now, trace.Sync, f.who(), f.id(), 0, uint64(cut))
	return f.disk.wrap("sync", f.f.Name(), f.f.SyncTo(cut))
}

func (f *file) Truncate(size int64) error {
	if err := f.usable("truncate"); err != nil {
		return err
	}
	f.ready(f.disk, f.class.WriteEvent())
	digest, err := f.f.Truncate(size)
	f.w.log.Add(f.w.now, trace.Write, f.who(), f.id(), uint64(size), digest)
	f.until(f.disk.d.NameDone(f.w.now), f.class.WriteEvent())
	return f.disk.wrap("truncate", f.f.Name(), err)
}

func (f *file) Size() (int64, error) {
	f.group.Alive()
	if f.closed {
		return 0, f.disk.wrap("size", f.f.Name(), host.ErrClosed)
	}
	return f.f.Size(), nil
}

func (f *file) Close() error {
	f.group.Alive()
	if f.closed {
		return f.disk.wrap("close", f.f.Name(), host.ErrClosed)
	}
	f.closed = true
	f.f.Close()
	return nil
}

func (f *file) usable(op string) error {
	f.group.PayDebt()
	if f.closed {
		return f.disk.wrap(op, f.f.Name(), host.ErrClosed)
	}
	return nil
}

func (f *file) id() uint64 { return f.disk.id ^ f.f.ID() }
