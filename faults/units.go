package faults

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Rate is a chance in parts per million, so that it is exact and no float
// decides an event.
type Rate uint32

// Million is the rate of what always happens.
const Million Rate = 1_000_000

// maxFactor bounds slow factors: a million turns a microsecond into a second.
const maxFactor = 1_000_000

// maxDriftPPM bounds clock drift: at -1,000,000 ppm a clock stands still.
const maxDriftPPM = 999_999

// maxSpan bounds all times of a plan (100 days), so that sums of a few of them
// never overflow.
const maxSpan = 100 * 24 * time.Hour

// String returns the rate in percent with as many decimals as it needs: 5%,
// 0.1%, 0.0001%.
func (r Rate) String() string {
	s := strconv.FormatUint(uint64(r/10_000), 10)
	if frac := r % 10_000; frac != 0 {
		s += strings.TrimRight(fmt.Sprintf(".%04d", uint32(frac)), "0")
	}
	return s + "%"
}

// ParseRate reads "5%", "0.1%", "1/1000" or "250ppm". A rate that is no whole
// number of parts per million is an error, never rounded.
func ParseRate(s string) (Rate, error) {
	var num, den uint64
	var ok bool
	if body, isPercent := strings.CutSuffix(s, "%"); isPercent {
		num, den, ok = decimal(body)
		den *= 100
	} else if body, isPPM := strings.CutSuffix(s, "ppm"); isPPM {
		num, den, ok = decimal(body)
		den *= uint64(Million)
	} else if a, b, isFraction := strings.Cut(s, "/"); isFraction {
		var okA, okB bool
		num, okA = digits(a)
		den, okB = digits(b)
		ok = okA && okB && den != 0
	}
	if !ok {
		return 0, fmt.Errorf("%s is no rate: want a form like 5%%, 1/1000 or 250ppm", quote(s))
	}
	if num > den {
		return 0, fmt.Errorf("rate %s is above 100%%", s)
	}
	hi, lo := bits.Mul64(num, uint64(Million))
	q, rem := bits.Div64(hi, lo, den) // num <= den, hence hi < den
	if rem != 0 {
		return 0, fmt.Errorf("rate %s is no whole number of parts per million", s)
	}
	return Rate(q), nil
}

// durationUnits are the units that are printed, largest first, then those that
// are read only.
var durationUnits = []struct {
	name string
	size time.Duration
}{
	{"s", time.Second}, {"ms", time.Millisecond}, {"us", time.Microsecond}, {"ns", time.Nanosecond},
	{"µs", time.Microsecond}, {"m", time.Minute}, {"h", time.Hour},
}

// FormatDuration prints a time as a whole number of the largest unit of s, ms,
// us, ns that divides it: 1500ms, 60s, 0s.
func FormatDuration(d time.Duration) string {
	for _, u := range durationUnits[:4] {
		if d%u.size == 0 {
			return strconv.FormatInt(int64(d/u.size), 10) + u.name
		}
	}
	return "" // not reached: nanoseconds divide everything
}

// ParseDuration reads a time such as 120ms, 1.5s or 2m. A time that is no
// whole number of nanoseconds is an error, never rounded.
func ParseDuration(s string) (time.Duration, error) {
	body, negative := strings.CutPrefix(s, "-")
	end := strings.IndexFunc(body, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end > 0 {
		num, den, ok := decimal(body[:end])
		for _, u := range durationUnits {
			if !ok || u.name != body[end:] {
				continue
			}
			hi, lo := bits.Mul64(num, uint64(u.size))
			if hi != 0 || lo/den > uint64(maxSpan) {
				return 0, fmt.Errorf("time %s is above the limit of %v", s, maxSpan)
			}
			if lo%den != 0 {
				return 0, fmt.Errorf("time %s is no whole number of nanoseconds", s)
			}
			if negative {
				return -time.Duration(lo / den), nil
			}
			return time.Duration(lo / den), nil
		}
	}
	return 0, fmt.Errorf("%s is no time: want a number with a unit (ns, us, ms, s, m, h), for example 120ms", quote(s))
}

// byteUnits are the units of ParseBytes.
var byteUnits = []struct {
	name string
	size uint64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}, {"", 1}}

// ParseBytes reads a size such as 512, 8KiB, 16MiB or 1GiB.
func ParseBytes(s string) (int64, error) {
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(s)
	}
	n, ok := digits(s[:end])
	for _, u := range byteUnits {
		if !ok || u.name != s[end:] {
			continue
		}
		hi, lo := bits.Mul64(n, u.size)
		if hi != 0 || lo > math.MaxInt64 {
			return 0, fmt.Errorf("size %s is above the limit of %d bytes", s, int64(math.MaxInt64))
		}
		return int64(lo), nil
	}
	return 0, fmt.Errorf("%s is no size: want bytes, or a number with KiB, MiB or GiB", quote(s))
}

func formatFactor(n uint32) string { return strconv.FormatUint(uint64(n), 10) + "x" }

func parseFactor(s string) (uint32, error) {
	body, ok := strings.CutSuffix(s, "x")
	n, okN := digits(body)
	if !ok || !okN {
		return 0, fmt.Errorf("%s is no factor: want a form like 4x", quote(s))
	}
	if n > maxFactor {
		return 0, fmt.Errorf("factor %s is above %dx", s, maxFactor)
	}
	return uint32(n), checkFactor(uint32(n))
}

func checkFactor(n uint32) error {
	if n < 2 || n > maxFactor {
		return fmt.Errorf("factor %dx is not within 2x and %dx", n, maxFactor)
	}
	return nil
}

func parsePPM(s string) (int64, error) {
	body, ok := strings.CutSuffix(s, "ppm")
	digitsOnly, negative := strings.CutPrefix(body, "-")
	n, okN := digits(digitsOnly)
	if !ok || !okN {
		return 0, fmt.Errorf("%s is no drift: want a form like 200ppm or -200ppm", quote(s))
	}
	if n == 0 || n > maxDriftPPM {
		return 0, fmt.Errorf("drift %s is not within 1ppm and %dppm, either way", s, maxDriftPPM)
	}
	if negative {
		return -int64(n), nil
	}
	return int64(n), nil
}

func countSuffix(n uint32) string {
	if n == 1 {
		return ""
	}
	return "=" + strconv.FormatUint(uint64(n), 10)
}

func parseCount(s string) (uint32, error) {
	n, ok := digits(s)
	if !ok || n == 0 || n > math.MaxUint32 {
		return 0, fmt.Errorf("%s is no count: want a whole number from 1 to %d", quote(s), uint32(math.MaxUint32))
	}
	return uint32(n), nil
}

// digits reads a decimal number without sign, blank or underscore.
func digits(s string) (uint64, bool) {
	if s == "" || len(s) > maxDigits || s[0] < '0' || s[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

// maxDigits is above what 64 bits need, and keeps numbers in errors short.
const maxDigits = 40

// decimal reads digits with an optional fraction of at most nine digits, as a
// numerator and a power of ten.
func decimal(s string) (num, den uint64, ok bool) {
	whole, frac, _ := strings.Cut(s, ".")
	frac = strings.TrimRight(frac, "0")
	if len(s) > maxDigits || len(frac) > 9 {
		return 0, 0, false
	}
	den = 1
	for range frac {
		den *= 10
	}
	num, ok = digits(whole + frac)
	return num, den, ok && whole != ""
}

var errEmpty = errors.New("is empty")
