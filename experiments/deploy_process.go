package experiments

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"tornpage/engine/host/oshost"
	"tornpage/faults"
	"tornpage/sim"
)

// process is one boot of a process of a deployment, as its parent sees it.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer     // its other end is how the process knows that we live
	done   chan struct{} // closed when the process is gone
	code   int           // its exit code, once done; -1: killed
	reaped bool          // its end has been seen by the deployment
}

// newDeployment makes the files that processes start from.
func newDeployment(p faults.Plan, opt DeployOptions) (*deployment, error) {
	x, err := forReal(p)
	if err != nil {
		return nil, err
	}
	d := &deployment{plan: p, opt: opt, x: x, dir: opt.Dir, procs: map[string]*process{},
		killed: map[string]uint64{}, ends: map[string]int{}}
	d.world = x.sc.world(x)
	d.servers = x.servers(d.world)
	if err := (realWorld{d: d}).Names().Check(p); err != nil {
		return nil, fmt.Errorf("plan for %s: %w", p.Scenario, err)
	}
	if d.exe, err = program(); err != nil {
		return nil, err
	}
	if opt.Dir == "" {
		d.dir, err = os.MkdirTemp("", "tornpage-deploy-")
	} else {
		err = os.Mkdir(opt.Dir, 0o755)
	}
	if err != nil {
		return nil, err
	}
	if err = d.files(); err != nil && opt.Dir == "" {
		err = errors.Join(err, os.RemoveAll(d.dir))
	}
	return d, err
}

func (d *deployment) files() error {
	cfg, err := deploymentConfig(d.plan.Seed, d.dir, d.world)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(cfg, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(d.dir, deployConfig), text, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(d.dir, deployPlan), []byte(faults.Print(d.plan)), 0o644); err != nil {
		return err
	}
	d.board, err = makeBoard(filepath.Join(d.dir, deployBoard))
	return err
}

// deploymentConfig is a simulated world's counterpart on this machine.
func deploymentConfig(seed uint64, dir string, w sim.Config) (oshost.Config, error) {
	cfg := oshost.Config{Seed: seed, Processes: map[string]oshost.ProcessConfig{}}
	machines := map[string]sim.Machine{}
	for _, m := range w.Machines {
		machines[m.Name] = m
	}
	ip, taken := loopback(), map[string]bool{}
	for _, h := range w.Hosts {
		addr, err := freePort(ip, taken)
		if err != nil {
			return cfg, err
		}
		m := machines[h.Machine]
		p := oshost.ProcessConfig{Zone: m.Zone, Address: addr, Dir: filepath.Join(dir, h.Name), Disks: map[string]string{}}
		for _, disk := range m.Disks {
			// By the machine: two processes with one disk are refused below.
			p.Disks[disk.Name] = filepath.Join(dir, m.Name, disk.Name)
		}
		cfg.Processes[h.Name] = p
	}
	return cfg, cfg.Validate()
}

// loopback is an address of this machine that hardly anybody else uses: on
// Linux all of 127.0.0.0/8 is loopback. So the port of a process that is down
// is not taken by another deployment meanwhile. Elsewhere it is 127.0.0.1.
func loopback() string {
	addr := fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	l, err := net.Listen("tcp", addr+":0")
	if err != nil {
		return "127.0.0.1"
	}
	_ = l.Close()
	return addr
}

// freePort finds a free address below the range of ports that systems take
// for dialling (32,768 up on Linux, 49,152 up elsewhere).
func freePort(ip string, taken map[string]bool) (string, error) {
	var last error
	for range 1000 {
		addr := fmt.Sprintf("%s:%d", ip, 10_000+rand.IntN(20_000))
		if taken[addr] {
			continue
		}
		l, err := net.Listen("tcp", addr)
		if err != nil {
			last = err
			continue
		}
		taken[addr] = true
		return addr, l.Close()
	}
	return "", fmt.Errorf("no free port at %s in 1,000 attempts: %w", ip, last)
}

// program is the file of this program. On Linux that is the running one, also
// if its file was replaced or removed meanwhile, as "go run" and "go test" do.
func program() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// start starts a process, unless it runs.
func (d *deployment) start(name string) error {
	if p := d.procs[name]; p != nil && !p.reaped {
		return nil
	}
	log, err := os.OpenFile(d.logPath(name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(d.exe)
	cmd.Env = append(os.Environ(), deployDirEnv+"="+d.dir, deployHostEnv+"="+name)
	cmd.Stdout, cmd.Stderr = log, log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("process %s: %w", name, err)
	}
	p := &process{cmd: cmd, stdin: stdin, done: make(chan struct{})}
	d.procs[name] = p
	d.logf("%s started as process %d", name, cmd.Process.Pid)
	go func() {
		_ = cmd.Wait() // the exit code says it all
		p.code = cmd.ProcessState.ExitCode()
		close(p.done)
	}()
	return nil
}

func (d *deployment) logPath(name string) string { return filepath.Join(d.dir, name+".log") }

// kill sends SIGKILL to processes and waits for them to be gone.
func (d *deployment) kill(names ...string) {
	for _, name := range names {
		if p := d.procs[name]; p != nil && !p.reaped {
			_ = p.cmd.Process.Kill() // an error: it has just ended
		}
	}
	for _, name := range names {
		if p := d.procs[name]; p != nil && !p.reaped {
			<-p.done
			p.reaped = true
			if p.code == -1 {
				d.killed[name]++
				d.logf("%s killed", name)
			} else {
				d.ended(name, p.code)
			}
		}
	}
}

// stopAll leaves no process behind.
func (d *deployment) stopAll() {
	for name := range d.procs {
		if p := d.procs[name]; !p.reaped {
			_ = p.cmd.Process.Kill()
			<-p.done
			p.reaped = true
		}
	}
}
