package tree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the top of the checkout, seen from this package's folder.
const root = "../../.."

// TestCheckout applies every rule to the checkout. All of it is one test
// binary on purpose: Read opens every file, so the go command runs the tests
// again when any file changed, also for Vet, whose reading it cannot see.
func TestCheckout(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	require.Contains(t, string(mod), "module "+module+"\n")
	tree, err := Read(os.DirFS(root))
	require.NoError(t, err)
	require.NotEmpty(t, tree.Go)

	for name, rule := range map[string]func() []string{
		"imports": tree.Arrows,
		"sizes":   tree.Sizes,
		"docs":    tree.Docs,
		"layout":  tree.Layout,
		"text":    tree.Words,
	} {
		t.Run(name, func(t *testing.T) { report(t, rule()) })
	}
	t.Run("forbidden", func(t *testing.T) {
		found, err := Vet(root, "./engine/...", "./sim/...")
		require.NoError(t, err)
		report(t, found)
	})
}

func report(t *testing.T, found []string) {
	t.Helper()
	for _, sentence := range found {
		t.Error(sentence)
	}
}
