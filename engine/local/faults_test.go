package local_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
	"tornpage/engine/local"
	"tornpage/engine/page"
	"tornpage/sim"
	"tornpage/sim/draw"
	"tornpage/sim/simdisk"
)

// TestCrashInEveryMark powers off inside the n-th of each mark, and again
// inside the same mark of the boot that follows, if it gets there.
func TestCrashInEveryMark(t *testing.T) {
	struck := 0
	for _, mark := range []string{
		"control.written", "control.initialised", "wal.flushed", "wal.segment-created", "wal.segment-recycled", "wal.segment-removed",
		"wal.floor-moved", "wal.buffer-full", "checkpoint.begun", "checkpoint.pages-written", "checkpoint.logged", "checkpoint.done",
		"recovery.begun", "recovery.redone", "recovery.done", "buffer.evicted-dirty",
	} {
		for n := uint64(1); n <= 40; n = n*5 + 1 {
			r := draw.New(n, "mark", mark)
			w := newCells(t, n, tiny(&r), 6, 16, func(up *engineUp) { up.clients(4) })
			w.world.OnMark(mark, "pg", n, func() { w.world.PowerOff("m") })
			w.world.OnMark(mark, "pg", n+1, func() { w.world.PowerOff("m") })
			w.world.Boot("pg")
			for range 3 {
				w.let(8 * time.Millisecond)
				require.NoError(t, w.refused, "%s %d", mark, n)
				if !w.world.On("m") {
					struck++
				}
				w.up = nil
				w.world.PowerOff("m")
				w.world.PowerOn("m")
			}
			for range 3 { // the mark may strike here, too
				w.let(16 * time.Millisecond)
				w.world.PowerOn("m")
			}
			require.NotNil(t, w.up, "%s %d: did not open", mark, n)
		}
	}
	require.Greater(t, struck, 25)
}

// TestFailedSync fails one sync of one disk, lets the process boot on what the
// operating system's cache shows, and then cuts the power: nothing that was
// acknowledged may depend on what was not stored (D4 of simdisk).
func TestFailedSync(t *testing.T) {
	exits := 0
	for seed := range uint64(16) {
		w := failedSync(t, seed, false)
		require.Nil(t, w.world.Failure(), "seed %d: %v", seed, w.world.Failure())
		require.NoError(t, w.refused, "seed %d", seed)
		exits += w.opens - 3
	}
	require.Positive(t, exits)
}

// TestTrustCache shows why recovery does not trust the cache: PostgreSQL's way
// loses acknowledged commits, or refuses, in some of such runs.
func TestTrustCache(t *testing.T) {
	lost := 0
	for seed := range uint64(40) {
		if lost > 0 {
			break
		}
		w := failedSync(t, seed, true)
		if w.world.Failure() != nil || w.refused != nil {
			lost++
		}
	}
	require.Positive(t, lost)
}

func failedSync(t *testing.T, seed uint64, trust bool) *cells {
	r := draw.New(seed, "failed sync")
	cfg := tiny(&r)
	cfg.TrustCache = trust
	cfg.FullPageWrites = r.Chance(1, 2)
	w := newCellsOn(t, sim.Config{Seed: seed}, 8192, cfg, 6, 16, func(up *engineUp) { up.clients(3) }) // no tears
	w.world.Boot("pg")
	w.run1(time.Duration(r.N(uint64(30 * time.Millisecond))))
	name := "wal"
	if r.Chance(1, 2) {
		name = "data"
	}
	d, err := w.world.Disk("m", name)
	require.NoError(t, err)
	d.Set(simdisk.FailSync, simdisk.Rate{Next: 1})
	w.run1(20 * time.Millisecond)
	d.Set(simdisk.FailSync, simdisk.Rate{})
	if !w.world.Up("pg") {
		require.ErrorContains(t, w.world.LastExit("pg"), "sync")
		w.refused = nil
		w.world.Boot("pg")
	}
	w.run1(time.Duration(1+r.N(30)) * time.Millisecond)
	for range 2 {
		w.world.PowerOff("m")
		w.world.PowerOn("m")
		w.run1(50 * time.Millisecond)
	}
	return w
}

// run1 runs the world for d, unless it has failed.
func (w *cells) run1(d time.Duration) {
	if w.world.Failure() == nil {
		w.world.Run(w.world.Now() + d)
	}
}

