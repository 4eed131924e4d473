package local_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/buffer"
	"tornpage/engine/local"
	"tornpage/sim"
	"tornpage/sim/draw"
)

// TestCuts crashes an engine whose relation is cut and made anew under load:
// nothing that was cut off comes back, nothing that was made since is lost.
func TestCuts(t *testing.T) {
	marks := map[string]uint64{}
	for seed := range uint64(20) {
		w := cuts(t, seed, 6)
		for k, n := range w.world.Marks() {
			marks[k] += n
		}
	}
	for _, k := range []string{"local.cut", "local.file-cut", "local.cut-off-write", "recovery.doubt-settled"} {
		require.Positive(t, marks[k], k)
	}
	require.Zero(t, marks["recovery.refused"])
}

// cuts: a third of the seeds have full-page writes off, on a disk that tears
// no page: then the log names pages that are gone.
func cuts(t testing.TB, seed uint64, boots int) *cells {
	r := draw.New(seed, "cuts")
	cfg, sector := tiny(&r), 512
	if r.Chance(1, 3) {
		cfg.FullPageWrites, sector = false, 8192
	}
	w := newCellsOn(t, sim.Config{Seed: seed}, sector, cfg, 4+int(r.N(8)), 12, func(up *engineUp) {
		up.m.Go("cutter", up.cutter)
		up.m.Go("writer", func() { up.pool.RunWriter(writerFast) })
		up.clients(1 + int(up.m.Boot()%5))
	})
	for range boots {
		w.world.Boot("pg")
		w.let(time.Duration(r.N(uint64(40 * time.Millisecond))))
		require.NoError(t, w.refused, "seed %d", seed)
		if r.Chance(1, 3) {
			w.world.Kill("pg")
			continue
		}
		w.world.PowerOff("m")
		w.world.PowerOn("m")
	}
	w.world.Boot("pg")
	w.let(100 * time.Millisecond)
	require.NoError(t, w.refused, "seed %d", seed)
	require.NotNil(t, w.up, "seed %d: did not open", seed)
	return w
}

// TestCrashInCut powers off at each step of a truncation.
func TestCrashInCut(t *testing.T) {
	struck := 0
	for _, mark := range []string{"local.cut", "local.file-cut", "local.cut-off-write", "checkpoint.pages-written", "recovery.doubt-settled"} {
		for n := uint64(1); n <= 30; n = n*3 + 1 {
			r := draw.New(n, "cut mark", mark)
			cfg := tiny(&r)
			cfg.FullPageWrites = false
			w := newCellsOn(t, sim.Config{Seed: n}, 8192, cfg, 6, 12, func(up *engineUp) {
				up.m.Go("cutter", up.cutter)
				up.clients(3)
			})
			w.world.OnMark(mark, "pg", n, func() { w.world.PowerOff("m") })
			w.world.OnMark(mark, "pg", n+1, func() { w.world.PowerOff("m") })
			w.world.Boot("pg")
			for range 5 {
				w.let(15 * time.Millisecond)
				require.NoError(t, w.refused, "%s %d", mark, n)
				if !w.world.On("m") {
					struck++
				} else {
					w.world.PowerOff("m")
				}
				w.up = nil
				w.world.PowerOn("m")
			}
			for range 3 { // the mark may strike here, too
				w.let(16 * time.Millisecond)
				w.world.PowerOn("m")
			}
			require.NotNil(t, w.up, "%s %d: did not open", mark, n)
		}
	}
	require.Greater(t, struck, 12)
}

// writerFast is a background writer for runs of milliseconds.
var writerFast = buffer.WriterConfig{Delay: 300 * time.Microsecond, MaxPages: 4}

// TestCutIsSynced: a checkpoint behind a truncation has the file cut for good,
// although nothing else was written.
func TestCutIsSynced(t *testing.T) {
	for seed := range uint64(12) {
		var pages uint32
		w := newCells(t, seed, local.Config{FullPageWrites: true, Checksums: true}, 16, 8, func(up *engineUp) {
			var err error
			pages, err = up.store.Size(cellRel, 0)
			require.NoError(t, err)
			if up.m.Boot() == 1 {
				for n := range uint32(8) {
					require.NoError(t, up.commit([]cell{{n, 1}}))
				}
				up.store.Checkpoint()
				lsn, err := up.cutTo(2)
				require.NoError(t, err)
				up.store.Checkpoint()
				up.w.acked = lsn
			}
			up.m.Sleep(time.Hour)
		})
		w.world.Boot("pg")
		w.let(50 * time.Millisecond)
		require.NotZero(t, w.acked)
		w.world.PowerOff("m")
		w.world.PowerOn("m")
		w.let(50 * time.Millisecond)
		require.Equal(t, 2, w.opens)
		require.EqualValues(t, 2, pages)
	}
}
