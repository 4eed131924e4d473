package model

import "slices"

// State is the value of each key of a group, by position; 0 means absent.
type State []uint64

// Verb is what an operation does to a group of keys.
type Verb uint8

// The verbs. A get and a multi-get are Read; a put and a multi-put are Write;
// a compare-and-swap is Swap when it swapped and Keep when it did not;
// one whose answer never came is Try until somebody is seen to have read it.
const (
	Read  Verb = iota + 1 // all keys hold Values at once
	Write                 // all keys take Values at once
	Swap                  // the key held Old and takes Values[0]
	Keep                  // the key did not hold Old; with Values, it held Values[0]
	Try                   // a swap nobody heard of: swaps if the key holds Old, else nothing
)

// Op is one operation with its answer.
type Op struct {
	Verb   Verb
	Keys   []int32  // positions in the state
	Values []uint64 // one for each key
	Old    uint64   // Swap, Keep
}

// Legal reports whether op can give its answer in state s.
func Legal(s State, op *Op) bool {
	switch op.Verb {
	case Read:
		for i, k := range op.Keys {
			if s[k] != op.Values[i] {
				return false
			}
		}
	case Swap:
		return s[op.Keys[0]] == op.Old
	case Keep:
		at := s[op.Keys[0]]
		return at != op.Old && (len(op.Values) == 0 || at == op.Values[0])
	}
	return true
}

// Next returns the state after op, and whether op is legal in s. The state
// returned is s itself when nothing changes.
func Next(s State, op *Op) (State, bool) {
	if !Legal(s, op) {
		return s, false
	}
	if op.Verb == Read || op.Verb == Keep || op.Verb == Try && s[op.Keys[0]] != op.Old {
		return s, true
	}
	next := slices.Clone(s)
	Apply(next, op)
	return next, true
}

// Apply changes s as op does. Whether op is legal is not asked.
func Apply(s State, op *Op) {
	if op.Verb == Read || op.Verb == Keep || op.Verb == Try && s[op.Keys[0]] != op.Old {
		return
	}
	for i, k := range op.Keys {
		s[k] = op.Values[i]
	}
}

// Hash mixes a state into 64 bits: FNV-1a over words rather than bytes, since
// only equality of states hangs on it.
func Hash(s State) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211 // FNV-1a, 64 bits
	h := uint64(offset)
	for _, v := range s {
		h = (h ^ v) * prime
		h ^= h >> 32
	}
	return h
}
