package sim

import (
	"fmt"
	"slices"
	"time"

	"tornpage/engine/host"
	"tornpage/engine/host/coop"
	"tornpage/sim/draw"
	"tornpage/sim/sched"
	"tornpage/sim/simdisk"
	"tornpage/sim/trace"
)

// The kinds of queued events; Ref and Gen of an item mean what is said here.
const (
	evWake    = iota // Ref: a task's index; Gen: the generation to resume
	evCore           // Ref: a machine; Gen: one of its core slots and epoch
	evDeliver        // Ref: a message
	evCall           // Ref: a callback
	evStop           // Gen: the run it ends
)

// World is one simulated world. It is not safe for concurrent use; run
// several worlds on several goroutines instead.
type World struct {
	cfg       Config
	net       latencies
	now       int64
	q         sched.Queue
	loop      coop.Loop
	log       trace.Log
	choice    draw.Stream
	machines  []*machine
	procs     []*process // by address
	byName    map[string]host.Addr
	messages  slab[message]
	calls     slab[call]
	marks     map[string]*marks
	faulty    bool // some link has faults or is cut
	links     map[[2]uint32]*LinkFaults
	paused    int
	handling  *incarnation   // whose handler runs
	marking   *incarnation   // in whose mark a trigger's function runs
	afterMark func()         // its crash
	doomed    []*incarnation // killed while another process's task ran
	triggers  []trigger      // by event number
	strikes   map[string]uint64
	crashes   []Crash
	forced    int // one more than the index in the ready set that was drawn already
	stops     uint32
	stopItems int // ends of this and of earlier runs in the queue
	stopped   bool
	quietTo   uint64 // the event up to which between finds nothing to do
	woken     parked // whom the present event resumes
	failure   *Failure
}

type machine struct {
	name   string
	zone   string
	zoneID uint32
	index  uint32
	epoch  uint32 // counts power-offs
	on     bool
	procs  []*process
	disks  []*disk
	cpu    cores
	out    int64 // when the network card is free to send
	in     int64 // and to receive
	slow   int64 // factor of the network card
	skew   int64
	drift  int64 // parts per million, from since on
	since  int64 // when drift was set
}

type disk struct {
	name    string
	d       *simdisk.Disk
	m       *machine
	id      uint64
	stalled fifo[parked]
}

// process is a host over all its boots.
type process struct {
	w        *World
	addr     host.Addr
	name     string
	boot     func(host.Machine)
	m        *machine
	boots    uint64
	inc      *incarnation // nil: down
	last     error        // reason of the last exit
	sends    draw.Stream  // of the network, for what is sent when the process is gone
	mischief draw.Stream  // of faulty links, for its connections
}

type call struct {
	inc *incarnation
	f   func()
}

type trigger struct {
	n uint64
	f func()
}

// Failure is why a run ended early.
type Failure struct {
	Process string
	Boot    uint64
	Task    string
	At      time.Duration
	Event   uint64
	Value   any
	Stack   string
}

// Error is the failure in one line, without the stack.
func (f *Failure) Error() string {
	return fmt.Sprintf("%s (boot %d) at %v, event %d: task %s: panic: %v", f.Process, f.Boot, f.At, f.Event, f.Task, f.Value)
}

