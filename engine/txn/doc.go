// Package txn holds what transactions share: XIDs, snapshots, subtransactions,
// locks with deadlock detection, the status of ended transactions, and the
// commit queue.
//
// # Model
//
// A transaction (Xact) takes an XID at its first write, and so does each
// savepoint in it: the XID of a subtransaction. It ends by one commit or abort
// record that names its XID and those of its subtransactions that were not
// rolled back. Its end is published (the XIDs leave the running set) by the
// commit queue, in the order of commit LSNs and only once durable; an abort is
// published at once, since a crash would make it one too.
//
// A snapshot is the published state at one moment, which is an LSN: it sees
// the XIDs whose commit is at or below it. Snapshots are therefore prefixes of
// the commit order, and any two of them are ordered. When each XID ended is
// kept in memory (window) as long as some snapshot may not see it; of older
// ones the status pages tell all there is to tell.
//
// Row versions, tables and keys are locked in one lock table, in memory. Who
// may not have a lock at once queues up. There is a graph of who waits for
// whom: for holders, for those before him in a queue, and for the end of an
// XID. It is searched each time somebody begins to wait.
//
// # Rules
//
//	T1  An XID is used only when a logged horizon above it is in the log before
//	    any record of that XID. The log is a prefix (S2), so the horizon
//	    survives wherever such a record does; it need not be durable first.
//	T2  A commit is published only once its LSN is durable.
//	T3  Commits are published in LSN order. Their records are appended under
//	    the queue's latch, because Append may switch after it has taken an LSN.
//	T4  What has left the running set has its final status: no commit in the
//	    status pages means aborted (S7).
//	T5  A lock is held until the transaction is published, or the savepoint is
//	    rolled back after which it was taken, so that a row never has two
//	    versions whose end is open.
//	T6  Nobody holds a lock against a conflicting hold of another's, an owner
//	    waits for one thing at a time, and the wait-for graph has no cycle: a
//	    wait that would close one is refused (ErrDeadlock). Every edge that a
//	    new wait adds begins or ends at its owner, so one search finds every
//	    new cycle; grants and releases add no edge to somebody who waits.
//	T7  A transaction's XID and its live subtransactions' are published
//	    together, at the LSN of the one commit record. A subtransaction that is
//	    rolled back ends as aborted at once.
//	T8  A transaction searches only within a statement, which has a snapshot;
//	    besides that it sees what its own live XIDs did.
//	T9  A transaction is not used after its end. One whose outcome is unknown
//	    (S6) is abandoned: its XIDs run and its locks are held until the
//	    process ends.
//	T10 An XID is larger than that of what it is inside of. The XIDs of one
//	    transaction lie on at most 4 status pages, since its commit changes
//	    them all in one record.
//
// # Isolation
//
//   - Read committed: each statement sees what was published when it began,
//     and its transaction's own changes. A statement that finds its row
//     changed by another waits for that one's lock; if it committed, the
//     statement is executed anew on a new snapshot. Two statements of one
//     transaction may see different states.
//   - Repeatable read: the first statement's snapshot serves the whole
//     transaction (snapshot isolation). To change a row whose newest version it
//     does not see is a conflict, which the caller must refuse. Write skew is
//     possible, as in PostgreSQL.
//   - Serializable is refused with ErrNotSupported: it is never given as
//     something weaker.
//   - Nobody ever reads what is not published, so the SQL standard's read
//     uncommitted has no level of its own.
//
// # Not promised
//
//   - Wrap-around of XIDs: after 2^32-2^20 of them Begin refuses, for ever.
//     The log of the process warns 40 million earlier.
//   - Two-phase commit, serializable isolation.
//   - Which transaction of a cycle is refused, other than that it is the one
//     that would close it.
//   - That a request for a table lock is never passed: see Acquire.
//   - That memory is bounded by what runs now: the end of each XID is kept for
//     as long as some snapshot is older, at 16 bytes an XID (see Horizon).
//
// # Departures from PostgreSQL
//
//   - PostgreSQL publishes a commit when its own backend wakes from the flush,
//     so that visibility on a primary and on replicas may differ in order.
//   - A snapshot is an LSN, not a list of running XIDs: nothing is copied when
//     one is taken or a commit published, and subtransactions cost a snapshot
//     nothing (PostgreSQL caches 64 a backend and then asks pg_subtrans).
//   - The horizon of garbage is not the oldest XID but the oldest snapshot:
//     since snapshots are ordered, what the oldest sees committed all see.
//   - Row locks are in the lock table, one entry a row version, and die with
//     the process. PostgreSQL keeps them in tuple headers, since its shared
//     memory is fixed; here LocksPerOwner bounds them instead.
//   - Deadlocks are looked for at once and not after deadlock_timeout: a run
//     has no timer that could hide a lost wake-up, and the victim does not
//     depend on speed. A queue is never reordered to avoid one, as PostgreSQL
//     does for "soft" edges.
//   - The number of live subtransactions and their spread are bounded (Config,
//     T10), for there is one commit record and it changes whole pages.
//
// Sources: PostgreSQL 15 lock.c, proc.c, deadlock.c (modes, queue, graph),
// xact.c, snapmgr.c, varsup.c, and chapter 13 of its documentation.
//
// Reading route: manager.go, window.go, snapshot.go, memo.go, xact.go,
// savepoint.go, queue.go, lockid.go, owner.go, locktable.go, lockwait.go,
// deadlock.go, status.go; locks.go serves the thin table alone.
package txn
