package faults

import (
	"fmt"
	"strings"
	"time"
)

// parser reads a plan, line by line.
type parser struct {
	scanner
	plan    Plan
	pending []string // comment lines that wait for their step
	seeded  bool     // the seed line was read
}

// Parse reads a plan; file names it in errors, which are SyntaxErrors and stop
// at the first fault. See doc.go for the grammar.
func Parse(file, text string) (Plan, error) {
	p := &parser{scanner: scanner{file: file, rest: text}}
	if len(text) > MaxText {
		p.line = 1
		return Plan{}, p.errorAt(1, "the text has %d bytes, above the limit of %d", len(text), MaxText)
	}
	if err := p.parse(); err != nil {
		return Plan{}, err
	}
	return p.plan, nil
}

func (p *parser) parse() error {
	if err := p.magicLine(); err != nil {
		return err
	}
	for p.nextLine() {
		if p.hasNote {
			if strings.Contains(p.comment, "\r") {
				return p.errorAt(p.end, "a comment has a carriage return inside")
			}
			p.pending = append(p.pending, p.comment)
		}
		if len(p.words) == 0 {
			continue
		}
		if err := p.statement(); err != nil {
			return err
		}
		if p.more() {
			return p.errorIn(p.words[p.next], "want the end of the line, found %s", quote(p.peek()))
		}
	}
	// A comment without a step below it joins those of the head.
	p.plan.Comment = append(p.plan.Comment, p.pending...)
	p.line++
	for _, need := range []struct {
		line  string
		there bool
	}{{"scenario", p.plan.Scenario != ""}, {"seed", p.seeded}} {
		if !need.there {
			return p.errorAt(1, "want a %q line, found the end of the plan", need.line)
		}
	}
	if err := p.plan.Check(); err != nil {
		return p.errorAt(1, "%s", err.Error())
	}
	return nil
}

func (p *parser) magicLine() error {
	if !p.nextLine() {
		p.line = 1
		return p.errorAt(1, "want %q, found an empty text", magic)
	}
	found := make([]string, 0, 3)
	for _, w := range p.words[:min(len(p.words), 4)] {
		found = append(found, w.text)
	}
	line := strings.Join(found, " ")
	switch {
	case line == magic:
		if p.hasNote {
			p.pending = append(p.pending, p.comment)
		}
		return nil
	case len(found) == 3 && strings.HasPrefix(magic, found[0]+" "+found[1]+" "):
		return p.errorIn(p.words[2], "want version 1 of the plan format, found %s", quote(found[2]))
	}
	return p.errorAt(1, "want %q as the first line, found %s", magic, quote(line))
}

// statement reads one line that is not blank.
func (p *parser) statement() error {
	w, err := p.take("a line")
	if err != nil {
		return err
	}
	switch w.text {
	case "scenario", "config", "seed":
		if len(p.plan.Steps) > 0 {
			return p.errorIn(w, "the %s line must stand above the first step", w.text)
		}
		p.plan.Comment, p.pending = append(p.plan.Comment, p.pending...), nil
	}
	switch w.text {
	case "scenario":
		return p.scenario(w)
	case "config":
		if !p.more() {
			return p.errorAt(p.end, "want key=value, found the end of the line")
		}
		p.plan.Config, err = p.settings("config", p.plan.Config)
		return err
	case "seed":
		return p.seed(w)
	case "at", "after":
		return p.step(w)
	}
	return p.unknown("line", w, []string{"scenario", "config", "seed", "at", "after"})
}

func (p *parser) scenario(w word) (err error) {
	if p.plan.Scenario != "" {
		return p.errorIn(w, "the scenario is given twice: it is %q above", p.plan.Scenario)
	}
	if p.plan.Scenario, err = p.takeName("scenario", true); err != nil {
		return err
	}
	p.plan.Params, err = p.settings("scenario", nil)
	return err
}

func (p *parser) seed(w word) error {
	if p.seeded {
		return p.errorIn(w, "the seed is given twice: it is %d above", p.plan.Seed)
	}
	n, err := p.takeNumber("a seed")
	p.plan.Seed, p.seeded = n, true
	return err
}

