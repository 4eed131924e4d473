package hosttest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"tornpage/engine/host"
)

func nameCases() []*Case {
	return []*Case{
		onDisk("missing-file", "Disk", "what is missing gives ErrNotExist", missingFile),
		onDisk("list-is-sorted", "Disk.List", "List gives the names, sorted", listSorted),
		onDisk("rename-moves", "Disk.Rename", "a renamed file has the new name alone; open handles go on", renameMoves),
		onDisk("rename-replaces", "Disk.Rename", "Rename replaces a file of the new name, whose handles stay readable", renameReplaces),
		onDisk("remove-while-open", "Disk.Remove", "a removed file stays usable by its handles, and its name is free", removeOpen),
		onDisk("bad-names", "Disk", "names that are no flat file names give an error", badNames),
	}
}

// onDisk is a case of one host with an empty disk.
func onDisk(name, rule, says string, f func(c *check, m host.Machine, d host.Disk)) *Case {
	return solo(name, rule, says, func(m host.Machine) error {
		var c check
		f(&c, m, m.Disk(Disk))
		return c.err
	})
}

// lists checks the names on a disk.
func (c *check) lists(d host.Disk, want ...string) {
	got, err := d.List()
	c.works(err, "List")
	c.that(slices.Equal(got, want), "List gives %q, want %q", got, want)
}

// file makes or opens a file and, if content is not nil, writes it.
func (c *check) file(d host.Disk, name string, content []byte) host.File {
	f, err := d.Open(name, host.ClassData, true)
	c.works(err, "Open of "+name)
	if err == nil && content != nil {
		c.write(f, content, 0)
	}
	return f
}

func missingFile(c *check, m host.Machine, d host.Disk) {
	_, err := d.Open("missing", host.ClassData, false)
	c.is(err, host.ErrNotExist, "Open")
	c.is(d.Remove("missing"), host.ErrNotExist, "Remove")
	c.is(d.Rename("missing", "other"), host.ErrNotExist, "Rename")
	c.lists(d)
	c.file(d, "there", []byte("x"))
	c.is(d.Rename("missing", "there"), host.ErrNotExist, "Rename over a file")
	c.lists(d, "there")
}

func listSorted(c *check, m host.Machine, d host.Disk) {
	c.lists(d)
	want := []string{"0002", "A", "a", "a.b", "a0", "wal_10", "wal_9", "z"}
	for _, i := range []int{3, 0, 7, 5, 1, 6, 2, 4} {
		c.file(d, want[i], nil)
	}
	c.lists(d, want...)
	c.works(d.Remove("a"), "Remove")
	c.lists(d, slices.DeleteFunc(want, func(s string) bool { return s == "a" })...)
}

func renameMoves(c *check, m host.Machine, d host.Disk) {
	f := c.file(d, "old", []byte("content"))
	c.works(d.Rename("old", "new"), "Rename")
	c.lists(d, "new")
	_, err := d.Open("old", host.ClassData, false)
	c.is(err, host.ErrNotExist, "Open of the old name")
	c.write(f, []byte("C"), 0)
	c.holds(c.file(d, "new", nil), []byte("Content"), "the new name")
	c.works(d.Rename("new", "new"), "Rename to the same name")
	c.lists(d, "new")
}

func renameReplaces(c *check, m host.Machine, d host.Disk) {
	replaced := c.file(d, "control", []byte("version 1"))
	c.file(d, "control.tmp", []byte("v2"))
	c.works(d.Rename("control.tmp", "control"), "Rename")
	c.lists(d, "control")
	c.holds(c.file(d, "control", nil), []byte("v2"), "the replaced name")
	c.holds(replaced, []byte("version 1"), "the handle of the file that was replaced")
}

func removeOpen(c *check, m host.Machine, d host.Disk) {
	f := c.file(d, "f", []byte("old content"))
	c.works(d.Remove("f"), "Remove")
	c.lists(d)
	c.holds(f, []byte("old content"), "the handle of a removed file")
	g := c.file(d, "f", []byte("new"))
	c.holds(g, []byte("new"), "a new file of that name")
	c.write(f, []byte("OLD"), 0)
	c.holds(g, []byte("new"), "a new file, the removed one being written")
	c.holds(f, []byte("OLD content"), "the handle of a removed file")
}

func badNames(c *check, m host.Machine, d host.Disk) {
	for _, name := range []string{"", ".", "..", "a/b", "/etc/passwd", "../up", "a\x00b", strings.Repeat("n", 256)} {
		_, err := d.Open(name, host.ClassData, true)
		c.that(err != nil, "Open(%q) worked", name)
		c.that(d.Remove(name) != nil, "Remove(%q) worked", name)
		c.file(d, "good", nil)
		c.that(d.Rename("good", name) != nil, "Rename to %q worked", name)
	}
	c.lists(d, "good")
}

