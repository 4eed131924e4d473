package hosttest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
	"tornpage/engine/host/hosttest"
)

func TestCasesAreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	power := 0
	for _, c := range hosttest.Cases() {
		require.Regexp(t, `^[a-z]+(-[a-z]+)*$`, c.Name)
		require.False(t, seen[c.Name], "%s is the name of two cases", c.Name)
		seen[c.Name] = true
		require.NotEmpty(t, c.Rule, c.Name)
		require.NotEmpty(t, c.Says, c.Name)
		require.NotEmpty(t, c.Hosts, c.Name)
		verdicts := 0
		for _, h := range c.Hosts {
			require.NotNil(t, h.Boot, c.Name)
			require.NotNil(t, c.Boot(h.Name))
			if !h.Serves {
				verdicts++
			}
		}
		require.NotZero(t, verdicts, "%s has no host that gives a verdict", c.Name)
		require.Len(t, c.Names(), len(c.Hosts))
		found, err := hosttest.Find(c.Name)
		require.NoError(t, err)
		require.Equal(t, c.Says, found.Says)
		require.True(t, c.Fits(hosttest.Caps{PowerOff: true, Debt: true}))
		if !c.Fits(hosttest.Caps{Debt: true}) {
			power++
		}
		require.Panics(t, func() { c.Boot("no such host") })
	}
	require.Greater(t, len(seen), 100)
	require.Equal(t, 8, power, "cases that need a power-off")
	_, err := hosttest.Find("no-such-case")
	require.ErrorContains(t, err, "no-such-case")
}

// script is a world in which nothing runs: booting a host gives a fixed log and
// a fixed end.
type script struct {
	log  []string
	end  hosttest.End
	caps hosttest.Caps
}

func (s script) Caps() hosttest.Caps                       { return s.caps }
func (s script) Seed() uint64                              { return 1 }
func (s script) Boot(string)                               {}
func (s script) Kill(string)                               {}
func (s script) PowerOff(string)                           {}
func (s script) Until(_ time.Duration, d func() bool) bool { return d() }
func (s script) Log(string) []string                       { return s.log }
func (s script) End(string) hosttest.End                   { return s.end }

func TestRunReports(t *testing.T) {
	c := &hosttest.Case{Name: "some-case", Rule: "H9", Says: "it works", Hosts: []hosttest.Host{{Name: "one"}, {Name: "two"}}}
	returned := hosttest.End{Kind: hosttest.Returned}
	require.NoError(t, hosttest.Run(c, script{log: []string{"x", "verdict: ok"}, end: returned}))
	for want, s := range map[string]script{
		"one: 3 is not 4":                         {log: []string{"verdict: broken: 3 is not 4"}, end: returned},
		"the last line of its log is no":          {log: []string{"verdict: ok", "x"}, end: returned},
		"one: its boot function returned, but":    {end: returned},
		"one: running, want returned":             {log: []string{"x"}},
		"one: panicked, want returned: in task t": {end: hosttest.End{Kind: hosttest.Panicked, Text: "in task t"}},
	} {
		err := hosttest.Run(c, s)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "case some-case: it works (H9): ")
		require.ErrorContains(t, err, "host two")
	}
	c.Needs = hosttest.Caps{PowerOff: true}
	require.ErrorContains(t, hosttest.Run(c, script{}), "needs {PowerOff:true")
	c.Drive = func(hosttest.World) error { return errors.New("driven") }
	require.ErrorContains(t, hosttest.Run(c, script{caps: c.Needs}), "driven")
}

// Boot writes the verdict as the last line, which is all that a director sees.
func TestBootWritesVerdicts(t *testing.T) {
	for want, err := range map[string]error{"verdict: ok": nil, "verdict: broken: why": errors.New("why")} {
		c := &hosttest.Case{Name: "c", Hosts: []hosttest.Host{{Name: "one", Boot: func(host.Machine) error { return err }}}}
		var log logger
		c.Boot("one")(&log)
		require.Equal(t, logger{lines: []string{want}}, log)
	}
}
