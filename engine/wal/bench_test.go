package wal_test

import (
	"testing"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

func benchUpdate(b *testing.B) (m *wal.MTR, p *page.Page, build func(floor wal.LSN)) {
	m = new(wal.MTR)
	p = tablePage(b, make([]byte, 97), 30)
	id := page.ID{Rel: 16384}
	return m, p, func(floor wal.LSN) {
		wal.HeapUpdate(m, floor, wal.UpdateArgs{XID: 9, Old: id, New: id, OldPage: p, NewPage: p, OldOff: 1, NewOff: 2, Hot: true})
		m.Build(floor)
	}
}

func BenchmarkBuildFinish(b *testing.B) {
	for name, floor := range map[string]wal.LSN{"delta": 0, "image": 1 << 40} {
		b.Run(name, func(b *testing.B) {
			m, _, build := benchUpdate(b)
			b.ReportAllocs()
			for range b.N {
				build(floor)
				m.Finish(1, 2)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, floor := range map[string]wal.LSN{"delta": 0, "image": 1 << 40} {
		b.Run(name, func(b *testing.B) {
			m, _, build := benchUpdate(b)
			build(floor)
			raw, _ := m.Finish(1, 2)
			var r wal.Record
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for range b.N {
				if _, err := r.Decode(raw, 8, 2); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkApply(b *testing.B) {
	var m wal.MTR
	src := tablePage(b, make([]byte, 97), 2)
	wal.HeapUpdate(&m, 0, wal.UpdateArgs{XID: 9, OldPage: src, NewPage: src, OldOff: 1, NewOff: 2, Hot: true})
	m.Build(0)
	raw, _ := m.Finish(1, 2)
	r, _, err := wal.Decode(raw, 1<<20, 2)
	if err != nil {
		b.Fatal(err)
	}
	redo := wal.StandardRedo()
	var p page.Page
	before := tablePage(b, make([]byte, 97), 1)
	b.ReportAllocs()
	for range b.N {
		p = *before // 8 KiB copied each round, part of the figure
		if changed, err := redo.Apply(&r, 0, &p); err != nil || !changed {
			b.Fatal(changed, err)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	l := newMemLog(16 << 20)
	for len(l.bytes) < 24<<20 {
		l.write(make([]byte, 140))
	}
	l.pos.End = l.First()
	b.SetBytes(int64(len(l.bytes)) - int64(l.First()))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		r := wal.NewReader(l.Layout, l.read, wal.Position{End: l.First()})
		n := 0
		for {
			if _, err := r.Next(); err != nil {
				break
			}
			n++
		}
		b.ReportMetric(float64(n), "records/op")
	}
}

func BenchmarkAppend(b *testing.B) {
	l := wal.Layout{}
	rec := make([]byte, 171)
	at := l.First()
	var buf []byte
	b.ReportAllocs()
	for range b.N {
		buf, at = l.Append(buf[:0], at, rec)
	}
}
