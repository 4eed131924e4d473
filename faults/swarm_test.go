package faults_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/faults"
	"tornpage/faults/plangen"
)

// wide is a space with targets of every kind.
func wide() faults.Space {
	return faults.Space{
		Names:    newWorld().names,
		Scenario: "quorum/tpcb",
		Params:   []faults.Dim{{Key: "clients", Values: []string{"2", "4", "8"}}},
		Config: []faults.Dim{
			{Key: "pool.pages", Values: []string{"8", "64", "1024"}},
			{Key: "wal.segment", Values: []string{"32KiB", "1MiB", "16MiB"}},
			{Key: "fpw", Values: []string{"on", "off"}},
		},
		Horizon: 10 * time.Second,
		Quiet:   2 * time.Second,
	}
}

func TestSwarmPlansAreValidAndEnd(t *testing.T) {
	kinds := map[faults.Kind]int{}
	sizes := map[int]int{}
	triggers := map[faults.TriggerKind]int{}
	values := map[string]int{}
	s := wide()
	require.NoError(t, s.Check())
	for seed := range uint64(600) {
		p := faults.Swarm(seed, s)
		require.NoError(t, p.Check(), "seed %d", seed)
		require.NoError(t, s.Names.Check(p))
		require.LessOrEqual(t, len(p.Steps), 16+1)
		again, err := faults.Parse("p", faults.Print(p))
		require.NoError(t, err)
		require.Equal(t, p, again)
		quiet, ok := p.QuietAt()
		require.True(t, ok)
		require.LessOrEqual(t, quiet, s.Horizon-s.Quiet)
		ok, why := faults.Within(p, faults.AnyBudget())
		require.True(t, ok, why)
		sizes[len(p.Steps)]++
		for _, kv := range p.Config {
			values[kv.Value]++
		}
		for _, step := range p.Steps[:len(p.Steps)-1] {
			triggers[step.Trigger.Kind]++
			require.Equal(t, faults.Lasting(step.Action), step.For > 0, "%v", step)
			if step.Trigger.Kind == faults.AtTime {
				require.LessOrEqual(t, step.Trigger.Time+step.For, s.Horizon-s.Quiet)
			}
			for _, k := range step.Action.Kinds() {
				kinds[k]++
			}
		}
	}
	require.Len(t, kinds, len(faults.Kinds()), "every kind comes")
	require.Positive(t, sizes[1], "some plans have no fault")
	require.Positive(t, sizes[17], "some are full")
	require.Positive(t, triggers[faults.AfterMark])
	require.Greater(t, values["8"], values["1024"], "tiny sizes are common")
	require.Positive(t, values["1024"])
}

func TestSwarmStaysWithinItsBudget(t *testing.T) {
	for _, b := range []faults.Budget{faults.LocalBudget(), faults.QuorumBudget(), faults.LakeBudget()} {
		s := wide()
		s.Budget = &b
		steps := 0
		for seed := range uint64(200) {
			p := faults.Swarm(seed, s)
			ok, why := faults.Within(p, b)
			require.True(t, ok, "seed %d: %s", seed, why)
			steps += len(p.Steps) - 1
		}
		require.Greater(t, steps, 200, b.Storage)
	}
}

// One kind more, or one setting more, moves no choice of the others.
func TestSwarmDrawsAreIndependent(t *testing.T) {
	s := wide()
	s.MaxSteps = 300 // room for all
	without := s
	without.Kinds = slices.DeleteFunc(faults.Kinds(), func(k faults.Kind) bool { return k == faults.KindKill })
	more := s
	more.Config = append([]faults.Dim{{Key: "gossip.period", Values: []string{"1ms", "1s"}}}, s.Config...)
	kills := 0
	for seed := range uint64(100) {
		p := faults.Swarm(seed, s)
		var others []faults.Step
		for _, step := range p.Steps {
			if _, kill := step.Action.(faults.Kill); kill {
				kills++
			} else {
				others = append(others, step)
			}
		}
		require.Equal(t, others, faults.Swarm(seed, without).Steps)
		q := faults.Swarm(seed, more)
		require.Equal(t, p.Steps, q.Steps)
		require.Equal(t, p.Config, q.Config[1:])
	}
	require.Positive(t, kills)
}

