package hosttest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"tornpage/engine/host"
)

// connPair is a case of a client and of "server", which answers connections to
// port 1 by handlers and to port 2 by a task each, message by message.
func connPair(name, rule, says string, client func(m host.Machine) error) *Case {
	return &Case{Name: name, Rule: rule, Says: says, Hosts: []Host{
		{Name: "server", Boot: connServer, Serves: true}, {Name: "client", Boot: client}}}
}

func connCases() []*Case {
	return []*Case{
		connPair("conn-order", "Conn", "messages arrive whole, once and in order", connOrder),
		connPair("conn-sizes", "Conn", "messages of 0 to 70,000 bytes arrive as sent", connSizes),
		connPair("conn-large", "Conn", "a message of 2 MiB arrives as sent, between small ones", connLarge),
		connPair("conn-copies", "H7", "the sender's buffer is its own again when Send returns", connCopies),
		connPair("conn-recv-appends", "Conn.Recv", "Recv uses the buffer it is given if it is large enough", connBuffer),
		connPair("conn-many", "Conn", "a hundred connections do not mix their messages", connMany),
		connPair("conn-peer", "Conn.Peer", "Peer is the other end", func(m host.Machine) error {
			conn, err := dial(m, "server", 1)
			if err != nil {
				return err
			}
			var c check
			c.that(m.NameOf(conn.Peer()) == "server", "Peer is %s, want server", m.NameOf(conn.Peer()))
			conn.Send([]byte("who am I?"))
			got, err := conn.Recv(nil)
			c.works(err, "Recv")
			c.that(string(got) == "client", "the server's peer is %q, want client", got)
			return c.err
		}),
		solo("conn-to-self", "Machine.Dial", "a process can dial itself", connToSelf),
		solo("dial-refused", "Machine.Dial", "a port that nobody listens to refuses", func(m host.Machine) error {
			var c check
			_, err := m.Dial(m.Lookup(m.Name()), 77)
			c.is(err, host.ErrRefused, "Dial of a port without a listener")
			return c.err
		}),
		connPair("onrecv-gets-what-waits", "Conn.OnRecv", "OnRecv gets what arrived before it was set, and no two sides get one message", onRecvLate),
		ends("message-too-long", "H-size", "a message above MaxMessage is a broken rule of its sender", func(m host.Machine) error {
			m.Listen(1, func(host.Conn) {})
			conn, err := m.Dial(m.Lookup(m.Name()), 1)
			if err != nil {
				return err
			}
			conn.Send(make([]byte, host.MaxMessage+1))
			return nil
		}, Panicked, "H-size"),
	}
}

// connServer serves both ways. The message "who am I?" is answered by the name
// of the peer, "close" by closing, all others by themselves.
func connServer(m host.Machine) error {
	answer := func(c host.Conn, msg []byte) {
		switch string(msg) {
		case "who am I?":
			c.Send([]byte(m.NameOf(c.Peer())))
		case "close":
			c.Send([]byte("closing"))
			c.Close()
		default:
			c.Send(msg)
		}
	}
	m.Listen(1, func(c host.Conn) {
		c.OnRecv(func(msg []byte, err error) {
			if err != nil {
				m.Logf("handler: %s", ending(msg, err))
				return
			}
			answer(c, msg)
		})
	})
	m.Listen(2, func(c host.Conn) {
		m.Go("connection", func() {
			var b []byte
			for {
				msg, err := c.Recv(b)
				if err != nil {
					m.Logf("task: %s", ending(nil, err))
					return
				}
				answer(c, msg)
				b = msg
			}
		})
	})
	return serve(m)
}

// dial dials until a listener is there, for at most ownPatience.
func dial(m host.Machine, to string, port host.Port) (host.Conn, error) {
	for limit := m.Now() + ownPatience; ; {
		conn, err := m.Dial(m.Lookup(to), port)
		if err == nil || m.Now() > limit {
			return conn, err
		}
		m.Sleep(time.Millisecond)
	}
}

// bothWays runs f on a connection to each kind of server.
func bothWays(m host.Machine, f func(c *check, conn host.Conn)) error {
	var c check
	for _, port := range []host.Port{1, 2} {
		conn, err := dial(m, "server", port)
		if err != nil {
			return err
		}
		f(&c, conn)
		conn.Close()
	}
	return c.err
}

func connOrder(m host.Machine) error {
	const n = 300
	return bothWays(m, func(c *check, conn host.Conn) {
		m.Go("sender", func() {
			r := m.Rand("hosttest.order", 0)
			for i := range uint32(n) {
				conn.Send(binary.LittleEndian.AppendUint32(nil, i))
				if r.Chance(1, 10) {
					m.Sleep(time.Microsecond)
				}
			}
		})
		var b []byte
		var err error
		for i := range uint32(n) {
			b, err = conn.Recv(b)
			c.works(err, fmt.Sprint("Recv ", i))
			if c.err != nil {
				return
			}
			c.that(len(b) == 4 && binary.LittleEndian.Uint32(b) == i, "message %d is %x", i, b)
		}
	})
}

