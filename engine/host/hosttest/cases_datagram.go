package hosttest

import (
	"bytes"
	"fmt"
	"time"

	"tornpage/engine/host"
)

func datagramCases() []*Case {
	pair := func(name, rule, says string, client func(m host.Machine) error) *Case {
		return &Case{Name: name, Rule: rule, Says: says, Hosts: []Host{
			{Name: "echo", Boot: echo, Serves: true}, {Name: "client", Boot: client}}}
	}
	return []*Case{
		pair("datagram-sizes", "Machine.Send", "datagrams from 0 bytes to 64 KiB arrive as sent", datagramSizes),
		pair("datagram-is-copied", "H7", "the sender's buffer is its own again when Send returns", datagramCopied),
		pair("datagram-buffer-is-mine", "H7", "what Recv gave is the receiver's to change", datagramOwned),
		pair("datagram-recv-appends", "Machine.Recv", "Recv uses the buffer it is given if it is large enough", datagramBuffer),
		pair("datagram-ports", "Machine.Recv", "datagrams of one port are not seen by another", datagramPorts),
		pair("handle-and-back", "Machine.Handle", "Handle takes a port's datagrams, Handle(nil) gives them back", handleAndBack),
		pair("handler-message-ends", "Machine.Handle", "what a handler got, copied, stays as it was", handlerCopies),
		solo("datagram-to-self", "Machine.Send", "a process can send to itself", datagramToSelf),
		ends("datagram-too-long", "H-size", "a datagram above MaxDatagram is a broken rule of its sender",
			func(m host.Machine) error {
				m.Send(m.Lookup(m.Name()), 1, make([]byte, host.MaxDatagram+1))
				return nil
			}, Panicked, "H-size"),
		{Name: "datagram-to-nobody", Rule: "Machine.Send", Says: "sending to who is down does nothing, and works once it is up",
			Hosts: []Host{{Name: "client", Boot: sendToDown}, {Name: "echo", Boot: echo, Serves: true}}, Drive: driveDown},
		{Name: "datagram-after-reboot", Rule: "H4", Says: "datagrams reach the next boot of a process",
			Hosts: []Host{{Name: "client", Boot: sendOverReboot}, {Name: "echo", Boot: echo, Serves: true}}, Drive: driveReboot},
	}
}

// echo answers each datagram to port 1 at the sender's port 2, by a handler,
// and each to port 3 at port 4, by a task.
func echo(m host.Machine) error {
	m.Handle(1, func(from host.Addr, msg []byte) { m.Send(from, 2, msg) })
	m.Go("echo", func() {
		var b []byte
		for {
			from, msg := m.Recv(3, b)
			m.Send(from, 4, msg)
			b = msg
		}
	})
	return serve(m)
}

// asker sends until an answer fits, since datagrams may be lost or doubled.
type asker struct {
	m       host.Machine
	to      host.Addr
	port    host.Port // of the server; answers come to the port above
	arrived *host.Cond
	answers [][]byte
	fitting []byte // the answer that ended the last ask
}

func newAsker(m host.Machine, port host.Port) *asker {
	a := &asker{m: m, to: m.Lookup("echo"), port: port, arrived: m.NewCond(host.WaitRecv)}
	m.Go("asker", func() {
		for {
			_, msg := m.Recv(port+1, nil)
			a.answers = append(a.answers, msg)
			a.arrived.Broadcast()
		}
	})
	return a
}

// ask sends b until an answer is b, and reports the answers that were not. Tags
// make late answers to earlier questions recognisable.
func (a *asker) ask(b []byte) error {
	for limit := a.m.Now() + ownPatience; a.m.Now() < limit; {
		a.m.Send(a.to, a.port, b)
		a.arrived.WaitFor(int64(20 * time.Millisecond))
		for _, got := range a.answers {
			if bytes.Equal(got, b) {
				a.answers, a.fitting = nil, got
				return nil
			}
		}
	}
	return fmt.Errorf("no answer equal to the %d bytes sent; %d other answers", len(b), len(a.answers))
}

func datagramSizes(m host.Machine) error {
	for _, port := range []host.Port{1, 3} {
		a := newAsker(m, port)
		for i, n := range []int{0, 1, 100, 1400, 1500, 8192, 65_507, host.MaxDatagram} {
			if err := a.ask(pattern(n, byte(i))); err != nil {
				return err
			}
		}
	}
	return nil
}

func datagramCopied(m host.Machine) error {
	var c check
	to := m.Lookup("echo")
	got := 0
	m.Handle(2, func(_ host.Addr, msg []byte) {
		c.that(len(msg) == 512 && bytes.Equal(msg, pattern(512, msg[0])), "a datagram arrived with bytes written after Send")
		got++
	})
	b := make([]byte, 512)
	round := byte(0)
	c.that(poll(m, func() bool {
		round++
		copy(b, pattern(len(b), round))
		m.Send(to, 1, b)
		clear(b) // the network must not see this
		return got >= 20
	}), "%d answers", got)
	return c.err
}

