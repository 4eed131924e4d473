package db_test

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
	"tornpage/engine/row"
	"tornpage/sim"
)

// talk runs one conversation of clients with a fake server. Each line is
// "client statement; statement", and runs in a task of its own.
type talk struct {
	w      *sim.World
	client host.Machine
	fake   *fake
	server *db.Server
	conns  map[string]*db.Conn
	out    strings.Builder
	asked  []string // calls that have not returned
}

func (k *talk) say(format string, args ...any) { fmt.Fprintf(&k.out, format+"\n", args...) }

func (k *talk) boot(t *testing.T) {
	w, err := sim.New(sim.Config{Machines: []sim.Machine{{Name: "a", Zone: "z"}, {Name: "b", Zone: "z"}},
		Hosts: []sim.Host{{Name: "server", Machine: "a", Boot: func(m host.Machine) {
			k.fake = newFake(m)
			k.server = db.Serve(m, port, k.fake)
			m.Sleep(time.Hour)
		}}, {Name: "client", Machine: "b", Boot: func(m host.Machine) {
			k.client = m
			m.Sleep(time.Hour)
		}}}})
	require.NoError(t, err)
	t.Cleanup(w.Close)
	k.w, k.conns = w, map[string]*db.Conn{}
	w.BootAll()
	w.Run(10 * time.Millisecond)
}

// parse makes a statement of words: verb, key, value.
func parse(b *db.Batch, words []string) {
	verbs := map[string]db.Kind{"begin": db.Begin, "commit": db.Commit, "rollback": db.Rollback, "savepoint": db.Savepoint,
		"rollback-to": db.RollbackTo, "release": db.Release, "insert": db.Insert, "get": db.Get, "lock": db.Get,
		"update": db.Update, "delete": db.Delete, "scan": db.Scan, "vacuum": db.Vacuum, "serializable": db.Begin}
	s := b.Add(verbs[words[0]])
	var key row.Value
	if n, err := strconv.Atoi(append(words, "0")[1]); err == nil {
		key = row.NewInt4(int32(n))
	}
	switch s.Kind {
	case db.Savepoint, db.RollbackTo, db.Release:
		s.Name = words[1]
	case db.Insert:
		s.Row = append(s.Row, key, row.NewText(words[2]))
	case db.Get, db.Update, db.Delete:
		s.Key = append(s.Key, key)
		s.ForUpdate = words[0] == "lock"
	case db.Scan:
		s.Limit = int(key.N)
	}
	if s.Kind == db.Update {
		s.Sets = append(s.Sets, db.Set{Column: 1, Value: row.NewText(words[2])})
	}
	if !s.Kind.Control() {
		s.Table = "t"
	}
	if words[0] == "serializable" {
		s.Level = db.Serializable
	}
}

// call runs one line of a client.
func (k *talk) call(line string) {
	name, rest, _ := strings.Cut(line, " ")
	switch words := strings.Fields(rest); words[0] {
	case "connect":
		timeout, _ := time.ParseDuration(append(words, "0")[1])
		c, err := db.Connect(k.client, "server", port, timeout)
		if err != nil {
			k.say("%s: %v", line, err)
			return
		}
		k.conns[name] = c
	case "close":
		k.conns[name].Close()
	default:
		var b db.Batch
		for _, s := range strings.Split(rest, "; ") {
			parse(&b, strings.Fields(s))
		}
		k.ask(line, k.conns[name], &b)
	}
}

func (k *talk) ask(line string, c *db.Conn, b *db.Batch) {
	r, err := c.Do(b)
	var lost *db.Lost
	if errors.As(err, &lost) {
		k.say("%s: no answer, %v", line, lost.Outcome)
		return
	}
	if err != nil {
		k.say("%s: not sent: %v", line, err)
		return
	}
	k.say("%s: %v", line, r.State)
	for i := range r.Len() {
		s := r.At(i)
		text := fmt.Sprintf("  %v: %d", b.Stmts[i].Kind, s.Count)
		for j := range s.Rows() {
			text += fmt.Sprintf(" %v", s.Row(j))
		}
		if s.More {
			text += fmt.Sprintf(" more after %x", s.Next)
		}
		if s.Err != nil {
			text += " error " + s.Err.Error()
		}
		if s.Outcome.Status != 0 {
			text += ", " + s.Outcome.String()
		}
		k.say("%s", text)
	}
}

// do runs one line, and the world for a while.
func (k *talk) do(line string) {
	switch words := strings.Fields(line); words[0] {
	case "server":
		switch words[1] {
		case "dies":
			k.w.Kill("server")
			k.w.Boot("server")
		case "stops":
			k.fake.open = false
		case "loses":
			k.fake.loses = true
		case "state":
			k.say("server: %d sessions, %d locks, %d corrupt", k.fake.sessions, len(k.fake.locks), k.server.Stats.Corrupt)
		}
	default:
		k.asked = append(k.asked, line)
		k.client.Go(line, func() {
			k.call(line)
			for i, l := range k.asked {
				if l == line {
					k.asked = append(k.asked[:i], k.asked[i+1:]...)
					break
				}
			}
		})
	}
	k.w.Run(k.w.Now() + 10*time.Millisecond)
}

func TestTalk(t *testing.T) {
	datadriven.Walk(t, "testdata/talk", func(t *testing.T, path string) {
		k := &talk{}
		k.boot(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			k.out.Reset()
			for line := range strings.SplitSeq(d.Input, "\n") {
				k.do(line)
			}
			for _, l := range k.asked {
				k.say("%s: waits", l)
			}
			if f := k.w.Failure(); f != nil {
				require.Fail(t, f.Error(), f.Stack)
			}
			if k.out.Len() == 0 {
				return "ok\n"
			}
			return k.out.String()
		})
	})
}
