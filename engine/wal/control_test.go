package wal_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/wal"
)

func drawControl(t *rapid.T) wal.Control {
	lsn := func(name string) wal.LSN { return wal.LSN(rapid.Uint64().Draw(t, name)) }
	return wal.Control{
		SystemID: rapid.Uint64().Draw(t, "system"), Seq: rapid.Uint64().Draw(t, "seq"),
		State: rapid.SampledFrom([]wal.ControlState{wal.InProduction, wal.ShutDown}).Draw(t, "state"),
		Redo:  lsn("redo"), RedoPrev: lsn("prev"), Checkpoint: lsn("checkpoint"),
		RedoCRC: rapid.Uint32().Draw(t, "crc"), NextXID: rapid.Uint32().Draw(t, "next"),
		OldestXID: rapid.Uint32().Draw(t, "oldest"), Epoch: rapid.Uint64().Draw(t, "epoch"),
		FullPageWrites: rapid.Bool().Draw(t, "fpw"), Checksums: rapid.Bool().Draw(t, "checksums"),
		SegSize: rapid.SampledFrom([]uint32{0, 16384, 32768, 16 << 20}).Draw(t, "segment"),
		Time:    rapid.Int64().Draw(t, "time"),
	}
}

func TestControlRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawControl(t)
		b := c.Encode([]byte("before"))
		require.Len(t, b, 6+wal.ControlSlot)
		got, err := wal.DecodeControl(b[6:])
		require.NoError(t, err)
		require.Equal(t, c, got)
		require.Equal(t, wal.Position{End: c.Redo, Prev: c.RedoPrev, CRC: c.RedoCRC}, got.RedoPosition())

		b[6+rapid.IntRange(0, 103).Draw(t, "at")] ^= 1
		_, err = wal.DecodeControl(b[6:])
		require.Error(t, err)
	})
}

func TestChooseControl(t *testing.T) {
	c := wal.Control{State: wal.InProduction, Seq: 6}
	older := c.Encode(nil)
	c.Seq = 7
	newer := c.Encode(nil)
	require.EqualValues(t, wal.ControlSpacing, wal.SlotOffset(7))
	require.EqualValues(t, 0, wal.SlotOffset(6))

	got, slot, err := wal.ChooseControl(older, newer)
	require.NoError(t, err)
	require.Equal(t, 1, slot)
	require.EqualValues(t, 7, got.Seq)

	newer[20] ^= 1 // the write of 7 tore
	got, slot, err = wal.ChooseControl(older, newer)
	require.NoError(t, err)
	require.Equal(t, 0, slot)
	require.EqualValues(t, 6, got.Seq)

	_, _, err = wal.ChooseControl(make([]byte, wal.ControlSlot), newer)
	require.ErrorContains(t, err, "control file: no valid slot of 2; slot 0: magic 0000000000000000, want 7470676374726c31; slot 1: CRC ")
	_, _, err = wal.ChooseControl(nil, nil)
	require.ErrorContains(t, err, "slot 0: 0 bytes, want 512; slot 1: 0 bytes, want 512; restore")
}

func TestControlRefuses(t *testing.T) {
	for want, c := range map[string]wal.Control{
		"state 9, want 1 or 2": {State: 9},
		"segment size 12345":   {State: wal.ShutDown, SegSize: 12345},
	} {
		_, err := wal.DecodeControl(c.Encode(nil))
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, "in production, shut down", wal.InProduction.String()+", "+wal.ShutDown.String())
}
