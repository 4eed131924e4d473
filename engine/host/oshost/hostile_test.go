package oshost

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
)

// warnings gathers what a process warns of.
type warnings struct {
	mu    sync.Mutex
	lines []string
	some  chan struct{}
}

func newWarnings() *warnings { return &warnings{some: make(chan struct{}, 1)} }

func (w *warnings) add(line string) {
	w.mu.Lock()
	w.lines = append(w.lines, line)
	w.mu.Unlock()
	select {
	case w.some <- struct{}{}:
	default:
	}
}

func (w *warnings) mentions(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Contains(strings.Join(w.lines, "\n"), text)
}

func (w *warnings) await(t *testing.T, text string) {
	t.Helper()
	alarm := time.After(limit)
	for !w.mentions(text) {
		select {
		case <-w.some:
		case <-alarm:
			t.Fatalf("no warning mentions %q: %q", text, w.lines)
		}
	}
}

// Whatever a peer sends, the process drops it with a reason and goes on (O2).
func TestForeignBytes(t *testing.T) {
	greet := func(stream byte, from, to string) []byte {
		h := hello{stream: stream, port: 1, boot: 1, from: from, to: to}
		return appendFrame(nil, frameHello, h.encode())
	}
	other := hello{stream: streamConn, from: "two", to: "one"}
	newer := other.encode()
	newer[4] = 9
	damaged := appendFrame(nil, frameMessage, []byte("hello"))
	damaged[len(damaged)-1] ^= 1
	huge := []byte{0, 0, 0, 0x70, 0, 0, 0, 0}
	for reason, bytes := range map[string][]byte{
		"length 542393671, want 1 to":                   []byte("GET / HTTP/1.1\r\n\r\n"),
		"want a hello (1) first":                        appendFrame(nil, frameMessage, []byte("hello")),
		"are no hello":                                  appendFrame(nil, frameHello, []byte("hello")),
		"protocol version 9, want 1":                    appendFrame(nil, frameHello, newer),
		"stream kind 7":                                 greet(7, "two", "one"),
		`"nobody" is not in the deployment`:             greet(streamConn, "nobody", "one"),
		`"two" dials "three", but this is "one"`:        greet(streamConn, "two", "three"),
		"kind 77 in a connection":                       append(greet(streamConn, "two", "one"), appendFrame(nil, 77)...),
		"checksum of 6 bytes":                           append(greet(streamConn, "two", "one"), damaged...),
		"length 1879048192, want 1 to 16777217":         append(greet(streamConn, "two", "one"), huge...),
		"length 1879048192, want 1 to 65538":            append(greet(streamDatagrams, "two", "one"), huge...),
		"kind 6 of 0 bytes in a datagram stream of two": append(greet(streamDatagrams, "two", "one"), appendFrame(nil, frameDatagram)...),
		"kind 4 of 1 bytes in a datagram stream of two": append(greet(streamDatagrams, "two", "one"), appendFrame(nil, frameMessage, []byte("m"))...),
	} {
		t.Run(reason, func(t *testing.T) {
			cfg := deployment(t, t.TempDir(), []string{"one", "two"})
			warned := newWarnings()
			ready := make(chan struct{})
			start(t, cfg, "one", warned.add, func(m host.Machine) {
				m.Listen(1, func(c host.Conn) {})
				close(ready)
				park(m)
			})
			<-ready
			sock, err := net.Dial("tcp", cfg.Processes["one"].Address)
			require.NoError(t, err)
			_, err = sock.Write(bytes)
			require.NoError(t, err)
			require.NoError(t, sock.SetReadDeadline(time.Now().Add(limit)))
			_, _ = io.Copy(io.Discard, sock) // until the process drops it
			warned.await(t, reason)
			require.NoError(t, sock.Close())

			answered := make(chan error, 1)
			start(t, cfg, "two", nil, func(m host.Machine) {
				_, err := m.Dial(m.Lookup("one"), 1)
				answered <- err
			})
			require.NoError(t, <-answered, "the process does not go on")
		})
	}
}

// Peers that come and go without a word are everyday: no warning.
func TestSilentPeers(t *testing.T) {
	cfg := deployment(t, t.TempDir(), []string{"one", "two"})
	warned := newWarnings()
	p := start(t, cfg, "one", warned.add, park)
	for i := range 5 {
		sock, err := net.Dial("tcp", cfg.Processes["one"].Address)
		require.NoError(t, err)
		_, err = sock.Write(appendFrame(nil, frameHello, make([]byte, 16))[:i])
		require.NoError(t, err)
		require.NoError(t, sock.Close())
	}
	p.Kill()
	p.Wait()
	require.False(t, warned.mentions("dropped"), "%q", warned.lines)
}

// A peer that takes nothing slows its sender down and then breaks the
// connection, instead of filling either memory (O3).
func TestPeerThatTakesNothing(t *testing.T) {
	cfg := deployment(t, t.TempDir(), []string{"one", "two"})
	ready := make(chan struct{})
	start(t, cfg, "two", nil, func(m host.Machine) {
		m.Listen(1, func(host.Conn) {}) // never looks at it again
		close(ready)
		park(m)
	})
	<-ready
	warned := newWarnings()
	result := make(chan error, 1)
	one := start(t, cfg, "one", warned.add, func(m host.Machine) {
		c, err := m.Dial(m.Lookup("two"), 1)
		if err != nil {
			result <- err
			return
		}
		message := make([]byte, 1<<20)
		for range 3 * (maxConnOut + maxArrived) / len(message) {
			c.Send(message)
		}
		_, err = c.Recv(nil)
		result <- err
	})
	err := <-result
	require.ErrorIs(t, err, host.ErrBroken)
	require.ErrorContains(t, err, "send queue full")
	require.Equal(t, Returned, one.Wait().Kind)
	warned.await(t, fmt.Sprintf("more than %d bytes wait to be sent", maxConnOut))
}

// Datagrams that nobody takes are dropped, at both ends.
func TestDatagramsThatNobodyTakes(t *testing.T) {
	cfg := deployment(t, t.TempDir(), []string{"one", "two"})
	sum := make(chan int, 1)
	ready := make(chan struct{})
	start(t, cfg, "two", nil, func(m host.Machine) {
		done := false
		m.Handle(2, func(host.Addr, []byte) { done = true })
		close(ready)
		for !done {
			m.Sleep(time.Millisecond)
		}
		n := 0
		m.Handle(1, func(host.Addr, []byte) { n++ })
		m.Sleep(10 * time.Millisecond)
		sum <- n
	})
	<-ready
	start(t, cfg, "one", nil, func(m host.Machine) {
		b := make([]byte, 1<<10)
		for i := range 40 << 10 {
			m.Send(m.Lookup("two"), 1, b)
			if i%1000 == 0 {
				m.Sleep(time.Microsecond)
			}
		}
		for {
			m.Send(m.Lookup("two"), 2, nil)
			m.Sleep(time.Millisecond)
		}
	})
	n := <-sum
	require.Greater(t, n, 0)
	require.LessOrEqual(t, n, maxBox/(1<<10), "more datagrams waited than the box holds")
}
