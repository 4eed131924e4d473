package oshost

import (
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host/hosttest"
)

const testSeed = 7

// taken are the addresses that tests of this process were given: parallel ones
// must not choose the same.
var taken sync.Map

// deployment makes a configuration for the given names below dir.
func deployment(t *testing.T, dir string, names []string) Config {
	t.Helper()
	c := Config{Seed: testSeed, Processes: map[string]ProcessConfig{}}
	for _, name := range names {
		c.Processes[name] = ProcessConfig{Zone: hosttest.Zone, Address: freeAddress(t),
			Dir: filepath.Join(dir, name), Disks: map[string]string{hosttest.Disk: "disk-" + hosttest.Disk}}
	}
	require.NoError(t, c.Validate())
	return c
}

// freeAddress finds a port below the range from which systems take ports for
// dialling (32,768 up on Linux), so that no dial takes it meanwhile.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 1000 {
		addr := fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))
		if _, used := taken.LoadOrStore(addr, true); used {
			continue
		}
		if l, err := net.Listen("tcp", addr); err == nil {
			require.NoError(t, l.Close())
			return addr
		}
	}
	t.Fatal("no free port in 1,000 attempts")
	return ""
}

// board is what a world knows of its hosts, from many goroutines.
type board struct {
	mu      sync.Mutex
	logs    map[string][]string
	ends    map[string]hosttest.End
	changed chan struct{} // one slot
}

func newBoard() *board {
	return &board{logs: map[string][]string{}, ends: map[string]hosttest.End{}, changed: make(chan struct{}, 1)}
}

func (b *board) change(f func()) {
	b.mu.Lock()
	f()
	b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

func (b *board) line(host, line string) {
	b.change(func() { b.logs[host] = append(b.logs[host], line) })
}

func (b *board) end(host string, end hosttest.End) { b.change(func() { b.ends[host] = end }) }

func (b *board) Log(host string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.logs[host][:len(b.logs[host]):len(b.logs[host])]
}

func (b *board) End(host string) hosttest.End {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ends[host]
}

func (b *board) Until(limit time.Duration, done func() bool) bool {
	alarm := time.NewTimer(limit)
	defer alarm.Stop()
	for !done() {
		select {
		case <-b.changed:
		case <-alarm.C:
			return done()
		}
	}
	return true
}

func (b *board) Caps() hosttest.Caps { return hosttest.Caps{} }
func (b *board) Seed() uint64        { return testSeed }
func (b *board) PowerOff(string)     { panic("oshost cannot switch a real machine off") }

// localWorld runs all hosts in this operating system process.
type localWorld struct {
	*board
	t     *testing.T
	c     *hosttest.Case
	cfg   Config
	procs map[string]*Process
	watch sync.WaitGroup
}

func newLocalWorld(t *testing.T, c *hosttest.Case) *localWorld {
	w := &localWorld{board: newBoard(), t: t, c: c, cfg: deployment(t, t.TempDir(), c.Names()), procs: map[string]*Process{}}
	t.Cleanup(func() {
		for _, p := range w.procs {
			p.Kill()
			p.Wait()
		}
		w.watch.Wait()
	})
	return w
}

func (w *localWorld) Boot(host string) {
	w.end(host, hosttest.End{})
	opts := Options{Log: func(line string) { w.line(host, line) }, Warn: func(line string) { w.t.Log(host, line) }}
	p, err := Start(w.cfg, host, opts, w.c.Boot(host))
	require.NoError(w.t, err)
	w.procs[host] = p
	w.watch.Go(func() { w.end(host, endOf(p.Wait())) })
}

func (w *localWorld) Kill(host string) {
	if p := w.procs[host]; p != nil {
		p.Kill()
		p.Wait()
	}
}

func endOf(e End) hosttest.End {
	kinds := map[EndKind]hosttest.EndKind{Returned: hosttest.Returned, Panicked: hosttest.Panicked,
		Exited: hosttest.Exited, Killed: hosttest.Killed}
	return hosttest.End{Kind: kinds[e.Kind], Text: e.Text}
}

func TestConformanceInOneProcess(t *testing.T) {
	for _, c := range hosttest.Cases() {
		if c.Fits(hosttest.Caps{}) {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				require.NoError(t, hosttest.Run(c, newLocalWorld(t, c)))
			})
		}
	}
}
