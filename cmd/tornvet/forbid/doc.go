// Package forbid is the analyzer that keeps a run a function of its seed.
//
// # Model
//
// Code under engine/ and sim/ may ask the world only through engine/host. What
// reaches around it (the scheduler of the Go runtime, the clock, the random
// seed of a map) differs from run to run, so the same seed would give another
// trace. engine/host/oshost, which is the real machine, is exempt, and so are
// test files: what they do cannot reach a trace that anybody replays.
//
// # Rules
//
//	V1  No go statement, channel, send, receive or select: one loop decides
//	    who runs.
//	V2  No import of a package that blocks, asks the operating system or draws
//	    from entropy: sync, os, net, log, crypto/rand and the like.
//	V3  No clock or timer of package time, no deadline of package context.
//	V4  No global function of math/rand; a generator from a given seed is fine.
//	V5  Nothing of runtime, runtime/debug or weak that observes or waits for the
//	    collector, the cores or the stack; no linkname to get at them.
//	V6  No address becomes a number or text: unsafe.Pointer to uintptr,
//	    reflect's pointers, the verb %p in a constant format.
//	V7  No order of a map is seen. slices.Sorted(maps.Keys(m)) is the way, with
//	    SortedFunc where the key type needs a comparison; it must tell any two
//	    keys apart. maps.Values and maps.All are map order, and sorting values
//	    that compare equal does not undo it.
//	V8  No package-level variable that can change: it would outlive a crash of
//	    the machine that wrote it, and be shared by all of them. Error
//	    sentinels, blank assertions and tables that nothing writes are fine.
//	V9  No floating point under sim/: its results may differ between machines
//	    (the Go specification allows fused operations), and then so do events.
//	V10 recover and iter.Pull only in engine/host/coop: a recover elsewhere
//	    could swallow the panic that unwinds a killed task. That package may
//	    also call debug.Stack, to report whose panic it was.
//
// # Directives
//
// A comment on the line above (or at the end of the line) excuses a place. The
// reason is obligatory, and a directive that excuses nothing is reported.
//
//	//tornvet:ordered <reason>   V7, for the loop or call on the next line
//	//tornvet:float <reason>     V9, for the statement or declaration below
//	//tornvet:recover <reason>   V10's recover, likewise
//	//tornvet:observe <reason>   V5's functions, likewise
//
// # Not promised
//
//   - That a pointer printed with %v inside another value is found.
//   - That a slice of a package-level table, handed on, is not written to.
//   - That int is wide enough: a build for a 32-bit machine runs the tests of
//     that.
//   - Anything about what imported modules do inside.
//
// Read scope.go for where the rules hold, names.go for the lists, then check.go,
// use.go and globals.go.
package forbid
