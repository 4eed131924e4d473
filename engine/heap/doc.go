// Package heap is the access method of a table: rows on 8 KiB pages, several
// versions a row, in PostgreSQL's layout. Pure functions on one page: latches,
// log and transaction status belong to the callers.
//
// # Model
//
// A row is a key (int8) and a value (varlena). All versions of a row live on
// its home page, key / RowsPerPage. An update adds a version and points the
// old one's Xmax and Ctid at it (heap-only tuples); a version is visible to a
// view that sees its Xmin and not its Xmax. Prune removes versions that no
// view can see any more and makes the first line pointer of a chain a
// redirect, as an index would need it.
//
// # Rules
//
//	E1  A row has at most one version that a view sees.
//	E2  A version is superseded by at most one transaction that does not abort:
//	    the row lock holder's.
//	E3  Prune removes a version only if its Xmin aborted, or its Xmax committed
//	    and every view, present and to come, sees that.
//	E4  Two versions of each row of RowsPerPage rows of the largest size fit on
//	    a page, whatever its history: the line pointer array is bounded
//	    (Geometry.Lines), and a writer that is short of room prunes first.
//
// # Departures from PostgreSQL
//
//   - The home page of a row is computed; there is no index, no free space map
//     and no update to another page.
//   - No hint bits: a status is looked up each time, in a small cache. A page
//     then changes only by logged records, and is the same after redo.
//   - A chain that is dead as a whole leaves an unused line pointer, not a
//     dead one, since no index can point at it (PostgreSQL 17 does so for
//     tables without indexes, in VACUUM).
//   - Readers do not prune: they hold the shared latch.
//
// Sources: PostgreSQL 15 heapam_visibility.c, pruneheap.c, postgres.h (varlena).
//
// Reading route: row.go, visible.go, change.go, prune.go.
package heap