func datagramOwned(m host.Machine) error {
	var c check
	a := newAsker(m, 1)
	want := pattern(300, 1)
	for range 10 {
		if err := a.ask(want); err != nil {
			return err
		}
	}
	c.that(bytes.Equal(want, pattern(300, 1)), "the sender's buffer was changed")
	task := newAsker(m, 3)
	var kept [][]byte
	for i := range byte(10) {
		if err := task.ask(pattern(300, i)); err != nil {
			return err
		}
		for _, old := range kept {
			clear(old) // must not reach any other message
		}
		kept = append(kept, task.fitting)
		c.that(bytes.Equal(task.fitting, pattern(300, i)), "message %d changed with another", i)
	}
	return c.err
}

func datagramBuffer(m host.Machine) error {
	var c check
	to := m.Lookup("echo")
	b := make([]byte, 5, 4096)
	c.that(resend(m, func() { m.Send(to, 3, []byte("hello")) }, func() bool {
		_, got := m.Recv(4, b)
		c.that(string(got) == "hello", "got %q, want %q", got, "hello")
		c.that(cap(got) > 0 && &got[0] == &b[0], "Recv did not use the buffer it was given")
		return true
	}), "no answer")
	return c.err
}

// resend calls send again and again while receive blocks.
func resend(m host.Machine, send func(), receive func() bool) bool {
	done := false
	var again func()
	again = func() {
		if !done {
			send()
			m.After(20*time.Millisecond, again)
		}
	}
	again()
	ok := receive()
	done = true
	return ok
}

func datagramPorts(m host.Machine) error {
	var c check
	to := m.Lookup("echo")
	byPort := map[host.Port]int{}
	for _, port := range []host.Port{2, 4} {
		want := map[host.Port]string{2: "to 1", 4: "to 3"}[port]
		m.Handle(port, func(from host.Addr, msg []byte) {
			c.that(string(msg) == want, "port %d got %q, want %q", port, msg, want)
			c.that(from == to, "port %d heard %s, want echo", port, m.NameOf(from))
			byPort[port]++
		})
	}
	m.Handle(200, func(host.Addr, []byte) { c.that(false, "a datagram came to port 200") })
	c.that(poll(m, func() bool {
		m.Send(to, 1, []byte("to 1"))
		m.Send(to, 3, []byte("to 3"))
		return byPort[2] >= 5 && byPort[4] >= 5
	}), "answers by port: %v", byPort)
	return c.err
}

func handleAndBack(m host.Machine) error {
	var c check
	a := newAsker(m, 1)
	if err := a.ask([]byte("by task")); err != nil {
		return err
	}
	handled := 0
	m.Handle(2, func(host.Addr, []byte) { handled++ })
	before := len(a.answers)
	c.that(poll(m, func() bool { m.Send(a.to, 1, []byte("by handler")); return handled >= 3 }), "the handler was called %d times", handled)
	c.that(len(a.answers)-before <= 1, "%d datagrams went past the handler", len(a.answers)-before)
	m.Handle(2, nil)
	if err := a.ask([]byte("by task again")); err != nil {
		return err
	}
	return c.err
}

func handlerCopies(m host.Machine) error {
	var c check
	to := m.Lookup("echo")
	kept := map[byte][]byte{}
	m.Handle(2, func(_ host.Addr, msg []byte) {
		kept[msg[0]] = bytes.Clone(msg)
	})
	for i := range byte(10) {
		want := append([]byte{i}, pattern(100, i)...)
		c.that(poll(m, func() bool { m.Send(to, 1, want); return bytes.Equal(kept[i], want) }), "message %d came as %x", i, kept[i])
	}
	return c.err
}

func datagramToSelf(m host.Machine) error {
	var c check
	self := m.Lookup(m.Name())
	inSend := false
	got := 0
	m.Handle(1, func(from host.Addr, msg []byte) {
		c.that(!inSend, "the handler ran inside Send")
		c.that(from == self && bytes.Equal(msg, pattern(70, 3)), "got %d bytes from %s", len(msg), m.NameOf(from))
		got++
	})
	c.that(poll(m, func() bool {
		b := pattern(70, 3)
		inSend = true
		m.Send(self, 1, b)
		clear(b)
		inSend = false
		return got >= 3
	}), "%d datagrams to itself arrived", got)
	return c.err
}

func sendToDown(m host.Machine) error {
	to := m.Lookup("echo")
	for range 100 {
		m.Send(to, 1, []byte("anybody?"))
		m.Sleep(10 * time.Microsecond)
	}
	m.Logf("sent")
	return newAsker(m, 1).ask([]byte("now?"))
}

func driveDown(w World) error {
	w.Boot("client")
	if err := says(w, "client", "sent", 1); err != nil {
		return err
	}
	w.Boot("echo")
	return verdict(w, "client")
}

func sendOverReboot(m host.Machine) error {
	a := newAsker(m, 1)
	for i := range 3 {
		if err := a.ask([]byte(fmt.Sprint("boot ", i))); err != nil {
			return err
		}
		m.Logf("answered")
		m.Sleep(time.Millisecond)
	}
	return nil
}

func driveReboot(w World) error {
	w.Boot("echo")
	w.Boot("client")
	for n := 1; n <= 2; n++ {
		if err := says(w, "client", "answered", n); err != nil {
			return err
		}
		w.Kill("echo")
		if err := ended(w, "echo", Killed); err != nil {
			return err
		}
		w.Boot("echo")
	}
	return verdict(w, "client")
}
