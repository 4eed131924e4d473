package experiments

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tornpage/engine/host"
	"tornpage/engine/host/oshost"
	"tornpage/faults"
	"tornpage/sim"
)

// What tells a program that it is a process of a deployment: the deployment's
// directory, and the process's name.
const (
	deployDirEnv  = "TORNPAGE_DEPLOY_DIR"
	deployHostEnv = "TORNPAGE_DEPLOY_HOST"
)

// The files of a deployment below its directory. A process has its own
// directory and disks beside them, a journal and a log for each boot.
const (
	deployPlan   = "plan"
	deployConfig = "deployment.json"
	deployBoard  = "board"
	journalEnd   = ".journal"
)

// exitOrphan is the exit code of a process whose parent has gone.
const exitOrphan = 5

// DeployChild is what a program that calls Deploy does first of all: if it was
// started as a process of a deployment it is one until its end, and exits with
// the code. Otherwise handled is false, and the program is what it always is.
func DeployChild() (handled bool, exitCode int) {
	dir, name := os.Getenv(deployDirEnv), os.Getenv(deployHostEnv)
	if dir == "" || name == "" {
		return false, 0
	}
	// The parent holds the other end of standard input, whatever becomes of it.
	// (Linux's PDEATHSIG watches the thread that forked, which may end first.)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(exitOrphan)
	}()
	err := deployed(dir, name)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return true, oshost.ExitCode(err)
}

// deployed is one boot of one process of a deployment.
func deployed(dir, name string) error {
	text, err := os.ReadFile(filepath.Join(dir, deployPlan))
	if err != nil {
		return err
	}
	p, err := faults.Parse(deployPlan, string(text))
	if err != nil {
		return err
	}
	cfg, err := oshost.Load(filepath.Join(dir, deployConfig))
	if err != nil {
		return err
	}
	b, err := openBoard(filepath.Join(dir, deployBoard))
	if err != nil {
		return err
	}
	defer func() { _ = b.close() }()
	boot, err := deployedBoot(dir, name, p, b)
	if err != nil {
		return err
	}
	log := func(line string) { fmt.Fprintf(os.Stderr, "%v %s\n", b.now(), line) }
	proc, err := oshost.Start(cfg, name, oshost.Options{Log: log, Warn: log}, boot)
	if err != nil {
		return err
	}
	if end := proc.Wait(); end.Kind != oshost.Returned {
		return &oshost.Ended{Process: name, Boot: proc.Boot(), End: end}
	}
	return nil
}

// deployedBoot makes the boot function of a process, with what its earlier
// boots have left in their journals.
func deployedBoot(dir, name string, p faults.Plan, b *board) (func(host.Machine), error) {
	x, err := forReal(p)
	if err != nil {
		return nil, err
	}
	x.real = b
	session := b.words[boardSessions].Add(1)
	x.rec.stamp, x.rec.now = b.stamp, b.now
	// Values are unique in the whole deployment: each process has its range.
	x.rec.values = uint64(session) * valuesOfSession
	hosts := x.sc.world(x).Hosts
	i := slices.IndexFunc(hosts, func(h sim.Host) bool { return h.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("scenario %s has no process %q", p.Scenario, name)
	}
	earlier, err := readJournals(dir, name, x.obs)
	if err != nil {
		return nil, err
	}
	for _, c := range x.clients {
		if clientName(c.worker) == name {
			for _, a := range earlier {
				c.done += len(a.hist.Ops)
			}
		}
	}
	x.rec.log, err = openJournal(journalPath(dir, name, session))
	if err != nil {
		return nil, err
	}
	x.rec.log.answered = func() { b.words[boardAnswered].Add(1) }
	return hosts[i].Boot, nil
}

// valuesOfSession is how many values a process may write in one boot. In
// decimal, so that a person reads off a value which boot wrote it.
const valuesOfSession = 1_000_000_000

// forReal prepares a run without a world.
func forReal(p faults.Plan) (*run, error) {
	sc, err := Find(p.Scenario)
	if err != nil {
		return nil, err
	}
	x := &run{plan: p, sc: sc, rec: &Recorder{}}
	if x.s, err = parse(p); err != nil {
		return nil, err
	}
	x.obs = newObserver(x.rec)
	x.work = sc.load(x)
	return x, nil
}

func journalPath(dir, host string, session int64) string {
	return filepath.Join(dir, fmt.Sprintf("%s.%d%s", host, session, journalEnd))
}

// readJournals reads the journals of one process, or of all if host is empty,
// in the order in which the processes were started.
func readJournals(dir, host string, o *observer) ([]*account, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	type file struct {
		name, host string
		session    int
	}
	var files []file
	for _, e := range entries {
		stem, ok := strings.CutSuffix(e.Name(), journalEnd)
		at := strings.LastIndexByte(stem, '.')
		if !ok || at < 0 || host != "" && stem[:at] != host {
			continue
		}
		n, err := strconv.Atoi(stem[at+1:])
		if err != nil {
			return nil, fmt.Errorf("journal %s: %w", e.Name(), err)
		}
		files = append(files, file{e.Name(), stem[:at], n})
	}
	slices.SortFunc(files, func(a, b file) int { return a.session - b.session })
	var accounts []*account
	for _, f := range files {
		a, err := readJournal(filepath.Join(dir, f.name), f.host, o)
		if err != nil {
			return nil, err
		}
		accounts = append(accounts, a)
	}
	return accounts, nil
}
