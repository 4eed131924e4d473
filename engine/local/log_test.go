package local_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
	"tornpage/engine/local"
	"tornpage/engine/page"
	"tornpage/engine/wal"
	"tornpage/sim"
	"tornpage/sim/draw"
)

// TestLogHasEveryImage reads whole logs and checks rule L8 in each record: while
// the log says that full-page writes are on, no page is changed for the first
// time after a redo point without an image.
func TestLogHasEveryImage(t *testing.T) {
	moved, switched := uint64(0), 0
	for seed := range uint64(16) {
		r := draw.New(seed, "log")
		cfg := tiny(&r)
		cfg.SegmentSize = 16 << 20 // one segment: nothing is removed
		cfg.CheckpointRecords, cfg.CheckpointBytes = 40+r.N(100), 0
		costs := sim.DefaultCosts()
		costs[host.WorkRecordBytes] = 5_000 // inserts queue for the latch
		w := newCellsOn(t, sim.Config{Seed: seed, Costs: costs}, 512, cfg, 32, 16, func(up *engineUp) {
			for i := range uint32(16) {
				up.m.Go("client", func() { // alone on its page: all meet at the log
					for {
						require.NoError(t, up.commit([]cell{{i, 1}}))
					}
				})
			}
			rnd := up.m.Rand("test.switch", 0)
			for on := false; ; on = !on {
				up.m.Sleep(time.Duration(rnd.N(uint64(4 * time.Millisecond))))
				up.store.SetFullPageWrites(on)
			}
		})
		w.world.Boot("pg")
		w.let(40 * time.Millisecond)
		require.NotNil(t, w.up)
		moved += w.up.store.Stats().FloorMoved
		switched += checkImages(t, w.readLog(t))
	}
	require.Positive(t, moved, "no Append met a moved floor")
	require.Greater(t, switched, 20)
}

// readLog gives all records from the first one on.
func (w *cells) readLog(t *testing.T) []*wal.Record {
	d, err := w.world.Disk("m", "wal")
	require.NoError(t, err)
	l := wal.Layout{SegSize: w.cfg.SegmentSize}
	rd := wal.NewReader(l, func(b []byte, at wal.LSN) (int, error) {
		f, err := d.Open(l.SegmentName(l.Segment(at)), false)
		if err != nil {
			return 0, io.EOF
		}
		defer f.Close()
		return f.ReadAt(b, l.Offset(at))
	}, wal.Position{End: l.First()})
	var all []*wal.Record
	for {
		rec, err := rd.Next()
		var end *wal.EndOfLog
		if errors.As(err, &end) {
			return all
		}
		require.NoError(t, err)
		all = append(all, rec.Clone())
	}
}

// checkImages returns how often the switch was turned.
func checkImages(t *testing.T, log []*wal.Record) (switched int) {
	var redos []wal.LSN
	for _, rec := range log {
		if rec.Rmgr == wal.RmgrXLOG && rec.Op() != wal.InfoFPWChange {
			c, err := rec.Checkpoint()
			require.NoError(t, err)
			redos = append(redos, c.Redo)
		}
	}
	floor, on := wal.LSN(0), true
	lsn := map[page.ID]wal.LSN{}
	for _, rec := range log {
		for len(redos) > 0 && redos[0] <= rec.LSN {
			floor, redos = redos[0], redos[1:]
		}
		if rec.Rmgr == wal.RmgrXLOG && rec.Op() == wal.InfoFPWChange {
			was := on
			var err error
			on, err = rec.FPWChange()
			require.NoError(t, err)
			require.NotEqual(t, was, on)
			switched++
		}
		for _, b := range rec.Blocks {
			bare := !b.HasImage && !b.WillInit
			require.False(t, on && bare && lsn[b.ID] <= floor,
				"%v: %v of LSN %v has no image, redo point %v", rec, b.ID, lsn[b.ID], floor)
			lsn[b.ID] = rec.End
		}
	}
	return switched
}

// TestGroupCommit: many commits share a write of the log, nobody returns before
// its own is durable, and nobody is forgotten.
func TestGroupCommit(t *testing.T) {
	done := 0
	cfg := local.Config{FullPageWrites: true, Checksums: true}
	w := newCells(t, 1, cfg, 32, 16, func(up *engineUp) {
		for i := range 20 {
			up.m.Go("client", func() {
				for range 10 {
					lsn, err := up.set([]cell{{uint32(i % 16), uint16(i % cellCount)}})
					require.NoError(t, err)
					require.NoError(t, up.store.WaitDurable(lsn))
					require.GreaterOrEqual(t, up.store.Durable(), lsn)
					done++
				}
			})
		}
		up.m.Sleep(time.Hour)
	})
	w.world.Boot("pg")
	w.let(time.Second)
	require.Equal(t, 200, done)
	stats := w.up.store.Stats()
	require.EqualValues(t, 201, stats.Records) // and the checkpoint's
	require.Less(t, stats.Flushes, stats.Records/3)
}
