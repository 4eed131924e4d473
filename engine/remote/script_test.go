package remote_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/engine/remote"
	"tornpage/sim"
)

// TestScripts runs the conversations in testdata/scripts. Their verbs:
//
//	put K V [on S]     write key K on the writer S (default writer)
//	start K V [on S]   the same without waiting; "ended" tells how it ended
//	ended
//	get K [on S]       read key K from the writer
//	view K... [at V]   read keys from the follower; at: not before the put of V
//	kill P, off P      end a process; end its machine
//	boot P             boot it
//	cut A B            cut both directions between two processes
//	heal               end all cuts
//	stall MS           the log's disk does nothing for so long
//	let MS             time passes
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		s := &script{t: t, tokens: map[string]db.Token{}}
		cfg := remote.Config{Heartbeat: 2 * time.Millisecond, Retry: time.Millisecond}
		s.f = newFixture(t, 1, cfg, 3, 0)
		s.f.client = func(m host.Machine) {
			s.m = m
			for {
				m.Sleep(time.Hour)
			}
		}
		s.f.boot()
		s.f.let(20 * time.Millisecond)
		datadriven.RunTest(t, path, s.run)
	})
}

type script struct {
	t      *testing.T
	f      *fixture
	m      host.Machine // the clients'
	tokens map[string]db.Token
	async  string
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	s.t = t
	var out strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		f := verbs[verb]
		if f == nil {
			d.Fatalf(t, "unknown verb %q", verb)
		}
		if text := f(s, strings.Fields(rest)); text != "" {
			fmt.Fprintf(&out, "%s: %s\n", line, text)
		}
	}
	return out.String()
}

var verbs = map[string]func(*script, []string) string{
	"put": func(s *script, a []string) string { return s.do(func() string { return s.put(a) }) },
	"start": func(s *script, a []string) string {
		s.async = "still waiting"
		s.m.Go("start", func() { s.async = s.put(a) })
		return ""
	},
	"ended": func(s *script, _ []string) string { return s.async },
	"get":   func(s *script, a []string) string { return s.do(func() string { return s.get(a) }) },
	"view":  func(s *script, a []string) string { return s.do(func() string { return s.view(a) }) },
	"kill":  func(s *script, a []string) string { s.f.w.Kill(a[0]); return "" },
	"off":   func(s *script, a []string) string { s.f.w.PowerOff(a[0]); return "" },
	"boot": func(s *script, a []string) string {
		s.f.w.PowerOn(a[0])
		s.f.w.Boot(a[0])
		s.f.let(20 * time.Millisecond)
		return ""
	},
	"cut": func(s *script, a []string) string {
		s.f.w.SetLink(a[0], a[1], false, false, sim.LinkFaults{Cut: true})
		s.f.w.SetLink(a[1], a[0], false, false, sim.LinkFaults{Cut: true})
		return ""
	},
	"heal": func(s *script, _ []string) string { s.f.cuts(); return "" },
	"stall": func(s *script, a []string) string {
		d, err := s.f.w.Disk("log", "log")
		require.NoError(s.t, err)
		d.SetStall(int64(s.f.w.Now() + millis(a[0])))
		return ""
	},
	"let": func(s *script, a []string) string { s.f.let(millis(a[0])); return "" },
}

func millis(text string) time.Duration {
	n, _ := strconv.Atoi(text)
	return time.Duration(n) * time.Millisecond
}

// do runs f as a task of the clients' machine.
func (s *script) do(f func() string) string {
	out := "no answer in time"
	s.m.Go("script", func() {
		out = f()
		s.f.w.Stop()
	})
	s.f.let(100 * time.Millisecond)
	return out
}

// server takes "on S" off the arguments.
func server(a []string) ([]string, string) {
	if n := len(a); n >= 2 && a[n-2] == "on" {
		return a[:n-2], a[n-1]
	}
	return a, "writer"
}

func (s *script) put(a []string) string {
	a, name := server(a)
	c, err := db.Dial(s.m, name, dbPort, 90*time.Millisecond)
	if err != nil {
		return "no connection"
	}
	defer c.Close()
	key, _ := strconv.ParseInt(a[0], 10, 64)
	o := c.Put(key, []byte(a[1]))
	if o.Status == db.Committed {
		s.tokens[a[1]] = o.Token
		return "committed"
	}
	if o.Why == db.WhyStorage && strings.Contains(o.Text, "newer writer") {
		return o.Status.String() + ": fenced"
	}
	return o.Status.String() + ": " + o.Why.String()
}

func (s *script) get(a []string) string {
	a, name := server(a)
	c, err := db.Dial(s.m, name, dbPort, 90*time.Millisecond)
	if err != nil {
		return "no connection"
	}
	defer c.Close()
	key, _ := strconv.ParseInt(a[0], 10, 64)
	v, _, err := c.Get(key)
	return text(err, [][]byte{v})
}

func (s *script) view(a []string) string {
	c, err := db.Dial(s.m, "follower", dbPort, 90*time.Millisecond)
	if err != nil {
		return "no connection"
	}
	defer c.Close()
	token := db.Token(0)
	if n := len(a); n >= 2 && a[n-2] == "at" {
		token, a = s.tokens[a[n-1]], a[:n-2]
	}
	var keys []int64
	for _, x := range a {
		k, _ := strconv.ParseInt(x, 10, 64)
		keys = append(keys, k)
	}
	v, _, err := c.View(keys, token)
	if err != nil {
		return text(err, nil)
	}
	var all [][]byte
	for i := range keys {
		all = append(all, v.At(i))
	}
	return text(nil, all)
}

func text(err error, values [][]byte) string {
	var refused *db.Refused
	switch {
	case errors.As(err, &refused):
		return refused.Outcome.Why.String()
	case err != nil:
		return "no answer"
	}
	var out []string
	for _, v := range values {
		if v == nil {
			v = []byte("nothing")
		}
		out = append(out, string(v))
	}
	return strings.Join(out, " ")
}
