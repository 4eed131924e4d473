package forbid

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis/analysistest"
)

// The module under testdata breaks every rule once; its want comments say what
// must be reported, and nothing else may be.
func TestRules(t *testing.T) {
	results := analysistest.Run(t, analysistest.TestData(), Analyzer, "./...")
	require.NotEmpty(t, results)
}

func TestPointerVerb(t *testing.T) {
	for format, want := range map[string]bool{
		"%p": true, "%#p": true, "%[2]p": true, "%d%p": true, "%-20p": true,
		"": false, "%": false, "%%p": false, "50% paid": false, "%d p": false, "%+": false,
	} {
		require.Equal(t, want, hasPointerVerb(format), "format %q", format)
	}
}

func TestScope(t *testing.T) {
	for path, want := range map[string]bool{
		"tornpage/engine": true, "tornpage/engine/host": true, "tornpage/engine/host/coop": true,
		"tornpage/sim": true, "tornpage/sim/simdisk": true,
		"tornpage/engine/host/oshost": false, "tornpage/engine/host/oshost/x": false,
		"tornpage/engine/host/oshosts": true, "tornpage/engineer": false, "tornpage/simple": false,
		"tornpage/faults": false, "tornpage/cmd/tornvet": false, "engine": false,
		"tornpage/engine/wal.test": false,
	} {
		require.Equal(t, want, inScope(path), "package %s", path)
	}
}