func connSizes(m host.Machine) error {
	sizes := []int{0, 1, 3, 4095, 4096, 70_000, 0, 5}
	return bothWays(m, func(c *check, conn host.Conn) {
		for i, n := range sizes {
			conn.Send(pattern(n, byte(i)))
		}
		for i, n := range sizes {
			got, err := conn.Recv(nil)
			c.works(err, "Recv")
			c.that(bytes.Equal(got, pattern(n, byte(i))), "message %d of %d bytes came as %d bytes, or changed", i, n, len(got))
		}
	})
}

func connLarge(m host.Machine) error {
	var c check
	conn, err := dial(m, "server", 1)
	if err != nil {
		return err
	}
	for _, want := range [][]byte{[]byte("before"), pattern(2<<20, 1), []byte("after")} {
		conn.Send(want)
		got, err := conn.Recv(nil)
		c.works(err, "Recv")
		c.that(bytes.Equal(got, want), "a message of %d bytes came as %d bytes, or changed", len(want), len(got))
	}
	return c.err
}

func connCopies(m host.Machine) error {
	return bothWays(m, func(c *check, conn host.Conn) {
		b := make([]byte, 1000)
		for i := range byte(20) {
			copy(b, pattern(len(b), i))
			conn.Send(b)
			clear(b)
		}
		var kept [][]byte
		for i := range byte(20) {
			got, err := conn.Recv(nil)
			c.works(err, "Recv")
			c.that(bytes.Equal(got, pattern(len(b), i)), "message %d was changed after Send or by another", i)
			for _, old := range kept {
				clear(old)
			}
			kept = append(kept, got)
		}
	})
}

func connBuffer(m host.Machine) error {
	return bothWays(m, func(c *check, conn host.Conn) {
		conn.Send([]byte("hello"))
		b := make([]byte, 3, 4096)
		got, err := conn.Recv(b)
		c.works(err, "Recv")
		c.that(string(got) == "hello", "got %q, want %q", got, "hello")
		c.that(cap(got) > 0 && &got[:1][0] == &b[0], "Recv did not use the buffer it was given")
	})
}

func connMany(m host.Machine) error {
	var c check
	all := newCrew(m)
	for i := range 100 {
		all.run("client", func() {
			conn, err := dial(m, "server", host.Port(1+i%2))
			c.works(err, "Dial")
			if err != nil {
				return
			}
			for round := range 3 {
				want := fmt.Sprintf("message %d of connection %d", round, i)
				conn.Send([]byte(want))
				got, err := conn.Recv(nil)
				c.works(err, "Recv")
				c.that(string(got) == want, "got %q, want %q", got, want)
			}
			conn.Close()
		})
	}
	c.that(poll(m, func() bool { return all.left == 0 }), "%d connections got no answer", all.left)
	return c.err
}

func connToSelf(m host.Machine) error {
	var c check
	accepted := 0
	m.Listen(1, func(conn host.Conn) {
		accepted++
		conn.Send([]byte("welcome"))
		conn.OnRecv(func(msg []byte, err error) {
			if err == nil {
				conn.Send(append([]byte("you said "), msg...))
			}
		})
	})
	conn, err := m.Dial(m.Lookup(m.Name()), 1)
	if err != nil {
		return err
	}
	conn.Send([]byte("hi"))
	for _, want := range []string{"welcome", "you said hi"} {
		got, err := conn.Recv(nil)
		c.works(err, "Recv")
		c.that(string(got) == want, "got %q, want %q", got, want)
	}
	c.that(accepted == 1, "accept was called %d times", accepted)
	return c.err
}

func onRecvLate(m host.Machine) error {
	return bothWays(m, func(c *check, conn host.Conn) {
		var got []string
		for i := range 10 {
			conn.Send([]byte(fmt.Sprint(i)))
		}
		first, err := conn.Recv(nil)
		c.works(err, "Recv")
		m.Sleep(5 * time.Millisecond) // most answers are here by now
		got = append(got, string(first))
		inPlace := true
		conn.OnRecv(func(msg []byte, err error) {
			c.that(!inPlace, "OnRecv called its function in place")
			if err == nil {
				got = append(got, string(msg))
			}
		})
		inPlace = false
		c.that(poll(m, func() bool { return len(got) >= 10 }), "got %v", got)
		c.that(fmt.Sprint(got) == "[0 1 2 3 4 5 6 7 8 9]", "got %v, want 0 to 9 in order", got)
	})
}
