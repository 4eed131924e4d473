package faults

import (
	"fmt"
	"strings"
)

// actions has the first words of all actions, for errors.
var actions = []string{
	"kill", "power-off", "boot", "pause", "zone", "cut", "heal", "link", "disk", "nic", "clock", "quiet",
}

// action reads an action with its arguments.
func (p *parser) action() (Action, error) {
	w, err := p.take("an action (" + list(actions) + ")")
	if err != nil {
		return nil, err
	}
	switch w.text {
	case "kill":
		name, err := p.takeName("host", false)
		return Kill{name}, err
	case "power-off":
		name, err := p.takeName("machine", false)
		return PowerOff{name}, err
	case "boot":
		name, err := p.takeName("host or machine", false)
		return Boot{name}, err
	case "pause":
		name, err := p.takeName("host", false)
		return Pause{name}, err
	case "zone":
		return p.zone()
	case "cut":
		ends, err := p.ends()
		return Cut{ends}, err
	case "heal":
		ends, err := p.ends()
		return Heal{ends}, err
	case "link":
		return p.link()
	case "disk":
		return p.disk()
	case "nic":
		return p.nic()
	case "clock":
		return p.clock()
	case "quiet":
		return Quiet{}, nil
	}
	return nil, p.unknown("action", w, actions)
}

func (p *parser) zone() (Action, error) {
	name, err := p.takeName("zone", false)
	if err != nil {
		return nil, err
	}
	w, err := p.take("up or down")
	if err != nil {
		return nil, err
	}
	if w.text != "up" && w.text != "down" {
		return nil, p.errorIn(w, "want up or down, found %s", quote(w.text))
	}
	return Zone{Zone: name, Up: w.text == "up"}, nil
}

func (p *parser) ends() (e Ends, err error) {
	if e.From, err = p.oneEnd(); err != nil {
		return e, err
	}
	w, err := p.take("-> or <->")
	if err != nil {
		return e, err
	}
	if w.text != "->" && w.text != "<->" {
		return e, p.errorIn(w, "want -> or <->, found %s", quote(w.text))
	}
	e.Both = w.text == "<->"
	e.To, err = p.oneEnd()
	return e, err
}

func (p *parser) oneEnd() (e End, err error) {
	e.Zone = p.accept("zone")
	what := "host"
	if e.Zone {
		what = "zone"
	}
	e.Name, err = p.takeName(what, false)
	return e, err
}

func (p *parser) link() (Action, error) {
	ends, err := p.ends()
	if err != nil {
		return nil, err
	}
	l := Link{Ends: ends}
	err = p.faults("link fault", l.Faults.fields(), nil)
	return l, err
}

func (p *parser) disk() (Action, error) {
	w, err := p.take("a disk, MACHINE/DISK")
	if err != nil {
		return nil, err
	}
	machine, disk, _ := strings.Cut(w.text, "/")
	name := DiskName{machine, disk}
	if err := name.check(); err != nil {
		return nil, p.errorIn(w, "want MACHINE/DISK: %v", err)
	}
	if once, err := p.diskOnce(name); once != nil || err != nil {
		return once, err
	}
	d := Disk{Disk: name}
	more := []string{"fail-sync", "rot", "lose"}
	err = p.faults("disk fault", d.Faults.fields(), more)
	return d, err
}

// diskOnce reads a disk fault of an instant, or takes nothing.
func (p *parser) diskOnce(name DiskName) (Action, error) {
	key, value, hasValue := strings.Cut(p.peek(), "=")
	if key != "fail-sync" && key != "rot" && key != "lose" {
		return nil, nil
	}
	w, err := p.take("a disk fault")
	if err != nil {
		return nil, err
	}
	count := uint32(1)
	if hasValue {
		if key == "lose" {
			return nil, p.errorIn(w, "lose takes no value")
		}
		if count, err = parseCount(value); err != nil {
			return nil, p.wrap(w, err)
		}
	}
	switch key {
	case "fail-sync":
		return FailSync{name, count}, nil
	case "rot":
		return Rot{name, count}, nil
	}
	return Lose{name}, nil
}

func (p *parser) nic() (Action, error) {
	name, err := p.takeName("machine", false)
	if err != nil {
		return nil, err
	}
	n := NIC{Machine: name}
	err = p.faults("nic fault", []field{{key: "slow", factor: &n.Slow}}, nil)
	return n, err
}

func (p *parser) clock() (Action, error) {
	name, err := p.takeName("host or machine", false)
	if err != nil {
		return nil, err
	}
	c := Clock{Name: name}
	err = p.faults("clock fault", c.fields(), nil)
	return c, err
}

// faults reads key=value words into a group of faults, to the end of the line.
// others are words that stand in steps of their own.
func (p *parser) faults(what string, fields []field, others []string) error {
	keys := append(keysOf(fields), others...)
	if !p.more() {
		return p.errorAt(p.end, "want a %s (%s), found the end of the line", what, list(keys))
	}
	for p.more() {
		w, err := p.take("a " + what)
		if err != nil {
			return err
		}
		key, value, hasValue := strings.Cut(w.text, "=")
		at := -1
		for i, f := range fields {
			if f.key == key {
				at = i
			}
		}
		if at < 0 {
			for _, o := range others {
				if o == key {
					return p.errorIn(w, "%s is done in an instant; write it as a step of its own", key)
				}
			}
			return p.unknown(what, word{key, w.col}, keys)
		}
		if fields[at].set() {
			return p.errorIn(w, "%s is given twice", key)
		}
		if err := fields[at].read(value, hasValue); err != nil {
			return p.errorAt(w.col, "%s: %v", key, err)
		}
		if !fields[at].set() {
			return p.errorIn(w, "%s does nothing; leave it out", quote(w.text))
		}
	}
	return nil
}

// read sets a field from the text behind its "=". A rate without one always
// strikes.
func (f field) read(value string, hasValue bool) (err error) {
	switch {
	case f.flag != nil && hasValue:
		return fmt.Errorf("takes no value, found %s", quote(value))
	case f.flag != nil:
		*f.flag = true
	case f.rate != nil && !hasValue:
		*f.rate = Million
	case !hasValue:
		return fmt.Errorf("want a value behind %s=", f.key)
	case f.rate != nil:
		*f.rate, err = ParseRate(value)
	case f.factor != nil:
		*f.factor, err = parseFactor(value)
	case f.dur != nil:
		*f.dur, err = ParseDuration(value)
	default:
		*f.ppm, err = parsePPM(value)
	}
	return err
}
