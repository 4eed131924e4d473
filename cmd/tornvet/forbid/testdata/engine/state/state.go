// Package state breaks V8.
package state

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math/big"
	"regexp"

	"tornpage/engine/other"
)

var (
	ErrGone    = errors.New("gone")
	errWrapped = fmt.Errorf("wrapped: %w", ErrGone)
	_          = fmt.Sprint(1)
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	pattern    = regexp.MustCompile("a+")
	names      = [...]string{"a", "b"}
	kinds      = map[string]int{"heap": 1}
	zeros      [64]byte
	_          fmt.Stringer = thing{}
)

var (
	count    int                 // want `package-level variable count may change at line 49 of state.go`
	table    = [4]int{}          // want `table may change at line 50`
	registry = map[string]int{}  // want `registry may change at line 51`
	current  = &thing{}          // want `current points to a value that its methods can change`
	fields   thing               // want `fields may change at line 52`
	aliased  = 3                 // want `aliased may change at line 53`
	removed  = map[int]int{1: 1} // want `removed may change at line 54`
	target   [8]byte             // want `target may change at line 55`
	swapped  = 1                 // want `swapped may change at line 56`
	called   big.Int             // want `called may change at line 58`
	next     = counter()         // want `next is a function that may hold state`
	unfilled map[string]int      // want `unfilled is a map that nobody fills`
	filled   []int               // want `filled may change at line 64`
)

type thing struct{ n int }

func (thing) String() string { return "" }

func counter() func() int { n := 0; return func() int { n++; return n } }

func change(buf []byte) *int {
	count++
	table[1] = 2
	registry["x"] = 1
	fields.n += 2
	p := &aliased
	delete(removed, 1)
	copy(target[2:], buf)
	for _, swapped = range names2() {
	}
	called.Add(&big.Int{}, &big.Int{})
	other.Limit = 4 // want `changes tornpage/engine/other.Limit, a variable of another package`
	return p
}

func init() {
	filled = append(filled, 1)
}

func names2() []int { return nil }

func read(buf []byte) (int, string, uint32) {
	copy(buf, zeros[:])
	names := names // a local copy
	names[0] = "c"
	return kinds["heap"], pattern.FindString(names[0]) + errWrapped.Error(), crc32.Checksum(buf, castagnoli)
}
