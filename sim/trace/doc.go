// Package trace folds every event of a run into one running hash, and keeps
// the last events, or all of them, for people to read.
//
// # Promises
//
//	T1  Two runs that did the same events with the same payloads in the same
//	    order have the same hash; any difference changes it, up to chance of
//	    about 2^-64.
//	T2  Event numbers count from 1 and order the history; times may be equal.
//	T3  Recording allocates nothing once warm, and writing the full trace
//	    changes neither numbers nor hash.
//
// # Not promised
//
//   - Resistance against somebody who wants a collision.
//   - That an event can be undone: a run is replayed from its start.
package trace
