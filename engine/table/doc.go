// Package table is rows in a heap with their indexes: insert, point reads,
// updates, deletes and range scans of one table, for transactions.
//
// # Model
//
// A table is a heap and any number of B-trees over it. An index entry leads to
// the root of a HOT chain; an update that changes no indexed column adds a
// version to the chain and no entry. Each statement reads what its
// transaction's snapshot shows, and locks a row's version before it changes it.
//
// # Rules
//
//	R1  Whoever changes or locks a row holds its row lock, which is that of the
//	    root of its HOT chain, until the end of the transaction is published. So
//	    a version has one successor, and what is read under the lock stays so.
//	    Locks of versions would not do: a version's place is used again.
//	R2  A statement that finds its version superseded by a committed transaction
//	    starts over with a new snapshot at read committed, and fails with
//	    ErrConflict at repeatable read (first updater wins).
//	R3  Equal keys of a unique index are judged and added under the key's lock,
//	    so that no two inserts of one key overlap. A key that an unfinished
//	    transaction holds, or gives up, is waited for without that lock.
//	R4  An entry is added after its heap tuple, and removed (by vacuum) before
//	    the tuple's line pointer is given up. A crash leaves tuples without
//	    entries or entries to dead tuples, never of a transaction that commits.
//	R5  Every live row is found by each index exactly once, in the order of the
//	    index (Check).
//	R6  A snapshot older than an index's commit does not use the index: rows
//	    that it sees may have no entry.
//
// # Not promised
//
//   - Predicate locks: at repeatable read two transactions can each read what
//     the other changes (write skew). Serializable is refused.
//   - Foreign keys, checks, defaults, triggers, TOAST: a row fits on a page.
//
// # Departures from PostgreSQL
//
//   - Uniqueness is checked before the heap insert, under a lock of the key's
//     hash; PostgreSQL inserts first and checks under the leaf's latch, reading
//     heap pages under it.
//   - Read committed starts a statement over with a new snapshot; PostgreSQL
//     re-evaluates the one row (EvalPlanQual), and so mixes two snapshots.
//   - Statements address rows by a key of an index, one at a time, or scan.
//
// Reading route: table.go, read.go, write.go, unique.go, build.go, check.go.
package table
