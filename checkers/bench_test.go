package checkers

import (
	"math/rand/v2"
	"testing"

	"tornpage/engine/page"
)

// One seed's history: goal under 0.3 ms for all checks.
func BenchmarkCheck300(b *testing.B) {
	h := perfectHistory(rand.New(rand.NewPCG(7, 1)), shape{clients: 8, keys: 8, ops: 300, unknown: 3, crash: 3,
		views: true, multi: true, tokens: true})
	benchCheck(b, h, Options{}, Holds)
}

func BenchmarkCheck100k(b *testing.B) {
	h := perfectHistory(rand.New(rand.NewPCG(7, 1)), shape{clients: 32, keys: 1, ops: 100_000, tokens: true})
	benchCheck(b, h, Options{}, Holds)
}

func BenchmarkWorst(b *testing.B) { benchCheck(b, worst(true), Options{}, Broken) }
func BenchmarkWorstSearch(b *testing.B) {
	benchCheck(b, worst(true), Options{SearchOnly: true}, Broken)
}

func benchCheck(b *testing.B, h *History, o Options, want Result) {
	c := Checker{Options: o}
	b.ReportAllocs()
	for b.Loop() {
		if v := Worst(c.Check(h)); v.Result != want {
			b.Fatal(v)
		}
	}
}

func BenchmarkWatermark(b *testing.B) {
	w := NewWatermarks(Monotone("durable"), Order("view", "<=", "durable", Cluster))
	b.ReportAllocs()
	for i := int64(1); b.Loop(); i++ {
		w.Observe(Observation{Event: i, Host: "w", Boot: 1, Name: "durable", LSN: page.LSN(i)})
		if !w.Observe(Observation{Event: i, Host: "r", Boot: 1, Name: "view", LSN: page.LSN(i)}) {
			b.Fatal(w.Verdict())
		}
	}
}

func BenchmarkOracle(b *testing.B) {
	o := NewOracle(Masking{Hints: true})
	p := samplePage()
	b.ReportAllocs()
	for i := 1; b.Loop(); i++ {
		at := page.LSN(i)
		p.SetLSN(at)
		o.Appended(page.ID{Rel: 1}, at, &p)
		if v := o.Check(page.ID{Rel: 1}, at, &p); !v.Green() {
			b.Fatal(v)
		}
		if i%64 == 0 {
			o.Forget(at)
		}
	}
}
