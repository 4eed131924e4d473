package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/sim"
)

const port host.Port = 5

// toy is a backend in a map. Key 13 is never answered, key 14 only after a
// long time.
type toy struct {
	m     host.Machine
	data  map[int64][]byte
	token db.Token
	open  bool
}

func (b *toy) Serving() bool { return b.open }

func (b *toy) Do(req *db.Request, resp *db.Response) {
	b.token++
	switch {
	case req.Keys[0] == 13:
		b.m.Sleep(time.Hour)
	case req.Keys[0] == 14:
		b.m.Sleep(100 * time.Millisecond)
	}
	switch req.Op {
	case db.OpGet, db.OpMultiGet, db.OpView:
		if req.AtLeast > b.token {
			resp.Refuse(db.WhyBehind, "")
			return
		}
		for _, k := range req.Keys {
			resp.Values.Add(b.data[k])
		}
	case db.OpCAS:
		if now := b.data[req.Keys[0]]; string(now) != string(req.Values.At(1)) {
			resp.Refuse(db.WhyMismatch, "")
			resp.Values.Add(now)
			return
		}
		b.data[req.Keys[0]] = append([]byte{}, req.Values.At(0)...)
	default:
		if req.Rollback {
			resp.Refuse(db.WhyRollback, "")
			return
		}
		for i, k := range req.Keys {
			b.data[k] = append([]byte{}, req.Values.At(i)...)
		}
	}
	resp.Commit(b.token)
}

// run lets a client talk to a server; both get the world.
func run(t *testing.T, server func(*sim.World, host.Machine), client func(*sim.World, host.Machine)) *sim.World {
	var w *sim.World
	ended := false
	w, err := sim.New(sim.Config{Seed: 1,
		Machines: []sim.Machine{{Name: "a", Zone: "z"}, {Name: "b", Zone: "z"}},
		Hosts: []sim.Host{{Name: "server", Machine: "a", Boot: func(m host.Machine) {
			server(w, m)
			m.Sleep(time.Hour)
		}}, {Name: "client", Machine: "b", Boot: func(m host.Machine) {
			m.Sleep(10 * time.Millisecond)
			client(w, m)
			ended = true
		}}}})
	require.NoError(t, err)
	t.Cleanup(w.Close)
	w.BootAll()
	w.Run(30 * time.Second)
	if f := w.Failure(); f != nil {
		require.Fail(t, f.Error(), f.Stack)
	}
	require.True(t, ended, "the client waits for ever")
	return w
}

func serveToy(_ *sim.World, m host.Machine) {
	db.Serve(m, port, &toy{m: m, data: map[int64][]byte{}, token: 100, open: true})
}

func TestOperations(t *testing.T) {
	run(t, serveToy, func(_ *sim.World, m host.Machine) {
		c, err := db.Dial(m, "server", port, time.Second)
		require.NoError(t, err)
		v, at, err := c.Get(1)
		require.NoError(t, err)
		require.Nil(t, v)
		require.EqualValues(t, 101, at)
		require.Equal(t, db.Outcome{Status: db.Committed, Token: 102}, c.Put(1, []byte("a")))
		o, held := c.CompareAndSet(1, []byte("x"), []byte("b"))
		require.Equal(t, db.WhyMismatch, o.Why)
		require.Equal(t, "a", string(held))
		o, held = c.CompareAndSet(1, []byte("a"), []byte("b"))
		require.Equal(t, db.Committed, o.Status)
		require.Nil(t, held)
		require.Equal(t, db.Committed, c.MultiPut([]int64{2, 3}, [][]byte{[]byte("c"), []byte("")}).Status)
		require.Equal(t, db.WhyRollback, c.Rollback([]int64{2, 3}, [][]byte{[]byte("y"), []byte("y")}).Why)
		vs, _, err := c.MultiGet([]int64{1, 2, 3, 4})
		require.NoError(t, err)
		require.Equal(t, [][]byte{[]byte("b"), []byte("c"), {}, nil}, [][]byte{vs.At(0), vs.At(1), vs.At(2), vs.At(3)})
		_, _, err = c.View([]int64{1}, 5000)
		var refused *db.Refused
		require.ErrorAs(t, err, &refused)
		require.Equal(t, db.WhyBehind, refused.Outcome.Why)
		o = c.MultiPut([]int64{1}, nil)
		require.Equal(t, db.WhyRequest, o.Why)
		require.NoError(t, c.Broken(), "a request that makes no sense is not sent")
	})
}

