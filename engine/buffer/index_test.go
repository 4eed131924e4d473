package buffer

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
)

// TestFrameIndex: it is a map.
func TestFrameIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frames := rapid.IntRange(1, 40).Draw(t, "frames")
		x, want := newFrameIndex(frames), map[page.ID]int32{}
		id := rapid.Custom(func(t *rapid.T) page.ID {
			return page.ID{Rel: page.Rel(rapid.Uint32Range(1, 3).Draw(t, "rel")), Block: rapid.Uint32Range(0, 30).Draw(t, "block")}
		})
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			at := id.Draw(t, "id")
			if _, there := want[at]; there && rapid.Bool().Draw(t, "remove") {
				x.remove(at)
				delete(want, at)
			} else if there || len(want) < frames {
				want[at] = rapid.Int32Range(0, int32(frames)-1).Draw(t, "frame")
				x.put(at, want[at])
			} else {
				x.remove(at) // is not there
			}
			require.Equal(t, len(want), x.n)
		}
		for rel := page.Rel(1); rel <= 3; rel++ {
			for block := range uint32(31) {
				at := page.ID{Rel: rel, Block: block}
				slot, ok := want[at]
				got, there := x.get(at)
				require.Equal(t, ok, there, "%v", at)
				if ok {
					require.Equal(t, slot, got, "%v", at)
				}
			}
		}
	})
}
