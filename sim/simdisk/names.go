package simdisk

import (
	"fmt"
	"slices"
	"strings"

	"tornpage/engine/host"
)

// entry is a name in a directory.
type entry struct {
	name string
	file *File
}

// opKind is a kind of name operation.
type opKind uint8

const (
	opCreate opKind = iota
	opRemove
	opRename
)

// nameOp is a name operation that no directory sync has covered.
type nameOp struct {
	number   uint64 // of the disk's name operations
	nth      uint64 // of the file's, which keys its draw
	kind     opKind
	name, to string
	file     *File
}

// maxName is the usual limit of file systems (NAME_MAX), in bytes.
const maxName = 255

func find(dir []entry, name string) (int, bool) {
	return slices.BinarySearchFunc(dir, name, func(e entry, n string) int { return strings.Compare(e.name, n) })
}

func lookup(dir []entry, name string) *File {
	if i, ok := find(dir, name); ok {
		return dir[i].file
	}
	return nil
}

// link sets a name in a directory and returns the file it replaced.
func link(dir *[]entry, name string, f *File) *File {
	f.refs++
	i, ok := find(*dir, name)
	if ok {
		was := (*dir)[i].file
		(*dir)[i].file = f
		return was
	}
	*dir = slices.Insert(*dir, i, entry{name, f})
	return nil
}

func unlink(dir *[]entry, name string) *File {
	i, ok := find(*dir, name)
	if !ok {
		return nil
	}
	was := (*dir)[i].file
	*dir = slices.Delete(*dir, i, i+1)
	return was
}

// unref takes back one of a file's references; the last one frees it.
func (d *Disk) unref(f *File) {
	if f == nil {
		return
	}
	f.refs--
	if f.refs == 0 {
		d.drop(f)
	}
}

func (d *Disk) record(op nameOp) {
	d.opCount++
	op.file.names++
	op.number, op.nth = d.opCount, op.file.names
	op.file.refs++
	d.ops = append(d.ops, op)
}

// Open opens a file; create makes it if it is missing. Errors:
// host.ErrNotExist, host.ErrNoSpace.
func (d *Disk) Open(name string, create bool) (*File, error) {
	f := lookup(d.names, name)
	if f == nil {
		if !create {
			return nil, fmt.Errorf("disk: open %q: %w", name, host.ErrNotExist)
		}
		if name == "" || len(name) > maxName || strings.ContainsAny(name, "/\x00") {
			return nil, fmt.Errorf("disk: open %q: %w: names have 1 to %d bytes without / and NUL", name, host.ErrNotExist, maxName)
		}
		if d.faults.full {
			d.stats.Struck[Full]++
			return nil, fmt.Errorf("disk: create %q: %w", name, host.ErrNoSpace)
		}
		f = d.newFile(name)
		f.linked = true
		link(&d.names, name, f)
		d.record(nameOp{kind: opCreate, name: name, file: f})
	}
	f.open++
	f.refs++
	return f, nil
}

// newFile makes a file without names. What keys its draws comes from the name,
// so that files elsewhere do not move it; no two living files share it.
func (d *Disk) newFile(name string) *File {
	f := &File{d: d, name: name, id: Digest(k0, []byte(name))}
	for slices.ContainsFunc(d.files, func(g *File) bool { return g.id == f.id }) {
		f.id = host.Mix(f.id + k1)
	}
	d.files = append(d.files, f)
	return f
}

// Remove removes a name. Open handles go on, and until the next directory sync
// the file may be back after a power-off. Error: host.ErrNotExist.
func (d *Disk) Remove(name string) error {
	f := unlink(&d.names, name)
	if f == nil {
		return fmt.Errorf("disk: remove %q: %w", name, host.ErrNotExist)
	}
	d.record(nameOp{kind: opRemove, name: name, file: f})
	d.vacate(f)
	d.unref(f)
	return nil
}

// vacate gives a file's capacity back: it has no visible name any more.
func (d *Disk) vacate(f *File) {
	f.linked = false
	d.used -= blocks(f.size)
}

// Rename gives a file a new name, in place of any file of that name. After a
// power-off it is done or not, never half. Error: host.ErrNotExist.
func (d *Disk) Rename(name, to string) error {
	f := lookup(d.names, name)
	if f == nil {
		return fmt.Errorf("disk: rename %q to %q: %w", name, to, host.ErrNotExist)
	}
	if to == "" || len(to) > maxName || strings.ContainsAny(to, "/\x00") {
		return fmt.Errorf("disk: rename %q to %q: %w: names have 1 to %d bytes without / and NUL", name, to, host.ErrNotExist, maxName)
	}
	if name == to {
		return nil
	}
	d.record(nameOp{kind: opRename, name: name, to: to, file: f})
	unlink(&d.names, name)
	was := link(&d.names, to, f)
	d.unref(f) // of the old name
	f.name = to
	if was != nil {
		d.vacate(was)
		d.unref(was)
	}
	return nil
}

// List gives the visible names, sorted.
func (d *Disk) List() []string {
	l := make([]string, len(d.names))
	for i, e := range d.names {
		l[i] = e.name
	}
	return l
}

// DirPoint is the cut of a directory sync that begins now.
func (d *Disk) DirPoint() uint64 { return d.opCount }

// SyncDir is a directory sync that takes no time.
func (d *Disk) SyncDir() error { return d.SyncDirTo(d.opCount) }

// SyncDirTo ends a directory sync that began at a cut (DirPoint): the names are
// as they were then even after power-off. Error: host.ErrIO, with all names
// still at risk.
func (d *Disk) SyncDirTo(cut uint64) error {
	d.stats.DirSyncs++
	if d.faults.active {
		if d.strikes(FailSync, 0, d.stats.DirSyncs) {
			return fmt.Errorf("disk: sync of the directory: %w", host.ErrIO)
		}
		if d.strikes(LostSync, 0, d.stats.DirSyncs) {
			return nil
		}
	}
	k := 0
	for k < len(d.ops) && d.ops[k].number <= cut {
		d.applyOp(&d.ops[k])
		d.unref(d.ops[k].file)
		k++
	}
	d.ops = slices.Delete(d.ops, 0, k)
	return nil
}

// applyOp does a name operation to the kept directory, if it still applies: to
// the very file it was meant for.
func (d *Disk) applyOp(op *nameOp) bool {
	at := lookup(d.kept, op.name)
	switch {
	case op.kind == opCreate && at == nil:
		link(&d.kept, op.name, op.file)
	case op.kind == opRemove && at == op.file:
		d.unref(unlink(&d.kept, op.name))
	case op.kind == opRename && at == op.file:
		unlink(&d.kept, op.name)
		was := link(&d.kept, op.to, op.file)
		d.unref(op.file)
		d.unref(was)
	default:
		return false
	}
	return true
}
