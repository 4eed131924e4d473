package simdisk

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/host"
)

// naiveOp is a name operation on a directory of names and file numbers.
type naiveOp struct {
	kind     opKind
	name, to string
	file     int
}

func (o naiveOp) apply(dir map[string]int) {
	at, ok := dir[o.name]
	switch {
	case o.kind == opCreate && !ok:
		dir[o.name] = o.file
	case o.kind == opRemove && ok && at == o.file:
		delete(dir, o.name)
	case o.kind == opRename && ok && at == o.file:
		delete(dir, o.name)
		dir[o.to] = o.file
	}
}

func show(dir map[string]int) string {
	var s []string
	for _, n := range slices.Sorted(maps.Keys(dir)) {
		s = append(s, fmt.Sprintf("%s=%d", n, dir[n]))
	}
	return strings.Join(s, " ")
}

// outcomes are all directories that a power-off may leave: by every subset.
func outcomes(kept map[string]int, ops []naiveOp) map[string]bool {
	out := map[string]bool{}
	for bits := range 1 << len(ops) {
		dir := maps.Clone(kept)
		for i, o := range ops {
			if bits>>i&1 == 1 {
				o.apply(dir)
			}
		}
		out[show(dir)] = true
	}
	return out
}

// tag reads which file a name is: its first byte, synced at creation.
func dirOf(t require.TestingT, d *Disk) map[string]int {
	dir := map[string]int{}
	for _, n := range d.List() {
		f, err := d.Open(n, false)
		require.NoError(t, err)
		var b [1]byte
		_, err = f.ReadAt(b[:], 0)
		require.NoError(t, err)
		dir[n] = int(b[0])
		f.Close()
	}
	return dir
}

// namesTwin is a disk and, beside it, what its directory is and was.
type namesTwin struct {
	d         *Disk
	kept, now map[string]int
	ops       []naiveOp
	files     int
}

// maxOps bounds the operations at risk, since all their subsets are tried.
const maxOps = 8

func (w *namesTwin) do(o naiveOp) {
	o.apply(w.now)
	w.ops = append(w.ops, o)
}

func (w *namesTwin) create(t *rapid.T, n string) {
	if _, ok := w.now[n]; ok || len(w.ops) >= maxOps {
		t.Skip()
	}
	w.files++
	f := open(t, w.d, n)
	_, err := f.WriteAt([]byte{byte(w.files)}, 0)
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	f.Close()
	w.do(naiveOp{opCreate, n, "", w.files})
}

func (w *namesTwin) remove(t *rapid.T, n string) {
	at, ok := w.now[n]
	if !ok {
		require.ErrorIs(t, w.d.Remove(n), host.ErrNotExist)
	} else if len(w.ops) < maxOps {
		require.NoError(t, w.d.Remove(n))
		w.do(naiveOp{opRemove, n, "", at})
	}
}

func (w *namesTwin) rename(t *rapid.T, n, to string) {
	at, ok := w.now[n]
	if !ok {
		require.ErrorIs(t, w.d.Rename(n, to), host.ErrNotExist)
	} else if n == to {
		require.NoError(t, w.d.Rename(n, to))
	} else if len(w.ops) < maxOps {
		require.NoError(t, w.d.Rename(n, to))
		w.do(naiveOp{opRename, n, to, at})
	}
}

func (w *namesTwin) powerOff(t *rapid.T) {
	rep := w.d.PowerOff()
	require.Equal(t, len(w.ops), rep.NamesAtRisk)
	got := dirOf(t, w.d)
	legal := outcomes(w.kept, w.ops)
	require.True(t, legal[show(got)], "%q is none of %q", show(got), slices.Sorted(maps.Keys(legal)))
	w.kept, w.now, w.ops = got, maps.Clone(got), nil
}

