package local_test

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine"
	"tornpage/engine/page"
	"tornpage/sim"
	"tornpage/sim/draw"
	"tornpage/sim/simdisk"
)

// hog is a file of somebody else's, which takes the space of a disk.
type hog struct {
	tb testing.TB
	d  *simdisk.Disk
}

func (w *cells) hog(disk string) hog {
	d, err := w.world.Disk("m", disk)
	require.NoError(w.tb, err)
	return hog{w.tb, d}
}

// size sets the file's size, safe from power-off.
func (h hog) size(change func(is int64) int64) {
	f, err := h.d.Open("hog", true)
	require.NoError(h.tb, err)
	if to := change(f.Size()); to != f.Size() {
		_, err = f.Truncate(to)
		require.NoError(h.tb, err)
	}
	require.NoError(h.tb, f.Sync())
	require.NoError(h.tb, h.d.SyncDir())
	f.Close()
}

// leave takes all the space but so many bytes.
func (h hog) leave(bytes int64) {
	h.size(func(is int64) int64 { return max(is, (is+h.d.Config().Size-h.d.Used()-bytes)&^4095) })
}

func (h hog) giveBack() { h.size(func(int64) int64 { return 0 }) }

// reader reads random pages and checks that nothing on them is from the future.
func (up *engineUp) reader() {
	r := up.m.Rand("test.reader", 0)
	for {
		up.m.Sleep(20 * time.Microsecond)
		f, err := up.pool.Pin(page.ID{Rel: cellRel, Block: uint32(r.N(uint64(up.w.pages)))})
		if errors.Is(err, engine.ErrFull) {
			up.shut++
			continue
		}
		if err != nil {
			panic(err)
		}
		f.RLock()
		for i := range uint16(cellCount) {
			if v := binary.LittleEndian.Uint64(cellAt(f.Page(), i)); v > up.w.next {
				panic("a cell holds a change that nobody has made")
			}
		}
		f.RUnlock()
		up.pool.Unpin(f)
		up.read++
	}
}

// TestReserves fills the disks, together or one alone, at any moment, and gives
// the space back: the process never ends, changes are refused, reading and what
// was let in go on, and all goes on once there is space.
func TestReserves(t *testing.T) {
	marks := map[string]uint64{}
	for seed := range uint64(12) {
		w := fillAndReturn(t, seed, int(seed%3), seed%2 == 1)
		for k, n := range w.world.Marks() {
			marks[k] += n
		}
	}
	for _, k := range []string{"local.disk-full", "local.space-returned"} {
		require.Positive(t, marks[k], k)
	}
	require.Zero(t, marks["local.waits-for-space"], "the reserve was too small")
	require.Zero(t, marks["buffer.refused"], "the reserve was too small")
}

func fillAndReturn(t testing.TB, seed uint64, disks int, crash bool) *cells {
	r := draw.New(seed, "space")
	cfg := tiny(&r)
	frames := 5 + int(r.N(8))
	cfg.Reserve(frames + 60) // simulated files have no holes: what is cut may be wanted again whole
	cfg.SpaceRetry = 300 * time.Microsecond
	if disks == 2 {
		cfg.WALDisk, cfg.DataDisk = "data", "data"
	}
	w := newCellsDisk(t, sim.Config{Seed: seed}, simdisk.Config{Sector: 512, Size: 4 << 20}, cfg, frames, 60, func(up *engineUp) {
		up.m.Go("reader", up.reader)
		up.m.Go("writer", func() { up.pool.RunWriter(writerFast) })
		up.m.Go("cutter", up.cutter) // so that files grow again and again
		up.clients(3)
	})
	w.world.Boot("pg")
	w.let(time.Duration(1+r.N(10)) * time.Millisecond)
	for range 3 {
		h := w.hog([]string{"wal", "data", "data"}[disks])
		armed := crash
		w.world.OnMark("local.disk-full", "pg", w.world.Marks()["local.disk-full"]+1+r.N(2), func() {
			if armed {
				w.world.PowerOff("m")
			}
		})
		h.leave(int64(r.N(3) * r.N(100_000)))
		w.let(time.Duration(1+r.N(20)) * time.Millisecond)
		require.NoError(t, w.refused)
		armed = false
		if crash {
			w.world.PowerOff("m")
			w.up = nil
			w.world.PowerOn("m")
			w.let(20 * time.Millisecond)
		}
		if w.up != nil {
			require.True(t, w.world.Up("pg"), "%v", w.world.LastExit("pg"))
			read := w.up.read
			w.let(time.Duration(2) * time.Millisecond)
			require.Greater(t, w.up.read, read, "reading stopped")
		}
		h.giveBack()
		w.let(30 * time.Millisecond)
		require.NotNil(t, w.up)
		require.False(t, w.up.store.Full(), "space has returned")
		done := w.up.done
		w.let(10 * time.Millisecond)
		require.Greater(t, w.up.done, done, "changes go on")
	}
	w.world.PowerOff("m")
	w.up = nil
	w.world.PowerOn("m")
	w.let(100 * time.Millisecond)
	require.NoError(t, w.refused)
	require.NotNil(t, w.up, "did not open")
	return w
}

// TestNothingGrows: the disks refuse all growth, whatever is freed, so that the
// reserves do not help. Nobody is answered before his change is durable,
// nothing that was answered is lost, and all goes on afterwards.
func TestNothingGrows(t *testing.T) {
	refused, marks := 0, map[string]uint64{}
	for seed := range uint64(8) {
		r := draw.New(seed, "growth")
		cfg := tiny(&r)
		frames := 5 + int(r.N(8))
		cfg.Reserve(frames)
		cfg.SpaceRetry = 300 * time.Microsecond
		w := newCells(t, seed, cfg, frames, 60, func(up *engineUp) {
			up.m.Go("reader", up.reader)
			up.m.Go("cutter", up.cutter) // so that files grow again and again
			up.m.Go("checkpoints", func() {
				for {
					up.m.Sleep(time.Millisecond)
					up.store.Checkpoint()
				}
			})
			up.clients(3)
		})
		full := func(on bool) {
			for i, name := range []string{"wal", "data"} {
				d, err := w.world.Disk("m", name)
				require.NoError(t, err)
				d.SetFull(on && (seed>>i)&1 == 0)
			}
		}
		w.world.Boot("pg")
		for range 3 {
			w.let(time.Duration(r.N(uint64(12 * time.Millisecond))))
			full(true)
			w.let(time.Duration(r.N(uint64(20 * time.Millisecond))))
			if w.up != nil {
				refused += w.up.refused
			}
			if r.Chance(1, 2) {
				w.world.PowerOff("m")
				w.up = nil
				w.world.PowerOn("m")
				w.let(10 * time.Millisecond)
			}
			full(false)
			w.let(30 * time.Millisecond)
			require.NoError(t, w.refused, "seed %d", seed)
			require.NotNil(t, w.up, "seed %d: %v", seed, w.world.LastExit("pg"))
			done := w.up.done
			w.let(10 * time.Millisecond)
			require.Greater(t, w.up.done, done, "seed %d", seed)
		}
		for k, n := range w.world.Marks() {
			marks[k] += n
		}
	}
	require.Positive(t, refused)
	for _, k := range []string{"checkpoint.waits-for-space", "recovery.waits-for-space", "local.waits-for-space", "buffer.refused"} {
		require.Positive(t, marks[k], "%s %v", k, marks)
	}
}
