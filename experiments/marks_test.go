package experiments

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/checkers"
)

// markedDirs are the parts of the engine that scenarios on storage local run.
var markedDirs = []string{"heap", "btree", "buffer", "pager", "txn", "vacuum", "table", "compute", "local"}

// markCall finds the names of marks in Go text: in a call, or in a variable that
// a call is given.
var markCall = regexp.MustCompile(`\bMark\("([^"]+)"\)|\bmark :?= "([^"]+)"`)

// engineMarks are the marks of the engine's source text, without tests.
func engineMarks(t *testing.T) map[string]bool {
	marks := map[string]bool{}
	for _, dir := range markedDirs {
		err := filepath.WalkDir(filepath.Join("..", "engine", dir), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && strings.HasSuffix(d.Name(), "test"): // helpers of tests
				return fs.SkipDir
			case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(path)
			for _, m := range markCall.FindAllStringSubmatch(string(text), -1) {
				marks[m[1]+m[2]] = true
			}
			return err
		})
		require.NoError(t, err)
	}
	return marks
}

// TestEveryMarkIsListed: whoever adds a mark says which scenario must reach it,
// or why none does.
func TestEveryMarkIsListed(t *testing.T) {
	must := map[string]bool{}
	for _, sc := range Scenarios() {
		if strings.HasPrefix(sc.Name, "local/") {
			for _, m := range sc.must {
				must[m] = true
			}
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(sc.must))), len(sc.must), "%s lists a mark twice", sc.Name)
		}
	}
	rare, inCode := rareMarks(), engineMarks(t)
	require.Greater(t, len(inCode), 60)
	for _, m := range slices.Sorted(maps.Keys(inCode)) {
		_, isRare := rare[m]
		require.True(t, must[m] || isRare, "mark %s is new: put it into a must list of marks.go, or into rareMarks with the reason", m)
		require.False(t, must[m] && isRare && m != "heap.pruned", "mark %s is in both lists", m)
	}
	for _, m := range slices.Concat(slices.Sorted(maps.Keys(must)), slices.Sorted(maps.Keys(rare))) {
		require.True(t, inCode[m], "mark %s is listed and not in the engine's text", m)
	}
	for _, m := range tableCrashMarks() {
		require.True(t, inCode[m], "crashes wait for mark %s, which is not in the engine's text", m)
	}
}

func TestTablesAskForWhatMatters(t *testing.T) {
	for _, name := range []string{"local/bank", "local/tpcb", "local/mixed"} {
		sc, err := Find(name)
		require.NoError(t, err)
		require.Subset(t, sc.Must(), []string{
			"buffer.evicted-dirty", "checkpoint.done", "btree.split", "btree.page-deleted", "heap.pruned-on-read",
			"vacuum.reclaimed", "vacuum.index-done", "wal.segment-recycled", "recovery.redone",
		}, name)
		require.NotContains(t, sc.Must(), "heap.pruned", "the thin table's")
		require.NotContains(t, sc.Space.Names.Marks, "heap.pruned")
	}
}

// A set of runs that misses a mark is green only while it is small.
func TestSetsThatTestNothing(t *testing.T) {
	var row Row
	row.Verdict.Result = checkers.Holds
	row.marks = map[string]uint64{"a": 1}
	set := func(seeds int, must ...string) *Totals {
		var sum tally
		sum.Marks = map[string]uint64{}
		for range seeds {
			sum.add(&row)
		}
		sum.finish(must)
		return &sum.Totals
	}
	few := set(enoughSeeds-1, "a", "b")
	require.Equal(t, []string{"b"}, few.Missed)
	require.False(t, few.Untested())
	require.Equal(t, checkers.Holds, few.Worst())

	many := set(enoughSeeds, "a", "b")
	require.True(t, many.Untested())
	require.Equal(t, checkers.Undecided, many.Worst())
	require.Equal(t, checkers.Holds, set(enoughSeeds, "a").Worst())

	row.Verdict.Result = checkers.Broken
	require.Equal(t, checkers.Broken, set(enoughSeeds, "b").Worst(), "what is broken counts for more")
}

func TestCheckpointsAreCounted(t *testing.T) {
	must := []string{"checkpoint.done", "btree.split"}
	require.Equal(t, must, missing(must, nil))
	require.Equal(t, must[:1], missing(must, map[string]uint64{"checkpoint.done": 2, "btree.split": 1}))
	require.Empty(t, missing(must, map[string]uint64{"checkpoint.done": 3, "btree.split": 1}))
}
