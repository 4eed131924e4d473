package hosttest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tornpage/engine/host"
)

// Case is one rule as a test. Its boot functions run in the processes of a
// World, perhaps each in an operating system process of its own: they share no
// memory with each other nor with Drive, and report by Machine.Logf.
type Case struct {
	Name  string // unique; lower case with hyphens
	Rule  string // the rule of package host, or the method whose text it is
	Says  string // the rule as a sentence
	Needs Caps   // the case is not for worlds without these
	Hosts []Host // in the order in which they are booted
	// Drive runs the case from outside. Nil: boot all hosts, then wait for the
	// verdicts of those that do not serve.
	Drive func(w World) error
}

// Host is a process of a case.
type Host struct {
	Name   string
	Serves bool // it runs for ever: nobody waits for its verdict
	// Boot is the boot function. An error is a breach of the case's rule.
	Boot func(m host.Machine) error
}

// patience is how long a case may take: virtual time, or real time on a
// machine that may be busy. It bounds failures and is never waited out.
const patience = 60 * time.Second

// ownPatience is how long a boot function polls before it reports what did not
// happen itself, which says more than a director's time-out.
const ownPatience = patience / 3

const (
	verdictOK   = "verdict: ok"
	verdictFail = "verdict: broken: "
)

// Find gives the case of a name, for processes that are told it by name.
func Find(name string) (*Case, error) {
	all := Cases()
	i := slices.IndexFunc(all, func(c *Case) bool { return c.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("hosttest: no case is named %q", name)
	}
	return all[i], nil
}

// Fits reports whether a world of these capabilities can run the case.
func (c *Case) Fits(caps Caps) bool { return caps.has(c.Needs) }

// Names are the names of the case's hosts, in the order of Hosts.
func (c *Case) Names() []string {
	var names []string
	for _, h := range c.Hosts {
		names = append(names, h.Name)
	}
	return names
}

// Boot is the boot function to run as the process of a host of the case. It
// writes its verdict as the last line of its log and returns.
func (c *Case) Boot(name string) func(m host.Machine) {
	i := slices.IndexFunc(c.Hosts, func(h Host) bool { return h.Name == name })
	if i < 0 {
		panic(fmt.Sprintf("hosttest: case %s has no host %q", c.Name, name))
	}
	boot := c.Hosts[i].Boot
	return func(m host.Machine) {
		if err := boot(m); err != nil {
			m.Logf("%s%v", verdictFail, err)
			return
		}
		m.Logf("%s", verdictOK)
	}
}

// Run runs a case in a fresh world and returns the breach of its rule, if any.
func Run(c *Case, w World) error {
	if !c.Fits(w.Caps()) {
		return fmt.Errorf("hosttest: case %s needs %+v, the world has %+v", c.Name, c.Needs, w.Caps())
	}
	drive := c.Drive
	if drive == nil {
		drive = c.driveAll
	}
	err := errors.Join(drive(w), c.broken(w))
	if err == nil {
		return nil
	}
	return fmt.Errorf("case %s: %s (%s): %w\n%s", c.Name, c.Says, c.Rule, err, c.report(w))
}

// driveAll boots every host and waits for the verdicts.
func (c *Case) driveAll(w World) error {
	for _, h := range c.Hosts {
		w.Boot(h.Name)
	}
	for _, h := range c.Hosts {
		if h.Serves {
			continue
		}
		if err := verdict(w, h.Name); err != nil {
			return err
		}
	}
	return nil
}

// broken gathers the breaches that hosts reported.
func (c *Case) broken(w World) error {
	var errs []error
	for _, h := range c.Hosts {
		for _, line := range w.Log(h.Name) {
			if text, ok := strings.CutPrefix(line, verdictFail); ok {
				errs = append(errs, fmt.Errorf("%s: %s", h.Name, text))
			}
		}
	}
	return errors.Join(errs...)
}

// report is what is known of each host, for a failing case.
func (c *Case) report(w World) string {
	var b strings.Builder
	for _, h := range c.Hosts {
		end := w.End(h.Name)
		fmt.Fprintf(&b, "  host %s: %v %s\n", h.Name, end.Kind, end.Text)
		for _, line := range w.Log(h.Name) {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	return b.String()
}

// verdict waits for the present boot of a host to return.
func verdict(w World, name string) error {
	if err := ended(w, name, Returned); err != nil {
		return err
	}
	log := w.Log(name)
	if len(log) == 0 || log[len(log)-1] != verdictOK && !strings.HasPrefix(log[len(log)-1], verdictFail) {
		return fmt.Errorf("%s: its boot function returned, but the last line of its log is no verdict", name)
	}
	return nil
}

// ended waits until the present boot of a host has ended in the given way.
func ended(w World, name string, want EndKind) error {
	w.Until(patience, func() bool { return w.End(name).Kind != Running })
	if end := w.End(name); end.Kind != want {
		return fmt.Errorf("%s: %v, want %v: %s", name, end.Kind, want, end.Text)
	}
	return nil
}

// says waits until a host has logged a line n times.
func says(w World, name, line string, n int) error {
	if !w.Until(patience, func() bool { return count(w, name, line) >= n }) {
		return fmt.Errorf("%s: logged %q %d times, want %d", name, line, count(w, name, line), n)
	}
	return nil
}

// count is how often a host logged a line.
func count(w World, name, line string) int {
	n := 0
	for _, l := range w.Log(name) {
		if l == line {
			n++
		}
	}
	return n
}

// let lets time pass, for what should not happen.
func let(w World, d time.Duration) { w.Until(d, func() bool { return false }) }
