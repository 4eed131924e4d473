// Package model says what is right: sequential specifications that checkers
// hold runs against. It shares no code with the engine.
//
// # Model
//
// A key group is a fixed, ordered set of keys; its State is one value a key,
// 0 for an absent key. Operations name keys by position in the group.
//
// # Promises
//
//	K1  Legal and Next are pure: they change neither the state nor the
//	    operation, and give the same answer for the same arguments.
//	K2  Apply, for who owns the state, leaves exactly what Next returns.
//
// # Not promised
//
//   - That an operation is well formed (lengths, positions); checkers
//     validate a history before they ask.
package model
