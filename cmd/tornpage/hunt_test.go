package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A large set of runs that never used a log segment again is not clean, though
// every run is; a small one is, with a warning.
func TestHuntThatTestsNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"run", "local/register", "--set", "ops=4", "--set", "clients=2", "--set", "wal.segment=1MiB", "--no-faults", "--seeds"}
	stdout, stderr, code := call(append(args, "50")...)
	require.Equal(t, exitUnknown, code, "%s%s", stdout, stderr)
	require.Regexp(t, `^local/register: 50 seeds from 1, not clean: it missed \d+ marks: `, stdout)
	require.Contains(t, stderr, "mark wal.segment-recycled was reached 0 times, want at least 1: what it stands for is not tested")
	require.NotContains(t, stderr, "recovery.redone", "every run ends with a recovery")

	stdout, stderr, code = call(append(args, "49")...)
	require.Equal(t, exitClean, code, "%s%s", stdout, stderr)
	require.Contains(t, stdout, "49 seeds from 1, clean: ")
	require.Contains(t, stderr, "mark wal.segment-recycled was reached 0 times")

	stdout, _, code = call(append(args, "50", "--json")...)
	require.Equal(t, exitUnknown, code)
	var hunt huntJSON
	require.NoError(t, json.Unmarshal([]byte(stdout), &hunt))
	require.Equal(t, "undecided", hunt.Result)
	require.Contains(t, hunt.Missed, "wal.segment-recycled")
	require.Empty(t, hunt.Failures)
}