// The same plans on every machine: change this value only together with the
// swarm, and know that every seed written down then means another plan.
func TestSwarmIsPinned(t *testing.T) {
	h := sha256.New()
	for seed := range uint64(50) {
		fmt.Fprint(h, faults.Swarm(seed<<40+seed, wide()))
	}
	require.Equal(t, "b0c97258f93a331f", fmt.Sprintf("%x", h.Sum(nil)[:8]))
}

func TestSwarmOnANarrowSpace(t *testing.T) {
	s := faults.Space{Scenario: "s", Names: faults.Names{Hosts: []string{"db"}}, Horizon: time.Second, MaxSteps: 3}
	for seed := range uint64(100) {
		p := faults.Swarm(seed, s)
		require.LessOrEqual(t, len(p.Steps), 4)
		for _, step := range p.Steps {
			require.Contains(t, []string{"kill", "pause", "clock", "quiet"}, strings.Fields(step.Action.String())[0])
		}
	}
	s.Horizon = 0
	require.Len(t, faults.Swarm(1, s).Steps, 1, "no time, no faults")
}

func TestSpaceCheck(t *testing.T) {
	for want, change := range map[string]func(*faults.Space){
		`dimension "x" has no values`:      func(s *faults.Space) { s.Config = []faults.Dim{{Key: "x"}} },
		`value "" is empty`:                func(s *faults.Space) { s.Params = []faults.Dim{{Key: "x", Values: []string{""}}} },
		`key "fpw" is given twice`:         func(s *faults.Space) { s.Config = append(s.Config, s.Config[2]) },
		`quiet time 2s and horizon 1s`:     func(s *faults.Space) { s.Horizon = time.Second },
		`steps at most are not within`:     func(s *faults.Space) { s.MaxSteps = -1 },
		`scenario: the name is missing`:    func(s *faults.Space) { s.Scenario = "" },
		`host: "a/b" has a slash`:          func(s *faults.Space) { s.Hosts = []string{"a/b"} },
		`zone: the name is missing`:        func(s *faults.Space) { s.Zones = []string{""} },
		`disk: the name is missing`:        func(s *faults.Space) { s.Disks = []faults.DiskName{{Machine: "m"}} },
		`mark: "a b" is no name: letters,`: func(s *faults.Space) { s.Marks = []string{"a b"} },
	} {
		s := wide()
		change(&s)
		require.ErrorContains(t, s.Check(), want)
	}
}

func TestGeneratedPlansFitTheirSpace(t *testing.T) {
	s := wide()
	b := faults.QuorumBudget()
	rapid.Check(t, func(t *rapid.T) {
		if rapid.Bool().Draw(t, "bounded") {
			s.Budget = &b
		} else {
			s.Budget = nil
		}
		p := plangen.Plan(s).Draw(t, "plan")
		require.NoError(t, p.Check())
		require.NoError(t, s.Names.Check(p))
		if s.Budget != nil {
			ok, why := faults.Within(p, b)
			require.True(t, ok, why)
		}
		_, ok := p.QuietAt()
		require.True(t, ok)
	})
}

func TestPlanHelpers(t *testing.T) {
	p := faults.Plan{Scenario: "s", Steps: []faults.Step{
		{Action: faults.Kill{Host: "a"}}, {Action: faults.Kill{Host: "b"}}, {Action: faults.Quiet{}},
	}}
	before := faults.Print(p)
	q := p.Removed(1)
	require.Equal(t, []faults.Step{p.Steps[0], p.Steps[2]}, q.Steps)
	q = p.WithSteps(p.Steps[:1])
	q.Steps[0].Action = faults.Kill{Host: "c"}
	require.Equal(t, before, faults.Print(p), "helpers leave the plan alone")
}
