package hosttest

import (
	"errors"
	"fmt"
	"time"

	"tornpage/engine/host"
)

func killCases() []*Case {
	victims := func(name, rule, says string, victim func(m host.Machine) error, drive func(w World) error) *Case {
		return &Case{Name: name, Rule: rule, Says: says, Drive: drive,
			Hosts: []Host{{Name: "judge", Boot: judge, Serves: true}, {Name: "victim", Boot: victim}}}
	}
	return []*Case{
		victims("kill-silences-defers", "H2", "nothing that a killed task defers reaches the world",
			deferEverything(nil), driveKill(Killed)),
		victims("exit-silences-defers", "H2", "nothing that tasks defer reaches the world after Exit",
			deferEverything(func(m host.Machine) { m.Exit(errors.New("done")) }), driveKill(Exited)),
		victims("return-silences-defers", "H2", "nothing that tasks defer reaches the world after boot returned",
			deferEverything(func(host.Machine) {}), driveKill(Returned)),
		{Name: "kill-stops-all-tasks", Rule: "H3", Says: "after a kill no task does anything more",
			Hosts: []Host{{Name: "one", Boot: ticker}}, Drive: driveTicker},
		{Name: "kill-takes-memory", Rule: "H4", Says: "every boot starts on new memory, conditions and timers",
			Hosts: []Host{{Name: "one", Boot: leaveTimers}}, Drive: driveTimers},
		{Name: "kill-of-the-dead", Rule: "H3", Says: "killing what does not run does nothing, and it can be booted again",
			Hosts: []Host{{Name: "one", Boot: serve}}, Drive: driveKillTwice},
	}
}

// judge logs every datagram and every message that it gets.
func judge(m host.Machine) error {
	m.Handle(1, func(from host.Addr, msg []byte) { m.Logf("datagram %s", msg) })
	m.Listen(2, func(c host.Conn) {
		c.OnRecv(func(msg []byte, err error) {
			if err == nil {
				m.Logf("message %s", msg)
			} else {
				m.Logf("connection ended")
			}
		})
	})
	return serve(m)
}

// deferEverything leaves tasks parked in all ways, each with a deferred
// function that tries every door to the world; then it calls end (nil: it waits
// for a kill).
func deferEverything(end func(m host.Machine)) func(m host.Machine) error {
	return func(m host.Machine) error {
		d := m.Disk(Disk)
		f, err := d.Open("file", host.ClassData, true)
		if err != nil {
			return err
		}
		if m.Boot() > 1 {
			return unharmed(d, f)
		}
		to := m.Lookup("judge")
		conn, err := m.Dial(to, 2)
		if err != nil {
			return err
		}
		conn.Send([]byte("hello"))
		if _, err := f.WriteAt([]byte("as written"), 0); err != nil {
			return err
		}
		parkAll(m, conn, doors(m, d, f, conn, to))
		m.Sleep(time.Millisecond)
		m.Logf("ready")
		if end != nil {
			end(m)
			return nil
		}
		return forever(m)
	}
}

// doors are all ways to do something to the world.
func doors(m host.Machine, d host.Disk, f host.File, conn host.Conn, to host.Addr) []func() {
	cond := m.NewCond(host.WaitWork)
	return []func(){
		func() { m.Send(to, 1, []byte("from the dead")) },
		func() { conn.Send([]byte("from the dead")) },
		func() { m.Logf("from the dead") },
		func() { _, _ = f.WriteAt([]byte("FROM THE DEAD"), 0) },
		func() { _ = f.Truncate(3) },
		func() { _ = d.Remove("file") },
		func() { _ = d.Rename("file", "elsewhere") },
		func() { _, _ = d.Open("ghost", host.ClassData, true) },
		func() { m.Go("ghost", func() { m.Logf("from the dead") }) },
		func() { m.After(0, func() { m.Logf("from the dead") }) },
		func() { m.Sleep(0); m.Logf("from the dead") },
		func() { cond.Broadcast(); m.Logf("from the dead") },
		func() { m.Mark("hosttest.dead"); m.Logf("from the dead") },
		func() { m.Exit(errors.New("from the dead")) },
	}
}

