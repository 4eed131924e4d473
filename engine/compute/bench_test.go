package compute_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"tornpage/engine/compute"
	"tornpage/engine/compute/computetest"
	"tornpage/engine/db"
	"tornpage/engine/host"
	"tornpage/sim"
)

// bench runs f in a task of a process that has an open engine.
func bench(b *testing.B, f func(m host.Machine, eng *compute.Engine)) {
	w, err := sim.New(sim.Config{MaxEvents: 1 << 62,
		Machines: []sim.Machine{{Name: "m", Zone: "a"}},
		Hosts: []sim.Host{{Name: "h", Machine: "m", Boot: func(m host.Machine) {
			eng, err := compute.Open(m, &computetest.Instant{End: 8}, compute.Config{Rows: 10_000, ValueBytes: 100})
			if err != nil {
				m.Exit(err)
			}
			f(m, eng)
			m.Exit(errBench)
		}}}})
	require.NoError(b, err)
	defer w.Close()
	b.ReportAllocs()
	w.BootAll()
	w.Run(1 << 62)
	if f := w.Failure(); f != nil {
		b.Fatal(f, f.Stack)
	}
	require.ErrorIs(b, w.LastExit("h"), errBench)
}

var errBench = errors.New("done")

func BenchmarkPut(b *testing.B) {
	bench(b, func(_ host.Machine, eng *compute.Engine) {
		value := make([]byte, 100)
		for k := range int64(10_000) {
			eng.Put(k, value)
		}
		b.ResetTimer()
		for i := range b.N {
			le := int64(i) * 7919 % 10_000
			value[0] = byte(i)
			if o := eng.Put(le, value); o.Status != db.Committed {
				b.Fatal(o)
			}
		}
		b.StopTimer()
		s := eng.Stats()
		b.ReportMetric(float64(s.Pruned)/float64(s.Committed), "prunes/op")
	})
}

func BenchmarkGet(b *testing.B) {
	bench(b, func(m host.Machine, eng *compute.Engine) {
		value := make([]byte, 100)
		for k := range int64(10_000) {
			eng.Put(k, value)
		}
		var out db.Values
		key := []int64{0}
		b.ResetTimer()
		for i := range b.N {
			key[0] = int64(i) * 7919 % 10_000
			out.Reset()
			if o := eng.Read(key, 0, &out); o.Status != db.Committed {
				b.Fatal(o)
			}
			if i&1023 == 0 {
				m.Sleep(0)
			}
		}
		b.StopTimer()
	})
}