// TestNamesAgainstNaive: D7. After a power-off the directory is what some
// subset of the operations since the last directory sync makes of it.
func TestNamesAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &namesTwin{d: New(Config{}, rapid.Uint64().Draw(t, "key")), kept: map[string]int{}, now: map[string]int{}}
		name := rapid.SampledFrom([]string{"a", "b", "c"})
		t.Repeat(map[string]func(*rapid.T){
			"create": func(t *rapid.T) { w.create(t, name.Draw(t, "name")) },
			"remove": func(t *rapid.T) { w.remove(t, name.Draw(t, "name")) },
			"rename": func(t *rapid.T) { w.rename(t, name.Draw(t, "name"), name.Draw(t, "to")) },
			"sync": func(t *rapid.T) {
				require.NoError(t, w.d.SyncDir())
				w.kept, w.ops = maps.Clone(w.now), nil
			},
			"power-off": w.powerOff,
			"": func(t *rapid.T) {
				require.Equal(t, show(w.now), show(dirOf(t, w.d)))
				checkRefs(t, w.d)
			},
		})
	})
}

// checkRefs recounts the references of every file, and the capacity in use.
func checkRefs(t require.TestingT, d *Disk) {
	want := map[*File]int32{}
	used := int64(0)
	for _, e := range d.names {
		want[e.file]++
		used += blocks(e.file.size)
	}
	for _, e := range d.kept {
		want[e.file]++
	}
	for _, o := range d.ops {
		want[o.file]++
	}
	for _, f := range d.files {
		require.Equal(t, want[f]+f.open, f.refs, "references of %q", f.name)
		require.Positive(t, f.refs)
		delete(want, f)
	}
	require.Empty(t, want)
	require.Equal(t, used, d.used)
}

// TestNamesEveryOutcome: every subset of three operations occurs.
func TestNamesEveryOutcome(t *testing.T) {
	seen := map[string]bool{}
	for key := range uint64(400) {
		d := New(Config{}, key)
		for i, n := range []string{"ctl", "old"} {
			f := open(t, d, n)
			_, err := f.WriteAt([]byte{byte(i + 1)}, 0)
			require.NoError(t, err)
			require.NoError(t, f.Sync())
		}
		require.NoError(t, d.SyncDir())
		f := open(t, d, "new")
		_, err := f.WriteAt([]byte{3}, 0)
		require.NoError(t, err)
		require.NoError(t, f.Sync())
		require.NoError(t, d.Rename("new", "ctl"))
		require.NoError(t, d.Remove("old"))
		d.PowerOff()
		seen[show(dirOf(t, d))] = true
	}
	require.Equal(t, []string{"ctl=1", "ctl=1 new=3", "ctl=1 new=3 old=2", "ctl=1 old=2", "ctl=3", "ctl=3 old=2"},
		slices.Sorted(maps.Keys(seen)))
}

// TestRemovedFileStays: handles outlive the name, capacity comes back at once,
// memory with the last reference.
func TestRemovedFileStays(t *testing.T) {
	d := New(Config{Size: 8192}, 1)
	f := open(t, d, "a")
	_, err := f.WriteAt(make([]byte, 8192), 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte{1}, 8192)
	require.ErrorIs(t, err, host.ErrNoSpace)
	require.NoError(t, d.Remove("a"))
	require.Zero(t, d.Used())
	require.Len(t, all(t, f), 8192)
	require.NoError(t, d.SyncDir())
	require.Len(t, d.files, 1)
	f.Close()
	require.Empty(t, d.files)
	_, err = f.ReadAt(make([]byte, 1), 0)
	require.ErrorIs(t, err, host.ErrIO)
}

func TestBadNames(t *testing.T) {
	d := New(Config{}, 1)
	for _, n := range []string{"", "a/b", "a\x00", strings.Repeat("x", 256)} {
		_, err := d.Open(n, true)
		require.Error(t, err)
	}
	open(t, d, "a")
	require.Error(t, d.Rename("a", "b/c"))
	_, err := d.Open("b", false)
	require.ErrorIs(t, err, host.ErrNotExist)
	require.ErrorContains(t, err, `"b"`)
}
