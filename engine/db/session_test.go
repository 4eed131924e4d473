package db_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/engine/row"
	"tornpage/sim"
)

// TestCalls: the calls of a Conn against the fake.
func TestCalls(t *testing.T) {
	run(t, func(_ *sim.World, m host.Machine) {
		db.Serve(m, port, newFake(m))
	}, func(_ *sim.World, m host.Machine) {
		c, err := db.Connect(m, "server", port, time.Second)
		require.NoError(t, err)
		i, text := row.NewInt4, row.NewText
		require.NoError(t, c.CreateTable(table()))
		require.NoError(t, c.CreateIndex("t", &row.Index{Name: "x", Columns: []row.IndexColumn{{Column: 1}}}))
		require.NoError(t, c.Begin(db.RepeatableRead))
		require.Equal(t, db.Open, c.State())
		for n := range int32(5) {
			require.NoError(t, c.Insert("t", i(n), text(fmt.Sprint("row ", n))))
		}
		require.NoError(t, c.Savepoint("s"))
		n, err := c.Delete("t", "", i(4))
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.NoError(t, c.RollbackTo("s"))
		require.NoError(t, c.Release("s"))
		require.Equal(t, db.Outcome{Status: db.Committed, Token: 101}, c.Commit())
		require.Equal(t, c.Outcome(), db.Outcome{Status: db.Committed, Token: 101})

		n, err = c.Update("t", "", []row.Value{i(4)}, db.Set{Column: 1, Value: text("new")})
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.EqualValues(t, 102, c.Outcome().Token)
		v, err := c.Get("t", "", i(4))
		require.NoError(t, err)
		require.Equal(t, `[4 "new"]`, fmt.Sprint(v))
		v, err = c.GetForUpdate("t", "", i(9))
		require.NoError(t, err)
		require.Nil(t, v)

		var seen []string
		each := func(v []row.Value) error { seen = append(seen, v[0].String()); return nil }
		n, err = c.Scan(&db.Stmt{Kind: db.Scan, Table: "t"}, each)
		require.NoError(t, err)
		require.Equal(t, 5, n)
		require.Equal(t, []string{"0", "1", "2", "3", "4"}, seen, "in three parts")
		n, err = c.Scan(&db.Stmt{Kind: db.Scan, Table: "t", Limit: 3}, each)
		require.NoError(t, err)
		require.Equal(t, 3, n)
		enough := errors.New("enough")
		n, err = c.Scan(&db.Stmt{Kind: db.Scan, Table: "t"}, func([]row.Value) error { return enough })
		require.ErrorIs(t, err, enough)
		require.Zero(t, n)

	})
}

// TestFailedCalls: errors of statements, and calls that are not sent.
func TestFailedCalls(t *testing.T) {
	var f *fake
	run(t, func(_ *sim.World, m host.Machine) {
		f = newFake(m)
		db.Serve(m, port, f)
	}, func(_ *sim.World, m host.Machine) {
		c, err := db.Connect(m, "server", port, time.Second)
		require.NoError(t, err)
		i, text := row.NewInt4, row.NewText
		require.NoError(t, c.Insert("t", i(1), text("first")))
		var failed *db.Error
		require.ErrorAs(t, c.Insert("t", i(1), text("again")), &failed)
		require.Equal(t, "unique violation: key 1", failed.Error())
		require.Equal(t, db.WhyStatement, c.Outcome().Why)
		require.ErrorAs(t, c.Insert("other", i(1)), &failed)
		require.Equal(t, db.CodeNoTable, failed.Code)
		require.Equal(t, db.WhyStatement, c.Commit().Why, "there is nothing to commit")
		require.NoError(t, c.Vacuum("t"))
		findings, err := c.Check("t")
		require.NoError(t, err)
		require.Equal(t, []string{"one finding", "and another"}, findings)
		require.NoError(t, c.DropTable("t"))

		batches := f.token
		require.ErrorAs(t, c.Insert("t"), &failed)
		require.Equal(t, db.CodeRequest, failed.Code)
		r, err := c.Exec(&db.Stmt{Kind: db.Savepoint})
		require.ErrorAs(t, err, &failed)
		require.Equal(t, db.WhyRequest, r.Outcome.Why)
		var big db.Batch
		for range db.MaxStmts {
			s := big.Add(db.Insert)
			s.Table = "t"
			for range row.MaxColumns {
				s.Row = append(s.Row, row.NewBytea(make([]byte, 4000)))
			}
		}
		_, err = c.Do(&big)
		require.ErrorAs(t, err, &failed)
		require.Equal(t, db.CodeLimit, failed.Code)
		require.Equal(t, batches, f.token, "what makes no sense is not sent")
		require.NoError(t, c.Begin(db.ReadCommitted))
		require.NoError(t, c.Rollback())
		c.Close()
		require.ErrorIs(t, c.Begin(db.ReadCommitted), host.ErrClosed)
	})
}

