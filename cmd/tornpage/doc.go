// Command tornpage runs scenarios of the storage engine in simulated worlds,
// hunts for seeds that break a check, and replays and explains them.
//
//	tornpage demo                          why full-page writes exist, in ten seconds
//	tornpage list                          scenarios, their settings, kinds of fault
//	tornpage run SCENARIO --seed 7         one seed
//	tornpage run SCENARIO --seeds 1000     a hunt, on all cores
//	tornpage replay FILE                   a saved plan again
//	tornpage plan check|print FILE         a plan's text
//	tornpage determinism SCENARIO          the same hash whatever the build
//
// # Conventions
//
//	K1  Data goes to standard output; progress, warnings, log lines and the
//	    hint at the next useful command go to standard error.
//	K2  Exit codes: 0 clean, 1 a check is broken, 2 not known (a check is
//	    undecided, a large set of runs missed what it must reach, something
//	    could not be run or written), 3 two runs that must be equal differ, 64
//	    wrong usage or an unreadable plan.
//	K3  What goes to standard output depends on the arguments alone, but for
//	    wall time and what is computed from it.
//	K4  Colour and progress are for terminals; NO_COLOR and --no-color end colour.
//	K5  Every error says what to do next.
//
// Reading route: main.go (exit codes), root.go, run.go, hunt.go, replay.go,
// plan.go, list.go with keys.go, determinism.go with variants.go.
package main