func (p *parser) takeNumber(what string) (uint64, error) {
	w, err := p.take(what)
	if err != nil {
		return 0, err
	}
	n, ok := digits(w.text)
	if !ok {
		return 0, p.errorIn(w, "want %s, a whole number below 2^64, found %s", what, quote(w.text))
	}
	return n, nil
}

// settings reads key=value words to the end of the line.
func (p *parser) settings(line string, kvs []KV) ([]KV, error) {
	for p.more() {
		w, err := p.take("key=value")
		if err != nil {
			return nil, err
		}
		key, value, ok := strings.Cut(w.text, "=")
		if !ok || value == "" {
			return nil, p.errorIn(w, "want key=value, found %s", quote(w.text))
		}
		if err := checkName("key", key); err != nil {
			return nil, p.wrap(w, err)
		}
		if err := checkValue(value); err != nil {
			return nil, p.errorIn(w, "value of %q %v", key, err)
		}
		if len(kvs) >= maxSettings {
			return nil, p.errorIn(w, "%s has more than %d settings", line, maxSettings)
		}
		if before, ok := Lookup(kvs, key); ok {
			return nil, p.errorIn(w, "key %q is given twice: it is %s before", key, quote(before))
		}
		kvs = append(kvs, KV{key, value})
	}
	return kvs, nil
}

func (p *parser) step(first word) error {
	if len(p.plan.Steps) >= MaxSteps {
		return p.errorIn(first, "step %d is above the limit of %d steps", len(p.plan.Steps)+1, MaxSteps)
	}
	s := Step{Comment: p.pending}
	p.pending = nil
	var err error
	if first.text == "at" {
		s.Trigger.Time, err = p.duration("a time since the start, for example 120ms")
	} else {
		s.Trigger, err = p.after()
	}
	if err != nil {
		return err
	}
	forWord := word{col: p.end}
	if p.peek() == "for" {
		forWord = p.words[p.next]
		p.next++
		if s.For, err = p.duration("how long, for example 2s"); err != nil {
			return err
		}
		if s.For == 0 {
			return p.errorIn(forWord, "\"for 0s\" would undo the action at once; leave it out to keep the action")
		}
	}
	action := word{col: p.end}
	if p.more() {
		action = p.words[p.next]
	}
	if s.Action, err = p.action(); err != nil {
		return err
	}
	if err := s.Action.check(); err != nil {
		return p.wrap(action, err)
	}
	if s.For != 0 && !s.Action.lasting() {
		return p.errorIn(forWord, "%q is done in an instant and takes no \"for\"", s.Action.String())
	}
	p.plan.Steps = append(p.plan.Steps, s)
	return nil
}

// after reads a trigger by event or mark, behind "after".
func (p *parser) after() (t Trigger, err error) {
	if p.accept("event") {
		t.Kind = AfterEvent
		t.Event, err = p.count("an event number")
	} else {
		t.Kind = AfterMark
		if t.Count, err = p.count("\"event\", or how many times a mark is reached"); err != nil {
			return t, err
		}
		if t.Mark, err = p.takeName("mark", true); err != nil {
			return t, err
		}
		if p.accept("on") {
			t.Host, err = p.takeName("host", false)
		}
	}
	if err != nil {
		return t, err
	}
	if p.accept("+") {
		t.Delay, err = p.duration("a delay, for example 10ms")
	} else if body, ok := strings.CutPrefix(p.peek(), "+"); ok {
		w := p.words[p.next]
		p.words[p.next] = word{body, w.col + 1}
		t.Delay, err = p.duration("a delay, for example 10ms")
	}
	return t, err
}

func (p *parser) count(what string) (uint64, error) {
	col := p.end
	if p.more() {
		col = p.words[p.next].col
	}
	n, err := p.takeNumber(what)
	if err == nil && n == 0 {
		err = p.errorAt(col, "want %s from 1, found 0", what)
	}
	return n, err
}

// duration reads a time that is not negative.
func (p *parser) duration(what string) (time.Duration, error) {
	w, err := p.take(what)
	if err != nil {
		return 0, err
	}
	d, err := ParseDuration(w.text)
	if err == nil && d < 0 {
		err = fmt.Errorf("want %s, found a negative one: %s", what, quote(w.text))
	}
	return d, p.wrap(w, err)
}
