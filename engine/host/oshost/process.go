package oshost

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"tornpage/engine/host"
	"tornpage/engine/host/coop"
)

// EndKind is how a process ended.
type EndKind uint8

// The ways of ending.
const (
	Alive    EndKind = iota // it has not ended
	Returned                // its boot function returned
	Panicked                // a task or a handler panicked
	Exited                  // Machine.Exit
	Killed                  // Process.Kill, or the context of Run
)

var endNames = [...]string{"alive", "returned", "panic", "exit", "killed"}

// String is the name of the kind.
func (k EndKind) String() string { return endNames[k] }

// End is how and why a process ended.
type End struct {
	Kind EndKind
	Text string // the reason, or task, value and stack of a panic
}

// Ended is the error for a process that did not end by returning.
type Ended struct {
	Process string
	Boot    uint64
	End     End
}

// Error names the process, its boot and the reason.
func (e *Ended) Error() string {
	return fmt.Sprintf("process %s, boot %d: %v: %s", e.Process, e.Boot, e.End.Kind, e.End.Text)
}

// Options are what a process may be given beyond its configuration.
type Options struct {
	// Log gets each line of Machine.Logf. Nil: standard error, with the
	// process's name. It is called by one goroutine.
	Log func(line string)
	// Warn gets lines about broken connections and the like. Nil: standard
	// error. It is called by many goroutines, one at a time.
	Warn func(line string)
}

// Process is a running process.
type Process struct {
	scheduler
	cfg     ProcessConfig
	seed    uint64
	name    string
	self    host.Addr
	names   []string
	peers   []string // network addresses, by host.Addr
	boot    uint64
	opts    Options
	warnMu  sync.Mutex
	workers *workers
	disks   map[string]*disk
	files   openFiles
	bufs    buffers
	net     network
	charged [host.Works]uint64
	marks   map[string]uint64
	done    chan struct{}
}

// Start starts the process of a name: it listens, counts the boot and calls
// boot in the first task.
func Start(cfg Config, name string, opts Options, boot func(host.Machine)) (*Process, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("deployment: %w", err)
	}
	pc, ok := cfg.Processes[name]
	if !ok {
		return nil, fmt.Errorf("deployment: no process is named %q; there are %q", name, cfg.Names())
	}
	p := &Process{cfg: pc, seed: cfg.Seed, name: name, names: cfg.Names(), opts: opts,
		workers: newWorkers(), disks: map[string]*disk{},
		marks: map[string]uint64{}, done: make(chan struct{})}
	p.self = host.Addr(slices.Index(p.names, name))
	for _, peer := range p.names {
		p.peers = append(p.peers, cfg.Processes[peer].Address)
	}
	if err := p.prepare(); err != nil {
		return nil, fmt.Errorf("process %s: %w", name, err)
	}
	p.scheduler = scheduler{loop: &coop.Loop{}, start: time.Now(), in: inbox{wake: make(chan struct{}, 1)}}
	p.group = p.loop.NewGroup(driver{&p.scheduler})
	p.loop.Panicked = func(t *coop.Task, value any, stack []byte) {
		p.finish(Panicked, fmt.Sprintf("panic in task %q: %v\n%s", t.Name(), value, stack))
	}
	p.net.start(p)
	go p.run(boot)
	return p, nil
}

// prepare makes the directories, listens and counts the boot, in this order: a
// second process on the same configuration stops at the address in use.
func (p *Process) prepare() error {
	for _, dir := range append([]string{p.cfg.Dir}, p.diskDirs()...) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	l, err := net.Listen("tcp", p.cfg.Address)
	if err != nil {
		return fmt.Errorf("%w (does the process run already?)", err)
	}
	p.net.listener = l
	if p.boot, err = nextBoot(p.cfg.Dir); err != nil {
		return errors.Join(err, l.Close())
	}
	return nil
}

func (p *Process) diskDirs() []string {
	var dirs []string
	for name := range p.cfg.Disks {
		dir := p.cfg.diskDir(name)
		p.disks[name] = &disk{p: p, name: name, dir: dir}
		dirs = append(dirs, dir)
	}
	return dirs
}

// run is the loop's goroutine.
func (p *Process) run(boot func(host.Machine)) {
	defer close(p.done)
	p.group.Go("boot", func() {
		boot(machine{p})
		p.finish(Returned, "")
	})
	for !p.ended() {
		p.turn()
	}
	p.net.stop()
	p.workers.stop()
	p.files.closeAll()
	if p.end.Kind == Panicked || p.end.Kind == Exited {
		text := (&Ended{p.name, p.boot, p.end}).Error() + "\n"
		if err := replaceFile(filepath.Join(p.cfg.Dir, "exit"), text); err != nil {
			p.warnf("the reason of the end could not be kept: %v", err)
		}
	}
	p.loop.Close()
}

// Kill ends the process between two of its switch points, as SIGKILL would.
func (p *Process) Kill() { p.in.post(func() { p.finish(Killed, "killed") }) }

// Done is closed when the process has ended and left nothing behind.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for the end. The process has left nothing behind then (rule O7).
func (p *Process) Wait() End {
	<-p.done
	return p.end
}

// Boot is the number of this boot.
func (p *Process) Boot() uint64 { return p.boot }

// Stats are counters of a process.
type Stats struct {
	Charged map[string]uint64        // units by kind of work
	Marks   map[string]uint64        // by mark
	Waited  map[string]time.Duration // task time by wait event
}

// Stats takes the counters, while the process runs or after its end.
func (p *Process) Stats() Stats {
	taken := make(chan Stats, 1)
	p.in.post(func() { taken <- p.stats() })
	select {
	case s := <-taken:
		return s
	case <-p.done:
		return p.stats()
	}
}

func (p *Process) stats() Stats {
	s := Stats{Charged: map[string]uint64{}, Marks: map[string]uint64{}, Waited: map[string]time.Duration{}}
	for w, n := range p.charged {
		if n > 0 {
			s.Charged[host.Work(w).String()] = n
		}
	}
	for name, n := range p.marks {
		s.Marks[name] = n
	}
	for ev := range coop.Events {
		if d := p.group.Waited(p.now(), host.WaitEvent(ev)); d > 0 {
			s.Waited[host.EventName(host.WaitEvent(ev))] += time.Duration(d)
		}
	}
	return s
}

// warnf reports what the engine is not told of.
func (p *Process) warnf(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	p.warnMu.Lock()
	defer p.warnMu.Unlock()
	if p.opts.Warn != nil {
		p.opts.Warn(line)
		return
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", p.name, line)
}

// Run runs a process until its end. A done context kills it.
func Run(ctx context.Context, cfg Config, name string, boot func(host.Machine)) error {
	p, err := Start(cfg, name, Options{}, boot)
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.Kill()
	}
	if end := p.Wait(); end.Kind != Returned {
		return &Ended{name, p.boot, end}
	}
	return nil
}

// ExitCode is the code with which an operating system process reports what Run
// gave (doc.go, Ends). Panics have 2 as in Go's runtime.
func ExitCode(err error) int {
	var e *Ended
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &e):
		return 1
	}
	return map[EndKind]int{Panicked: 2, Exited: 3, Killed: 4}[e.End.Kind]
}

// Main is Run for a command: it prints the error and exits with its code.
func Main(ctx context.Context, cfg Config, name string, boot func(host.Machine)) {
	err := Run(ctx, cfg, name, boot)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(ExitCode(err))
}
