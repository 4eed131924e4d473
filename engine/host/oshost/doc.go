// Package oshost is host.Machine on a real machine: one operating system
// process is one Machine, with a real clock, TCP and files.
//
// # Model
//
// One goroutine, the loop, runs all tasks and handlers of a process: it drains
// a list of events (completions, arrivals), fires timers, resumes ready tasks
// in order of arrival and sleeps on a one-slot channel. File calls run in a
// bounded set of worker goroutines, sockets in a reader and a writer goroutine
// each; they touch only what the loop handed to them and answer by an event.
//
// A deployment (Config) names its processes; an address is the index into the
// sorted names. Everything between two processes is one TCP protocol of
// checksummed frames. Datagrams travel over one TCP stream per sender and
// receiver, dialled at the first one: UDP cannot carry 64 KiB. They are lost
// when the receiver is down, when a stream breaks and when a queue is full.
//
// # Promises
//
//	O1  The rules of package host, as hosttest states them.
//	O2  A frame that is too long, damaged or unexpected breaks its connection
//	    with a logged reason. Memory is allocated as bytes arrive, never for a
//	    length that a peer claims.
//	O3  Queues are bounded in bytes. A full datagram queue drops, a connection
//	    whose peer does not take what is sent breaks, a receiver that does not
//	    take what arrives slows its peer down.
//	O4  The boot count is on disk before the boot function runs.
//	O5  Sync is fsync, SyncDir an fsync of the directory.
//	O6  Buffers of file calls are copied: what a task changes while a call
//	    waits changes nothing that is written.
//	O7  Several processes can run in one operating system process; Wait
//	    returns when no goroutine, socket or file of the process is left.
//
// # Not promised
//
//   - Time: Charge counts units of work and makes no debt.
//   - A kill of a task that computes for ever (in one operating system
//     process; SIGKILL works always).
//   - Authentication: the network must be one's own.
//   - Other systems than those with POSIX files.
//
// # Ends
//
// Run gives nil when the boot function returned and an *Ended otherwise, whose
// text is also in the file "exit" of the process's directory. Main turns it
// into an exit code: 0 returned, 1 did not start, 2 panic, 3 Machine.Exit,
// 4 stopped from outside.
//
// Reading route: config.go, process.go, loop.go, machine.go, disk.go, frame.go,
// conn.go, datagram.go.
package oshost
