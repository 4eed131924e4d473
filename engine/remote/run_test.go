package remote_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/remote"
)

// TestQuiet: without faults everything makes progress.
func TestQuiet(t *testing.T) {
	f := newFixture(t, 1, remote.Config{}, 4, 4)
	f.boot()
	f.let(300 * time.Millisecond)
	require.Greater(t, f.acked(), uint64(100))
	require.Greater(t, f.views, 100)
	t.Log(f.acked(), f.views, f.behind, f.w.Marks())
}