// TestDiskFull: the process ends and says why, nothing acknowledged is lost,
// and with room again it goes on.
func TestDiskFull(t *testing.T) {
	for seed := range uint64(8) {
		r := draw.New(seed, "full")
		w := newCells(t, seed, tiny(&r), 6, 600, func(up *engineUp) { up.clients(3) })
		name := []string{"wal", "data"}[seed%2]
		w.world.Boot("pg")
		w.let(2 * time.Millisecond)
		d, err := w.world.Disk("m", name)
		require.NoError(t, err)
		d.SetFull(true)
		w.let(200 * time.Millisecond)
		require.False(t, w.world.Up("pg"), "seed %d", seed)
		require.ErrorIs(t, w.world.LastExit("pg"), host.ErrNoSpace, "seed %d", seed)
		d.SetFull(false)
		w.refused = nil
		w.world.Boot("pg")
		w.let(50 * time.Millisecond)
		require.NoError(t, w.refused, "seed %d", seed)
		require.NotNil(t, w.up, "seed %d", seed)
	}
}

// TestTornWithoutImages: with checksums a torn page is refused, by file, block
// and LSN; without them some run serves what was never written.
func TestTornWithoutImages(t *testing.T) {
	refused, silent := 0, 0
	for seed := range uint64(16) {
		for _, checksums := range []bool{true, false} {
			r := draw.New(seed, "torn")
			cfg := tiny(&r)
			cfg.FullPageWrites, cfg.Checksums, cfg.TrustCache = false, checksums, true
			w := newCells(t, seed, cfg, 6, 12, func(up *engineUp) { up.clients(4) })
			w.world.Boot("pg")
			for range 3 {
				w.run1(20 * time.Millisecond)
				w.world.PowerOff("m")
				w.world.PowerOn("m")
			}
			w.run1(50 * time.Millisecond)
			switch f := w.world.Failure(); {
			case f != nil:
				require.False(t, checksums, "seed %d: %v", seed, f)
				silent++
			case w.refused != nil && checksums:
				var c *page.Corrupt
				require.True(t, errors.As(w.refused, &c), "seed %d: %v", seed, w.refused)
				require.ErrorContains(t, w.refused, "rel-16384 block")
				require.ErrorContains(t, w.refused, "LSN")
				refused++
			}
		}
	}
	require.Positive(t, refused)
	require.Positive(t, silent)
}

// TestToggleProtects: once SetFullPageWrites(true) has returned, torn pages
// are harmless again, whatever happened while images were off.
func TestToggleProtects(t *testing.T) {
	for seed := range uint64(12) {
		r := draw.New(seed, "toggle")
		on := false
		w := newCells(t, seed, tiny(&r), 6, 12, func(up *engineUp) {
			on = up.m.Boot() > 1
			for i := range uint64(3) {
				up.m.Go("client", func() { up.client(i) })
			}
			if !on {
				up.m.Sleep(2 * time.Millisecond)
				up.store.SetFullPageWrites(false)
				up.m.Sleep(6 * time.Millisecond)
				up.store.SetFullPageWrites(true)
				on = true
			}
			up.m.Sleep(time.Hour)
		})
		w.world.Boot("pg")
		for !on {
			w.let(time.Millisecond)
		}
		w.let(time.Duration(r.N(uint64(5 * time.Millisecond))))
		for range 2 {
			w.world.PowerOff("m")
			w.world.PowerOn("m")
			w.let(30 * time.Millisecond)
			require.NoError(t, w.refused, "seed %d", seed)
			require.NotNil(t, w.up, "seed %d", seed)
		}
	}
}

// TestSameSeedSameRun: two runs of a seed give the same events.
func TestSameSeedSameRun(t *testing.T) {
	a, b := crashes(t, 3, 4), crashes(t, 3, 4)
	require.Equal(t, a.world.Hash(), b.world.Hash())
	require.NotEqual(t, a.world.Hash(), crashes(t, 4, 4).world.Hash())
}

// BenchmarkCommit is one change of two pages, appended and made durable, with
// eight clients on a simulated machine; checkpoints included.
func BenchmarkCommit(b *testing.B) {
	n := 0
	var w *cells
	w = newCells(b, 1, local.Config{FullPageWrites: true, Checksums: true, CheckpointRecords: 10_000, SegmentSize: 1 << 20}, 64, 64,
		func(up *engineUp) {
			for i := range uint64(8) {
				up.m.Go("client", func() {
					for {
						p := uint32(i * 8)
						if err := up.commit([]cell{{p, 1}, {p + 1, 2}}); err != nil {
							panic(err)
						}
						up.w.history = up.w.history[:0]
						if n++; n >= b.N {
							w.world.Stop()
						}
					}
				})
			}
			up.m.Sleep(time.Hour)
		})
	w.world.Boot("pg")
	b.ReportAllocs()
	b.ResetTimer()
	if why := w.world.Run(time.Hour); why != sim.Stopped {
		b.Fatal(why)
	}
}
