// Package tree holds the rules about the project's files as a whole.
//
// # Model
//
// Read takes a checkout once. Each rule is a function of what was read and
// gives one sentence per breach: the place, what is wrong, what to do. The tests
// of this package apply the rules to the checkout that they are part of.
//
// # Rules
//
//	T1  Imports follow the arrows: cmd > experiments > checkers, faults > sim >
//	    engine/host; engine > engine/host; checkers > model. The table with a
//	    reason for each is in arrows.go. A test file of the engine may import
//	    sim, to run the engine on it.
//	T2  A function has at most 60 lines, a file at most 400; tests and generated
//	    files are free. Exceptions stand in cmd/tornvet/sizes.txt with a
//	    reason, and fail once they are not needed.
//	T3  Every package has a package comment that starts with its name.
//	T4  The top level of the checkout has the entries that the design names and
//	    no other.
//	T5  No file names a path of one person's machine or a proxy; no Go file has
//	    a marker of unfinished work.
//	T6  Package forbid finds nothing under engine/ and sim/, and everything there
//	    type-checks: of what does not, nothing would be known.
//
// # Not promised
//
//   - Anything about files that .gitignore names, nor about .git.
//   - The whole syntax of .gitignore: ignore.go says which lines are understood.
//   - T1 to T3 below testdata folders, which the go command leaves out too.
package tree
