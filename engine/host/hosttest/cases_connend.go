package hosttest

import (
	"errors"
	"fmt"

	"tornpage/engine/host"
)

func connEndCases() []*Case {
	return []*Case{
		connPair("peer-closes", "Conn.Close", "after the peer's Close what it sent arrives, then ErrClosed, again and again", peerCloses),
		connPair("own-close", "Conn.Close", "after its own Close a side gets ErrClosed, and may close again", ownClose),
		connPair("close-wakes-recv", "Conn.Close", "a task that blocks in Recv comes back when another one closes", closeWakes),
		connPair("onrecv-last-call", "Conn.OnRecv", "the last call has an error and no message, and comes once", onRecvLast),
		connPair("onrecv-own-close", "Conn.OnRecv", "the last call comes after a side's own Close too", onRecvOwnClose),
		connPair("send-after-break", "Conn.Send", "Send does nothing after a break", sendAfterBreak),
		{Name: "break-is-seen", Rule: "Conn.Recv", Says: "when the peer is killed, Recv and OnRecv give ErrBroken",
			Hosts: []Host{{Name: "server", Boot: connServer, Serves: true}, {Name: "client", Boot: seeBreak}}, Drive: driveBreak},
		{Name: "break-of-clients", Rule: "Conn.Recv", Says: "a server sees its client's death, by task and by handler",
			Hosts: []Host{{Name: "server", Boot: connServer, Serves: true}, {Name: "client", Boot: dialAndWait}}, Drive: driveClientDies},
		{Name: "exit-breaks", Rule: "Conn.Recv", Says: "a process that ends by itself breaks its connections without closing them",
			Hosts: []Host{{Name: "server", Boot: connServer, Serves: true}, {Name: "client", Boot: dialAndReturn}}, Drive: driveClientReturns},
		{Name: "dial-nobody", Rule: "Machine.Dial", Says: "dialling who is down fails, and works once it is up",
			Hosts: []Host{{Name: "client", Boot: dialDown}, {Name: "server", Boot: connServer, Serves: true}}, Drive: driveDialDown},
		{Name: "redial", Rule: "H4", Says: "after the peer's reboot a new connection works, and the old one stays broken",
			Hosts: []Host{{Name: "server", Boot: connServer, Serves: true}, {Name: "client", Boot: redial}}, Drive: driveRedial},
	}
}

// ending says how a connection ended, in words for logs.
func ending(msg []byte, err error) string {
	switch {
	case msg != nil:
		return "message with error"
	case errors.Is(err, host.ErrBroken) && errors.Is(err, host.ErrClosed):
		return "both"
	case errors.Is(err, host.ErrBroken):
		return "broken"
	case errors.Is(err, host.ErrClosed):
		return "closed"
	}
	return fmt.Sprint("other error: ", err)
}

func peerCloses(m host.Machine) error {
	return bothWays(m, func(c *check, conn host.Conn) {
		conn.Send([]byte("one"))
		conn.Send([]byte("close"))
		for _, want := range []string{"one", "closing"} {
			got, err := conn.Recv(nil)
			c.works(err, "Recv before the close")
			c.that(string(got) == want, "got %q, want %q", got, want)
		}
		for range 3 {
			got, err := conn.Recv(make([]byte, 0, 10))
			c.is(err, host.ErrClosed, "Recv after the peer's Close")
			c.that(len(got) == 0, "Recv gave %q with an error", got)
		}
	})
}

func ownClose(m host.Machine) error {
	return bothWays(m, func(c *check, conn host.Conn) {
		conn.Close()
		conn.Close()
		conn.Send([]byte("into the void"))
		_, err := conn.Recv(nil)
		c.is(err, host.ErrClosed, "Recv after Close")
	})
}

func closeWakes(m host.Machine) error {
	return bothWays(m, func(c *check, conn host.Conn) {
		all := newCrew(m)
		inside := 0
		for range 2 {
			all.run("receiver", func() {
				inside++
				_, err := conn.Recv(nil)
				c.is(err, host.ErrClosed, "Recv")
			})
		}
		poll(m, func() bool { return inside == 2 })
		conn.Close()
		c.that(poll(m, func() bool { return all.left == 0 }), "%d receivers did not come back after Close", all.left)
	})
}

// lastCall sets OnRecv and checks its last call after end.
func lastCall(m host.Machine, end func(conn host.Conn)) error {
	return bothWays(m, func(c *check, conn host.Conn) {
		inPlace, errs, after := true, 0, 0
		conn.OnRecv(func(msg []byte, err error) {
			c.that(!inPlace, "OnRecv's function was called in place")
			if errs > 0 {
				after++
			}
			if err != nil {
				errs++
				c.that(msg == nil, "the last call has a message: %q", msg)
				c.is(err, host.ErrClosed, "the last call")
			}
		})
		conn.Send([]byte("one"))
		end(conn)
		inPlace = false
		c.that(poll(m, func() bool { return errs > 0 }), "OnRecv's function was not told of the close")
		m.Sleep(2_000_000) // 2 ms for calls that should not come
		c.that(after == 0, "%d calls came after the last one", after)
	})
}

