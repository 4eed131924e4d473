// Package hosttest is the conformance suite of host.Machine: the rules of the
// seam as cases that run on every machine.
//
// # Model
//
// A Case has boot functions for one or more hosts and, where something must
// happen from outside (a kill, a second boot), a Drive function. A World runs
// the hosts: on the simulated machine, on real machines in one operating
// system process, or with one operating system process per host, which looks
// its boot function up by the names of case and host. All that comes out of a
// process is its log (Machine.Logf, which never switches) and how it ended.
//
// # Promises
//
//	T1  A case holds on every machine that keeps the rules of package host,
//	    whatever its speed, losses and order of ready tasks: datagrams are sent
//	    again until answered, and no case depends on how long something takes.
//	T2  A breach names the rule, the host, what was seen and what was wanted.
//
// # Not promised
//
//   - That each rule's every breach is found: a lucky order of tasks can hide
//     one, so run many seeds where there are seeds.
//   - Durability on real machines: a kill keeps the operating system's cache.
//     The cases that need a power-off run where the world can do it.
//
// A world's test does, for each case that Fits and perhaps for many seeds:
//
//	w := newWorld(c)
//	err := hosttest.Run(c, w)
//
// Reading route: world.go, suite.go, then a file of cases per subject.
package hosttest
