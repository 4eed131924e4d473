package page_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
)

func TestStatusPlaces(t *testing.T) {
	require.Equal(t, 32224, page.StatusXIDs)
	var p page.Page
	page.InitStatus(&p)
	page.Stamp(page.StatusID(0), &p, 0xAABBCCDD)
	// Every XID has bits of its own: set all in turn, each to a value that
	// depends on it, then read all.
	want := func(xid uint32) page.XactStatus { return page.XactStatus(xid % 3) }
	for xid := range uint32(page.StatusXIDs) {
		page.SetStatus(&p, xid, page.Committed|page.Aborted)
		page.SetStatus(&p, xid, want(xid))
	}
	for xid := range uint32(page.StatusXIDs) {
		require.Equal(t, want(xid), page.Status(&p, xid))
	}
	require.Equal(t, page.LSN(0xAABBCCDD), page.LSNOf(page.StatusID(0), &p), "the LSN has its own place")
	page.Seal(page.StatusID(0), &p, false)
	require.NoError(t, page.Verify(page.StatusID(0), &p, true))

	require.EqualValues(t, 0, page.StatusBlock(page.StatusXIDs-1))
	require.EqualValues(t, 1, page.StatusBlock(page.StatusXIDs))
	require.Equal(t, page.ID{Rel: page.StatusRel, Block: 1}, page.StatusID(page.StatusXIDs))
	require.Equal(t, "committed aborted in progress", page.Committed.String()+" "+page.Aborted.String()+" "+page.InProgress.String())
}

// Rule P3: any mixture of the sectors of two versions is a valid page, and
// setting what came between again makes it the new one.
func TestTornStatusPage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := page.StatusID(0)
		var old page.Page
		page.InitStatus(&old)
		page.Seal(id, &old, true)
		renewed := old
		commits := rapid.SliceOfN(rapid.Uint32Range(0, page.StatusXIDs-1), 1, 40).Draw(t, "commits")
		for _, xid := range commits {
			page.SetStatus(&renewed, xid, page.Committed)
		}
		page.Stamp(id, &renewed, 0x2000)
		page.Seal(id, &renewed, true)

		sector := rapid.SampledFrom([]int{512, 4096}).Draw(t, "sector")
		torn := old
		for at := 0; at < page.Size; at += sector {
			if rapid.Bool().Draw(t, "new") {
				copy(torn[at:at+sector], renewed[at:at+sector])
			}
		}
		require.NoError(t, page.Verify(id, &torn, false))
		for _, xid := range commits {
			page.SetStatus(&torn, xid, page.Committed)
		}
		page.Stamp(id, &torn, 0x2000)
		page.Seal(id, &torn, false)
		require.Equal(t, renewed, torn)
	})
}

func TestStatusVerify(t *testing.T) {
	id := page.StatusID(0)
	require.ErrorIs(t, page.Verify(id, new(page.Page), false), page.ErrNew)
	var p page.Page
	page.InitStatus(&p)
	page.Seal(id, &p, false)
	for part := range page.StatusParts {
		q := p
		q[part*512+100] ^= 4
		require.ErrorContains(t, page.Verify(id, &q, false), "status part")
		clear(q[part*512 : part*512+512])
		require.ErrorContains(t, page.Verify(id, &q, false), "status part", "a part of zeros is none")
	}
	q := p
	copy(q[512:1024], p[1024:1536])
	require.ErrorContains(t, page.Verify(id, &q, false), "part 2, want 5854 part 1")
}
