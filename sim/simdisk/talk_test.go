package simdisk

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestConversations runs the files of testdata/talk. Verbs, one a line:
//
//	disk key=K sector=N cache=N size=N   a new disk
//	write F OFF LEN C                    LEN bytes of the letter C
//	truncate F SIZE, sync F, evict F
//	begin F, end F                       a sync in two halves
//	remove F, rename F G, sync-dir
//	next FAULT N                         the fault strikes the next N times
//	full on|off, rot F SECTOR BITS
//	image, load                          keep a disk image; start from it
//	power-off, loss
//	look                                 names; a letter for each sector, . for
//	                                     zeros, ? for anything mixed
//	risk                                 sectors at risk and lost
//
// Verbs answer only with what went wrong, or what power-off did.
func TestConversations(t *testing.T) {
	datadriven.Walk(t, "testdata/talk", func(t *testing.T, path string) {
		k := &talk{}
		datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string {
			if td.Cmd == "disk" {
				k.disk(t, td)
				return ""
			}
			k.out.Reset()
			for line := range strings.Lines(td.Input) {
				if w := strings.Fields(line); len(w) > 0 && w[0] != "#" {
					k.do(w)
				}
			}
			return k.out.String()
		})
	})
}

type talk struct {
	d   *Disk
	cfg Config
	key uint64
	cut Version
	img *Image
	out strings.Builder
}

func (k *talk) disk(t *testing.T, td *datadriven.TestData) {
	var key, sector, cache, size int
	td.MaybeScanArgs(t, "key", &key)
	td.MaybeScanArgs(t, "sector", &sector)
	td.MaybeScanArgs(t, "cache", &cache)
	td.MaybeScanArgs(t, "size", &size)
	k.key, k.cfg = uint64(key), Config{Sector: sector, CachePages: cache, Size: int64(size)}
	k.d = New(k.cfg, k.key)
}

// do runs one verb; a word that is not a number where one belongs is an error
// of the conversation, and shows as one.
func (k *talk) do(w []string) {
	arg := func(i int) string {
		if i < len(w) {
			return w[i]
		}
		return ""
	}
	num := func(i int) int64 {
		n, err := strconv.ParseInt(arg(i), 10, 64)
		if err != nil {
			k.say("%s: %v", w[0], err)
		}
		return n
	}
	switch w[0] {
	case "remove":
		k.check(w, k.d.Remove(arg(1)))
	case "rename":
		k.check(w, k.d.Rename(arg(1), arg(2)))
	case "sync-dir":
		k.check(w, k.d.SyncDir())
	case "full":
		k.d.SetFull(arg(1) == "on")
	case "rot":
		k.check(w, k.d.RotSector(arg(1), num(2), uint32(num(3))))
	case "next":
		for _, f := range Faults() {
			if f.String() == arg(1) {
				k.d.Set(f, Rate{Next: uint32(num(2))})
				return
			}
		}
		k.say("no fault %q", arg(1))
	case "image":
		k.img = k.d.Image()
	case "load":
		d, err := k.img.Start(k.cfg, k.key)
		k.check(w, err)
		k.d = d
	case "power-off":
		k.powerOff()
	case "loss":
		k.d.Loss()
	case "look":
		for _, n := range k.d.List() {
			k.look(n)
		}
	default:
		k.file(w, arg, num)
	}
}

// file runs a verb on a file, which is created if it is missing.
func (k *talk) file(w []string, arg func(int) string, num func(int) int64) {
	f, err := k.d.Open(arg(1), true)
	if err != nil {
		k.check(w, err)
		return
	}
	defer f.Close()
	switch w[0] {
	case "write":
		_, err = f.WriteAt(bytes.Repeat([]byte(arg(4)), int(num(3))), num(2))
	case "truncate":
		_, err = f.Truncate(num(2))
	case "sync":
		err = f.Sync()
	case "begin":
		k.cut = f.SyncPoint()
	case "end":
		err = f.SyncTo(k.cut)
	case "evict":
		f.Evict()
	case "risk":
		dirty, lost := f.AtRisk()
		k.say("%s: %d at risk, %d lost", f.Name(), dirty, lost)
	default:
		k.say("no verb %q", w[0])
	}
	k.check(w, err)
}

func (k *talk) say(format string, args ...any) { fmt.Fprintf(&k.out, format+"\n", args...) }

func (k *talk) check(w []string, err error) {
	if err != nil {
		k.say("%s: %v", w[0], err)
	}
}

func (k *talk) powerOff() {
	rep := k.d.PowerOff()
	if rep.NamesAtRisk > 0 {
		k.say("names: %d of %d persisted", rep.NamesKept, rep.NamesAtRisk)
	}
	for _, f := range rep.Files {
		k.say("%s: keep %v of %d: %d new, %d old, %d between; torn pages %v", f.Name, f.Mode, f.AtRisk, f.New, f.Old, f.Between, f.Torn)
	}
}

// look shows a file, runs of equal sectors as counts.
func (k *talk) look(name string) {
	f, err := k.d.Open(name, false)
	if err != nil {
		k.check([]string{"look"}, err)
		return
	}
	defer f.Close()
	b := make([]byte, f.Size())
	if n, err := f.ReadAt(b, 0); n < len(b) {
		k.check([]string{"look"}, err)
		return
	}
	var letters []byte
	for sector := k.d.Config().Sector; len(b) > 0; b = b[min(sector, len(b)):] {
		s := b[:min(sector, len(b))]
		c := s[0]
		switch {
		case bytes.Count(s, s[:1]) < len(s):
			c = '?'
		case c == 0:
			c = '.'
		}
		letters = append(letters, c)
	}
	var runs []string
	for i := 0; i < len(letters); {
		j := i
		for j < len(letters) && letters[j] == letters[i] {
			j++
		}
		runs = append(runs, fmt.Sprintf("%c%d", letters[i], j-i))
		i = j
	}
	k.say("%s %d: %s", name, f.Size(), strings.Join(runs, " "))
}
