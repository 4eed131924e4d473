// Package draw makes keyed random streams for the simulated world.
//
// A stream is named by a seed and by strings and numbers that say whose choice
// it is; draw n of a stream depends on nothing else. So one draw more in one
// place moves no draw elsewhere, a shrunk plan keeps the luck of the plan it
// came from, and the same seed means the same run on 32 and 64 bits.
//
// No float is used anywhere: distributions are tables of quantiles in integers.
package draw

import (
	"sort"

	"tornpage/engine/host"
)

// Stream is a keyed random stream; see host.Rand.
type Stream = host.Rand

// Key folds a seed and the names of a choice into the key of its stream.
func Key(seed uint64, parts ...string) uint64 {
	k := host.Mix(seed)
	for _, p := range parts {
		k = Fold(k, p)
	}
	return k
}

// Fold adds one name to a key. Names are separated: ("ab", "c") and ("a", "bc")
// give different keys.
func Fold(key uint64, part string) uint64 {
	if part == "" {
		return FoldN(key, 0) // else Mix would leave the key 0 as it is
	}
	h := key ^ uint64(len(part))*0x9e3779b97f4a7c15
	for i := 0; i < len(part); i++ {
		h = (h ^ uint64(part[i])) * 0x100000001b3 // FNV-1a's prime
	}
	return host.Mix(h)
}

// FoldN adds a number to a key.
func FoldN(key, n uint64) uint64 { return host.Mix(key ^ host.Mix(n+0x9e3779b97f4a7c15)) }

// New is the stream of a choice.
func New(seed uint64, parts ...string) Stream { return host.NewRand(Key(seed, parts...)) }

// Quantiles is a distribution given by its quantiles: pairs of a cumulative
// probability in millionths and a value. Between two pairs it is linear.
type Quantiles []Quantile

// Quantile says that a share of PPM millionths of all values is at or below
// Value.
type Quantile struct {
	PPM   uint32
	Value int64
}

// Draw takes one value from q by stream r. An empty table gives 0; q must be
// Valid. It divides: where draws are many, use the Table of q.
func (q Quantiles) Draw(r *Stream) int64 {
	t := q.Table()
	return t.Draw(r)
}

// Table is a distribution made ready for drawing without a division.
type Table struct {
	base     int64 // the value of a table without segments
	segments []segment
}

// segment is the line from one quantile to the next.
type segment struct {
	below uint32 // in millionths: where it ends
	from  uint32
	value int64
	slope uint64 // rise in a millionth, times 2^32
}

// Table makes q, which must be Valid, ready. A rise between two quantiles must
// be below 2^31.
func (q Quantiles) Table() (t Table) {
	if len(q) > 0 {
		t.base = q[len(q)-1].Value
	}
	for i := 1; i < len(q); i++ {
		lo, hi := q[i-1], q[i]
		if hi.PPM > lo.PPM {
			slope := uint64(hi.Value-lo.Value) << 32 / uint64(hi.PPM-lo.PPM)
			t.segments = append(t.segments, segment{hi.PPM, lo.PPM, lo.Value, slope})
		}
	}
	return t
}

// Draw takes one value by stream r.
func (t *Table) Draw(r *Stream) int64 {
	p := uint32(r.N(1_000_000))
	for i := range t.segments {
		if s := &t.segments[i]; p < s.below {
			return s.value + int64(uint64(p-s.from)*s.slope>>32)
		}
	}
	return t.base
}

// Valid reports whether q is a distribution that Draw can use.
func (q Quantiles) Valid() bool {
	if len(q) < 2 {
		return true
	}
	sorted := sort.SliceIsSorted(q, func(i, j int) bool {
		return q[i].PPM < q[j].PPM || q[i].PPM == q[j].PPM && q[i].Value < q[j].Value
	})
	for i := 1; i < len(q); i++ {
		// Unsigned, so that a fall and a rise beyond 2^63 are too steep as well.
		sorted = sorted && uint64(q[i].Value-q[i-1].Value) < 1<<31
	}
	return sorted && q[0].PPM == 0 && q[len(q)-1].PPM == 1_000_000
}
