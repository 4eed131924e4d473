// Package coop is the task core that the simulated and the real machine share.
//
// # Model
//
// A Loop owns coroutines and runs at most one of them at a time, on the
// goroutine that calls Resume. A Task is blocking code on such a coroutine. A
// Group is the set of tasks of one process: they die together. A Cond is the
// only thing tasks wait for; time, I/O and messages are built on it or on Park
// by a Driver, which owns the clock and decides who runs next.
//
// # Promises
//
//	C1  A task runs until it parks. Between two parks no other task and no
//	    handler of its group runs.
//	C2  Wake, Signal, Broadcast and Go never switch. They take effect at the
//	    driver's now plus the CPU debt of the caller. A task that returns with
//	    debt pays it before it ends.
//	C3  A wake-up carries the generation of the park it is for; one that comes
//	    after another has already ended that park does nothing.
//	C4  Cond.Wait may return without a signal. With CPU debt it pays the debt
//	    and returns at once: paying first and then queueing would lose the
//	    signal that came in between.
//	C5  After Kill every task of the group unwinds: the call in which it is
//	    parked panics with a private value, deferred functions run, and each
//	    further call into the core panics again. Nothing a deferred function
//	    does reaches the world, since every door of a Machine calls
//	    Group.Alive first.
//	C6  A panic in a task does not unwind the loop. It is reported with the
//	    task's own stack; a panic of a dead group is dropped.
//	C7  Ended coroutines are pooled with their stacks. Close ends them all, or
//	    hands them to the Pool of a later loop.
//
// # Not promised
//
//   - Fairness, or any order between tasks that are ready at the same time:
//     that is the driver's choice.
//   - Protection from code that blocks for real or never parks. A driver can
//     count resumes, but nothing interrupts a loop without a call.
//   - That runtime.LockOSThread works in a task: the runtime stops the
//     program. Never create a Loop on a locked goroutine.
//
// # Why coroutines by iter.Pull
//
// A switch costs some 35 ns each way against 120 to 250 ns for goroutines
// handing over on channels, needs no fork of the runtime and no linkname, and
// works under the race detector. The detector never reports a race between two
// tasks, because iter.Pull orders them; tasks of one loop cannot race.
//
// Reading route: task.go (life of a task), park.go (parking, debt), cond.go,
// kill.go.
package coop