// TestNoSessions: a backend of one-shot requests alone says so.
func TestNoSessions(t *testing.T) {
	run(t, serveToy, func(_ *sim.World, m host.Machine) {
		c, err := db.Connect(m, "server", port, time.Second)
		require.NoError(t, err)
		var failed *db.Error
		require.ErrorAs(t, c.Begin(db.ReadCommitted), &failed)
		require.Equal(t, "not supported: server executes no statements; ask the writer", failed.Error())
	})
}

// raw gives the test one connection to a fake server, with messages as bytes.
func raw(t *testing.T, f func(m host.Machine, c host.Conn)) (s *db.Server, back *fake) {
	run(t, func(_ *sim.World, m host.Machine) {
		back = newFake(m)
		s = db.Serve(m, port, back)
	}, func(_ *sim.World, m host.Machine) {
		c, err := m.Dial(m.Lookup("server"), port)
		require.NoError(t, err)
		f(m, c)
	})
	require.Zero(t, back.sessions, "all sessions are closed")
	require.Empty(t, back.locks)
	return s, back
}

// insert is the message of a batch: begin a block, insert a row.
func insert(id uint64, key int32) []byte {
	b := db.Batch{ID: id}
	if key == 1 {
		b.Add(db.Begin)
	}
	s := b.Add(db.Insert)
	s.Table, s.Row = "t", []row.Value{row.NewInt4(key), row.NewText("v")}
	return db.AppendBatch(nil, &b)
}

// TestCorruptBatch: a flipped bit ends the session; what was open is undone.
func TestCorruptBatch(t *testing.T) {
	s, f := raw(t, func(_ host.Machine, c host.Conn) {
		c.Send(insert(1, 1))
		msg, err := c.Recv(nil)
		require.NoError(t, err)
		var r db.Results
		require.NoError(t, db.DecodeResults(msg, &r))
		require.Equal(t, db.Open, r.State)
		bad := insert(2, 2)
		bad[len(bad)-1] ^= 1
		c.Send(bad)
		_, err = c.Recv(nil)
		require.Error(t, err)
	})
	require.EqualValues(t, 1, s.Stats.Corrupt)
	require.EqualValues(t, 1, s.Stats.Batches)
	require.Empty(t, f.rows)
	s, _ = raw(t, func(_ host.Machine, c host.Conn) {
		bad := insert(1, 1)
		bad[20] ^= 1
		c.Send(bad)
		_, err := c.Recv(nil)
		require.Error(t, err)
	})
	require.EqualValues(t, 1, s.Stats.Corrupt)
}

// TestPipelining: a client that does not wait for answers loses its session.
func TestPipelining(t *testing.T) {
	s, f := raw(t, func(m host.Machine, c host.Conn) {
		for i := range 4 {
			c.Send(insert(uint64(i), int32(i+1)))
		}
		for {
			if _, err := c.Recv(nil); err != nil {
				break
			}
		}
	})
	require.EqualValues(t, 1, s.Stats.Corrupt)
	require.Empty(t, f.rows)
}

