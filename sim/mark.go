package sim

import (
	"maps"
	"slices"

	"tornpage/engine/host"
	"tornpage/sim/trace"
)

// marks counts one mark's name and holds what waits for it.
type marks struct {
	key   uint64
	total uint64
	by    []uint64 // by address
	waits []markWait
}

type markWait struct {
	any   bool
	on    host.Addr
	count uint64
	f     func()
}

func (w *World) markOf(name string) *marks {
	k := w.marks[name]
	if k == nil {
		k = &marks{key: MarkKey(name), by: make([]uint64, len(w.procs))}
		w.marks[name] = k
	}
	return k
}

// Mark implements host.Machine. Only a crash may act inside of a mark.
func (m proc) Mark(name string) {
	m.group.Alive()
	k := m.w.markOf(name)
	k.total++
	n := k.by[m.p.addr] + 1
	k.by[m.p.addr] = n
	m.w.log.Add(m.w.now, trace.Mark, m.who(), n, 0, k.key)
	if len(k.waits) > 0 {
		m.w.reached(m.incarnation, k)
	}
}

// reached calls what waited for this mark. A crash of the very process that is
// in the mark happens when all of them have returned.
func (w *World) reached(m *incarnation, k *marks) {
	w.marking = m
	for i := 0; i < len(k.waits); i++ {
		wt := k.waits[i]
		if wt.any && wt.count == k.total || !wt.any && wt.on == m.p.addr && wt.count == k.by[m.p.addr] {
			k.waits = slices.Delete(k.waits, i, i+1)
			i--
			wt.f()
		}
	}
	w.marking = nil
	if crash := w.afterMark; crash != nil {
		w.afterMark = nil
		crash()
	}
}

// postponed reports whether a crash of m must wait for the end of the mark
// that m is in, and then sees to it.
// Of a kill and a power-off in one mark the power-off counts.
func (w *World) postponed(m *incarnation, off bool, crash func()) bool {
	if m == nil || w.marking != m {
		return false
	}
	if off || w.afterMark == nil {
		w.afterMark = crash
	}
	return true
}

// OnMark calls f once, inside the count-th mark of that name on a process
// (over all its boots), or on all processes if process is empty.
func (w *World) OnMark(name, process string, count uint64, f func()) {
	k := w.markOf(name)
	wt := markWait{any: process == "", count: count, f: f}
	if process != "" {
		wt.on = w.byName[process]
	}
	k.waits = append(k.waits, wt)
}

// Marks gives how often each mark was reached, by name.
func (w *World) Marks() map[string]uint64 {
	out := map[string]uint64{}
	for _, name := range slices.Sorted(maps.Keys(w.marks)) {
		if n := w.marks[name].total; n > 0 {
			out[name] = n
		}
	}
	return out
}
