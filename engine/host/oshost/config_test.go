package oshost

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

func TestConfig(t *testing.T) {
	datadriven.RunTest(t, "testdata/config", func(t *testing.T, d *datadriven.TestData) string {
		require.Equal(t, "parse", d.Cmd)
		c, err := Parse([]byte(d.Input))
		if err != nil {
			return fmt.Sprintf("error: %v\n", err)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "seed %d\n", c.Seed)
		for addr, name := range c.Names() {
			p := c.Processes[name]
			fmt.Fprintf(&b, "%d %s zone %s at %s in %s\n", addr, name, p.Zone, p.Address, p.Dir)
			for _, disk := range slices.Sorted(maps.Keys(p.Disks)) {
				fmt.Fprintf(&b, "  disk %s in %s\n", disk, p.diskDir(disk))
			}
		}
		return b.String()
	})
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "deployment.json")
	_, err := Load(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte(`{"seed": x}`), 0o644))
	_, err = Load(path)
	require.ErrorContains(t, err, path)
	require.NoError(t, os.WriteFile(path, make([]byte, maxConfig+1), 0o644))
	_, err = Load(path)
	require.ErrorContains(t, err, "more than 1048576 bytes")
	_, err = Load(dir)
	require.ErrorContains(t, err, "is a directory")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"seed": 7, "processes": {"w": {"zone": "a", "address": "h:1", "dir": "d", "disks": {"data": "x"}}}}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Parse(b)
		if err == nil {
			require.NotEmpty(t, c.Names())
			require.NoError(t, c.Validate())
		}
	})
}

func TestBootCount(t *testing.T) {
	dir := t.TempDir()
	for want := uint64(1); want <= 12; want++ {
		got, err := nextBoot(dir)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	path := filepath.Join(dir, "boot")
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := range good { // no damage of one bit passes, nor starts from 1
		for bit := range 8 {
			bad := slices.Clone(good)
			bad[i] ^= 1 << bit
			_, err := parseBoot(bad)
			require.Error(t, err, "%q", bad)
		}
		_, err := parseBoot(good[:i])
		require.Error(t, err, "the first %d bytes", i)
	}
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	_, err = nextBoot(dir)
	require.ErrorContains(t, err, path)
	require.ErrorContains(t, err, "write a count above all earlier boots")
}

func FuzzParseBoot(f *testing.F) {
	f.Add([]byte(bootText(1)))
	f.Add([]byte("tornpage boot 2 crc32c 0\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if boot, err := parseBoot(b); err == nil {
			require.Equal(t, bootText(boot), string(b))
		}
	})
}
