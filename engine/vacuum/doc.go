// Package vacuum reclaims what dead row versions of a table occupy, and says
// when it is due.
//
// # Model
//
// A Vacuum belongs to one table for one boot; Run does one vacuum of the table
// and its indexes. It is a task like any other: one block at a time is pinned
// and latched, with its page of the visibility map; each change is a
// mini-transaction of its own.
//
//	pass 1   each block of the heap: prune (chains that are dead as a whole leave
//	         a dead line pointer), note the dead line pointers, mark the page
//	         all-visible if it is, tell the free-space map
//	indexes  each index: remove the entries that lead to them
//	pass 2   each block with dead line pointers: make them unused, mark the page
//	         all-visible if it is, tell the free-space map
//	cut      the empty tail, under the table's exclusive lock
//
// If there are more dead line pointers than Config.DeadTIDs, indexes and pass 2
// run in between, in several rounds. What is dead is decided by the fate of
// transactions alone (heap.Gone: every snapshot, present and to come, sees the
// end); a vacuum takes no snapshot and has no XID.
//
// # Rules
//
//	V1  No line pointer becomes unused while an index entry may lead to it: all
//	    indexes have logged the removal before pass 2 logs anything. The log is
//	    a prefix (S2), so a crash leaves at most dead line pointers whose
//	    entries are gone. The next vacuum finds them again and gives them up.
//	V2  A dead line pointer is given up by vacuum only; pruning makes them.
//	V3  A page's flag AllVisible and its bit on the map are set by one record,
//	    and cleared by the record of the first change: at no point in the log
//	    does the bit stand without the flag.
//	V4  All-visible means that every snapshot sees every row of the page, and
//	    that it has no dead line pointer.
//	V5  A cut is decided by a second look at the tail, block by block from the
//	    end, under the exclusive lock of the table; the record is appended
//	    before frames are dropped, and before the lock is given up.
//	V6  One vacuum of a table at a time, and no index is created or dropped
//	    meanwhile: the caller holds what keeps others away (PostgreSQL's
//	    ShareUpdateExclusiveLock). Reading and writing go on.
//	V7  The first vacuum of a boot looks at every block, all-visible or not,
//	    since only it can tell the free-space map of them. Later ones skip runs
//	    of all-visible blocks, but never the last block.
//	V8  An error ends the vacuum; everything done so far is whole and stays.
//	    engine.ErrFull, a lock that is not to be had, and a corrupt page end no
//	    boot.
//
// # What a crash leaves
//
//	in pass 1      pruned pages, dead line pointers with their entries
//	in an index    some entries gone; others lead to dead line pointers: nothing
//	               is found there
//	in pass 2      dead line pointers without entries
//	in the cut     the cut, if its record survived, or an empty tail
//
// The next vacuum needs to know nothing of it.
//
// # Replicas
//
// PRUNE and VISIBLE records carry the newest XID that they rest on, as in
// PostgreSQL, where a replica cancels queries whose snapshot is older. Here a
// follower reads pages as of an LSN, from a storage that keeps the versions
// which followers hold (engine.Follower.Hold): its queries see the page as it
// was before the prune, and there is no conflict to resolve. A follower that
// reads the present version only must compare that XID with its snapshots.
//
// # Autovacuum
//
// Policy.Due is PostgreSQL's rule over Counters, which the caller keeps. It is
// pure; the task that asks and runs belongs to compute. As counters do not
// survive a boot, a table that is only read after it gets no vacuum, and the
// free-space map of one that is only deleted from a little fills with its next.
//
// # Not promised
//
//   - Freezing: XIDs do not wrap around (txn.ErrNoXIDs refuses before that), so
//     no row needs it, and the map's all-frozen bit is never set.
//   - That Stats.Live counts blocks which were skipped.
//   - A bound on the time between two rests inside one index.
//   - Shrinking of indexes' files.
//
// # Departures from PostgreSQL
//
//   - The exclusive latch suffices where PostgreSQL waits for a cleanup lock
//     (exclusive, and no other pin): here rows are copied under the latch, and
//     nobody keeps pointers into a page that is only pinned.
//   - A TID that was read from an index may be given up and used again before
//     its row is looked at. To a snapshot the new row is invisible; whoever
//     judges without one (uniqueness) compares the row's key.
//   - An empty page is not marked all-visible, so that a cut leaves no bit behind
//     on the map (wal rule W8). Vacuum looks at such pages each time.
//   - Pages are pruned, given up and marked under one hold of the latch each,
//     where PostgreSQL keeps the lock from one to the next: Admit has to come
//     before each record.
//   - No parallel workers, no failsafe, no statistics for a planner. The dead
//     line pointers are a list of 8 bytes each; PostgreSQL's has 6.
//
// Sources: PostgreSQL 15 vacuumlazy.c, vacuum.c (vacuum_delay_point),
// autovacuum.c (relation_needs_vacanalyze), pgstat_relation.c.
//
// Reading route: vacuum.go, scan.go, visit.go, sight.go, cut.go, dead.go,
// config.go, policy.go.
package vacuum
