package oshost

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"tornpage/engine/host"
)

// disk is a directory.
type disk struct {
	p    *Process
	name string
	dir  string
}

// block runs f on a worker while the calling task is parked with the label ev.
// f must touch nothing that another goroutine can touch.
func (p *Process) block(ev host.WaitEvent, f func()) {
	t := p.group.Running()
	gen := t.Gen()
	p.workers.do(func() {
		f()
		p.in.post(func() { p.wake(t, gen, 0) })
	})
	p.group.Park(ev)
}

// path checks a flat file name and gives its path.
func (d *disk) path(name string) (string, error) {
	if err := host.CheckFileName(name); err != nil {
		return "", err
	}
	return filepath.Join(d.dir, name), nil
}

// fault gives an operating system's error the meaning that host has for it,
// and the place.
func (d *disk) fault(call, name string, err error) error {
	if err == nil {
		return nil
	}
	kind := host.ErrIO
	switch {
	case errors.Is(err, host.ErrIO):
		return fmt.Errorf("%s: disk %s: %s: %w", d.p.name, d.name, call, err)
	case errors.Is(err, fs.ErrNotExist):
		kind = host.ErrNotExist
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		kind = host.ErrNoSpace
	case errors.Is(err, fs.ErrClosed):
		kind = host.ErrClosed
	}
	return fmt.Errorf("%s: disk %s: %s %s: %w (%v)", d.p.name, d.name, call, name, kind, err)
}

func (d *disk) Open(name string, class host.FileClass, create bool) (host.File, error) {
	d.p.group.Alive()
	path, err := d.path(name)
	if err != nil {
		return nil, d.fault("open", name, err)
	}
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE
	}
	var f *os.File
	d.p.block(host.WaitName, func() {
		if f, err = openFile(path, flags); err == nil {
			d.p.files.add(f)
		}
	})
	if err != nil {
		return nil, d.fault("open", name, err)
	}
	return &file{d: d, f: f, name: name, class: class}, nil
}

// openFile opens a regular file: a directory or a device is no database file.
func openFile(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags, 0o644)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file but %v", path, info.Mode())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (d *disk) Remove(name string) error {
	d.p.group.Alive()
	path, err := d.path(name)
	if err == nil {
		d.p.block(host.WaitName, func() { err = syscall.Unlink(path) })
	}
	return d.fault("remove", name, err)
}

func (d *disk) Rename(old, new string) error {
	d.p.group.Alive()
	from, err := d.path(old)
	to, err2 := d.path(new)
	if err = errors.Join(err, err2); err == nil {
		d.p.block(host.WaitName, func() { err = os.Rename(from, to) })
	}
	return d.fault("rename", old+" to "+new, err)
}

func (d *disk) List() ([]string, error) {
	d.p.group.Alive()
	var names []string
	var err error
	d.p.block(host.WaitName, func() { names, err = listFiles(d.dir) })
	return names, d.fault("list", d.dir, err)
}

// listFiles gives the sorted names of regular files.
func listFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

func (d *disk) SyncDir() error {
	d.p.group.Alive()
	var err error
	d.p.block(host.WaitDirSync, func() { err = syncDir(d.dir) })
	return d.fault("sync directory", d.dir, err)
}

// file is an open file.
type file struct {
	d     *disk
	f     *os.File
	name  string
	class host.FileClass
}

// at names a place for an error.
func (f *file) at(off int64, n int) string { return fmt.Sprintf("%s, %d bytes at %d", f.name, n, off) }

func (f *file) ReadAt(b []byte, off int64) (int, error) {
	f.d.p.group.Alive()
	buf := f.d.p.bufs.take(len(b)) // the worker's own: a kill may leave it at work
	var n int
	var err error
	f.d.p.block(f.class.ReadEvent(), func() { n, err = f.f.ReadAt(buf, off) })
	copy(b, buf[:n])
	f.d.p.bufs.give(buf)
	if errors.Is(err, io.EOF) {
		return n, io.EOF
	}
	if err != nil {
		err = f.d.fault("read", f.at(off, len(b)), err)
	}
	return n, err
}

func (f *file) WriteAt(b []byte, off int64) (int, error) {
	f.d.p.group.Alive()
	buf := f.d.p.bufs.take(len(b))
	copy(buf, b) // rule O6
	var n int
	var err error
	f.d.p.block(f.class.WriteEvent(), func() { n, err = f.f.WriteAt(buf, off) })
	f.d.p.bufs.give(buf)
	if err != nil {
		err = f.d.fault("write", f.at(off, len(b)), err)
	}
	return n, err
}

func (f *file) Sync() error {
	f.d.p.group.Alive()
	var err error
	f.d.p.block(f.class.SyncEvent(), func() { err = f.f.Sync() })
	return f.d.fault("sync", f.name, err)
}

func (f *file) Truncate(size int64) error {
	f.d.p.group.Alive()
	var err error
	f.d.p.block(f.class.WriteEvent(), func() { err = f.f.Truncate(size) })
	return f.d.fault("truncate", fmt.Sprintf("%s to %d", f.name, size), err)
}

// Size and Close do not block: they touch only what the kernel has in memory.

func (f *file) Size() (int64, error) {
	f.d.p.group.Alive()
	info, err := f.f.Stat()
	if err != nil {
		return 0, f.d.fault("size", f.name, err)
	}
	return info.Size(), nil
}

func (f *file) Close() error {
	f.d.p.group.Alive()
	f.d.p.files.remove(f.f)
	return f.d.fault("close", f.name, f.f.Close())
}