func onRecvLast(m host.Machine) error {
	return lastCall(m, func(conn host.Conn) { conn.Send([]byte("close")) })
}

func onRecvOwnClose(m host.Machine) error { return lastCall(m, host.Conn.Close) }

func sendAfterBreak(m host.Machine) error {
	return bothWays(m, func(c *check, conn host.Conn) {
		conn.Send([]byte("close"))
		for {
			if _, err := conn.Recv(nil); err != nil {
				break
			}
		}
		for range 100 {
			conn.Send(pattern(1000, 1))
		}
		_, err := conn.Recv(nil)
		c.is(err, host.ErrClosed, "Recv after Send after the end")
	})
}

// seeBreak waits for the server's death on four connections.
func seeBreak(m host.Machine) error {
	var c check
	all := newCrew(m)
	ready := 0
	for _, port := range []host.Port{1, 2} {
		for _, handler := range []bool{false, true} {
			conn, err := dial(m, "server", port)
			if err != nil {
				return err
			}
			conn.Send([]byte("hello"))
			got, err := conn.Recv(nil)
			c.that(err == nil && string(got) == "hello", "Recv gave %q, %v before the break", got, err)
			ready++
			if !handler {
				all.run("receiver", func() {
					_, err := conn.Recv(nil)
					c.is(err, host.ErrBroken, "Recv")
				})
				continue
			}
			all.left++
			conn.OnRecv(func(msg []byte, err error) {
				c.is(err, host.ErrBroken, "OnRecv")
				all.left--
				all.gone.Broadcast()
			})
		}
	}
	m.Logf("ready")
	all.wait()
	return c.err
}

func driveBreak(w World) error {
	w.Boot("server")
	w.Boot("client")
	if err := says(w, "client", "ready", 1); err != nil {
		return err
	}
	w.Kill("server")
	return verdict(w, "client")
}

// dialPair opens a connection to each kind of server and uses it.
func dialPair(m host.Machine) error {
	for _, port := range []host.Port{1, 2} {
		conn, err := dial(m, "server", port)
		if err != nil {
			return err
		}
		conn.Send([]byte("hello"))
		if _, err := conn.Recv(nil); err != nil {
			return err
		}
	}
	return nil
}

func dialAndWait(m host.Machine) error {
	if err := dialPair(m); err != nil {
		return err
	}
	m.Logf("ready")
	return forever(m)
}

func dialAndReturn(m host.Machine) error { return dialPair(m) }

func driveClientDies(w World) error {
	w.Boot("server")
	w.Boot("client")
	if err := says(w, "client", "ready", 1); err != nil {
		return err
	}
	w.Kill("client")
	return errors.Join(says(w, "server", "handler: broken", 1), says(w, "server", "task: broken", 1))
}

func driveClientReturns(w World) error {
	w.Boot("server")
	w.Boot("client")
	if err := verdict(w, "client"); err != nil {
		return err
	}
	return errors.Join(says(w, "server", "handler: broken", 1), says(w, "server", "task: broken", 1))
}

func dialDown(m host.Machine) error {
	var c check
	for range 3 {
		_, err := m.Dial(m.Lookup("server"), 1)
		c.that(errors.Is(err, host.ErrRefused) || errors.Is(err, host.ErrTimeout),
			"Dial: error %v, want ErrRefused or ErrTimeout", err)
	}
	m.Logf("refused")
	if c.err != nil {
		return c.err
	}
	return dialPair(m)
}

func driveDialDown(w World) error {
	w.Boot("client")
	if err := says(w, "client", "refused", 1); err != nil {
		return err
	}
	w.Boot("server")
	return verdict(w, "client")
}

func redial(m host.Machine) error {
	var c check
	old, err := dial(m, "server", 2)
	if err != nil {
		return err
	}
	m.Logf("ready")
	_, err = old.Recv(nil)
	c.is(err, host.ErrBroken, "Recv of the old connection")
	if err := dialPair(m); err != nil {
		return err
	}
	old.Send([]byte("are you there?"))
	_, err = old.Recv(nil)
	c.is(err, host.ErrBroken, "Recv of the old connection, later")
	return c.err
}

func driveRedial(w World) error {
	w.Boot("server")
	w.Boot("client")
	if err := says(w, "client", "ready", 1); err != nil {
		return err
	}
	w.Kill("server")
	if err := ended(w, "server", Killed); err != nil {
		return err
	}
	w.Boot("server")
	return verdict(w, "client")
}
