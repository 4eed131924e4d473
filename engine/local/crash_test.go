package local_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/local"
	"tornpage/sim/draw"
)

// tiny makes every rare path common.
func tiny(r *draw.Stream) local.Config {
	cfg := local.Config{
		WALBuffer:    8192 << r.N(3),
		SegmentSize:  16384 << r.N(3),
		SegmentsKept: int(r.N(4)),
		RedoPages:    2 + int(r.N(5)),
		Checksums:    r.Chance(3, 4), FullPageWrites: true,
		CheckpointTarget: r.N(2) * 90,
		TrustCache:       r.Chance(1, 2),
	}
	switch r.N(3) {
	case 0:
		cfg.CheckpointRecords = 5 + r.N(100)
	case 1:
		cfg.CheckpointBytes = 20_000 + r.N(100_000)
	default:
		cfg.CheckpointRecords, cfg.CheckpointBytes = 40, 60_000
	}
	return cfg
}

// TestCrashes kills and powers off an engine under load, many times, at random
// moments and within recovery; check panics if anything acknowledged is lost
// or a change survives in part.
func TestCrashes(t *testing.T) {
	marks := map[string]uint64{}
	for seed := range uint64(14) {
		w := crashes(t, seed, 8)
		require.Positive(t, w.opens, "seed %d", seed)
		for k, n := range w.world.Marks() {
			marks[k] += n
		}
	}
	for _, k := range []string{
		"wal.segment-recycled", "wal.segment-created", "wal.segment-removed", "wal.flushed", "wal.floor-moved", "wal.buffer-full",
		"checkpoint.begun", "checkpoint.done", "recovery.begun", "recovery.redone", "recovery.done", "control.written",
	} {
		require.Positive(t, marks[k], k)
	}
	require.Zero(t, marks["recovery.refused"])
}

func crashes(t *testing.T, seed uint64, boots int) *cells {
	r := draw.New(seed, "crashes")
	w := newCells(t, seed, tiny(&r), 4+int(r.N(8)), 24, func(up *engineUp) { up.clients(1 + int(up.m.Boot()%6)) })
	for range boots {
		w.world.Boot("pg")
		span := uint64(60 * time.Millisecond)
		if r.Chance(1, 3) {
			span = uint64(2 * time.Millisecond) // often within recovery
		}
		w.let(time.Duration(r.N(span)))
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
