package oshost

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
	"tornpage/engine/host/hosttest"
)

// limit bounds waits for what must happen; it is never waited out.
const limit = 60 * time.Second

// start starts a process of a deployment, to be killed at the end of the test.
func start(t *testing.T, cfg Config, name string, warn func(string), boot func(m host.Machine)) *Process {
	t.Helper()
	p, err := Start(cfg, name, Options{Log: func(line string) { t.Log(name, line) }, Warn: warn}, boot)
	require.NoError(t, err)
	t.Cleanup(func() {
		p.Kill()
		p.Wait()
	})
	return p
}

func park(m host.Machine) {
	c := m.NewCond(host.WaitWork)
	for {
		c.Wait()
	}
}

func TestStartRefuses(t *testing.T) {
	cfg := deployment(t, t.TempDir(), []string{"one", "two"})
	none := func(host.Machine) {}
	_, err := Start(Config{}, "one", Options{}, none)
	require.ErrorContains(t, err, "no processes")
	_, err = Start(cfg, "three", Options{}, none)
	require.ErrorContains(t, err, `no process is named "three"; there are ["one" "two"]`)

	p := start(t, cfg, "one", nil, park)
	_, err = Start(cfg, "one", Options{}, none)
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	require.ErrorContains(t, err, "does the process run already?")
	p.Kill()
	require.Equal(t, Killed, p.Wait().Kind)

	path := filepath.Join(cfg.Processes["one"].Dir, "boot")
	require.NoError(t, os.WriteFile(path, []byte("damaged"), 0o644))
	_, err = Start(cfg, "one", Options{}, none)
	require.ErrorContains(t, err, path)
	require.NoError(t, os.WriteFile(path, []byte(bootText(41)), 0o644))
	p = start(t, cfg, "one", nil, none)
	require.Equal(t, Returned, p.Wait().Kind, "the failed start kept the address")
	require.Equal(t, uint64(42), p.Boot())
}

func TestRunAndExitCodes(t *testing.T) {
	cfg := deployment(t, t.TempDir(), []string{"one"})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	require.NoError(t, Run(ctx, cfg, "one", func(host.Machine) {}))
	require.Equal(t, 0, ExitCode(nil))
	require.Equal(t, 1, ExitCode(Run(ctx, cfg, "nobody", nil)))

	panicked := Run(ctx, cfg, "one", func(m host.Machine) {
		m.Go("culprit", func() { panic("broken") })
		park(m)
	})
	require.ErrorContains(t, panicked, `process one, boot 2: panic: panic in task "culprit": broken`)
	require.Equal(t, 2, ExitCode(panicked))
	exited := Run(ctx, cfg, "one", func(m host.Machine) { m.Exit(errors.New("a failed sync")) })
	require.EqualError(t, exited, "process one, boot 3: exit: a failed sync")
	require.Equal(t, 3, ExitCode(exited))
	kept, err := os.ReadFile(filepath.Join(cfg.Processes["one"].Dir, "exit"))
	require.NoError(t, err)
	require.Equal(t, exited.Error()+"\n", string(kept))

	stopped := Run(ctx, cfg, "one", func(m host.Machine) {
		m.After(0, cancel)
		park(m)
	})
	require.ErrorContains(t, stopped, "boot 4: killed")
	require.Equal(t, 4, ExitCode(fmt.Errorf("wrapped: %w", stopped)))
}

// After Wait nothing is left: goroutines, coroutines, sockets, open files, the
// address (O7).
func TestNothingIsLeftBehind(t *testing.T) {
	dir := t.TempDir()
	cfg := deployment(t, dir, []string{"one", "two"})
	before := runtime.NumGoroutine()
	for range 3 {
		served := make(chan struct{})
		two := start(t, cfg, "two", nil, func(m host.Machine) {
			m.Listen(1, func(c host.Conn) { c.OnRecv(func([]byte, error) {}) })
			m.Handle(1, func(host.Addr, []byte) {})
			close(served)
			park(m)
		})
		<-served
		one := start(t, cfg, "one", nil, func(m host.Machine) {
			f, err := m.Disk(hosttest.Disk).Open("f", host.ClassData, true)
			require.NoError(t, err)
			for i := range 20 {
				m.Go("user", func() {
					for {
						c, err := m.Dial(m.Lookup("two"), 1)
						if err == nil {
							c.Send([]byte("hello"))
						}
						_, _ = f.WriteAt([]byte("x"), int64(i))
						_ = f.Sync()
						m.Send(m.Lookup("two"), 1, []byte("hello"))
						_, _ = m.Disk(hosttest.Disk).Open(fmt.Sprint(i), host.ClassData, true)
					}
				})
			}
			m.Sleep(20 * time.Millisecond)
		})
		require.Equal(t, Returned, one.Wait().Kind)
		two.Kill()
		require.Equal(t, Killed, two.Wait().Kind)
		require.Nil(t, one.files.files)
		require.Nil(t, one.net.socks)
	}
	// A goroutine that has returned may be counted for a moment more.
	for deadline := time.Now().Add(limit); runtime.NumGoroutine() > before && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

func TestStats(t *testing.T) {
	cfg := deployment(t, t.TempDir(), []string{"one"})
	ready := make(chan struct{})
	p := start(t, cfg, "one", nil, func(m host.Machine) {
		m.Charge(host.WorkTuple, 30)
		m.Charge(host.WorkTuple, 12)
		m.Mark("recovery.truncated")
		m.Mark("recovery.truncated")
		m.Sleep(2 * time.Millisecond)
		close(ready)
		park(m)
	})
	<-ready
	for _, when := range []string{"running", "ended"} {
		s := p.Stats()
		require.Equal(t, map[string]uint64{"tuple": 42}, s.Charged, when)
		require.Equal(t, map[string]uint64{"recovery.truncated": 2}, s.Marks, when)
		require.GreaterOrEqual(t, s.Waited["Timeout:Sleep"], 2*time.Millisecond, when)
		p.Kill()
		p.Wait()
	}
}

func TestFaultsOfDisks(t *testing.T) {
	cfg := deployment(t, t.TempDir(), []string{"one"})
	d := &disk{p: &Process{name: "one", cfg: cfg.Processes["one"]}, name: "data"}
	require.NoError(t, d.fault("read", "f", nil))
	for os, want := range map[error]error{
		syscall.ENOENT: host.ErrNotExist, syscall.ENOSPC: host.ErrNoSpace, syscall.EDQUOT: host.ErrNoSpace,
		syscall.EIO: host.ErrIO, syscall.EACCES: host.ErrIO, net.ErrClosed: host.ErrIO,
	} {
		err := d.fault("write", "f, 3 bytes at 512", os)
		require.ErrorIs(t, err, want)
		require.EqualError(t, err, fmt.Sprintf("one: disk data: write f, 3 bytes at 512: %v (%v)", want, os))
	}
	done := make(chan error, 3)
	p := start(t, cfg, "one", nil, func(m host.Machine) {
		dir := cfg.Processes["one"]
		done <- os.Mkdir(filepath.Join(dir.diskDir(hosttest.Disk), "sub"), 0o755)
		_, err := m.Disk(hosttest.Disk).Open("sub", host.ClassData, false)
		done <- err
		names, err := m.Disk(hosttest.Disk).List()
		done <- errors.Join(err, fmt.Errorf("%d names", len(names)))
	})
	p.Wait()
	require.NoError(t, <-done)
	require.ErrorIs(t, <-done, host.ErrIO, "a directory is no file")
	require.EqualError(t, <-done, "0 names")
}
