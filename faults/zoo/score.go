package zoo

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Kind is how a run with a planted bug ended.
type Kind string

// The kinds. Only Caught counts as caught (rule Z4).
const (
	Green  Kind = "green"
	Caught Kind = "check"     // a check that the bug names says broken
	Other  Kind = "other"     // only other checks say broken
	Unsure Kind = "undecided" // a check could not decide, none says broken
	Assert Kind = "assert"    // the engine found one of its rules broken
	Panic  Kind = "panic"     // anything else panicked
	Hang   Kind = "hang"      // too many events, or too much real time
	Memory Kind = "memory"    // too much memory
	// Tainted: caught, but the same plan is not green with the bug off.
	Tainted Kind = "tainted"
)

// Sighting is what became of one seed.
type Sighting struct {
	Seed   uint64
	Kind   Kind
	Checks []string `json:",omitempty"` // those that say broken
	What   string   `json:",omitempty"` // in words, of the first
	Steps  int      `json:",omitempty"` // of the plan
	Plan   string   `json:",omitempty"`
	Hash   uint64   `json:",omitempty"`
}

// Trial is one search through a range of seeds.
type Trial struct {
	Seeds   uint64   // looked at, the one that caught it included
	Found   Sighting // the one that caught it; Green: it escaped
	Apart   map[Kind]int
	Control string // the last plan that was tainted, and why
}

// Escaped reports that the budget was spent.
func (t Trial) Escaped() bool { return t.Found.Kind != Caught }

// Score is the result of several trials over disjoint seeds.
type Score struct {
	Bug    Bug
	Trials []Trial
}

// Escaped is the number of trials without a catch.
func (s Score) Escaped() int {
	n := 0
	for _, t := range s.Trials {
		if t.Escaped() {
			n++
		}
	}
	return n
}

// Estimate is the median of seeds to detection, with a distribution-free
// interval. Over says that a bound is a budget that was spent, so that the true
// one lies above.
type Estimate struct {
	Median, Low, High    uint64
	MedianOver, HighOver bool
	Percent              float64 // chance that the interval holds the true median
}

// Estimate computes it from order statistics: the median lies between the k-th
// smallest and the k-th largest with a chance that depends on k and the number
// of trials alone. k is the largest with at least 95 %, or 1 if there are too
// few trials (five or fewer) for that.
func (s Score) Estimate() Estimate {
	n := len(s.Trials)
	if n == 0 {
		return Estimate{}
	}
	sorted := slices.SortedFunc(slices.Values(s.Trials), func(a, b Trial) int {
		if a.Escaped() != b.Escaped() {
			if a.Escaped() {
				return 1
			}
			return -1
		}
		return int(int64(a.Seeds) - int64(b.Seeds))
	})
	k := 1
	for k+1 <= (n+1)/2 && coverage(n, k+1) >= 95 {
		k++
	}
	low, mid, high := sorted[k-1], sorted[n/2], sorted[n-k]
	return Estimate{
		Median: mid.Seeds, MedianOver: mid.Escaped(), Low: low.Seeds,
		High: high.Seeds, HighOver: high.Escaped(), Percent: coverage(n, k),
	}
}

// coverage is 100 (1 - 2 P(Bin(n, 1/2) < k)).
func coverage(n, k int) float64 {
	below := new(big.Int)
	for i := range k {
		below.Add(below, new(big.Int).Binomial(int64(n), int64(i)))
	}
	p, _ := new(big.Rat).SetFrac(below, new(big.Int).Lsh(big.NewInt(1), uint(n))).Float64()
	return 100 * (1 - 2*p)
}

// String is "9 [2, >50] 97%".
func (e Estimate) String() string {
	over := func(n uint64, over bool) string {
		if over {
			return fmt.Sprintf(">%d", n)
		}
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s [%d, %s] %.0f%%", over(e.Median, e.MedianOver), e.Low, over(e.High, e.HighOver), e.Percent)
}

// CaughtBy lists the checks that said broken in the runs that caught the bug,
// each with its number of trials, the most frequent first.
func (s Score) CaughtBy() string {
	count := map[string]int{}
	var names []string
	for _, t := range s.Trials {
		for _, c := range t.Found.Checks {
			if count[c] == 0 {
				names = append(names, c)
			}
			count[c]++
		}
	}
	return byCount(names, func(n string) int { return count[n] })
}

// Apart lists what is counted apart, over all trials.
func (s Score) Apart() string {
	count := map[Kind]int{}
	var names []string
	for _, k := range []Kind{Assert, Panic, Hang, Memory, Other, Unsure, Tainted} {
		for _, t := range s.Trials {
			count[k] += t.Apart[k]
		}
		if count[k] > 0 {
			names = append(names, string(k))
		}
	}
	return byCount(names, func(n string) int { return count[Kind(n)] })
}

func byCount(names []string, count func(string) int) string {
	slices.SortFunc(names, func(a, b string) int {
		if d := count(b) - count(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for i, n := range names {
		names[i] = fmt.Sprintf("%s %d", n, count(n))
	}
	return strings.Join(names, ", ")
}

// Steps is the median number of steps of the plans that caught the bug.
func (s Score) Steps() int {
	var all []int
	for _, t := range s.Trials {
		if !t.Escaped() {
			all = append(all, t.Found.Steps)
		}
	}
	if all == nil {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}
