// Package zoo has the planted bugs: small edits of engine source, each of which
// removes one thing that keeps the engine right. They show what the checkers
// are worth. The engine itself holds no switch for them.
//
// # A bug file
//
//	bug       ack-before-sync
//	required
//	breaks    L3: what is acknowledged was synced
//	origin    PostgreSQL's fsync=off
//	scenario  local/register clients=8
//	config    disk.profile=gp3
//	after 3 wal.flushed on db for 20ms  power-off db-m
//	checks    durable linear
//	seeds     100
//
//	edit engine/local/writer.go
//	<<<<
//		s.syncSegment()
//	====
//	>>>>
//
// "breaks" and "origin" may take several lines. "scenario", "config" and steps
// are written as in a plan; they are laid over the plan that the scenario draws
// for each seed. A second scenario line begins a second hunt, and seeds take
// the hunts in turn. "checks" are the checks that may catch the bug, "seeds" is
// the budget within which one must, "required" says that CI insists.
//
// # How it is built
//
// All bugs share one build. The function that an edit lies in is copied, edited
// and renamed; under its old name stands a dispatcher that calls the copy of
// the bug that is on, or the original. So an edit may be anything within one
// function body: statements, declarations, conditions. The bug that is on comes
// from the environment (see Env) when the program starts. The rewritten files
// reach the compiler by go build's -overlay; nothing in the tree is touched.
//
// # Rules
//
//	Z1  An edit's old text occurs exactly once in its file, within one function.
//	Z2  The overlay compiles; so every edit type-checks.
//	Z3  With no bug on, a run's trace hash is that of the plain engine.
//	Z4  A bug is caught only by a verdict of a check that it names, in a run
//	    without a panic. Broken invariants of the engine, other panics, hangs
//	    and exhausted memory are counted, but apart: they show that the engine
//	    looks after itself, not that a checker does.
//	Z5  The plan that caught a bug is green with the bug off. Otherwise it
//	    proves nothing, and the search goes on.
//
// # Not promised
//
//   - That a bug is found with every seed, or as fast in another version of the
//     engine: the score is an estimate with an interval.
//
// Reading route: bug.go, parse.go, rewrite.go, overlay.go, score.go.
package zoo
