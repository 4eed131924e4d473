package hosttest

import (
	"bytes"
	"time"

	"tornpage/engine/host"
)

// sector is the smallest unit that a disk may write at once, in bytes: a disk
// with larger sectors satisfies what is checked per 512 bytes too.
const sector = 512

func powerCases() []*Case {
	power := func(name, rule, says string, before, after func(c *check, m host.Machine, d host.Disk)) *Case {
		return &Case{Name: name, Rule: rule, Says: says, Needs: Caps{PowerOff: true}, Drive: drivePower,
			Hosts: []Host{{Name: "one", Boot: func(m host.Machine) error {
				var c check
				if m.Boot() > 1 {
					after(&c, m, m.Disk(Disk))
					return c.err
				}
				before(&c, m, m.Disk(Disk))
				if c.err != nil {
					return c.err
				}
				return serve(m)
			}}}}
	}
	return []*Case{
		power("synced-survives", "File.Sync", "data and size survive a power-off after Sync and SyncDir", syncAll, seeSynced),
		power("sectors-are-old-or-new", "H3", "each unsynced sector is old or new after a power-off", overwrite, seeOverwrite),
		power("size-at-risk", "H3", "an unsynced append leaves the synced part, and old, new or no bytes after it", appendUnsynced, seeAppend),
		power("name-at-risk", "Disk", "before SyncDir a created file is there or not, nothing else", createUnsynced, seeCreate),
		power("rename-is-whole", "Disk", "before SyncDir a rename is done or undone, never half", renameUnsynced, seeRename),
		power("remove-at-risk", "Disk", "before SyncDir a removed file is gone or back in full", removeUnsynced, seeRemove),
		power("syncdir-keeps-names", "Disk.SyncDir", "after SyncDir names are as they were", namesSynced, seeNamesSynced),
		power("syncdir-is-not-sync", "Disk.SyncDir", "SyncDir makes no data durable that Sync did not, and harms none", dirOnly, seeDirOnly),
	}
}

func drivePower(w World) error {
	w.Boot("one")
	if err := says(w, "one", "ready", 1); err != nil {
		return err
	}
	let(w, time.Millisecond)
	w.PowerOff("one")
	if err := ended(w, "one", Killed); err != nil {
		return err
	}
	w.Boot("one")
	return verdict(w, "one")
}

// durable makes a file of a content that survives.
func (c *check) durable(d host.Disk, name string, content []byte) host.File {
	f := c.file(d, name, content)
	c.works(f.Sync(), "Sync")
	c.works(d.SyncDir(), "SyncDir")
	return f
}

func syncAll(c *check, m host.Machine, d host.Disk) {
	f := c.durable(d, "f", pattern(20_001, 1))
	c.write(f, pattern(3000, 2), 5000)
	c.works(f.Sync(), "Sync")
	g := c.durable(d, "g", pattern(9000, 3))
	c.works(g.Truncate(4321), "Truncate")
	c.works(g.Sync(), "Sync")
}

func seeSynced(c *check, m host.Machine, d host.Disk) {
	want := pattern(20_001, 1)
	copy(want[5000:], pattern(3000, 2))
	c.lists(d, "f", "g")
	c.holds(c.file(d, "f", nil), want, "f")
	c.holds(c.file(d, "g", nil), pattern(9000, 3)[:4321], "g")
}

// read gives the whole content of a file.
func (c *check) read(f host.File) []byte {
	size, err := f.Size()
	c.works(err, "Size")
	b := make([]byte, size)
	n, _ := f.ReadAt(b, 0)
	c.that(n == len(b), "read %d of %d bytes", n, len(b))
	return b
}

func overwrite(c *check, m host.Machine, d host.Disk) {
	f := c.durable(d, "f", bytes.Repeat([]byte{'a'}, 16*sector))
	c.write(f, bytes.Repeat([]byte{'b'}, 16*sector), 0)
	c.write(f, bytes.Repeat([]byte{'c'}, 8*sector), 4*sector)
}

func seeOverwrite(c *check, m host.Machine, d host.Disk) {
	got := c.read(c.file(d, "f", nil))
	c.that(len(got) == 16*sector, "size %d, want %d", len(got), 16*sector)
	for i := 0; i < len(got)/sector; i++ {
		s := got[i*sector : (i+1)*sector]
		c.that(bytes.Count(s, s[:1]) == sector, "sector %d is a mixture of %q and others", i, s[0])
		c.that(bytes.Contains([]byte("abc"), s[:1]), "sector %d holds %q, which nobody wrote", i, s[0])
	}
}

