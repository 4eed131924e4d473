package remote_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/engine/remote"
	"tornpage/sim"
	"tornpage/sim/draw"
	"tornpage/sim/simdisk"
)

// TestFailedSync: the log host ends when a sync fails, and acknowledges nothing
// that the disk does not have, though the next boot can still read it.
func TestFailedSync(t *testing.T) {
	exits := 0
	for seed := range uint64(12) {
		r := draw.New(seed, "failed sync")
		f := newFixture(t, seed, tiny(&r), 4, 4)
		f.boot()
		f.let(10*time.Millisecond + time.Duration(r.N(uint64(20*time.Millisecond))))
		d, err := f.w.Disk("log", "log")
		require.NoError(t, err)
		d.Set(simdisk.FailSync, simdisk.Rate{Next: 1})
		f.let(10 * time.Millisecond)
		d.Set(simdisk.FailSync, simdisk.Rate{})
		if !f.w.Up("log") {
			require.ErrorContains(t, f.w.LastExit("log"), "sync")
			exits++
		}
		f.w.Boot("log")
		f.let(time.Duration(r.N(uint64(20 * time.Millisecond))))
		f.w.PowerOff("log") // what was never stored is gone now
		f.w.PowerOn("log")
		before := f.acked()
		f.let(60 * time.Millisecond)
		require.Greater(t, f.acked(), before, "seed %d", seed)
	}
	require.Greater(t, exits, 6)
}

// TestLogLost: a log that is shorter than what was acknowledged stops the
// writer, and refuses the readers.
func TestLogLost(t *testing.T) {
	f := newFixture(t, 1, remote.Config{Heartbeat: 2 * time.Millisecond}, 4, 2)
	f.boot()
	f.let(30 * time.Millisecond)
	require.Positive(t, f.acked())
	f.w.PowerOff("log")
	d, err := f.w.Disk("log", "log")
	require.NoError(t, err)
	file, err := d.Open("log", false)
	require.NoError(t, err)
	_, err = file.Truncate(600)
	require.NoError(t, err)
	require.NoError(t, file.Sync())
	f.w.PowerOn("log")
	f.let(60 * time.Millisecond)
	require.Len(t, f.exits, 1)
	require.ErrorIs(t, f.exits[0], remote.ErrLogLost)
	for _, name := range []string{"pages", "follower"} {
		require.False(t, f.w.Up(name))
		require.ErrorContains(t, f.w.LastExit(name), "it has lost its end")
	}
}

// TestSizeAndOldVersions asks the storage itself.
func TestSizeAndOldVersions(t *testing.T) {
	f := newFixture(t, 1, remote.Config{History: 1, Heartbeat: 2 * time.Millisecond}, 4, 0)
	f.client = func(m host.Machine) { m.Sleep(time.Hour) }
	f.boot()
	f.w.Kill("follower") // it would hold versions back
	f.let(10 * time.Millisecond)
	done := false
	f.client = func(m host.Machine) {
		c := dial(m, 0, "writer")
		var first db.Token
		for i := range int64(12) {
			o := c.Put(i*2, []byte("x"))
			require.Equal(t, db.Committed, o.Status)
			if i == 0 {
				first = o.Token
			}
		}
		w := remote.NewWriter(m, f.cfg) // takes over
		st, err := w.Open()
		require.NoError(t, err)
		n, err := w.Size(f.cfg.Rel, 0)
		require.NoError(t, err)
		require.EqualValues(t, 12, n)
		n, err = w.Size(f.cfg.Rel, st.End)
		require.NoError(t, err)
		require.EqualValues(t, 12, n)
		n, err = w.Size(77, 0)
		require.NoError(t, err)
		require.Zero(t, n)
		_, err = w.Size(f.cfg.Rel, first)
		require.ErrorIs(t, err, remote.ErrOld)
		done = true
		m.Sleep(time.Hour)
	}
	f.w.Kill("client")
	f.w.Boot("client")
	f.let(100 * time.Millisecond)
	require.True(t, done)
	require.EqualValues(t, 1, f.w.Marks()["remote.stopped"])
}

// BenchmarkPut is one committed write of a cached row by each of eight clients,
// on simulated machines of one zone.
func BenchmarkPut(b *testing.B) {
	f := newFixture(b, 1, remote.Config{}, 64, 0)
	f.statuses = 4096
	n := 0
	f.client = func(m host.Machine) {
		for i := range int64(8) {
			m.Go("client", func() {
				c := dial(m, 0, "writer")
				for {
					if o := c.Put(i*3, []byte("value")); o.Status != db.Committed {
						panic(o.String())
					}
					if n++; n >= b.N {
						f.w.Stop()
					}
				}
			})
		}
		m.Sleep(time.Hour)
	}
	f.boot()
	b.ReportAllocs()
	b.ResetTimer()
	if why := f.w.Run(time.Hour); why != sim.Stopped {
		b.Fatal(why)
	}
}
