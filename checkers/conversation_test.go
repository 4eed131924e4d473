package checkers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"tornpage/engine/page"
)

// TestConversations runs the histories under testdata: each turn is a history
// (its header line left out) or a stream, the answer what the checks say.
func TestConversations(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		pages := &pageTalk{o: NewOracle(Masking{Hints: true})}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "check", "search", "parse":
				return historyTurn(t, d)
			case "watch":
				return watchTurn(d)
			case "progress":
				return progressTurn(t, d)
			case "gauges":
				return gaugesTurn(d)
			case "pages":
				return pages.turn(d)
			}
			d.Fatalf(t, "%q is no command", d.Cmd)
			return ""
		})
	})
}

func historyTurn(t *testing.T, d *datadriven.TestData) string {
	h, err := Parse(header + "\n" + d.Input)
	if err != nil {
		return err.Error() + "\n"
	}
	if d.Cmd == "parse" {
		return h.String()
	}
	c := Checker{Options: Options{SearchOnly: d.Cmd == "search"}}
	d.MaybeScanArgs(t, "steps", &c.Options.Steps)
	return verdicts(c.Check(h))
}

// verdicts prints those that do not hold, or the names of those that do.
func verdicts(vs []Verdict) string {
	var bad, good []string
	for _, v := range vs {
		if v.Green() {
			good = append(good, v.Check)
			continue
		}
		bad = append(bad, v.String()+fmt.Sprintf("\n  ops %v", v.Ops))
	}
	if len(bad) == 0 {
		return "hold: " + strings.Join(good, " ") + "\n"
	}
	return strings.Join(bad, "\n") + "\n"
}

// watchTurn reads rules and observations: "rule view <= durable cluster",
// "12 w/1 durable 0/40".
func watchTurn(d *datadriven.TestData) string {
	var rules []Rule
	var stream []Observation
	for line := range strings.Lines(d.Input) {
		f := strings.Fields(line)
		switch f[0] {
		case "monotone":
			rules = append(rules, Monotone(f[1]))
		case "lasting":
			rules = append(rules, Lasting(f[1]))
		case "same":
			rules = append(rules, Same(f[1]))
		case "sole":
			rules = append(rules, Sole(f[1]))
		case "order":
			scope := map[string]Scope{"boot": SameBoot, "cluster": Cluster, "least": Least}[f[4]]
			rules = append(rules, Order(f[1], f[2], f[3], scope))
		default:
			c := &cursor{fields: f}
			o := Observation{Event: c.event()}
			o.Host, o.Boot = c.host()
			o.Name = c.next()
			o.LSN = c.lsn("")
			if c.peek() != "" {
				o.Value = uint64(c.event())
			}
			if c.err != nil {
				return c.err.Error()
			}
			stream = append(stream, o)
		}
	}
	w := NewWatermarks(rules...)
	for _, o := range stream {
		w.Observe(o)
	}
	return w.Verdict().String() + "\n"
}

func progressTurn(t *testing.T, d *datadriven.TestData) string {
	h, err := Parse(header + "\n" + d.Input)
	if err != nil {
		return err.Error() + "\n"
	}
	var from, bound, end string
	e := Expectation{Workers: []int{1, 2}}
	d.MaybeScanArgs(t, "from", &from)
	d.MaybeScanArgs(t, "bound", &bound)
	d.MaybeScanArgs(t, "end", &end)
	for _, p := range []struct {
		to   *time.Duration
		text string
	}{{&e.From, from}, {&e.Bound, bound}, {&e.End, end}} {
		v, err := time.ParseDuration(p.text)
		if err != nil {
			return err.Error() + "\n"
		}
		*p.to = v
	}
	return Progress(h, e).String() + "\n"
}

func gaugesTurn(d *datadriven.TestData) string {
	g := NewGauges(Limit{"chain", 10}, Limit{"queue", 3})
	for line := range strings.Lines(d.Input) {
		f := strings.Fields(line)
		c := &cursor{fields: []string{f[0], f[3]}}
		g.Observe(c.event(), f[1], f[2], c.integer(""))
	}
	return fmt.Sprintf("%v\npeaks chain=%d queue=%d\n", g.Verdict(), g.Peak("chain"), g.Peak("queue"))
}

// pageTalk edits one page, appends it, and asks the oracle about it.
type pageTalk struct {
	o *Oracle
	p page.Page
}

func (s *pageTalk) turn(d *datadriven.TestData) string {
	id := page.ID{Rel: 16384, Block: 7}
	var out strings.Builder
	for line := range strings.Lines(d.Input) {
		f := strings.Fields(line)
		c := &cursor{fields: f[1:]}
		switch f[0] {
		case "new": // two tuples, xmin 5, hole between 32 and 8100
			s.p = samplePage()
		case "set": // offset, then bytes, decimal
			for at := c.event(); c.peek() != ""; at++ {
				s.p[at] = byte(c.event())
			}
		case "append":
			at := c.lsn("")
			s.p.SetLSN(at)
			if v := s.o.Appended(id, at, &s.p); !v.Green() {
				fmt.Fprintln(&out, v)
			}
		case "check":
			fmt.Fprintln(&out, s.o.Check(id, c.lsn(""), &s.p))
		case "absent":
			fmt.Fprintln(&out, s.o.Check(id, c.lsn(""), nil))
		case "cut": // LSN, blocks
			at := c.lsn("")
			if v := s.o.Truncated(id.Rel, uint32(c.event()), at); !v.Green() {
				fmt.Fprintln(&out, v)
			}
		case "crashed":
			s.o.Crashed(c.lsn(""))
		case "forget":
			s.o.Forget(c.lsn(""))
		case "bytes":
			fmt.Fprintln(&out, s.o.Bytes())
		}
	}
	return out.String()
}

// samplePage is a heap page with two tuples of 46 bytes at 8146 and 8100.
func samplePage() (p page.Page) {
	put16 := func(at int, v uint16) { le.PutUint16(p[at:], v) }
	put16(atLower, 32)
	put16(atUpper, 8100)
	put16(atSpecial, page.Size)
	for n, off := range []uint32{8146, 8100} {
		le.PutUint32(p[atItems+4*n:], off|itemNormal<<15|46<<17)
		le.PutUint32(p[off:], 5)
		p[off+22] = 24
	}
	return p
}
