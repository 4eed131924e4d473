package page

// seeds start the 32 parallel sums of the page checksum. Source: PostgreSQL's
// checksumBaseOffsets; they must be these for real pages to verify.
var seeds = [32]uint32{
	0x5B1F36E9, 0xB8525960, 0x02AB50AA, 0x1DE66D2A, 0x79FF467A, 0x9BB9F8A3, 0x217E7CD2, 0x83E13D2C,
	0xF8D4474F, 0xE39EB970, 0x42C6AE16, 0x993216FA, 0x7B093B5D, 0x98DAFF3C, 0xF718902A, 0x0B1C9CDB,
	0xE58F764B, 0x187636BC, 0x5D7B3BB1, 0xE73DE7DE, 0x92BEC979, 0xCCA6C0B2, 0x304A0979, 0x85AA43D4,
	0x783125BB, 0x6CA8EAA2, 0xE407EAC6, 0x4B5CFC3E, 0x9FBF8C76, 0x15CA20BE, 0xF2CA9FD3, 0x959BD756,
}

const (
	fnvPrime = 16777619
	sumRow   = 32 * 4 // bytes of one word for each of the 32 sums
)

// ComputeChecksum is PostgreSQL's pg_checksum_page: 32 interleaved FNV-1a
// sums with an extra shift, over the page with its checksum field as zero,
// folded, mixed with the block number so that a misplaced page is noticed,
// and reduced to 1..65535.
func ComputeChecksum(block uint32, p *Page) uint16 {
	saved := p.Checksum()
	le.PutUint16(p[offChecksum:], 0)
	var x uint32
	for lane := 0; lane < 32; lane += 4 {
		x ^= sumLanes(p, lane)
	}
	le.PutUint16(p[offChecksum:], saved)
	return uint16((x^block)%65535 + 1)
}

// sumLanes computes 4 of the 32 sums and folds them. Four fit in registers
// with their temporaries; eight spill. step is written out, since an inlined call
// leaves a NOP.
func sumLanes(p *Page, lane int) uint32 {
	s := (*[4]uint32)(seeds[lane:])
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	for at := lane * 4; at <= Size-16; at += sumRow {
		b := (*[16]byte)(p[at:])
		t0 := s0 ^ le.Uint32(b[0:])
		t1 := s1 ^ le.Uint32(b[4:])
		t2 := s2 ^ le.Uint32(b[8:])
		t3 := s3 ^ le.Uint32(b[12:])
		s0 = t0*fnvPrime ^ t0>>17
		s1 = t1*fnvPrime ^ t1>>17
		s2 = t2*fnvPrime ^ t2>>17
		s3 = t3*fnvPrime ^ t3>>17
	}
	// Two rounds of zeroes mix the last words in.
	return step(step(s0, 0), 0) ^ step(step(s1, 0), 0) ^ step(step(s2, 0), 0) ^ step(step(s3, 0), 0)
}

func step(sum, word uint32) uint32 {
	t := sum ^ word
	return t*fnvPrime ^ t>>17
}
