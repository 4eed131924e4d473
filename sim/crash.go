package sim

import (
	"fmt"
	"time"

	"tornpage/engine/host"
	"tornpage/sim/draw"
	"tornpage/sim/sched"
	"tornpage/sim/simdisk"
	"tornpage/sim/trace"
)

// Up reports whether a process runs.
func (w *World) Up(name string) bool { return w.proc(name).inc != nil }

// Boots is how often a process was booted.
func (w *World) Boots(name string) uint64 { return w.proc(name).boots }

// LastExit is the reason of the process's last Exit, nil after any other end.
func (w *World) LastExit(name string) error { return w.proc(name).last }

func (w *World) proc(name string) *process {
	a, ok := w.byName[name]
	if !ok {
		panic("sim: no process is named " + name)
	}
	return w.procs[a]
}

// Boot starts a process, unless it runs or its machine is off.
func (w *World) Boot(name string) {
	p := w.proc(name)
	if p.inc != nil || !p.m.on {
		return
	}
	p.boots++
	p.last = nil
	inc := &incarnation{p: p, w: w, boot: p.boots, number: uint32(p.addr) + 1}
	inc.group = w.loop.NewGroup(inc)
	key := draw.FoldN(draw.Key(w.cfg.Seed, "net", p.name), p.boots)
	inc.sends, inc.mischief = host.NewRand(key), host.NewRand(draw.Fold(key, "faults"))
	p.inc = inc
	w.log.Add(w.now, trace.Boot, inc.who(), p.boots, 0, 0)
	proc{inc}.Go("main", func() {
		p.boot(proc{inc})
		w.log.Add(w.now, trace.Exit, inc.who(), inc.boot, 1, 0)
		inc.end()
	})
}

// BootAll starts every process in the order of the configuration.
func (w *World) BootAll() {
	for _, p := range w.procs {
		w.Boot(p.name)
	}
}

// Kill ends a process: its memory is gone, files are as last written, and its
// peers see their connections break.
func (w *World) Kill(name string) {
	p := w.proc(name)
	if p.inc != nil && !w.postponed(p.inc, false, func() { w.Kill(name) }) {
		w.log.Add(w.now, trace.Kill, p.inc.who(), p.inc.boot, 0, 0)
		p.inc.end()
	}
}

// end is the death of a process by kill, exit or return. It does not return
// when called from a task of the process.
func (m *incarnation) end() {
	if m.ended {
		return
	}
	m.ended = true
	m.p.inc = nil
	for len(m.conns) > 0 {
		m.conns[len(m.conns)-1].hangUp()
	}
	m.die()
}

// die unwinds the tasks, at once if none runs, else from the loop.
func (m *incarnation) die() {
	m.w.doomed = append(m.w.doomed, m)
	m.w.attend()
	if m.paused {
		m.w.paused--
		m.paused, m.held = false, nil
	}
	m.group.Kill()
	if m.w.handling == m {
		m.group.Alive() // unwinds the handler
	}
}

func (w *World) reap() {
	for _, m := range w.doomed {
		m.group.Reap()
	}
	w.doomed = w.doomed[:0]
}

// PowerOff ends every process of a machine, and settles what its disks had not
// synced. Peers are told nothing. Called from one of its own tasks (in a mark)
// it does not return.
func (w *World) PowerOff(name string) {
	m := w.machine(name)
	if m == nil || !m.on {
		return
	}
	for _, p := range m.procs {
		if w.postponed(p.inc, true, func() { w.PowerOff(name) }) {
			return
		}
	}
	w.log.Add(w.now, trace.PowerOff, 0, uint64(m.index), 0, 0)
	m.on = false
	m.epoch++
	m.cpu.reset()
	for _, d := range m.disks {
		r := d.d.PowerOff()
		w.log.Add(w.now, trace.Crash, 0, d.id, r.Crash, r.Digest)
		w.crashes = append(w.crashes, Crash{w.Now(), m.name, d.name, r})
	}
	var own *incarnation
	cur := w.loop.Current()
	for _, p := range m.procs {
		inc := p.inc
		if inc == nil {
			continue
		}
		inc.ended = true
		p.inc = nil
		for len(inc.conns) > 0 {
			inc.conns[len(inc.conns)-1].vanish()
		}
		if cur != nil && cur.Group() == inc.group || w.handling == inc {
			own = inc
			continue
		}
		inc.die()
	}
	if own != nil {
		own.die()
	}
}

// Crash is what a power-off did to one disk.
type Crash struct {
	At            time.Duration
	Machine, Disk string
	simdisk.Report
}

// Crashes lists what every power-off so far did to every disk.
func (w *World) Crashes() []Crash { return w.crashes }

// PowerOn lets a machine's processes be booted again, and boots them.
func (w *World) PowerOn(name string) {
	m := w.machine(name)
	if m == nil || m.on {
		return
	}
	m.on = true
	for _, p := range m.procs {
		w.Boot(p.name)
	}
}

// On reports whether a machine has power.
func (w *World) On(name string) bool { return w.machine(name).on }

// reset forgets the work of a machine that lost power; its epoch tells the
// slices that are still queued.
func (c *cores) reset() {
	for _, i := range c.queue {
		c.jobs.free(i)
	}
	c.queue = c.queue[:0]
	c.free = c.total
}

// SetPaused stops a process from running, or lets it run again: what came for
// it meanwhile then happens at once.
func (w *World) SetPaused(name string, paused bool) {
	inc := w.proc(name).inc
	if inc == nil || inc.paused == paused {
		return
	}
	inc.paused = paused
	w.NoteFault(fmt.Sprintf("pause %s %v", name, paused))
	if paused {
		w.paused++
		return
	}
	w.paused--
	held := inc.held
	inc.held = nil
	for _, it := range held {
		if it.Kind == evDeliver {
			it.Gen = wasHeld
		}
		w.q.Push(sched.Item{At: w.now, Kind: it.Kind, Ref: it.Ref, Gen: it.Gen})
	}
}
