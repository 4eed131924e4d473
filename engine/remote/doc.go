// Package remote is a storage of one log machine and one page machine, with a
// follower: the smallest system in which the log is the database. It is the
// seam's second proof and the simplest thing to teach with, and naive on
// purpose: no replication, no segments, everything in memory.
//
// # Model
//
//	writer ── records ──> log host ── durable records ──> page host, follower
//	   ^<──── durable ───────┘                                │
//	   └───────────── page as of an LSN <─────────────────────┘
//
// The writer numbers records by their bytes and sends them; it never writes a
// page. The log host appends, syncs, and acknowledges; what is durable it
// streams to whoever reads. The page host keeps for each page a base and the
// records since, and makes any version from the floor on by redo. The follower
// serves views: everything that was committed at or before one durable LSN.
//
// # Tolerates
//
// kill and power-off of any of its machines and cuts of any link, at any time
// and together. While the log host is gone nothing commits; while the page
// host is gone pages that are not cached cannot be read. The loss of the log
// host's disk is the loss of everything.
//
// # Rules
//
//	R1  LSNs are the log's byte positions, and the log is nothing but records:
//	    PostgreSQL's record header with a chained CRC is all the framing.
//	R2  The log host makes a new writer's epoch durable, and refuses every
//	    older one, before it answers.
//	R3  It answers with the end of the log only after all that it had received
//	    is durable: no record of an older writer can appear afterwards.
//	R4  What is not durable leaves the log host for nobody.
//	R5  A writer keeps what is not acknowledged, and after a break of its
//	    connection sends it again, in the same epoch, from where the log host
//	    ends. If that is below what was acknowledged, it stops.
//	R6  The page host answers with the version as of the LSN asked for, which
//	    it has reached, or refuses. It gives up only what lies below every
//	    hold and below the history.
//	    A relation that was cut lacks the pages behind the cut from the end of
//	    that record on, until one is made again; older versions of them stay as
//	    long as any. The writer that cut knows so before the page host does.
//	R7  A view is at a durable LSN between mini-transactions and only moves
//	    forward. All keys of one request are read in one view.
//
// # Not promised
//
//   - A bound on memory: log host and page host keep the whole log, the
//     follower every status that it has looked up.
//   - A fast boot: the log host and the page host read the log from its start.
//   - That a takeover that arrives late, from a boot that has died since, does
//     no harm: it fences the present writer, which then has to boot again.
//     Nothing is lost by that.
//   - That a damaged middle of the log is told from its end: what lies behind
//     is cut off. A writer that was acknowledged more stops (R5).
//   - A view that outlives a reboot of the page host, if its hold comes too
//     late: ErrOld.
//
// # Messages
//
// One codec for all of them (message.go): magic, version, kind, CRC-32C, then
// fields. Whatever does not decode, or does not belong, breaks the connection,
// and both sides begin again from what they know.
//
// Rejected: keeping the page host's state on its disk (it can always be made
// again); images in the log (Floor is 0: pages are made by redo and never
// overwritten, nothing can tear); a follower that keeps pages (each read asks
// for exactly the view's version, so that it needs no conflict handling).
//
// Reading route: message.go, chain.go; log.go, logconn.go; writer.go,
// logclient.go; stream.go, versions.go, pages.go, pageclient.go; follower.go,
// replica.go.
package remote
