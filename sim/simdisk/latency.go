package simdisk

// latency is a distribution as a table of integers in three levels of 64 cells:
// all, the last 64th, the last 4,096th. So a draw is a look-up, and the tail
// still has resolution where it is rare.
type latency [3][65]int64

// anchorPPM is where the anchors of Quantiles lie, in millionths.
var anchorPPM = [len(Quantiles{})]int64{0, 500_000, 900_000, 990_000, 999_000, 999_900, 1_000_000}

// at is the quantile at q of 2^18, between two anchors by proportion.
func (q *Quantiles) at(part int64) int64 {
	ppm := part * million >> 18
	for i := 1; i < len(q); i++ {
		if lo, hi := anchorPPM[i-1], anchorPPM[i]; ppm <= hi {
			return q[i-1] + (q[i]-q[i-1])/(hi-lo)*(ppm-lo) + (q[i]-q[i-1])%(hi-lo)*(ppm-lo)/(hi-lo)
		}
	}
	return q[len(q)-1]
}

func (l *latency) init(q Quantiles) {
	const all = 1 << 18
	for level, step := range [...]int64{all >> 6, all >> 12, all >> 18} {
		for i := range int64(65) {
			l[level][i] = q.at(all - step*(64-i))
		}
	}
}

// draw turns 64 random bits into a latency in ns.
func (l *latency) draw(u uint64) int64 {
	cell, level := u>>58, 0
	if cell == 63 {
		cell, level = u>>52&63, 1
		if cell == 63 {
			cell, level = u>>46&63, 2
		}
	}
	t := &l[level]
	lo := t[cell]
	return lo + (t[cell+1]-lo)*int64(u&0xffff)>>16
}

// median is the middle of the distribution.
func (l *latency) median() int64 { return l[0][32] }
