package sim_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tornpage/engine/host"
)

// overwriter writes a page of 1s durably, says so, writes 2s over it and, with
// sync set, syncs them and says so. Its second boot says what it finds: for
// each sector of 512 bytes 1, 2, or ? for a mixture.
func overwriter(sync bool) func(host.Machine) {
	return func(m host.Machine) {
		d := m.Disk("data")
		f, err := d.Open("f", host.ClassData, true)
		if err != nil {
			m.Exit(err)
		}
		if m.Boot() == 1 {
			f.WriteAt(bytes.Repeat([]byte{1}, 8192), 0)
			f.Sync()
			d.SyncDir()
			m.Logf("old")
			f.WriteAt(bytes.Repeat([]byte{2}, 8192), 0)
			m.Logf("written")
			if sync {
				f.Sync()
				m.Logf("synced")
			}
			idle(m)
		}
		page := make([]byte, 8192)
		f.ReadAt(page, 0)
		found := ""
		for s := range 16 {
			sec := page[s*512:][:512]
			switch {
			case bytes.Count(sec, []byte{1}) == 512:
				found += "1"
			case bytes.Count(sec, []byte{2}) == 512:
				found += "2"
			default:
				found += "?"
			}
		}
		m.Logf("found %s", found)
		idle(m)
	}
}

// found lists what the second boot finds over many seeds when the machine
// loses power in the middle between two lines of the log.
func found(t *testing.T, sync bool, from, to string) map[string]int {
	all := map[string]int{}
	for seed := range uint64(60) {
		say := map[string]time.Duration{}
		probe := start(t, seed, node{"a", "z", overwriter(sync)})
		probe.must(t, time.Second)
		for i, s := range probe.said {
			say[s] = probe.when[i]
		}
		say["a: later"] = time.Second
		require.Contains(t, say, "a: "+from)
		require.Contains(t, say, "a: "+to)
		require.Less(t, say["a: "+from]+1, say["a: "+to], "there is a moment in between")
		probe.Close()

		l := start(t, seed, node{"a", "z", overwriter(sync)})
		l.must(t, (say["a: "+from]+say["a: "+to])/2)
		require.Equal(t, "a: "+from, l.said[len(l.said)-1])
		l.take()
		l.PowerOff("a-m")
		l.PowerOn("a-m")
		l.must(t, 3*time.Second)
		require.Len(t, l.said, 1)
		require.NotContains(t, l.said[0], "?", "a sector is a mixture")
		all[l.said[0]]++
		l.Close()
	}
	return all
}

const allOld, allNew = "a: found 1111111111111111", "a: found 2222222222222222"

// A write in flight is at risk: old, new, and any mixture of sectors.
func TestWriteInFlight(t *testing.T) {
	got := found(t, false, "old", "written")
	require.NotZero(t, got[allOld])
	require.NotZero(t, got[allNew])
	require.Greater(t, len(got), 10, "%v", got)
}

// So is what a sync in progress was to cover: it promises nothing yet.
func TestSyncInFlight(t *testing.T) {
	got := found(t, true, "written", "synced")
	require.NotZero(t, got[allOld])
	require.NotZero(t, got[allNew])
	require.Greater(t, len(got), 10, "%v", got)
}

// Once Sync has returned there is one outcome.
func TestSyncDone(t *testing.T) {
	require.Equal(t, map[string]int{allNew: 60}, found(t, true, "synced", "later"))
}

// A kill takes nothing from the files, synced or not.
func TestKillKeepsFiles(t *testing.T) {
	for seed := range uint64(10) {
		l := start(t, seed, node{"a", "z", overwriter(false)})
		l.must(t, time.Second)
		l.take()
		l.Kill("a")
		l.Boot("a")
		l.must(t, 2*time.Second)
		require.Equal(t, []string{allNew}, l.said)
	}
}
