package host

import "math/bits"

// Rand is a keyed random stream: draw n of a key is a pure function of both, so
// that a draw more in one place moves no draw elsewhere (rule H8). The zero
// value is the stream of key 0. Copying it copies the position.
type Rand struct {
	key   uint64
	count uint64
}

// NewRand is the stream of a key; RandKey makes keys.
func NewRand(key uint64) Rand { return Rand{key: key} }

const golden = 0x9e3779b97f4a7c15 // 2^64 / golden ratio, Weyl step of splitmix64

// Mix is the finalizer of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): a
// bijection on 64 bits in which every input bit moves every output bit.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Uint64 draws 64 bits.
func (r *Rand) Uint64() uint64 {
	r.count++
	return Mix(r.key + r.count*golden)
}

// N draws from 0 to n-1; n 0 gives 0. Its bias, below n/2^64, is accepted.
func (r *Rand) N(n uint64) uint64 {
	hi, _ := bits.Mul64(r.Uint64(), n)
	return hi
}

// Chance is true num times in den.
func (r *Rand) Chance(num, den uint64) bool { return r.N(den) < num }

// RandKey is the key of the stream that Machine.Rand gives for (seed, process
// name, boot, site, entity). Every machine derives keys by this function, so a
// draw can be computed outside of the run that made it. Each part is absorbed
// with its length, so that no two different tuples are the same bytes.
func RandKey(seed uint64, name string, boot uint64, site string, entity uint64) uint64 {
	k := Mix(seed + golden)
	k = absorb(k, name)
	k = Mix(k ^ boot*golden)
	k = absorb(k, site)
	return Mix(k ^ entity*golden)
}

// absorb folds s into k, eight bytes (little-endian) at a time.
func absorb(k uint64, s string) uint64 {
	k = Mix(k + uint64(len(s))*golden)
	for len(s) > 0 {
		var word uint64
		n := min(8, len(s))
		for i := range n {
			word |= uint64(s[i]) << (8 * i)
		}
		k = Mix((k ^ word) + golden)
		s = s[n:]
	}
	return k
}