// TestTimeout: an unanswered write is unknown, an unanswered read an error;
// the connection is given up, and what comes late is for nobody.
func TestTimeout(t *testing.T) {
	run(t, serveToy, func(_ *sim.World, m host.Machine) {
		c, err := db.Dial(m, "server", port, 20*time.Millisecond)
		require.NoError(t, err)
		before := m.Now()
		o := c.Put(14, []byte("late"))
		require.Equal(t, db.Unknown, o.Status)
		require.Less(t, m.Now()-before, 25*time.Millisecond)
		require.ErrorIs(t, c.Broken(), host.ErrTimeout)
		o = c.Put(1, []byte("never sent"))
		require.Equal(t, db.Aborted, o.Status)
		require.Equal(t, db.WhyNotSent, o.Why)
		m.Sleep(200 * time.Millisecond) // the late answer comes to a closed connection

		c, err = db.Dial(m, "server", port, 20*time.Millisecond)
		require.NoError(t, err)
		_, _, err = c.Get(13)
		require.ErrorIs(t, err, db.ErrUnanswered)
		c, err = db.Dial(m, "server", port, 0)
		require.NoError(t, err)
		v, _, err := c.Get(14)
		require.NoError(t, err)
		require.Equal(t, "late", string(v), "an unknown write may have happened")
	})
}

// TestDeath: the server dies with a request in it.
func TestDeath(t *testing.T) {
	w := run(t, serveToy, func(w *sim.World, m host.Machine) {
		c, err := db.Dial(m, "server", port, 0)
		require.NoError(t, err)
		w.At(w.Now()+50*time.Millisecond, func() { w.Kill("server"); w.Boot("server") })
		o := c.Put(13, []byte("a"))
		require.Equal(t, db.Unknown, o.Status)
		m.Sleep(50 * time.Millisecond)
		c, err = db.Dial(m, "server", port, 0)
		require.NoError(t, err)
		_, at, err := c.Get(1)
		require.NoError(t, err)
		require.EqualValues(t, 101, at, "D2: no request reached the second boot")
	})
	require.EqualValues(t, 2, w.Boots("server"))
}

// TestNotServing: before it is open, and after it has failed, a backend gets
// no requests.
func TestNotServing(t *testing.T) {
	var b *toy
	run(t, func(_ *sim.World, m host.Machine) {
		b = &toy{m: m, data: map[int64][]byte{}}
		db.Serve(m, port, b)
	}, func(w *sim.World, m host.Machine) {
		c, err := db.Dial(m, "server", port, time.Second)
		if err == nil {
			require.Equal(t, db.Unknown, c.Put(1, []byte("a")).Status)
		}
		require.Empty(t, b.data)
		b.open = true
		c, err = db.Dial(m, "server", port, time.Second)
		require.NoError(t, err)
		require.Equal(t, db.Committed, c.Put(1, []byte("a")).Status)
		b.open = false
		require.Equal(t, db.WhyClosed, c.Put(1, []byte("b")).Why)
		m.Sleep(10 * time.Millisecond)
		require.Error(t, c.Broken())
		require.Equal(t, "a", string(b.data[1]))
	})
}

// TestCorrupt: bytes that are no request break the connection.
func TestCorrupt(t *testing.T) {
	var s *db.Server
	run(t, func(_ *sim.World, m host.Machine) {
		s = db.Serve(m, port, &toy{m: m, open: true, data: map[int64][]byte{}})
	}, func(_ *sim.World, m host.Machine) {
		conn, err := m.Dial(m.Lookup("server"), port)
		require.NoError(t, err)
		conn.Send([]byte("GET / HTTP/1.1"))
		_, err = conn.Recv(nil)
		require.Error(t, err)
	})
	require.EqualValues(t, 1, s.Stats.Corrupt)
	require.Zero(t, s.Stats.Requests)
}
