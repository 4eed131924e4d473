// Package heap is the access method of a table: rows on 8 KiB pages, several
// versions a row, in PostgreSQL's layout.
//
// # Model
//
// A version of a row is a tuple: who made it (Xmin), who ended it (Xmax), where
// the newer one is (Ctid), data. A TID, block and line pointer, names it. A
// Heap is a handle on the heap of one relation over a pager; its operations
// block, hold pins and latches for one mini-transaction at a time and none when
// they return.
//
//	Insert        a row, on a page that is found in PostgreSQL's order
//	Fetch         the version that a snapshot sees, in the HOT chain that begins
//	              at the line pointer to which an index leads
//	Scan          all versions that a snapshot sees
//	Update        a newer version: on the same page, heap-only if no indexed
//	              column changes, otherwise on another page
//	Delete, Lock  the end of a version, or the mark of a row lock on it
//	Latest        the newest version of a row, over pages
//	Alive         whether a row lives or may come to live, without a snapshot
//	Check         the rules below, on a table at rest
//
// Reading prunes: whoever meets a page that is short of room and says that
// something can go removes the versions that no snapshot needs (Plan). An
// update does not prune; the read before it has.
//
// The statuses of transactions are asked of the caller (Xact), who may not have
// them at hand: the operation then gives up its page, has them looked up, and
// starts over.
//
// The first table of this engine, whose rows have a home page by key, uses
// pure functions on one page: Geometry, Find, Change, and Plan as well.
//
// # Rules
//
//	E1  A row has at most one version that a view sees.
//	E2  A version is superseded by at most one transaction that does not abort:
//	    the row lock holder's, which holds it until its end is published. So
//	    whoever has the row lock meets no Xmax of another that runs.
//	E3  Prune removes a version only if its Xmin aborted, or its Xmax committed
//	    and every view, present and to come, sees that.
//	E4  (Geometry) Two versions of each row of RowsPerPage rows of the largest
//	    size fit on a page, whatever its history: the line pointer array is
//	    bounded, and a writer that is short of room prunes first.
//	E5  A tuple goes only to a page that has room for it and, within the bound
//	    of Config, for its line pointer.
//	E6  A change latches heap pages by block, then map pages (pager rule P4):
//	    two of each at most, reserved together and pinned before any latch.
//	E7  The visibility map's bit of a block implies the page's flag AllVisible,
//	    and that implies that every snapshot sees every tuple. The record of
//	    the first change clears both; LOCK hides nothing and clears none.
//	E8  A heap-only version whose maker did not abort is in exactly one HOT
//	    chain, and a version superseded for good by a heap-only one leads to it:
//	    same page, its Xmin the Xmax before. A line pointer that was used again
//	    does not have it, and so ends the chain.
//	E9  A line pointer to which an index may lead becomes a redirect or dead,
//	    never unused, but by vacuum.
//
// # Promises
//
//   - engine.ErrFull refuses the operation at hand; what it may leave is a lock
//     mark that means nothing. Readers then do without pruning.
//   - A page that is damaged gives *Corrupt with its place, and no panic.
//   - No allocation, once warm, save for what Check reports.
//   - At most four pins at a time.
//
// # Not promised
//
//   - Row locks: txn has them. Lock writes a mark on the page.
//   - Uniqueness: Alive tells what is needed for it.
//   - That a TID read from an index still leads to the row: to a snapshot the
//     other row is invisible, and Alive's caller compares the key.
//   - That Update or Latest knows a version that x's snapshot does not see: it
//     may have been pruned (Invisible, not found).
//   - Multixacts, freezing (a frozen tuple is read as such), TOAST, speculative
//     insertion, command ids: a statement reads its rows before it changes any.
//
// # Departures from PostgreSQL
//
//   - No hint bits: a status is looked up each time, in a small cache. A page
//     then changes only by logged records, and is the same after redo, but for
//     the hints PruneXID, PageFull and HasFreeLines.
//   - A relation grows by one block at a time; PostgreSQL adds several when
//     backends wait for that. Sessions that share a handle share the block that
//     one of them has added.
//   - The exclusive latch suffices to prune: rows are copied under the latch, and
//     nobody keeps pointers into a page that is only pinned. A pruning is
//     decided anew under that latch, after Admit.
//   - An update is taken not to change a key (FOR NO KEY UPDATE): there are no
//     foreign keys that would lock it.
//   - All versions of an aborted update are removed by pruning, also those with
//     successors; PostgreSQL finds them by a hint bit.
//   - The thin table: the home page of a row is computed, a chain that is dead as a
//     whole leaves an unused line pointer, and readers do not prune.
//
// Sources: PostgreSQL 15 heapam.c, heapam_visibility.c, pruneheap.c, hio.c,
// README.HOT, postgres.h (varlena).
//
// Reading route: heap.go, hold.go, place.go, judge.go, update.go, delete.go,
// chain.go, visible.go, fetch.go, scan.go, access.go, prune.go, check.go; row.go,
// change.go (thin table).
package heap