func appendUnsynced(c *check, m host.Machine, d host.Disk) {
	f := c.durable(d, "f", bytes.Repeat([]byte{'a'}, 4*sector))
	c.write(f, bytes.Repeat([]byte{'b'}, 8*sector), 4*sector)
}

func seeAppend(c *check, m host.Machine, d host.Disk) {
	got := c.read(c.file(d, "f", nil))
	c.that(len(got) >= 4*sector && len(got) <= 12*sector, "size %d, want %d to %d", len(got), 4*sector, 12*sector)
	for i, b := range got {
		if i < 4*sector {
			c.that(b == 'a', "synced byte %d is %q", i, b)
		} else {
			c.that(b == 'b' || b == 0, "byte %d of the append is %q, want 'b' or 0", i, b)
		}
	}
}

func createUnsynced(c *check, m host.Machine, d host.Disk) {
	c.durable(d, "old", []byte("old"))
	f := c.file(d, "new", pattern(2000, 1))
	c.works(f.Sync(), "Sync")
}

func seeCreate(c *check, m host.Machine, d host.Disk) {
	names, err := d.List()
	c.works(err, "List")
	if len(names) == 1 {
		c.lists(d, "old")
		return
	}
	c.lists(d, "new", "old")
	c.holds(c.file(d, "new", nil), pattern(2000, 1), "a new file that was synced")
}

func renameUnsynced(c *check, m host.Machine, d host.Disk) {
	c.durable(d, "control", []byte("version 1"))
	c.durable(d, "control.tmp", []byte("version 2"))
	c.works(d.Rename("control.tmp", "control"), "Rename")
}

func seeRename(c *check, m host.Machine, d host.Disk) {
	names, err := d.List()
	c.works(err, "List")
	if len(names) == 2 {
		c.lists(d, "control", "control.tmp")
		c.holds(c.file(d, "control", nil), []byte("version 1"), "control, the rename being undone")
		c.holds(c.file(d, "control.tmp", nil), []byte("version 2"), "control.tmp, the rename being undone")
		return
	}
	c.lists(d, "control")
	c.holds(c.file(d, "control", nil), []byte("version 2"), "control, the rename being done")
}

func removeUnsynced(c *check, m host.Machine, d host.Disk) {
	c.durable(d, "f", pattern(3000, 1))
	c.works(d.Remove("f"), "Remove")
}

func seeRemove(c *check, m host.Machine, d host.Disk) {
	if names, err := d.List(); err != nil || len(names) > 0 {
		c.lists(d, "f")
		c.holds(c.file(d, "f", nil), pattern(3000, 1), "a removed file that is back")
	}
}

func namesSynced(c *check, m host.Machine, d host.Disk) {
	c.durable(d, "a", []byte("a"))
	c.durable(d, "b", []byte("b"))
	c.durable(d, "c", []byte("c"))
	c.works(d.Rename("a", "b"), "Rename")
	c.works(d.Remove("c"), "Remove")
	f := c.file(d, "d", []byte("d"))
	c.works(f.Sync(), "Sync")
	c.works(d.SyncDir(), "SyncDir")
}

func seeNamesSynced(c *check, m host.Machine, d host.Disk) { seeNames(c, m, d) }

func dirOnly(c *check, m host.Machine, d host.Disk) {
	f := c.durable(d, "f", bytes.Repeat([]byte{'a'}, 4*sector))
	c.write(f, bytes.Repeat([]byte{'b'}, 2*sector), 0)
	c.works(d.SyncDir(), "SyncDir")
}

func seeDirOnly(c *check, m host.Machine, d host.Disk) {
	got := c.read(c.file(d, "f", nil))
	c.that(len(got) == 4*sector, "size %d, want %d", len(got), 4*sector)
	for i := 0; i < len(got)/sector; i++ {
		s := got[i*sector : (i+1)*sector]
		c.that(bytes.Count(s, s[:1]) == sector, "sector %d is a mixture", i)
		c.that(s[0] == 'a' || s[0] == 'b' && i < 2, "sector %d holds %q", i, s[0])
	}
}