// TestBothKinds: a connection may begin with requests, and go on with a session.
func TestBothKinds(t *testing.T) {
	s, f := raw(t, func(_ host.Machine, c host.Conn) {
		q := db.Request{ID: 1, Op: db.OpGet, Keys: []int64{1}}
		c.Send(db.AppendRequest(nil, &q))
		_, err := c.Recv(nil)
		require.NoError(t, err)
		c.Send(insert(2, 7))
		_, err = c.Recv(nil)
		require.NoError(t, err)
		c.Close()
	})
	require.EqualValues(t, 1, s.Stats.Requests)
	require.EqualValues(t, 1, s.Stats.Batches)
	require.Len(t, f.rows, 1)
}

// TestBadAnswers: a client believes no answer that does not fit its question:
// the outcome is unknown, and the connection given up.
func TestBadAnswers(t *testing.T) {
	answer := func(id uint64, results ...func(*db.Results)) []byte {
		var r db.Results
		r.Reset(id)
		for _, f := range results {
			r.Add()
			f(&r)
		}
		return db.AppendResults(nil, &r)
	}
	fine := func(*db.Results) {}
	fails := func(r *db.Results) { r.Last().Err = db.Errorf(db.CodeLimit, "", "") }
	for _, c := range []struct {
		answer []byte
		want   string
	}{
		{[]byte("nonsense"), "message offset 4: CRC-32C"},
		{answer(2, fine, fine), "answer to batch 2, want 1"},
		{answer(1), "batch 1 has 2 statements and 0 results, the last without an error"},
		{answer(1, fine), "batch 1 has 2 statements and 1 results, the last without an error"},
		{answer(1, fine, fine, fine), "batch 1 has 2 statements and 3 results"},
		{answer(1, fails, fine), "batch 1 went on after the error of statement 1: limit"},
		{answer(1, fine, func(r *db.Results) { r.Last().More = true }), "batch 1: statement 2 has more rows, and gave none"},
	} {
		run(t, func(_ *sim.World, m host.Machine) {
			m.Listen(port, func(conn host.Conn) {
				conn.OnRecv(func(_ []byte, err error) {
					if err == nil {
						conn.Send(c.answer)
						conn.Send(c.answer) // nobody waits for this one
					}
				})
			})
		}, func(_ *sim.World, m host.Machine) {
			conn, err := db.Connect(m, "server", port, time.Second)
			require.NoError(t, err)
			var b db.Batch
			for range 2 {
				s := b.Add(db.Delete)
				s.Table, s.Key = "t", []row.Value{row.NewInt4(1)}
			}
			_, err = conn.Do(&b)
			var lost *db.Lost
			require.ErrorAs(t, err, &lost, c.want)
			require.ErrorIs(t, err, db.ErrUnanswered)
			require.Equal(t, db.Unknown, lost.Outcome.Status)
			require.ErrorContains(t, err, c.want)
			require.Error(t, conn.Broken())
			require.Equal(t, db.Idle, conn.State())
		})
	}
}

// BenchmarkCall is a point read by a fake, in a simulated world.
func BenchmarkCall(b *testing.B) {
	w, err := sim.New(sim.Config{Machines: []sim.Machine{{Name: "a", Zone: "z"}},
		Hosts: []sim.Host{{Name: "server", Machine: "a", Boot: func(m host.Machine) {
			db.Serve(m, port, newFake(m))
			m.Sleep(1000 * time.Hour)
		}}, {Name: "client", Machine: "a", Boot: func(m host.Machine) {
			m.Sleep(10 * time.Millisecond)
			c, _ := db.Connect(m, "server", port, 0)
			_ = c.Insert("t", row.NewInt4(1), row.NewText("v"))
			key := []row.Value{row.NewInt4(1)}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if _, err := c.Get("t", "", key...); err != nil {
					b.Error(err)
				}
			}
			b.StopTimer()
		}}}})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	w.BootAll()
	w.Run(900 * time.Hour)
}
