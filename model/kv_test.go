package model

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestVerbs(t *testing.T) {
	s := State{5, 0}
	for _, c := range []struct {
		why   string
		op    Op
		legal bool
		next  State
	}{
		{"a get sees what is there", Op{Verb: Read, Keys: []int32{0}, Values: []uint64{5}}, true, State{5, 0}},
		{"and nothing else", Op{Verb: Read, Keys: []int32{0}, Values: []uint64{6}}, false, s},
		{"a multi-get sees all at once", Op{Verb: Read, Keys: []int32{0, 1}, Values: []uint64{5, 0}}, true, State{5, 0}},
		{"not in part", Op{Verb: Read, Keys: []int32{0, 1}, Values: []uint64{5, 1}}, false, s},
		{"a multi-put changes all", Op{Verb: Write, Keys: []int32{1, 0}, Values: []uint64{8, 9}}, true, State{9, 8}},
		{"a put of 0 deletes", Op{Verb: Write, Keys: []int32{0}, Values: []uint64{0}}, true, State{0, 0}},
		{"a swap needs the old value", Op{Verb: Swap, Keys: []int32{0}, Old: 5, Values: []uint64{7}}, true, State{7, 0}},
		{"else it cannot have won", Op{Verb: Swap, Keys: []int32{0}, Old: 4, Values: []uint64{7}}, false, s},
		{"a failed swap met another value", Op{Verb: Keep, Keys: []int32{0}, Old: 4}, true, State{5, 0}},
		{"it names the right one", Op{Verb: Keep, Keys: []int32{0}, Old: 4, Values: []uint64{5}}, true, State{5, 0}},
		{"not a wrong one", Op{Verb: Keep, Keys: []int32{0}, Old: 4, Values: []uint64{6}}, false, s},
		{"nor may it fail for nothing", Op{Verb: Keep, Keys: []int32{0}, Old: 5}, false, s},
		{"an attempt swaps if it can", Op{Verb: Try, Keys: []int32{0}, Old: 5, Values: []uint64{7}}, true, State{7, 0}},
		{"and else does nothing", Op{Verb: Try, Keys: []int32{0}, Old: 4, Values: []uint64{7}}, true, State{5, 0}},
	} {
		next, ok := Next(s, &c.op)
		require.Equal(t, c.legal, ok, c.why)
		require.Equal(t, c.next, next, c.why)
		require.Equal(t, State{5, 0}, s, "K1, %s", c.why)
	}
}

// K1 and K2: Next is pure and Apply is its twin in place.
func TestApplyIsNextInPlace(t *testing.T) {
	value := rapid.Uint64Range(0, 3)
	rapid.Check(t, func(t *rapid.T) {
		s := State(rapid.SliceOfN(value, 3, 3).Draw(t, "state"))
		op := Op{
			Verb: Verb(rapid.IntRange(int(Read), int(Try)).Draw(t, "verb")),
			Keys: []int32{rapid.Int32Range(0, 2).Draw(t, "key")},
			Old:  value.Draw(t, "old"), Values: []uint64{value.Draw(t, "value")},
		}
		was := slices.Clone(s)
		next, ok := Next(s, &op)
		require.Equal(t, was, s)
		require.Equal(t, Legal(s, &op), ok)
		if !ok {
			require.Equal(t, was, next)
			return
		}
		Apply(s, &op)
		require.Equal(t, s, next)
		require.Equal(t, Hash(s), Hash(next))
	})
}
