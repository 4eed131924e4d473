// Package computetest is a storage in memory, to test compute with.
//
// # Model
//
// Mem is what survives a boot: the log as a list of records, and the pages as
// they were last given to Evict. Storage is one boot of it. A flush takes a
// fixed time and covers what was appended when it began. A new boot cuts the
// log behind its durable end, rebuilds every page from the whole log, and
// compares each version that was evicted with what redo makes of it.
//
// A relation that is cut (Storage/TRUNCATE) loses its pages with the Append; if
// that does not survive, the next boot makes them again. An Append whose record
// does not change the pages that its mini-transaction touches is broken (wal
// rule W7).
//
// The floor moves when MoveFloor says so, and may be made to move between a
// record's Build and its Append.
//
// # Not promised
//
//   - Anything about disks: nothing tears, nothing is lost but the tail.
package computetest
