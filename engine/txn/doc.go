// Package txn holds what transactions share: XIDs, snapshots, row locks, the
// status of ended transactions, and the commit queue.
//
// # Model
//
// A transaction begins with an XID from the running set and ends by a commit
// or abort record. Its end is published (it leaves the running set) by the
// commit queue, in the order of commit LSNs and only once durable; an abort is
// published at once, since a crash would make it one too. A snapshot is the
// published state at one moment: an LSN, the next XID and the running ones.
// Snapshots are therefore prefixes of the commit order, and any two of them
// are ordered.
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
//	T5  A row lock is held until its transaction is published, so that a row
//	    never has two versions whose end is open.
//	T6  Locks of several rows are taken in key order: no cycle can arise, and
//	    no deadlock detector is needed.
//
// # Not promised
//
//   - Wrap-around of XIDs: after 2^32-2^20 of them Begin refuses.
//   - Subtransactions, two-phase commit, serializable isolation.
//
// # Departures from PostgreSQL
//
//   - PostgreSQL publishes a commit when its own backend wakes from the flush,
//     so that visibility on a primary and on replicas may differ in order.
//   - The horizon of garbage is not the oldest XID but the oldest snapshot:
//     since snapshots are ordered, what the oldest sees committed all see.
//
// Reading route: manager.go, snapshot.go, queue.go, locks.go, status.go.
package txn