// New makes a world in which every machine is on and every process is down.
func New(cfg Config) (*World, error) {
	cfg.Net.defaults()
	if cfg.Quantum == 0 {
		cfg.Quantum = time.Millisecond
	}
	if cfg.MaxEvents == 0 {
		cfg.MaxEvents = 200_000_000
	}
	if cfg.Costs == (Costs{}) {
		cfg.Costs = DefaultCosts()
	}
	w := &World{
		cfg:     cfg,
		choice:  draw.New(cfg.Seed, "sched"),
		byName:  map[string]host.Addr{},
		marks:   map[string]*marks{},
		strikes: map[string]uint64{},
		links:   map[[2]uint32]*LinkFaults{},
	}
	w.loop.Panicked = w.panicked
	if cfg.Reuse != nil {
		w.loop.Pool = &cfg.Reuse.coroutines
	}
	if err := w.cfg.Net.check(); err != nil {
		return nil, err
	}
	w.net = w.cfg.Net.ready()
	for _, mc := range cfg.Machines {
		if err := w.addMachine(mc); err != nil {
			return nil, err
		}
	}
	for _, h := range cfg.Hosts {
		if err := w.addHost(h); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *World) addMachine(mc Machine) error {
	if w.machine(mc.Name) != nil || mc.Name == "" {
		return fmt.Errorf("sim: machine name %q is empty or used twice", mc.Name)
	}
	m := &machine{name: mc.Name, zone: mc.Zone, index: uint32(len(w.machines)), on: true, slow: 1}
	m.zoneID = w.zoneID(mc.Zone)
	m.cpu.total = max(mc.Cores, 0)
	if mc.Cores == 0 {
		m.cpu.total = 2
	}
	m.cpu.free = m.cpu.total
	m.cpu.choice = draw.New(w.cfg.Seed, "core", mc.Name)
	for i, dc := range mc.Disks {
		if err := dc.Config.Check(); err != nil {
			return fmt.Errorf("sim: disk %s/%s: %w", mc.Name, dc.Name, err)
		}
		d := simdisk.NewIn(w.memory(), dc.Config, draw.Key(w.cfg.Seed, "disk", mc.Name, dc.Name))
		m.disks = append(m.disks, &disk{name: dc.Name, d: d, m: m, id: uint64(m.index)<<8 | uint64(i)})
	}
	w.machines = append(w.machines, m)
	return nil
}

func (w *World) addHost(h Host) error {
	m := w.machine(h.Machine)
	if m == nil {
		return fmt.Errorf("sim: host %q is on machine %q, which does not exist", h.Name, h.Machine)
	}
	if _, ok := w.byName[h.Name]; ok || h.Name == "" || h.Boot == nil {
		return fmt.Errorf("sim: host name %q is empty or used twice, or has no boot function", h.Name)
	}
	p := &process{w: w, addr: host.Addr(len(w.procs)), name: h.Name, boot: h.Boot, m: m}
	p.sends = draw.New(w.cfg.Seed, "net", h.Name, "gone")
	p.mischief = draw.New(w.cfg.Seed, "net", h.Name, "conn faults")
	w.procs = append(w.procs, p)
	w.byName[h.Name] = p.addr
	m.procs = append(m.procs, p)
	return nil
}

// zoneID numbers the zones in the order in which they are first named.
func (w *World) zoneID(zone string) uint32 {
	next := uint32(0)
	for _, m := range w.machines {
		if m.zone == zone {
			return m.zoneID
		}
		next = max(next, m.zoneID+1)
	}
	return next
}

func (w *World) machine(name string) *machine {
	for _, m := range w.machines {
		if m.name == name {
			return m
		}
	}
	return nil
}

// Now is the virtual time since the world began.
func (w *World) Now() time.Duration { return time.Duration(w.now) }

// Event is the number of the last event; event numbers order a history.
func (w *World) Event() uint64 { return w.log.N() }

// Hash is the running hash over all events.
func (w *World) Hash() uint64 { return w.log.Hash() }

// Trace is the trace of the run.
func (w *World) Trace() *trace.Log { return &w.log }

// Failure is the panic that ended the run, or nil.
func (w *World) Failure() *Failure { return w.failure }

// Note puts a fact that the scenario recorded into the trace.
func (w *World) Note(a, b uint64) { w.log.Add(w.now, trace.Note, 0, a, b, 0) }

// At calls f at time t since the world began (now, if that is past), outside
// of any process. f must not block.
func (w *World) At(t time.Duration, f func()) {
	w.call(nil, max(int64(t), w.now), f)
}

func (w *World) call(inc *incarnation, at int64, f func()) {
	ref := w.calls.take()
	*w.calls.at(ref) = call{inc, f}
	w.q.Push(sched.Item{At: at, Kind: evCall, Ref: ref})
}

// OnEvent calls f once, directly after event n.
func (w *World) OnEvent(n uint64, f func()) {
	w.attend()
	w.triggers = append(w.triggers, trigger{n, f})
	slices.SortStableFunc(w.triggers, func(a, b trigger) int {
		return int(min(1, max(-1, int64(a.n)-int64(b.n))))
	})
}

// Close ends every process and frees the coroutines. The world is of no use
// afterwards but for what it has recorded: trace, crashes, statistics of disks.
func (w *World) Close() {
	for _, p := range w.procs {
		if p.inc != nil {
			p.inc.end()
		}
	}
	w.reap()
	w.loop.Close()
	for _, m := range w.machines {
		for _, d := range m.disks {
			if w.cfg.Reuse != nil {
				d.d.End(w.memory())
			}
		}
	}
}
