package page

// ChecksumSeeds lets the plain checksum of the tests start from the same sums.
func ChecksumSeeds() [32]uint32 { return seeds }
