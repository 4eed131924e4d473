package hosttest

import (
	"errors"
	"fmt"
	"time"

	"tornpage/engine/host"
)

func endCases() []*Case {
	return []*Case{
		ends("panic-in-a-task", "H6", "a panic ends the process; task, value and the task's stack are reported",
			panicInATask, Panicked, "the guilty task", "a broken thing", "brokenFunction"),
		ends("panic-in-a-handler", "H6", "a panic of a handler ends the process and is reported",
			func(m host.Machine) error {
				m.After(0, func() { panic("a broken handler") })
				return forever(m)
			}, Panicked, "a broken handler"),
		ends("exit-in-boot", "Machine.Exit", "Exit ends the process, keeps the reason and does not return",
			func(m host.Machine) error {
				m.Exit(errors.New("the disk lies"))
				return errors.New("the call of Exit returned")
			}, Exited, "the disk lies"),
		ends("exit-in-a-task", "Machine.Exit", "Exit in any task ends the whole process", exitInATask, Exited, "enough"),
		ends("exit-in-a-handler", "Machine.Exit", "Exit in a handler ends the process",
			func(m host.Machine) error {
				m.After(0, func() { m.Exit(errors.New("out of time")); m.Logf(verdictFail + "Exit returned") })
				return forever(m)
			}, Exited, "out of time"),
		{Name: "return-ends-the-process", Rule: "Machine.Go", Says: "the process ends when boot returns, whatever its tasks do",
			Hosts: []Host{{Name: "one", Boot: returnWithTasks}}, Drive: driveReturn},
	}
}

func panicInATask(m host.Machine) error {
	m.Go("the guilty task", brokenFunction)
	return forever(m)
}

// brokenFunction is looked for in the reported stack.
//
//go:noinline
func brokenFunction() { panic(fmt.Sprintf("a broken %s", "thing")) }

func exitInATask(m host.Machine) error {
	m.Go("bystander", func() { m.Sleep(time.Hour) })
	m.Go("ender", func() { m.Exit(errors.New("enough")) })
	return forever(m)
}

// returnWithTasks returns while tasks sleep, wait, spin and have timers.
func returnWithTasks(m host.Machine) error {
	m.Go("sleeper", func() { m.Sleep(2 * time.Millisecond); m.Logf("after the end") })
	m.Go("waiter", func() {
		defer func() { m.Logf("after the end") }()
		_ = forever(m)
	})
	m.Go("spinner", func() {
		for {
			m.Sleep(time.Microsecond)
		}
	})
	m.Go("receiver", func() { m.Recv(1, nil); m.Logf("after the end") })
	m.After(2*time.Millisecond, func() { m.Logf("after the end") })
	m.Sleep(time.Microsecond)
	return nil
}

func driveReturn(w World) error {
	w.Boot("one")
	if err := verdict(w, "one"); err != nil {
		return err
	}
	let(w, 10*time.Millisecond)
	if n := count(w, "one", "after the end"); n > 0 {
		return fmt.Errorf("%d lines were logged after the boot function had returned", n)
	}
	return nil
}
