package wal_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// Btree records of a real server's log replay on its pages.
func TestBtreeRealLog(t *testing.T) {
	kinds, deltas := map[string]int{}, 0
	for _, c := range []struct {
		name  string
		start wal.LSN
	}{{"fpw-off", 0x81F8000}, {"fpw-on", 0x8180000}} {
		log := pieces{c.start: gunzip(t, fmt.Sprintf("%s-%08X.wal.gz", c.name, uint64(c.start)))}
		want := parseDump(t, string(gunzip(t, c.name+".waldump.gz")))
		r := wal.NewUnchainedReader(wal.Layout{SegSize: 1 << 20}, log.read, want[0].lsn)
		pages := map[page.ID]*page.Page{}
		for {
			rec, err := r.Next()
			if err != nil {
				break
			}
			if rec.Rmgr != wal.RmgrBtree {
				continue
			}
			kinds[wal.OpName(rec.Rmgr, rec.Info)]++
			for _, ref := range rec.Pages(nil) {
				p := pages[ref.ID]
				if p == nil && !ref.Init {
					continue
				} else if p == nil {
					p = new(page.Page)
					pages[ref.ID] = p
				} else if !ref.Init {
					deltas++
				}
				changed, err := wal.Apply(rec, ref.Block, p)
				require.NoError(t, err)
				require.True(t, changed)
				require.NoError(t, page.ValidateIndex(ref.ID, p))
			}
		}
	}
	t.Logf("%v, %d deltas", kinds, deltas)
	require.Positive(t, kinds["Btree/INSERT_LEAF"])
}

// FuzzBtreeApply: no Btree record makes redo panic on any page, and one that
// fails leaves the page alone.
func FuzzBtreeApply(f *testing.F) {
	leaf, inner := indexLeaf(f, 0, 2, 3), indexInner(f, 0, 1, 2, 3)
	var m wal.MTR
	add := func(build func()) {
		build()
		m.Build(0)
		b, _ := m.Finish(0, 0)
		f.Add(append([]byte(nil), b...), leaf[:])
		f.Add(append([]byte(nil), b...), inner[:])
	}
	split, _ := splitLeaf(f, clone(leaf), nil, 3, 3, true)
	add(func() { wal.BtreeInsert(&m, 8, indexAt(1, leaf), 2, wal.BtreePage{}) })
	add(func() { wal.BtreeInsert(&m, 8, indexAt(3, inner), 2, indexAt(1, leaf)) })
	add(func() { wal.BtreeSplit(&m, split) })
	add(func() {
		wal.BtreeNewRoot(&m, 8, indexAt(3, inner), indexAt(1, leaf), indexAt(0, metaPage(3, 1)), 1)
	})
	add(func() { wal.BtreeVacuum(&m, indexAt(1, leaf), []uint16{2, 3}) })
	add(func() { wal.BtreeDelete(&m, indexAt(1, leaf), 3, []uint16{2, 3}) })
	add(func() { wal.BtreeHalfDead(&m, indexAt(1, leaf), indexAt(3, inner), 2, 0, 2, 1) })
	add(func() {
		wal.BtreeUnlink(&m, wal.BtreeUnlinkArgs{Target: indexAt(1, leaf), Left: indexAt(4, leaf), Right: indexAt(5, leaf), Leaf: indexAt(6, leaf)})
	})
	add(func() { wal.BtreeReuse(&m, page.ID{Rel: indexRel, Block: 2}, 9) })
	f.Fuzz(func(t *testing.T, b, content []byte) {
		if len(b) > 17 {
			b[17] = byte(wal.RmgrBtree)
		}
		fixCRC(b)
		r, _, err := wal.Decode(b, 1<<41, 0)
		if err != nil {
			return
		}
		var p page.Page
		copy(p[:], content)
		for _, ref := range r.Pages(nil) {
			before := p
			if changed, err := wal.Apply(&r, ref.Block, &p); (err != nil || !changed) && p != before {
				t.Fatalf("not applied (%v), yet the page changed", err)
			}
		}
		_, _ = r.BtreeInsert()
		_, _ = r.BtreeSplit()
		_, _, _ = r.BtreeNewRoot()
		_, _, _ = r.BtreeDeleted()
		_, _ = r.BtreeHalfDead()
		_, _ = r.BtreeUnlink()
		_, _, _ = r.BtreeReuse()
	})
}
