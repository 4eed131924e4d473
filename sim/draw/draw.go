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
// sorted, begin at 0 and end at 1,000,000 (see Valid).
func (q Quantiles) Draw(r *Stream) int64 {
	switch len(q) {
	case 0:
		return 0
	case 1:
		return q[0].Value
	}
	p := uint32(r.N(1_000_000))
	i := 1
	for i < len(q)-1 && q[i].PPM <= p {
		i++
	}
	lo, hi := q[i-1], q[i]
	span := int64(hi.PPM - lo.PPM)
	if span == 0 {
		return hi.Value
	}
	return lo.Value + (hi.Value-lo.Value)*int64(p-lo.PPM)/span
}

// Valid reports whether q is a distribution that Draw can use.
func (q Quantiles) Valid() bool {
	if len(q) < 2 {
		return true
	}
	sorted := sort.SliceIsSorted(q, func(i, j int) bool {
		return q[i].PPM < q[j].PPM || q[i].Value < q[j].Value
	})
	return sorted && q[0].PPM == 0 && q[len(q)-1].PPM == 1_000_000
}
