// Package experiments asks questions of the engine: scenarios run a plan and
// hold the run against the checkers, and experiments compare runs.
//
// # Model
//
// A scenario is a name such as local/register, the settings that its plans may
// have, and a topology: machines, processes and their boot functions. Run takes
// a plan (or Seed draws one), runs it in a simulated world, and gives a Result:
// verdicts, statistics, the history and the trace hash. The same boot functions
// run on real machines, one OS process each; see Deploy.
//
// # Promises
//
//	X1  A Result depends on the plan alone.
//	X2  Within the scenario's budget a Result is green, or the engine has a bug.
//	X3  Beyond it, whatever was lost is reported by some verdict or by a process
//	    that refused to go on; nothing that was acknowledged vanishes unseen.
//	X4  Every run ends with power-off and recovery, and a read of every key, or
//	    of every row, with a check of every table and index.
//
// # Not promised
//
//   - That simulated time says anything about a real machine's, unless an
//     experiment says how it was calibrated.
//
// Reading route: scenario.go, settings.go, client.go and register.go (the first
// workload), topology.go, recorder.go, observe.go, run.go; tables.go, book.go,
// ledger.go, bank.go, tpcb.go and mixed.go (loads on tables); load.go.
package experiments
