// Package sim is the simulated world: processes on machines in zones, with a
// clock, a network and disks that belong to a seed.
//
// # Model
//
// The world is one loop over a queue of events in time order. Events of the
// same time form the ready set, from which the next is drawn. Processes run the
// same boot functions as on a real machine, on the task core of
// engine/host/coop; what needs no stack (deliveries, completions, time-outs) is
// a callback of the loop.
//
// # Promises
//
//	W1  The same Config and the same calls give the same events: the same
//	    Hash on any GOMAXPROCS, GOGC, GOARCH, with and without the race
//	    detector.
//	W2  Every event goes through the hash, with its payload.
//	W3  Time moves only between events. Work takes time only where it is
//	    charged, and waits for a core of its machine.
//	W4  No float decides anything.
//	W5  Draws are keyed: the network's by sender and receiver, a disk's by
//	    sector and version, a process's by site; adding one moves no other.
//	W6  A process that is dead changes nothing more. What it had sent still
//	    arrives; what it was writing stays at risk.
//	W7  A panic in a task ends the run with the task, process, virtual time,
//	    event number and the task's own stack.
//
// # Not promised
//
//   - That a Hash stays the same from one version of the project to the next.
//   - TCP's arithmetic: a connection keeps order, repeats what a link loses
//     after a fixed time, and gives up after another.
//   - Memory pressure, CPU caches, or any cost that nobody charges.
//   - A way back: to look at an earlier moment, run again up to it.
//
// Reading route: config.go, world.go, loop.go, process.go (host.Machine),
// crash.go, cores.go, net.go, conn.go, disk.go, faults.go.
package sim
