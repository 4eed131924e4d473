package local

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

func TestConfig(t *testing.T) {
	var c Config
	c.fill()
	require.NoError(t, c.validate())
	d := Default()
	d.fill()
	require.NoError(t, d.validate())
	d.Reserve(1000)
	require.EqualValues(t, 3<<24+reserveSlack, d.WALReserve)
	require.EqualValues(t, 8_192_000+reserveSlack, d.DataReserve)
	for want, change := range map[string]func(*Config){
		"WALBuffer":        func(c *Config) { c.WALBuffer = 100 },
		"SegmentsKept":     func(c *Config) { c.SegmentsKept = -1 },
		"CheckpointTarget": func(c *Config) { c.CheckpointTarget = 101 },
		"RedoPages":        func(c *Config) { c.RedoPages = 1 },
		"CheckpointTime":   func(c *Config) { c.CheckpointTime = -1 },
		"WALReserve":       func(c *Config) { c.WALReserve = -1 },
		"DataReserve":      func(c *Config) { c.DataReserve = -1 },
		"SpaceRetry":       func(c *Config) { c.SpaceRetry = -1 },
		"SegmentSize":      func(c *Config) { c.SegmentSize = 12345 },
	} {
		bad := c
		change(&bad)
		require.ErrorContains(t, bad.validate(), want)
	}
}

// Names of files lead back to what they were made from, and nothing else does.
func TestNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := wal.Layout{SegSize: 1 << rapid.IntRange(14, 30).Draw(t, "size")}
		seg := rapid.Uint64Range(0, 1<<30).Draw(t, "segment")
		got, ok := segmentOf(l, l.SegmentName(seg))
		require.True(t, ok)
		require.Equal(t, seg, got)

		rel := page.Rel(rapid.Uint32().Draw(t, "rel"))
		back, ok := relOf(relName(rel))
		require.True(t, ok)
		require.Equal(t, rel, back)
	})
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"rel-1", "rel-01", "rel-16384_vm", "rel-16384_vm_vm", "rel-2147483648", "rel-_vm", "rel-4294967296", "000000010000000000000001", "00000001000000000000000g", "control"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if rel, ok := relOf(name); ok {
			require.Equal(t, name, relName(rel))
		}
		l := wal.Layout{SegSize: 16384}
		if seg, ok := segmentOf(l, name); ok {
			require.Equal(t, name, l.SegmentName(seg))
		}
	})
}
