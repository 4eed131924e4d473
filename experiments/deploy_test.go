package experiments

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/checkers"
	"tornpage/faults"
)

func deployPlanFile(t *testing.T, name string) faults.Plan {
	t.Helper()
	file := filepath.Join("testdata", "deploy", name)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	p, err := faults.Parse(file, string(text))
	require.NoError(t, err)
	return p
}

// TestDeploy runs scenarios with one process for each host. Every kill that
// the plan asks for happens: servers run until the end, and the client cannot
// be done before the faults are over.
func TestDeploy(t *testing.T) {
	killed := map[string]map[string]uint64{ // one more for each server: at the end
		"local.plan":  {"db": 4, "c1": 1},
		"remote.plan": {"db": 3, "log": 3, "pages": 2, "replica": 2},
	}
	for name, want := range killed {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			r, err := Deploy(t.Context(), deployPlanFile(t, name), DeployOptions{Dir: dir})
			require.NoError(t, err)
			require.True(t, r.Green(), "%v", r)
			require.Equal(t, want, r.Killed)
			require.Empty(t, r.Unfired)
			requireWorked(t, r)
			requireGone(t, r.Log)
		})
	}
}

// requireWorked holds that a run tested something: enough operations of each
// worker, boots after kills, views where there is a replica, and the audit.
func requireWorked(t *testing.T, r *Deployed) {
	t.Helper()
	committed, views := map[int]int{}, 0
	for _, op := range r.History.Ops {
		require.NotZero(t, op.Boot, "operation %d has no boot", op.ID)
		if op.Outcome == checkers.Committed {
			committed[op.Worker]++
			if op.Kind == checkers.View {
				views++
			}
		}
	}
	require.Equal(t, 12, committed[0], "the audit reads every key")
	for w := 1; w <= 3; w++ {
		require.GreaterOrEqual(t, committed[w], quietOps)
	}
	require.GreaterOrEqual(t, len(r.History.Ops), 60)
	require.GreaterOrEqual(t, len(r.History.Boots), 2)
	require.NotEmpty(t, r.History.Durable)
	require.NotEmpty(t, r.History.Commits)
	if r.Killed[replicaName] > 0 {
		require.Positive(t, views)
	}
}

var startLine = regexp.MustCompile(`started as process (\d+)$`)

// requireGone holds that no process that a log tells of is left.
func requireGone(t *testing.T, log []string) {
	t.Helper()
	found := 0
	for _, line := range log {
		m := startLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		found++
		pid, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		p, err := os.FindProcess(pid)
		if err == nil {
			err = p.Signal(syscall.Signal(0))
		}
		require.Error(t, err, "left behind: %s", line)
	}
	require.Positive(t, found)
}

func TestKillPlan(t *testing.T) {
	for _, name := range []string{"local/register", "remote/register"} {
		sc, err := Find(name)
		require.NoError(t, err)
		p, err := sc.KillPlan(3, 5)
		require.NoError(t, err)
		require.Len(t, p.Steps, 5)
		require.NoError(t, onlyKills(p))
		again, err := sc.KillPlan(3, 5)
		require.NoError(t, err)
		require.Equal(t, faults.Print(p), faults.Print(again))
		parsed, err := faults.Parse("plan", faults.Print(p))
		require.NoError(t, err)
		require.Equal(t, p.Steps, parsed.Steps)
	}
}

