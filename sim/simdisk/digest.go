package simdisk

import (
	"encoding/binary"
	"math/bits"
)

// Odd constants with about half their bits set; the fractional digits of the
// square roots of 2, 3, 5, 7 and 11. Any such numbers do.
const (
	k0 = 0x6a09e667f3bcc909
	k1 = 0xbb67ae8584caa73b
	k2 = 0x3c6ef372fe94f82b
	k3 = 0xa54ff53a5f1d36f1
	k4 = 0x510e527fade682d1
)

// fold multiplies to 128 bits and adds the halves without carry: every bit of
// either input reaches the result.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// Digest is a 64-bit hash of b, chained through seed: the same on machines of
// any word size and byte order. It is for traces and images, where nobody
// searches for collisions, and is no protection against who does.
func Digest(seed uint64, b []byte) uint64 {
	n := uint64(len(b))
	seed ^= k0
	if len(b) >= 64 {
		// Four lanes, since one multiplication waits for the one before.
		s0, s1, s2, s3 := seed, seed^k1, seed^k2, seed^k3
		for len(b) >= 64 {
			q := b[:64:64]
			s0 = fold(binary.LittleEndian.Uint64(q[0:8])^k1, binary.LittleEndian.Uint64(q[8:16])^s0)
			s1 = fold(binary.LittleEndian.Uint64(q[16:24])^k2, binary.LittleEndian.Uint64(q[24:32])^s1)
			s2 = fold(binary.LittleEndian.Uint64(q[32:40])^k3, binary.LittleEndian.Uint64(q[40:48])^s2)
			s3 = fold(binary.LittleEndian.Uint64(q[48:56])^k4, binary.LittleEndian.Uint64(q[56:64])^s3)
			b = b[64:]
		}
		seed = fold(s0^k4, s1) ^ fold(s2^k2, s3)
	}
	for len(b) >= 16 {
		seed = fold(binary.LittleEndian.Uint64(b)^k1, binary.LittleEndian.Uint64(b[8:])^seed)
		b = b[16:]
	}
	var lo, hi uint64
	if len(b) >= 8 {
		lo, b = binary.LittleEndian.Uint64(b), b[8:]
	}
	for i, c := range b {
		hi |= uint64(c) << (8 * uint(i))
	}
	return fold(fold(lo^k2, hi^seed)^n, k3)
}
