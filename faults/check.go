package faults

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of a plan. They bound what a reader allocates, far above any plan
// that a person or a swarm writes.
const (
	MaxText  = 1 << 20 // bytes of text
	MaxSteps = 10_000  // steps

	maxName     = 200   // bytes of a name, key or scenario
	maxSettings = 1_000 // settings of a scenario or config line
)

// Check returns an error that names the first part of the plan that Print
// could not write so that Parse reads it back.
func (p Plan) Check() error {
	if err := checkName("scenario", p.Scenario); err != nil {
		return err
	}
	if err := checkKVs("scenario", p.Params); err != nil {
		return err
	}
	if err := checkKVs("config", p.Config); err != nil {
		return err
	}
	if err := checkComment(p.Comment); err != nil {
		return err
	}
	if len(p.Steps) > MaxSteps {
		return fmt.Errorf("%d steps are above the limit of %d", len(p.Steps), MaxSteps)
	}
	for i, s := range p.Steps {
		if err := s.check(); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	if n := len(Print(p)); n > MaxText {
		return fmt.Errorf("the plan's text has %d bytes, above the limit of %d", n, MaxText)
	}
	return nil
}

func (s Step) check() error {
	if err := checkComment(s.Comment); err != nil {
		return err
	}
	if err := s.Trigger.check(); err != nil {
		return err
	}
	if !isAction(s.Action) {
		return fmt.Errorf("the action is missing or of a foreign type: %T", s.Action)
	}
	if err := s.Action.check(); err != nil {
		return fmt.Errorf("%q: %w", s.Action.String(), err)
	}
	for _, d := range []time.Duration{s.Trigger.Time, s.Trigger.Delay, s.For} {
		if d < 0 || d > maxSpan {
			return fmt.Errorf("time %v is not within 0s and %v", d, maxSpan)
		}
	}
	if s.For != 0 && !s.Action.lasting() {
		return fmt.Errorf("%q is done in an instant and takes no \"for\"", s.Action.String())
	}
	return nil
}

// isAction reports whether a is one of the closed set. Pointers to its types
// have the methods too, but no switch here knows them.
func isAction(a Action) bool {
	switch a.(type) {
	case Kill, PowerOff, Boot, Pause, Zone, Cut, Heal, Link, Disk, FailSync, Rot, Lose, NIC, Clock, Quiet:
		return true
	}
	return false
}

func checkComment(lines []string) error {
	for _, l := range lines {
		if strings.ContainsAny(l, "\n\r") || strings.TrimSpace(l) != l {
			return fmt.Errorf("comment %q must be one line without blanks around it", l)
		}
	}
	return nil
}

func checkKVs(line string, kvs []KV) error {
	if len(kvs) > maxSettings {
		return fmt.Errorf("%s: %d settings are above the limit of %d", line, len(kvs), maxSettings)
	}
	seen := map[string]bool{}
	for _, kv := range kvs {
		if err := checkName("key", kv.Key); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		if seen[kv.Key] {
			return fmt.Errorf("%s: key %q is given twice", line, kv.Key)
		}
		seen[kv.Key] = true
		if err := checkValue(kv.Value); err != nil {
			return fmt.Errorf("%s: value of %q %w", line, kv.Key, err)
		}
	}
	return nil
}

func checkValue(v string) error {
	if v == "" {
		return errEmpty
	}
	if !utf8.ValidString(v) {
		return errors.New("is no UTF-8")
	}
	for _, r := range v {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return fmt.Errorf("has the character %q, which is blank or does not print", r)
		}
	}
	return nil
}

// checkName accepts names of hosts, machines, zones, disks, marks, keys and
// scenarios: letters, digits and - _ . / : after a first letter, digit or _.
// A disk's parts and a link's ends have no slash.
func checkName(what, name string) error {
	if name == "" {
		return fmt.Errorf("%s: the name is missing", what)
	}
	if len(name) > maxName {
		return fmt.Errorf("%s: a name of %d bytes is above the limit of %d", what, len(name), maxName)
	}
	for i := range len(name) {
		c := name[i]
		alnum := c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if alnum || i > 0 && strings.IndexByte("-./:", c) >= 0 {
			continue
		}
		return fmt.Errorf("%s: %q is no name: letters, digits and _ - . / : after a first letter, digit or _", what, name)
	}
	return nil
}

