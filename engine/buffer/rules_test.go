package buffer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// TestRemembered: the cache's answer is a page's LSN, or not below it.
func TestRemembered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newLSNCache(rapid.IntRange(1, 8).Draw(t, "size"))
		c.bound = wal.LSN(rapid.IntRange(0, 50).Draw(t, "bound"))
		first := c.bound
		truth := map[page.ID]wal.LSN{}
		lsn := first
		for range rapid.IntRange(1, 60).Draw(t, "drops") {
			p := id(rapid.IntRange(0, 20).Draw(t, "page"))
			lsn += wal.LSN(rapid.IntRange(1, 5).Draw(t, "step"))
			c.put(p, lsn)
			truth[p] = lsn
			for q, want := range truth {
				got, exact := c.get(q)
				require.GreaterOrEqual(t, got, want, "%v", q)
				if exact {
					require.Equal(t, want, got, "%v", q)
				}
			}
			got, _ := c.get(id(99))
			require.GreaterOrEqual(t, got, first)
		}
	})
}

// broken runs f in a task and gives the rule that it breaks.
func broken(t *testing.T, f func(k *talk)) string {
	k := &talk{}
	k.boot(t)
	defer k.w.Close()
	k.frames(2, 0)
	rule := ""
	k.m.Go("breaks", func() {
		defer func() {
			v, ok := recover().(*invariant.Violation)
			require.True(t, ok)
			rule = v.Rule
		}()
		f(k)
	})
	k.w.Run(k.w.Now() + 1_000_000)
	return rule
}

func TestBrokenRules(t *testing.T) {
	pin := func(k *talk) *Frame {
		f, err := k.pool.Pin(id(1))
		require.NoError(t, err)
		return f
	}
	require.Equal(t, "B2", broken(t, func(k *talk) {
		f := pin(k)
		k.pool.Unpin(f)
		k.pool.Unpin(f)
	}))
	require.Equal(t, "B3", broken(t, func(k *talk) { pin(k).MarkDirty() }))
	require.Equal(t, "B7", broken(t, func(k *talk) { k.pool.Reserve(3) }))
	require.Equal(t, "B7", broken(t, func(k *talk) { k.pool.Release(1) }))
	require.Equal(t, "B4", broken(t, func(k *talk) { // a store that lies about what is durable
		f := pin(k)
		f.Lock()
		f.MarkDirty()
		f.Page().SetLSN(100)
		f.Unlock()
		k.store.durable = 100
		liar := &lying{k.store}
		k.pool.Attach(liar, 0)
		_ = k.pool.WriteBack(id(1))
	}))
}

// TestWriterEnds: the background writer writes by its interval, and ends with
// the pool.
func TestWriterEnds(t *testing.T) {
	k := &talk{}
	k.boot(t)
	defer k.w.Close()
	k.frames(4, 0)
	k.store.durable = 1000
	ended := false
	k.m.Go("writer", func() {
		k.pool.RunWriter(WriterConfig{})
		ended = true
	})
	k.m.Go("user", func() {
		for i := range 5 {
			f, err := k.pool.Pin(id(i))
			require.NoError(t, err)
			f.Lock()
			f.MarkDirty()
			f.Page().SetLSN(wal.LSN(i + 1))
			f.Unlock()
			k.pool.Unpin(f)
		}
	})
	k.w.Run(k.w.Now() + 190*time.Millisecond)
	require.Zero(t, k.pool.Stats().Cleaned)
	k.w.Run(k.w.Now() + 20*time.Millisecond)
	require.EqualValues(t, 3, k.pool.Stats().Cleaned) // all but the page of recent use
	require.False(t, ended)
	k.pool.Fail(engine.ErrStopped)
	k.w.Run(k.w.Now() + 210*time.Millisecond)
	require.True(t, ended)
}

type lying struct{ *gated }

func (l *lying) Durable() wal.LSN { return 50 }
