// Package world breaks V9.
package world

import (
	"math"
	"time"
)

const million = 1e6 // untyped constants are exact

type link struct {
	loss float64 // want `floating point in sim`
	//tornvet:float printed only
	mean float64
}

func share(n int) int {
	return int(float64(n) * 0.3) // want `floating point in sim`
}

func whole(d time.Duration) int64 {
	n := int64(million)
	return n + int64(math.Sqrt(4)) // want `floating point in sim`
}

// print shows a duration.
//
//tornvet:float a text for people
func print(d time.Duration) float64 {
	s := d.Seconds()
	return s * 2
}

func spawn() { go spawn() } // want `go statement`