func checkNoSlash(what, name string) error {
	if strings.Contains(name, "/") {
		return fmt.Errorf("%s: %q has a slash; those are kept for MACHINE/DISK", what, name)
	}
	return checkName(what, name)
}

func (k Kill) check() error     { return checkNoSlash("host", k.Host) }
func (p PowerOff) check() error { return checkNoSlash("machine", p.Machine) }
func (b Boot) check() error     { return checkNoSlash("host or machine", b.Name) }
func (p Pause) check() error    { return checkNoSlash("host", p.Host) }
func (z Zone) check() error     { return checkNoSlash("zone", z.Zone) }
func (c Cut) check() error      { return c.Ends.check() }
func (h Heal) check() error     { return h.Ends.check() }
func (l Lose) check() error     { return l.Disk.check() }
func (Quiet) check() error      { return nil }

func (e Ends) check() error {
	for _, end := range []End{e.From, e.To} {
		what := "host"
		if end.Zone {
			what = "zone"
		} else if end.Name == "zone" {
			return errors.New("a host named \"zone\" cannot be an end: the word starts a zone's end")
		}
		if err := checkNoSlash(what, end.Name); err != nil {
			return err
		}
	}
	if e.From == e.To {
		return fmt.Errorf("both ends are %q", e.From.String())
	}
	return nil
}

func (d DiskName) check() error {
	if err := checkNoSlash("machine", d.Machine); err != nil {
		return err
	}
	return checkNoSlash("disk", d.Disk)
}

func (l Link) check() error {
	if err := l.Ends.check(); err != nil {
		return err
	}
	return checkFields(l.Faults.fields())
}

func (d Disk) check() error {
	if err := d.Disk.check(); err != nil {
		return err
	}
	return checkFields(d.Faults.fields())
}

func (f FailSync) check() error {
	if f.Count == 0 {
		return errors.New("the count of syncs is 0: nothing would fail")
	}
	return f.Disk.check()
}

func (r Rot) check() error {
	if r.Sectors == 0 {
		return errors.New("the count of sectors is 0: nothing would rot")
	}
	return r.Disk.check()
}

func (n NIC) check() error {
	if err := checkFactor(n.Slow); err != nil {
		return err
	}
	return checkNoSlash("machine", n.Machine)
}

func (c Clock) check() error {
	if err := checkNoSlash("host or machine", c.Name); err != nil {
		return err
	}
	return checkFields(c.fields())
}

// checkFields checks the ranges of a group of faults, and that it has any.
func checkFields(fields []field) error {
	some := false
	for _, f := range fields {
		if !f.set() {
			continue
		}
		some = true
		if err := f.check(); err != nil {
			return fmt.Errorf("%s: %w", f.key, err)
		}
	}
	if !some {
		return fmt.Errorf("no fault is given; want one of %s", list(keysOf(fields)))
	}
	return nil
}

func (f field) check() error {
	switch {
	case f.rate != nil && *f.rate > Million:
		return fmt.Errorf("rate %v is above 100%%", *f.rate)
	case f.factor != nil:
		return checkFactor(*f.factor)
	case f.dur != nil && (*f.dur > maxSpan || *f.dur < -maxSpan || *f.dur < 0 && !f.signed):
		return fmt.Errorf("time %v is out of range", *f.dur)
	case f.ppm != nil && (*f.ppm > maxDriftPPM || *f.ppm < -maxDriftPPM):
		return fmt.Errorf("drift %dppm is not within %dppm, either way", *f.ppm, maxDriftPPM)
	}
	return nil
}

func keysOf(fields []field) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}
