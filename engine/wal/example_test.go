package wal_test

import (
	"fmt"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// A delete: the page is changed, the record built, put at the log's end and
// written; after a crash the reader finds it and redo repeats it.
func ExampleMTR() {
	id := page.ID{Rel: 16384, Block: 7}
	var p page.Page
	p.Init(0)
	p.InsertTuple(7, 0, page.NewTuple(nil, 700, 0, 1, []byte("row")))
	onDisk := p

	// The do-path.
	p.DeleteTuple(7, 1, page.Xmax{XID: 701, Infomask2: page.KeysUpdated})
	var m wal.MTR
	wal.HeapDelete(&m, 701, id, &p, 1, 0)
	m.Build(0) // floor 0: no images

	// Storage: where it goes, what precedes it, its bytes.
	layout := wal.Layout{SegSize: 32 << 10, SystemID: 1}
	at := wal.Position{End: layout.First()}
	_, end := layout.Next(at.End, m.Len())
	record, _ := m.Finish(at.Prev, at.CRC)
	log, _ := layout.Append(nil, at.End, record)
	m.Stamp(end)

	// Recovery.
	r := wal.NewReader(layout, func(b []byte, lsn wal.LSN) (int, error) {
		return copy(b, log[lsn-layout.First():]), nil
	}, at)
	for {
		rec, err := r.Next()
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(rec)
		for _, ref := range rec.Pages(nil) {
			changed, err := wal.Apply(rec, ref.Block, &onDisk)
			fmt.Println(ref.ID, changed, err, onDisk == p)
		}
	}
	// Output:
	// 0/8028 Heap/DELETE xid 701 len 54, rel 16384 block 7
	// rel 16384 block 7 true <nil> true
	// log ends at 0/8060: at 0/8060 (000000010000000000000001 offset 96): the file ends
}
