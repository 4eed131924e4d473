package experiments

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/faults"
)

// TestPlansStayGreen replays the plans that once failed: each stands for a
// defect that was mended, and says which in its comment.
func TestPlansStayGreen(t *testing.T) {
	files, err := filepath.Glob("testdata/plans/*.plan")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			p, err := faults.Parse(file, string(text))
			require.NoError(t, err)
			require.NotEmpty(t, p.Comment, "say what the plan is about")
			r, err := Run(p, Options{})
			require.NoError(t, err)
			requireGreen(t, r)
		})
	}
}
