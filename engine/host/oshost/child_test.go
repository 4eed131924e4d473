package oshost

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host/hosttest"
)

// What tells a copy of the test binary that it is the process of a host.
const (
	envCase   = "TORNPAGE_HOSTTEST_CASE"
	envHost   = "TORNPAGE_HOSTTEST_HOST"
	envConfig = "TORNPAGE_HOSTTEST_CONFIG"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(envCase); name != "" {
		os.Exit(child(name, os.Getenv(envHost), os.Getenv(envConfig)))
	}
	os.Exit(m.Run())
}

// child is the process of a host: it prints each line of its log, quoted.
func child(caseName, host, config string) int {
	go func() { // the test is gone when its end of standard input is
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(5)
	}()
	c, err := hosttest.Find(caseName)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return ExitCode(err)
	}
	cfg, err := Load(config)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return ExitCode(err)
	}
	p, err := Start(cfg, host, Options{Log: func(line string) { fmt.Println(strconv.Quote(line)) }}, c.Boot(host))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return ExitCode(err)
	}
	if end := p.Wait(); end.Kind != Returned {
		return ExitCode(&Ended{host, p.Boot(), end})
	}
	return 0
}

// childWorld runs each host in an operating system process of its own.
type childWorld struct {
	*board
	t      *testing.T
	c      *hosttest.Case
	cfg    Config
	config string
	procs  map[string]*exec.Cmd
	watch  sync.WaitGroup
}

func newChildWorld(t *testing.T, c *hosttest.Case) *childWorld {
	dir := t.TempDir()
	w := &childWorld{board: newBoard(), t: t, c: c, cfg: deployment(t, dir, c.Names()),
		config: filepath.Join(dir, "deployment.json"), procs: map[string]*exec.Cmd{}}
	b, err := json.Marshal(w.cfg)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(w.config, b, 0o644))
	t.Cleanup(func() {
		for name := range w.procs {
			w.Kill(name)
		}
		w.watch.Wait()
	})
	return w
}

func (w *childWorld) Boot(host string) {
	w.end(host, hosttest.End{})
	exe, err := os.Executable()
	require.NoError(w.t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), envCase+"="+w.c.Name, envHost+"="+host, envConfig+"="+w.config)
	stdin, err := cmd.StdinPipe()
	require.NoError(w.t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(w.t, err)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	require.NoError(w.t, cmd.Start())
	w.procs[host] = cmd
	w.watch.Go(func() {
		defer func() { _ = stdin.Close() }()
		for r := bufio.NewReader(stdout); ; {
			text, err := r.ReadString('\n')
			if err != nil {
				break // a line that a kill cut short does not count
			}
			if line, err := strconv.Unquote(strings.TrimSuffix(text, "\n")); err == nil {
				w.line(host, line)
			}
		}
		err := cmd.Wait()
		w.end(host, w.endOf(host, err, stderr.String()))
	})
}

// endOf reads the end of a child off its exit code and its "exit" file.
func (w *childWorld) endOf(host string, err error, stderr string) hosttest.End {
	var exit *exec.ExitError
	if err == nil {
		return hosttest.End{Kind: hosttest.Returned}
	}
	if !errors.As(err, &exit) {
		return hosttest.End{Kind: hosttest.Panicked, Text: err.Error()}
	}
	kept, _ := os.ReadFile(filepath.Join(w.cfg.Processes[host].Dir, "exit"))
	kinds := map[int]hosttest.EndKind{2: hosttest.Panicked, 3: hosttest.Exited, -1: hosttest.Killed}
	kind, ok := kinds[exit.ExitCode()]
	if !ok {
		return hosttest.End{Kind: hosttest.Panicked, Text: fmt.Sprintf("%v: %s", err, stderr)}
	}
	return hosttest.End{Kind: kind, Text: string(kept)}
}

// Kill sends SIGKILL and waits for the process to be gone.
func (w *childWorld) Kill(host string) {
	cmd := w.procs[host]
	if cmd == nil || w.End(host).Kind != hosttest.Running {
		return
	}
	_ = cmd.Process.Kill()
	w.Until(killLimit, func() bool { return w.End(host).Kind != hosttest.Running })
}

// killLimit bounds the wait for a killed process; it is never waited out.
const killLimit = 60_000_000_000

func TestConformanceWithProcesses(t *testing.T) {
	for _, c := range hosttest.Cases() {
		if c.Fits(hosttest.Caps{}) {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				require.NoError(t, hosttest.Run(c, newChildWorld(t, c)))
			})
		}
	}
}
