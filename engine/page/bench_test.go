package page_test

import (
	"testing"

	"tornpage/engine/page"
)

func BenchmarkChecksum(b *testing.B) {
	p := heapPage(b, 100)
	b.SetBytes(page.Size)
	b.ReportAllocs()
	for i := range b.N {
		page.ComputeChecksum(uint32(i), p)
	}
}

func BenchmarkVerifyStatus(b *testing.B) {
	var p page.Page
	page.InitStatus(&p)
	page.Seal(page.StatusID(1), &p, true)
	b.SetBytes(page.Size)
	b.ReportAllocs()
	for range b.N {
		if err := page.Verify(page.StatusID(1), &p, true); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInsertAndCompact(b *testing.B) {
	tup := page.NewTuple(nil, 1, 0, 4, make([]byte, 97))
	var p page.Page
	p.Init(0)
	b.ReportAllocs()
	for range b.N {
		if _, ok := p.InsertTuple(1, 0, tup); !ok {
			p.SetItemID(5, 0)
			if err := p.Compact(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
