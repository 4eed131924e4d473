package hosttest

import (
	"errors"
	"fmt"
	"time"

	"tornpage/engine/host"
)

// check keeps the first breach that a boot function saw.
type check struct{ err error }

// that records a breach unless ok holds.
func (c *check) that(ok bool, format string, args ...any) {
	if !ok && c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// works records an error of a call that had to work.
func (c *check) works(err error, call string) {
	c.that(err == nil, "%s: %v, want no error", call, err)
}

// is records an error that is not of the wanted kind.
func (c *check) is(err, want error, call string) {
	c.that(errors.Is(err, want), "%s: error %v, want %v", call, err, want)
}

// crew is a set of tasks that someone waits for.
type crew struct {
	m    host.Machine
	gone *host.Cond
	left int
}

func newCrew(m host.Machine) *crew { return &crew{m: m, gone: m.NewCond(host.WaitWork)} }

// run starts a task of the crew.
func (c *crew) run(name string, f func()) {
	c.left++
	c.m.Go(name, func() {
		f()
		c.left--
		c.gone.Broadcast()
	})
}

// wait blocks until all tasks of the crew have ended.
func (c *crew) wait() {
	for c.left > 0 {
		c.gone.Wait()
	}
}

// poll sleeps until ok holds, for at most ownPatience.
func poll(m host.Machine, ok func() bool) bool {
	for limit := m.Now() + ownPatience; !ok(); {
		if m.Now() > limit {
			return false
		}
		m.Sleep(time.Millisecond)
	}
	return true
}

// forever parks a task that serves by handlers.
func forever(m host.Machine) error {
	c := m.NewCond(host.WaitWork)
	for {
		c.Wait()
	}
}

// serve is the boot function of a host that only waits.
func serve(m host.Machine) error {
	m.Logf("ready")
	return forever(m)
}

// pattern fills n bytes that depend on tag and position, so that a byte out of
// place is seen.
func pattern(n int, tag byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = tag ^ byte(i) ^ byte(i>>8)*31
	}
	return b
}

// solo is a case of one host and no director.
func solo(name, rule, says string, boot func(m host.Machine) error) *Case {
	return &Case{Name: name, Rule: rule, Says: says, Hosts: []Host{{Name: "one", Boot: boot}}}
}

// ends is a case of one host whose boot ends in the given way, with all of the
// given texts in what is reported.
func ends(name, rule, says string, boot func(m host.Machine) error, kind EndKind, texts ...string) *Case {
	c := solo(name, rule, says, boot)
	c.Drive = func(w World) error {
		w.Boot("one")
		if err := ended(w, "one", kind); err != nil {
			return err
		}
		return mentions(w.End("one").Text, texts)
	}
	return c
}
