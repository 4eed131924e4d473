package experiments

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/checkers"
	"tornpage/faults"
	"tornpage/sim"
	"tornpage/sim/trace"
)

// lying is a plan beyond every budget: the log's disk acknowledges syncs that
// it does not do, and then power fails.
const lying = `tornpage plan 1
scenario  local/register   clients=2 keys=6 ops=60
seed      %d
at 20ms for 800ms  disk db-m/wal lost-sync
at 60ms for 150ms  disk db-m/data slow=2x
at 400ms          power-off db-m
at 401ms          boot db-m
after 9000 wal.flushed  kill db
`

func planText(t *testing.T, text string, args ...any) faults.Plan {
	t.Helper()
	p, err := faults.Parse("test", fmt.Sprintf(text, args...))
	require.NoError(t, err)
	return p
}

// brokenRun is the first seed of the lying disk for which some check breaks.
func brokenRun(t *testing.T) *Measured {
	t.Helper()
	for seed := range uint64(20) {
		m, err := Measure(planText(t, lying, seed), Options{})
		require.NoError(t, err)
		if m.Worst().Result == checkers.Broken {
			return m
		}
	}
	t.Fatal("a disk that lies about every sync lost nothing in 20 seeds")
	return nil
}

func TestExplain(t *testing.T) {
	m := brokenRun(t)
	lines := m.Explain("out/x.plan")
	require.LessOrEqual(t, len(lines), MaxLines)
	text := strings.Join(lines, "\n")
	worst := m.Worst()
	require.Contains(t, lines[0], fmt.Sprintf("local/register seed %d: %s broken: ", m.Plan.Seed, worst.Check))
	require.Contains(t, text, "fault: disk db-m/wal lost-sync")
	require.Contains(t, text, "db-m loses power")
	require.Contains(t, text, "replay: tornpage replay out/x.plan")
	require.Contains(t, text, fmt.Sprintf("hash %016x", m.Hash))
	for _, l := range lines {
		require.LessOrEqual(t, len(l), lineWidth)
	}
	again, err := Measure(m.Plan, Options{})
	require.NoError(t, err)
	require.Equal(t, lines, again.Explain("out/x.plan"), "the same plan has one explanation")
}

func TestGreenRunsNeedNoExplanation(t *testing.T) {
	m, err := Measure(WithoutFaults(planText(t, lying, 1)), Options{})
	require.NoError(t, err)
	require.True(t, m.Worst().Green(), "%v", m.Worst())
	require.Empty(t, m.Explain("x"))
}

// Long reasons, many checks and many operations still fit.
func TestExplainStaysShort(t *testing.T) {
	var ops []int64
	h := &checkers.History{}
	for i := range int64(40) {
		ops = append(ops, i+1)
		h.Ops = append(h.Ops, checkers.Op{ID: i + 1, Client: 1, Kind: checkers.Put, Keys: []int64{1}, Values: []uint64{7}, Call: i, Return: checkers.Open})
	}
	long := strings.Repeat("very long\nand in lines ", 60)
	v := checkers.Verdict{Check: "durable", Result: checkers.Broken, What: long, Ops: ops, Details: []string{long, long, long, long, long}}
	m := &Measured{Result: &Result{History: h, Verdicts: []checkers.Verdict{{Check: "linear", Result: checkers.Broken}, v}}}
	m.Failure = &sim.Failure{Process: "db", Value: errors.New("gone"), Stack: "tornpage/engine/local.(*Storage).Open(0x1)\n"}
	lines := m.Explain("x")
	require.LessOrEqual(t, len(lines), MaxLines)
	require.Contains(t, lines[0], "panic broken: db (boot 0)", "a panic is nearer to the cause than what it broke")
	require.Contains(t, lines[1], "in tornpage/engine/local.(*Storage).Open")
	require.Contains(t, lines[2], "also: durable broken, linear broken")

	m.Failure = nil
	lines = m.Explain("x")
	require.LessOrEqual(t, len(lines), MaxLines)
	require.Contains(t, strings.Join(lines, "\n"), "client 1 calls put k1=7 (op 1)")
	for _, l := range lines {
		require.NotContains(t, l, "\n")
		require.LessOrEqual(t, len(l), lineWidth)
	}
}

// A world that panics is a failed run, which is explained and replayed.
func TestPanicOfTheWorld(t *testing.T) {
	p := planText(t, lying, 1)
	run := func() *Measured {
		m, err := Measure(p, Options{Trace: func(_ *sim.World, e *trace.Event) {
			if e.Kind == trace.PowerOff {
				panic("the sky falls")
			}
		}})
		require.NoError(t, err)
		return m
	}
	m := run()
	require.Contains(t, m.Explain("x")[0], "panic broken: the world (boot 0) at ")
	require.Contains(t, m.Explain("x")[0], fmt.Sprintf("event %d: task events: panic: the sky falls", m.Events))
	require.Contains(t, m.Explain("x")[1], "in tornpage/sim/trace.(*Log).Add")
	require.NotZero(t, m.Hash)
	require.Equal(t, m.Hash, run().Hash)
	require.Equal(t, "panic broken", rowOf(m).Verdict.Check+" "+rowOf(m).Verdict.Result.String())
}

func TestFaultsThatStruck(t *testing.T) {
	m := brokenRun(t)
	require.Positive(t, m.Kinds[faults.KindLostSync], "counted by the disk")
	require.Equal(t, uint64(1), m.Kinds[faults.KindPowerOff], "acts as soon as its step does")
	n, planned := m.Kinds[faults.KindKill]
	require.True(t, planned)
	require.Zero(t, n, "its mark was never reached")
	require.Equal(t, []int{4}, m.Unfired)
	require.Equal(t, uint64(2), m.PowerOffs, "the plan's and the one at the end of every run")
	require.Zero(t, m.Kills)
}

func TestExpectations(t *testing.T) {
	m := brokenRun(t)
	p := m.Expecting()
	e, said, err := ExpectedOf(p)
	require.NoError(t, err)
	require.True(t, said)
	require.Equal(t, Expected{m.Worst().Check, "broken", fmt.Sprintf("%016x", m.Hash)}, e)
	require.Equal(t, Reproduced, e.Judge(m))
	require.Equal(t, p, measured(t, p).Expecting(), "comments are replaced, not added")

	clean := measured(t, WithoutFaults(p))
	require.Equal(t, Fixed, e.Judge(clean))
	require.Equal(t, Different, Expected{Check: "views", Result: "undecided"}.Judge(m))
	require.Equal(t, Different, Expected{Result: "holds"}.Judge(m))
	require.Equal(t, Reproduced, Expected{Result: "holds"}.Judge(clean))

	for _, bad := range []string{"expect: ", "expect: durable", "expect: durable holds", "expect: a b c"} {
		_, said, err := ExpectedOf(faults.Plan{Comment: []string{bad}})
		require.ErrorContains(t, err, "want \"expect: CHECK broken\"", bad)
		require.False(t, said)
	}
	_, said, err = ExpectedOf(faults.Plan{Comment: []string{"found at night", "hash: 12"}})
	require.NoError(t, err)
	require.False(t, said)
}

func measured(t *testing.T, p faults.Plan) *Measured {
	t.Helper()
	m, err := Measure(p, Options{})
	require.NoError(t, err)
	return m
}
