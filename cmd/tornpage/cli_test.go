package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"tornpage/experiments"
	"tornpage/faults"
)

// asCommand makes the test binary the command itself, for what starts it again.
const asCommand = "TORNPAGE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// call runs a command line in this process, in which each command takes two
// seconds of wall time.
func call(args ...string) (stdout, stderr string, code int) {
	var out, err bytes.Buffer
	var calls time.Duration
	a := &app{out: &out, err: &err, env: func(string) string { return "" }, now: func() time.Time {
		calls++
		return time.Unix(0, 0).Add(calls * 2 * time.Second)
	}}
	code = a.execute(context.Background(), args)
	return out.String(), err.String(), code
}

// scenarios is the list of all of them, which grows.
var scenarios = regexp.MustCompile(`there are local/.*`)

// Conversations with the command line. "file NAME" writes a file, "tornpage
// ARGS" runs a command; "first-line" leaves out the numbers that are the
// engine's business. Lines of standard error begin with "!".
func TestCommandLine(t *testing.T) {
	root, err := filepath.Abs("testdata/cli")
	require.NoError(t, err)
	datadriven.Walk(t, root, func(t *testing.T, path string) {
		t.Chdir(t.TempDir())
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "file":
				name := d.CmdArgs[0].Key
				require.NoError(t, os.WriteFile(name, []byte(d.Input+"\n"), 0o600))
				return ""
			case "tornpage":
				return conversation(d)
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

func conversation(d *datadriven.TestData) string {
	var b strings.Builder
	stdout, stderr, code := call(strings.Fields(d.Input)...)
	if d.HasArg("first-line") {
		stdout, _, _ = strings.Cut(stdout, "\n")
		stdout += "\n"
	}
	b.WriteString(stdout)
	for _, l := range strings.SplitAfter(stderr, "\n") {
		if l != "" {
			b.WriteString("! " + l)
		}
	}
	return scenarios.ReplaceAllString(b.String(), "there are ...") + fmt.Sprintf("exit %d\n", code)
}

const scenario = "local/register"

func TestRunOneSeed(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"run", scenario, "--seed", "0x7", "--set", "ops=40", "--no-faults"}
	stdout, stderr, code := call(args...)
	require.Equal(t, exitClean, code, stderr)
	require.Contains(t, stdout, "local/register, seed 7")
	require.Contains(t, stdout, "simulated in 2s")
	require.Contains(t, stderr, "next: tornpage run local/register --seeds 1000")
	again, _, _ := call(args...)
	require.Equal(t, stdout, again)
	_, err := os.Stat("failures")
	require.ErrorIs(t, err, os.ErrNotExist, "a clean run writes nothing")
}

func TestLogAndTrace(t *testing.T) {
	t.Chdir(t.TempDir())
	stdout, stderr, code := call("run", scenario, "--set", "ops=20", "--log", "--trace", "events", "--json")
	require.Equal(t, exitClean, code)
	require.Contains(t, stderr, " db ")
	var run runJSON
	require.NoError(t, json.Unmarshal([]byte(stdout), &run))
	text, err := os.ReadFile("events")
	require.NoError(t, err)
	require.Equal(t, run.Events, uint64(bytes.Count(text, []byte("\n"))))
	require.Contains(t, string(text), " world power-off db-m\n")

	_, stderr, code = call("run", scenario, "--trace", "no/such/directory/x")
	require.Equal(t, exitUnknown, code)
	require.Contains(t, stderr, "give another file with --trace")
}

// lying is beyond every budget: the disk of the log acknowledges syncs that it
// does not do.
const lying = "tornpage plan 1\nscenario local/register clients=2 keys=6 ops=60\nseed %d\n" +
	"at 20ms for 800ms disk db-m/wal lost-sync\nat 400ms power-off db-m\nat 401ms boot db-m\n"

// lost writes the plan of a run that loses what it acknowledged.
func lost(t *testing.T) string {
	t.Helper()
	for seed := range 20 {
		require.NoError(t, os.WriteFile("lost.plan", fmt.Appendf(nil, lying, seed), 0o600))
		if _, _, code := call("replay", "lost.plan"); code == exitViolation {
			return "lost.plan"
		}
	}
	t.Fatal("a disk that lies lost nothing in 20 seeds")
	return ""
}

func TestReplay(t *testing.T) {
	t.Chdir(t.TempDir())
	file := lost(t)
	stdout, _, code := call("replay", file)
	require.Equal(t, exitViolation, code)
	require.Contains(t, stdout, "lost.plan: ")
	require.Contains(t, stdout, "replay: tornpage replay lost.plan")

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	p, err := faults.Parse(file, string(text))
	require.NoError(t, err)
	m, err := experiments.Measure(p, experiments.Options{})
	require.NoError(t, err)
	write := func(name string, p faults.Plan) {
		require.NoError(t, os.WriteFile(name, []byte(faults.Print(p)), 0o600))
	}

	write("saved.plan", m.Expecting())
	stdout, stderr, code := call("replay", "saved.plan")
	require.Equal(t, exitViolation, code)
	require.Regexp(t, `^REPRODUCED: saved.plan: expected (\w+) broken, found (\w+) broken \(hash equal\)\n`, stdout)
	require.Contains(t, stderr, "next: tornpage replay saved.plan --log --trace trace.txt")

	write("mended.plan", experiments.WithoutFaults(m.Expecting()))
	stdout, _, code = call("replay", "mended.plan")
	require.Equal(t, exitClean, code)
	require.Regexp(t, `^FIXED: mended.plan: expected \w+ broken, found holds \(another hash: code or plan changed`, stdout)

	other := m.Expecting()
	other.Comment = []string{"expect: views undecided"}
	write("other.plan", other)
	stdout, _, code = call("replay", "other.plan", "--json")
	require.Equal(t, exitViolation, code)
	var run runJSON
	require.NoError(t, json.Unmarshal([]byte(stdout), &run))
	require.Equal(t, "DIFFERENT", run.Answer)
	require.Equal(t, "views undecided", run.Expected)
}

// A hunt that finds something explains it, saves the plan, and the plan
// replays it.
func TestHunt(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"run", scenario, "--seeds", "20", "--set", "fpw=off", "--set", "checksums=off", "--out", "bad", "--csv", "rows.csv"}
	stdout, stderr, code := call(args...)
	require.Equal(t, exitViolation, code, stdout+stderr)
	lines := strings.Split(stdout, "\n")
	require.Regexp(t, `^local/register: 20 seeds from 1, .*broken in \d+ seeds?.*: .* simulated in 2s .* crash points?, .* fault kinds struck, .* hash [0-9a-f]{16}$`, lines[0])
	match := regexp.MustCompile(`replay: tornpage replay (bad/local-register-\d+\.plan)`).FindStringSubmatch(stdout)
	require.NotNil(t, match, stdout)
	replayed, _, code := call("replay", match[1])
	require.Equal(t, exitViolation, code)
	require.True(t, strings.HasPrefix(replayed, "REPRODUCED: "), replayed)
	require.Contains(t, replayed, "(hash equal)")

	rows, err := os.ReadFile("rows.csv")
	require.NoError(t, err)
	table, err := csv.NewReader(bytes.NewReader(rows)).ReadAll()
	require.NoError(t, err)
	require.Len(t, table, 21)
	require.Equal(t, experiments.Columns(), table[0])

	again, _, _ := call(append(args, "-j", "3")...)
	require.Equal(t, stdout, again, "how many worlds run at a time changes nothing")
	rows2, err := os.ReadFile("rows.csv")
	require.NoError(t, err)
	require.Equal(t, string(rows), string(rows2))
}

func TestHuntThatIsClean(t *testing.T) {
	t.Chdir(t.TempDir())
	stdout, stderr, code := call("run", scenario, "--seeds", "3", "--set", "ops=30", "--json")
	require.Equal(t, exitClean, code, stdout+stderr)
	var hunt huntJSON
	require.NoError(t, json.Unmarshal([]byte(stdout), &hunt))
	require.Equal(t, uint64(3), hunt.Seeds)
	require.Equal(t, "holds", hunt.Result)
	require.Empty(t, hunt.Failures)
	stdout, stderr, code = call("run", scenario, "--seeds", "3", "--set", "ops=30", "--no-faults")
	require.Equal(t, exitClean, code)
	require.Contains(t, stdout, "3 seeds from 1, clean: ")
	require.Contains(t, stderr, "next: tornpage run local/register --seed 4 --seeds 3 --set ops=30 --no-faults")
}

// list names every setting, with the default that holds when a plan is silent.
func TestListIsComplete(t *testing.T) {
	for _, sc := range experiments.Scenarios() {
		silent, err := experiments.SettingsOf(faults.Plan{Scenario: sc.Name})
		require.NoError(t, err)
		params, config := experiments.Keys(sc.Name)
		require.NotEmpty(t, params)
		require.NotEmpty(t, config)
		stdout, _, code := call("list", sc.Name)
		require.Equal(t, exitClean, code)
		require.Contains(t, stdout, sc.About)
		for _, key := range append(params, config...) {
			require.NotEmpty(t, known[key].about, "%s: say in keys.go what it means", key)
			p, err := experiments.Set(faults.Plan{Scenario: sc.Name}, key, known[key].value)
			require.NoError(t, err)
			s, err := experiments.SettingsOf(p)
			require.NoError(t, err)
			require.True(t, reflect.DeepEqual(silent, s), "%s: a plan that is silent does not mean %s; mend keys.go", key, known[key].value)
			require.Contains(t, stdout, key)
		}
	}
	stdout, _, _ := call("list", "--json")
	var all struct{ Scenarios []scenarioJSON }
	require.NoError(t, json.Unmarshal([]byte(stdout), &all))
	require.Len(t, all.Scenarios, len(experiments.Scenarios()))
}

func TestDeterminismOfThisBinary(t *testing.T) {
	t.Setenv(asCommand, "1")
	stdout, stderr, code := call("determinism", scenario, "--same-binary", "--seeds", "2")
	require.Equal(t, exitClean, code, stdout+stderr)
	require.Equal(t, 1, strings.Count(stdout, " reference"))
	require.Equal(t, 3, strings.Count(stdout, " equal"), stdout)
}

func TestDeterminismWithoutSource(t *testing.T) {
	_, stderr, code := call("determinism", scenario, "--src", t.TempDir())
	require.Equal(t, exitUnknown, code)
	require.Contains(t, stderr, "no source of tornpage at ")
	require.Contains(t, stderr, "--src DIR")
}

// Two programs that give other hashes: the answer names seed and event of the
// first difference, and both sides. One that fails, or does not begin, is told
// apart from one that differs.
func TestDivergence(t *testing.T) {
	t.Chdir(t.TempDir())
	script := func(name, hash, line string) string {
		text := "#!/bin/sh\ncase $1 in hashes) echo 7 1 " + hash + ";; events) echo '" + line + "';; esac\n"
		require.NoError(t, os.WriteFile(name, []byte(text), 0o700))
		return name
	}
	a := &app{now: time.Now}
	trialOf := func(name, path string) *trial {
		x := &trial{Variant: name, p: &program{variant: variant{name: name}, path: path, ctx: context.Background()}}
		x.hashes, x.err = x.p.steps(scenario, 7, 1, 0)
		if x.err == nil {
			x.Hash, x.Events = strconv.FormatUint(x.hashes[7][0].Hash, 16), 1
		}
		return x
	}
	one := trialOf("one", "./"+script("one", "00000000000000aa", "aa 1 0s db boot"))
	two := trialOf("two", "./"+script("two", "00000000000000bb", "bb 1 0s db kill"))
	none := trialOf("none", "./missing")
	require.NoError(t, os.WriteFile("bad", []byte("#!/bin/sh\necho data race >&2\nexit 66\n"), 0o700))
	bad := trialOf("bad", "./bad")

	require.Equal(t, exitClean, a.compare(scenario, []*trial{one, trialOf("same", "./one")}))
	require.Equal(t, exitUnknown, a.compare(scenario, []*trial{one, none}))
	require.Equal(t, "not run", none.Result)
	require.Equal(t, exitUnknown, a.compare(scenario, []*trial{one, bad}))
	require.Equal(t, "failed", bad.Result)
	require.Contains(t, bad.Detail, "data race")
	require.Equal(t, exitDiverged, a.compare(scenario, []*trial{one, two, none}))
	require.Equal(t, "seed 7, event 1 is the first that differs\n  before        (no event)\n"+
		"  one           aa 1 0s db boot\n  two           bb 1 0s db kill", two.Detail)
}

func TestColour(t *testing.T) {
	env := map[string]string{}
	a := &app{outTTY: true, env: func(k string) string { return env[k] }}
	require.Equal(t, "\x1b[31mx\x1b[0m", a.paint(red, "x"))
	a.noColor = true
	require.Equal(t, "x", a.paint(red, "x"))
	a.noColor, env["NO_COLOR"] = false, "1"
	require.Equal(t, "x", a.paint(red, "x"))
	env["NO_COLOR"], a.outTTY = "", false
	require.Equal(t, "x", a.paint(red, "x"))
}

func TestWords(t *testing.T) {
	require.Equal(t, "1,234,567", count(1234567))
	require.Equal(t, "999", count(999))
	require.Equal(t, "1 seed", plural(1, "seed"))
	require.Equal(t, "1,000 seeds", plural(1000, "seed"))
	require.Equal(t, "3m36s", span(216*time.Second+123*time.Millisecond))
	require.Equal(t, "1.05s", span(1049*time.Millisecond))
	require.Equal(t, "2,000x", speedUp(4000*time.Second, 2*time.Second))
	require.Equal(t, "1.5x", speedUp(3*time.Second, 2*time.Second))
	require.Equal(t, "?x", speedUp(time.Second, 0))
	require.Equal(t, "none", wrap(nil))
}

// Progress is for terminals, and waits.
func TestProgressWaits(t *testing.T) {
	var err bytes.Buffer
	a := &app{err: &err, errTTY: true}
	step, done := a.progress(3, scenario)
	step()
	step()
	done()
	require.Empty(t, err.String())
	l := late{w: &err, from: time.Now().Add(-time.Second)}
	fmt.Fprint(&l, "1/3")
	require.Equal(t, "1/3", err.String())
	require.True(t, l.wrote)
}

// The load by wait event: a table for people, numbers for machines.
func TestLoadByWaitEvent(t *testing.T) {
	args := []string{"run", "local/register", "--seed", "7", "--load", "--load-every", "500ms"}
	out, _, code := call(args...)
	require.Zero(t, code)
	require.Contains(t, out, "load of db: average active sessions by wait event")
	require.Regexp(t, `(?m)^ +from +active +`, out)
	require.Regexp(t, `(?m)^500ms +\d+\.\d\d`, out)

	out, _, code = call(append(args, "--json")...)
	require.Zero(t, code)
	var j runJSON
	require.NoError(t, json.Unmarshal([]byte(out), &j))
	require.Greater(t, len(j.Load), 2)
	require.Zero(t, j.Load[0].FromNS)
	require.Equal(t, j.VirtualNS, j.Load[len(j.Load)-1].ToNS)
	require.Greater(t, j.Load[0].Active["IO:WALSync"], 0.0)
	require.NotContains(t, j.Load[0].Active, "Timeout:Sleep", "idle tasks are not counted")
}