func TestDeployRefuses(t *testing.T) {
	head := "tornpage plan 1\nscenario local/register\nseed 1\n"
	for text, want := range map[string]string{
		head + "at 1ms power-off db-m\n":                                   `step 1, "at 1ms`,
		head + "at 1ms kill db\nafter 2 checkpoint.done boot db\n":         `step 2, "after 2 checkpoint.done`,
		head + "at 1ms kill dbb\n":                                         `"dbb"`,
		"tornpage plan 1\nscenario demo/torn-page\nseed 1\n":               "scenario demo/torn-page cannot be deployed",
		"tornpage plan 1\nscenario local/registers\nseed 1\n":              `no scenario is named "local/registers"`,
		"tornpage plan 1\nscenario local/register clients=x\nseed 1\n":     "clients",
		"tornpage plan 1\nscenario local/register\nconfig a=b\nseed 1\n":   "a",
		head + "at 1ms for 2ms link zone a <-> zone c drop=10%\n":          "need the simulator",
		head + "at 1ms for 2ms disk db-m/wal stall\nat 1ms kill db\n":      `step 1, "at 1ms`,
		head + "at 1ms for 2ms pause db\n":                                 "need the simulator",
		head + "at 1ms kill db\nat 5ms boot db\nafter event 7 kill db\n":   `step 3, "after event 7`,
		head + "at 1ms kill db\nat 5ms boot db-m\nat 9ms zone a down\n":    `step 3, "at 9ms`,
		head + "at 1ms kill db\nat 5ms boot db\nat 9ms clock db skew=1s\n": `step 3, "at 9ms`,
	} {
		p, err := faults.Parse("plan", text)
		require.NoError(t, err, text)
		r, err := Deploy(t.Context(), p, DeployOptions{Log: func(line string) { t.Errorf("%s\nstarted a process: %s", text, line) }})
		require.ErrorContains(t, err, want, text)
		require.Nil(t, r, text)
	}
}

// TestDeployFindsLoss loses the log between the load and the last boot: the
// checks must say so.
func TestDeployFindsLoss(t *testing.T) {
	t.Parallel()
	p, err := faults.Parse("plan", "tornpage plan 1\nscenario remote/register clients=2 ops=20\nseed 1\n")
	require.NoError(t, err)
	d, err := newDeployment(p, DeployOptions{Dir: filepath.Join(t.TempDir(), "run"), Bound: time.Minute})
	require.NoError(t, err)
	t.Cleanup(func() {
		d.stopAll()
		require.NoError(t, d.clean())
	})
	require.NoError(t, d.load(t.Context()))
	d.kill(d.servers...)
	require.NoError(t, os.RemoveAll(filepath.Join(d.dir, "log-m", logName)))
	require.NoError(t, d.final(t.Context()))
	d.stopAll()
	r, err := d.result(nil)
	require.NoError(t, err)
	require.False(t, r.Green())
	require.Contains(t, r.String(), "durable broken: boot db/2 opened")
	require.Contains(t, r.String(), "--- log of db")
	require.Contains(t, r.String(), "--- history")
	require.Contains(t, r.String(), "scenario  remote/register")
}

// TestDeployExplains runs an engine that cannot open: the result says why, and
// nobody waits for it.
func TestDeployExplains(t *testing.T) {
	t.Parallel()
	text := "tornpage plan 1\nscenario local/register\nconfig rows.per-page=400 value.bytes=2000\nseed 1\n"
	p, err := faults.Parse("plan", text)
	require.NoError(t, err)
	r, err := Deploy(t.Context(), p, DeployOptions{})
	require.NoError(t, err)
	require.Equal(t, "process db refuses to go on before any fault: see its log", r.Failure)
	require.Contains(t, r.String(), "400 rows")
	requireGone(t, r.Log)
}

func TestDeployCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var log []string
	r, err := Deploy(ctx, deployPlanFile(t, "local.plan"), DeployOptions{Log: func(line string) {
		log = append(log, line)
		if len(log) == 3 {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, r)
	requireGone(t, log)
}

// TestOrphan: a process whose parent is gone ends by itself.
func TestOrphan(t *testing.T) {
	t.Parallel()
	d, err := newDeployment(deployPlanFile(t, "local.plan"), DeployOptions{Dir: filepath.Join(t.TempDir(), "run")})
	require.NoError(t, err)
	require.NoError(t, d.start("c1")) // no server runs: it would ask for ever
	p := d.procs["c1"]
	require.NoError(t, p.stdin.Close())
	<-p.done
	require.Equal(t, exitOrphan, p.code)
	require.NoError(t, d.clean())
}
