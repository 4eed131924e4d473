package wal_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// fixCRC makes arbitrary bytes a record with the right length and CRC, as if
// nothing but a bug had written it.
func fixCRC(b []byte) {
	if len(b) < wal.RecordHeader {
		return
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	table := crc32.MakeTable(crc32.Castagnoli)
	crc := crc32.Update(crc32.Update(0, table, b[wal.RecordHeader:]), table, b[:20])
	binary.LittleEndian.PutUint32(b[20:], crc)
}

// samples are records of every kind, on the page src.
func samples(t require.TestingT, src *page.Page) (out [][]byte) {
	id, other := page.ID{Rel: 16384}, page.ID{Rel: 16384, Block: 1}
	far := tablePage(t, []byte("0123456789abcdef"), 2)
	var m wal.MTR
	var vm page.Page
	page.InitVM(&vm)
	for _, f := range []func(){
		func() { wal.HeapInsert(&m, 8, id, src, 3, 1, false) },
		func() { wal.HeapInsert(&m, 8, id, src, 1, 0, true) },
		func() { wal.HeapDelete(&m, 8, id, src, 2, 1) },
		func() { wal.HeapLock(&m, 8, id, src, 2) },
		func() { wal.HeapInplace(&m, 0, id, src, 1) },
		func() { wal.HeapPrune(&m, id, src, 8, []uint16{1, 2}, []uint16{3}, nil) },
		func() {
			wal.HeapUpdate(&m, 0, wal.UpdateArgs{XID: 8, Old: id, New: id, OldPage: src, NewPage: src, OldOff: 1, NewOff: 3, Hot: true})
		},
		func() {
			wal.HeapUpdate(&m, 0, wal.UpdateArgs{XID: 8, Old: id, New: other, OldPage: src, NewPage: far, OldOff: 1, NewOff: 2})
		},
		func() { wal.HeapDelete(&m, 8, other, far, 1, wal.AllVisibleCleared) },
		func() { wal.HeapVacuum(&m, id, src, []uint16{2}) },
		func() { wal.HeapVisible(&m, id, src, page.VMID(id.Rel, 0), &vm, 8, page.VMAllVisible) },
		func() { wal.CommitTree(&m, 8, []uint32{9, 11, page.StatusXIDs + 1}, 1) },
		func() { wal.AbortTree(&m, 8, []uint32{9}, 1) },
		func() { wal.Create(&m, id.Rel.VM()) },
		func() { wal.Truncate(&m, id.Rel, 7) },
		func() { wal.FPI(&m, id, src) },
		func() { wal.Commit(&m, 8, 1) },
		func() { wal.StatusZeroPage(&m, 0) },
		func() { wal.CheckpointRecord(&m, wal.Checkpoint{Redo: 9}, false) },
	} {
		for _, floor := range []wal.LSN{0, 1 << 40} {
			f()
			m.Build(floor)
			b, _ := m.Finish(0, 0)
			out = append(out, bytes.Clone(b))
		}
	}
	return out
}

// FuzzDecodeRecord: any bytes decode or give an error; what decodes points
// into the bytes and accounts for all of them.
func FuzzDecodeRecord(f *testing.F) {
	for _, b := range samples(f, tablePage(f, []byte("0123456789abcdef"), 3)) {
		f.Add(b, true)
	}
	f.Add([]byte("short"), false)
	f.Fuzz(func(t *testing.T, b []byte, fix bool) {
		if fix {
			fixCRC(b)
		}
		r, crc, err := wal.Decode(b, 0x100, 0)
		if err != nil {
			var d *wal.DecodeError
			if !errors.As(err, &d) || d.Byte > len(b) {
				t.Fatalf("%v", err)
			}
			return
		}
		total := len(r.Main)
		for i := range r.Blocks {
			total += len(r.Blocks[i].Image) + len(r.Blocks[i].Data)
			var p page.Page
			if err := r.Blocks[i].RestoreImage(&p); r.Blocks[i].HasImage && err != nil {
				t.Fatalf("decoded image does not restore: %v", err)
			}
		}
		if crc != r.CRC || total > len(b)-wal.RecordHeader || int(r.Len) != len(b) {
			t.Fatalf("%d bytes decode to %d of payload: %v", len(b), total, &r)
		}
		readAccessors(&r)
	})
}

func readAccessors(r *wal.Record) {
	_, _ = r.HeapInsert()
	_, _ = r.HeapDelete()
	_, _ = r.HeapLock()
	_, _ = r.HeapUpdate()
	_, _ = r.HeapInplace()
	_, _ = r.HeapPrune()
	_, _ = r.HeapVacuum()
	_, _ = r.HeapVisible()
	_, _, _ = r.Create()
	_, _, _, _ = r.Truncate()
	_, _ = r.Xact()
	_, _ = r.Checkpoint()
	_, _ = r.NextXID()
	_, _ = r.FPWChange()
	_ = r.Clone().String()
	r.Pages(nil)
}

// FuzzApply: no record, however odd, makes redo panic on any page, and one
// that fails leaves the page alone.
func FuzzApply(f *testing.F) {
	src := tablePage(f, []byte("0123456789abcdef"), 3)
	two := tablePage(f, []byte("0123456789abcdef"), 2)
	for _, b := range samples(f, src) {
		f.Add(b, two[:])
		f.Add(b, src[:])
		f.Add(b, []byte{})
	}
	f.Fuzz(func(t *testing.T, b, content []byte) {
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
	})
}

// FuzzReader: any bytes behind a good log give its records and then an end.
func FuzzReader(f *testing.F) {
	l := newMemLog(16384)
	l.write(make([]byte, 100))
	l.write(make([]byte, 9000))
	good := l.bytes[l.First():]
	f.Add(good, 0, byte(0))
	f.Add(good, 8200, byte(4))
	f.Add(append(bytes.Clone(good), good...), 41, byte(0xFF))
	f.Fuzz(func(t *testing.T, b []byte, at int, x byte) {
		log := bytes.Clone(b)
		if at >= 0 && at < len(log) {
			log[at] ^= x
		}
		r := wal.NewReader(l.Layout, pieces{l.First(): log}.read, wal.Position{End: l.First()})
		last := l.First()
		for {
			rec, err := r.Next()
			var end *wal.EndOfLog
			if errors.As(err, &end) {
				if end.LSN != last || end.Reason == "" {
					t.Fatalf("last record ended at %v: %v", last, end)
				}
				return
			}
			if err != nil || rec.LSN < last || rec.End <= rec.LSN {
				t.Fatalf("record %v after %v: %v", rec, last, err)
			}
			last = rec.End
		}
	})
}

// FuzzControl: any bytes decode or give an error; what decodes encodes again.
func FuzzControl(f *testing.F) {
	c := wal.Control{State: wal.ShutDown, Seq: 3, SegSize: 16384}
	f.Add(c.Encode(nil), false)
	f.Add(make([]byte, 512), true)
	f.Fuzz(func(t *testing.T, b []byte, fix bool) {
		if fix && len(b) >= 104 {
			binary.LittleEndian.PutUint32(b[100:], crc32.Checksum(b[:100], crc32.MakeTable(crc32.Castagnoli)))
		}
		c, err := wal.DecodeControl(b)
		if err != nil {
			return
		}
		again, err := wal.DecodeControl(c.Encode(nil))
		if err != nil || again != c {
			t.Fatalf("%+v encodes to %+v: %v", c, again, err)
		}
		if _, _, err := wal.ChooseControl(b, nil); err != nil {
			t.Fatal(err)
		}
	})
}