// parkAll starts one task for each door and each way to park.
func parkAll(m host.Machine, conn host.Conn, doors []func()) {
	cond := m.NewCond(host.WaitWork)
	parks := []func(){
		cond.Wait,
		func() { cond.WaitFor(int64(time.Hour)) },
		func() { m.Sleep(time.Hour) },
		func() { m.Recv(7, nil) },
		func() { _, _ = conn.Recv(nil) },
	}
	for i, door := range doors {
		for j, park := range parks {
			m.Go(fmt.Sprintf("parked %d %d", i, j), func() {
				defer door()
				defer func() {
					if i%2 == 0 {
						_ = recover() //tornvet:recover engine code must not, and it must not help a task that does
						door()
					}
				}()
				for {
					park()
					m.Pay() // conn.Recv may come back, with an error
				}
			})
		}
	}
}

// unharmed checks, in the next boot, what the dead tried to change.
func unharmed(d host.Disk, f host.File) error {
	var c check
	names, err := d.List()
	c.works(err, "List")
	c.that(len(names) == 1, "files %v, want only \"file\"", names)
	b := make([]byte, 20)
	n, _ := f.ReadAt(b, 0)
	c.that(string(b[:n]) == "as written", "the file holds %q, want %q", b[:n], "as written")
	return c.err
}

func driveKill(kind EndKind) func(w World) error {
	return func(w World) error {
		w.Boot("judge")
		if err := says(w, "judge", "ready", 1); err != nil {
			return err
		}
		w.Boot("victim")
		if err := says(w, "victim", "ready", 1); err != nil {
			return err
		}
		if kind == Killed {
			if err := says(w, "judge", "message hello", 1); err != nil {
				return err
			}
			w.Kill("victim")
		}
		if err := ended(w, "victim", kind); err != nil {
			return err
		}
		if err := says(w, "judge", "connection ended", 1); err != nil {
			return err
		}
		let(w, 5*time.Millisecond)
		heard := count(w, "judge", "datagram from the dead") + count(w, "judge", "message from the dead")
		if own := count(w, "victim", "from the dead"); heard > 0 || own > 0 {
			return fmt.Errorf("the dead were heard %d times by the judge and logged %d times", heard, own)
		}
		w.Boot("victim")
		return verdict(w, "victim")
	}
}

// ticker logs as fast as it can by several tasks and a timer.
func ticker(m host.Machine) error {
	for i := range 3 {
		m.Go("ticker", func() {
			for {
				m.Logf("tick")
				m.Sleep(time.Duration(i+1) * 50 * time.Microsecond)
			}
		})
	}
	return forever(m)
}

func driveTicker(w World) error {
	w.Boot("one")
	if err := says(w, "one", "tick", 10); err != nil {
		return err
	}
	w.Kill("one")
	if err := ended(w, "one", Killed); err != nil {
		return err
	}
	before := count(w, "one", "tick")
	let(w, 5*time.Millisecond)
	if after := count(w, "one", "tick"); after != before {
		return fmt.Errorf("%d ticks after the end, %d a little later", before, after)
	}
	return nil
}

// leaveTimers leaves timers and sleeping tasks behind in its first boot.
func leaveTimers(m host.Machine) error {
	if m.Boot() > 1 {
		m.Sleep(5 * time.Millisecond)
		return nil
	}
	for range 10 {
		m.After(2*time.Millisecond, func() { m.Logf("old timer") })
		m.Go("old sleeper", func() { m.Sleep(2 * time.Millisecond); m.Logf("old timer") })
	}
	m.Sleep(time.Microsecond)
	return nil
}

// driveTimers counts what fired while the first boot still lived: on a busy
// real machine its short sleep may outlast the timers.
func driveTimers(w World) error {
	inTime := 0
	for boot := range 2 {
		w.Boot("one")
		if err := verdict(w, "one"); err != nil {
			return err
		}
		if boot == 0 {
			inTime = count(w, "one", "old timer")
		}
	}
	if n := count(w, "one", "old timer") - inTime; n > 0 {
		return fmt.Errorf("%d timers of the first boot fired after it", n)
	}
	return nil
}

func driveKillTwice(w World) error {
	w.Kill("one")
	for boot := 1; boot <= 2; boot++ {
		w.Boot("one")
		if err := says(w, "one", "ready", boot); err != nil {
			return err
		}
		w.Kill("one")
		w.Kill("one")
		if err := ended(w, "one", Killed); err != nil {
			return err
		}
	}
	return nil
}
