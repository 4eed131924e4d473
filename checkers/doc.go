// Package checkers says what must hold of a run, and in words what did not.
//
// # Model
//
// A History is what clients were told, stamped with event numbers from one
// counter, and what the world knows besides: boots, durable points, commits.
// A check reads it and answers with a Verdict: holds, broken, or undecided,
// which is never green. Streams of watermarks, gauges and pages have checkers
// of their own, fed as the run goes.
//
//	dirty       what was read had been written, and its writer did not abort
//	linear      each group of keys written together is linearizable
//	views       each read view is the state after one prefix of commits
//	durable     recovery kept what was acknowledged; nothing lost came back
//	watermarks  declared orders of positions; one record per place; one writer
//	progress    work goes on once faults stop; gauges stay within limits
//	pages       storage returns the bytes that were appended
//
// # Rules
//
//	C1   Values written to a key are unique; a history where they are not is
//	     malformed, and every check of it undecided. Deletes (value 0) are
//	     the exception; they weaken C3 and C4 for unknown deletes.
//	C2   Aborted operations and unknown reads are no part of the model. A
//	     value of an aborted write must never be read.
//	C3   An unknown write that nobody saw falls away. One that was seen ends
//	     at the earliest return that saw it.
//	C4   It ends at the latest when the writer's next boot opens: a commit
//	     that one recovery lost must not come back with the next. This needs
//	     fenced requests: an older boot can do nothing once a newer one opened.
//	C5   A client takes a new number after an unknown outcome.
//	C6   A read at view V has the interval from "V visible on the writer" to
//	     "next commit visible" in the model of the writer.
//	C7   The order of commit LSNs is tried first, in linear time: if it is
//	     legal and respects real time, the history is linearizable. Where it
//	     fails, stays of single values refute what they can, with reasons
//	     (Gibbons and Korach, 1997); porcupine decides the rest.
//	C8   Bounds are in steps, never in time: a verdict is a function of the
//	     history. Porcupine's own time-out is wall-clock and is not used.
//
// # Not promised
//
//   - A search for every anomaly in a malformed history, or more than one
//     breach per check: the first in event or LSN order is reported.
//   - Linearizability of replica views: they are held to C6, tokens and
//     sessions, not to their own call and return.
//   - That an unknown delete which was lost stays lost (C1).
//   - An answer from porcupine for more than some thousand operations on a
//     group whose commit order fails.
//
// # Reading route
//
// history.go, verdict.go; index.go (what is malformed); tighten.go (C2 to C6);
// linear.go, witness.go, zones.go, search.go (C7, C8); views.go; durable.go;
// watermarks.go, progress.go; pages.go, pagediff.go.
package checkers