func rebootCases() []*Case {
	files := func(name, rule, says string, before, after func(c *check, m host.Machine, d host.Disk)) *Case {
		return &Case{Name: name, Rule: rule, Says: says, Drive: driveReboots,
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
		files("kill-keeps-writes", "H3", "files are as last written after a kill, synced or not", writeUnsynced, readUnsynced),
		files("kill-keeps-names", "H3", "names are as last set after a kill", setNames, seeNames),
		files("kill-frees-removed", "H3", "a removed file that was open is gone after a kill", removeBeforeKill, seeRemoved),
		{Name: "kill-during-writes", Rule: "H3", Says: "what WriteAt acknowledged before a kill can be read after it",
			Hosts: []Host{{Name: "one", Boot: writeForever}}, Drive: driveMidWrite},
	}
}

func driveReboots(w World) error {
	w.Boot("one")
	if err := says(w, "one", "ready", 1); err != nil {
		return err
	}
	w.Kill("one")
	if err := ended(w, "one", Killed); err != nil {
		return err
	}
	w.Boot("one")
	return verdict(w, "one")
}

func writeUnsynced(c *check, m host.Machine, d host.Disk) {
	f := c.file(d, "f", pattern(9000, 1))
	c.works(f.Sync(), "Sync")
	c.write(f, pattern(3000, 2), 1234)
	c.write(f, pattern(500, 3), 12_000)
	g := c.file(d, "g", pattern(5000, 4))
	c.works(g.Truncate(777), "Truncate")
}

func readUnsynced(c *check, m host.Machine, d host.Disk) {
	want := make([]byte, 12_500)
	copy(want, pattern(9000, 1))
	copy(want[1234:], pattern(3000, 2))
	copy(want[12_000:], pattern(500, 3))
	c.holds(c.file(d, "f", nil), want, "f after a kill")
	c.holds(c.file(d, "g", nil), pattern(5000, 4)[:777], "g after a kill")
	c.lists(d, "f", "g")
}

func setNames(c *check, m host.Machine, d host.Disk) {
	c.file(d, "a", []byte("a"))
	c.file(d, "b", []byte("b"))
	c.file(d, "c", []byte("c"))
	c.works(d.SyncDir(), "SyncDir")
	c.works(d.Rename("a", "b"), "Rename")
	c.works(d.Remove("c"), "Remove")
	c.file(d, "d", []byte("d"))
}

func seeNames(c *check, m host.Machine, d host.Disk) {
	c.lists(d, "b", "d")
	c.holds(c.file(d, "b", nil), []byte("a"), "the renamed file")
	c.holds(c.file(d, "d", nil), []byte("d"), "the created file")
}

func removeBeforeKill(c *check, m host.Machine, d host.Disk) {
	f := c.file(d, "f", pattern(5000, 1))
	c.works(d.Remove("f"), "Remove")
	c.write(f, pattern(5000, 2), 0)
}

func seeRemoved(c *check, m host.Machine, d host.Disk) {
	c.lists(d)
	c.holds(c.file(d, "f", nil), nil, "a new file of the removed one's name")
}

const slot = 512 // bytes of each numbered write of writeForever

// writeForever writes numbered slots by two tasks until it is killed; the next
// boot reads what was acknowledged, as the log of the slots says it.
func writeForever(m host.Machine) error {
	var c check
	d := m.Disk(Disk)
	if m.Boot() > 1 {
		return checkSlots(&c, d)
	}
	for task := range 2 {
		f := c.file(d, []string{"even", "odd"}[task], nil)
		acks := c.file(d, []string{"even.acks", "odd.acks"}[task], nil)
		m.Go("writer", func() {
			for i := int64(0); ; i++ {
				c.write(f, pattern(slot, byte(i)), i*slot)
				c.write(acks, []byte{1}, i)
				if i == 20 {
					m.Logf("going")
				}
				m.Sleep(10 * time.Microsecond)
			}
		})
	}
	return forever(m)
}

func checkSlots(c *check, d host.Disk) error {
	for _, name := range []string{"even", "odd"} {
		acked, err := c.file(d, name+".acks", nil).Size()
		c.works(err, "Size")
		f := c.file(d, name, nil)
		got := make([]byte, acked*slot)
		n, err := f.ReadAt(got, 0)
		c.that(n == len(got) && (err == nil || errors.Is(err, host.ErrIO)), "%s: read %d of %d acknowledged bytes, error %v", name, n, len(got), err)
		for i := range acked {
			at := differs(got[i*slot:(i+1)*slot], pattern(slot, byte(i)))
			c.that(at < 0, "%s: slot %d of %d differs at byte %d", name, i, acked, at)
		}
		c.that(acked > 0, "%s: nothing was acknowledged", name)
	}
	return c.err
}

func driveMidWrite(w World) error {
	w.Boot("one")
	if err := says(w, "one", "going", 2); err != nil {
		return err
	}
	w.Kill("one")
	if err := ended(w, "one", Killed); err != nil {
		return err
	}
	w.Boot("one")
	return verdict(w, "one")
}
