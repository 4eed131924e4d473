// Package buffer is the buffer pool: the pages that compute works on, in fewer
// frames than there are pages.
//
// # Model
//
// A frame holds one page, a pin count, a content latch and a dirty flag. Pin
// finds a page or reads it into a frame that the clock sweep takes from
// another page; a pinned frame keeps its page. Content is read under the
// shared latch and changed under the exclusive one. A page that storage has
// never heard of is a page of zeros until somebody initialises it.
//
// The pool knows storage by four methods (Store), because recovery uses a
// pool for redo before the rest of a storage is open.
//
// # Rules
//
//	B1  A page is in at most one frame, and read by one task at a time.
//	B2  A frame with pins keeps its page; nobody unpins what nobody pinned.
//	B3  A page is marked dirty under its exclusive latch and before Append: a
//	    checkpoint that sets its redo point between the two must find it.
//	B4  A page goes to Evict only once the log is durable up to its LSN (S4).
//	B5  One write of a page at a time, and a page that is being written still
//	    counts as dirty: an older copy must not land on a newer one, and a
//	    checkpoint must not pass a write that has not ended.
//	B6  Storage gives no older version than the one that was dropped here
//	    (S5). Where the pool remembers that version it refuses the older one
//	    with ErrStale: a lost write is the disk's fault, not the engine's.
//	B7  A task that holds a pin asks for no frame, unless it has reserved all
//	    its pins before the first one (Reserve). Otherwise tasks that hold a
//	    frame each could wait for each other in a small pool.
//	B8  After Fail nothing is given out and nothing is written: a frame may
//	    hold a change whose record never reached the log.
//	B9  Blocks that were cut off their relation are dropped (Drop) with all that
//	    is remembered of them, after the record that cuts them is in the log:
//	    what is made there later begins anew. A page that is pinned as new
//	    (PinNew) is zeros only if nobody can have made it meanwhile.
//	B10 A page that the full disk has no room for (engine.ErrFull from Evict)
//	    stays dirty, and the pool goes on: clean victims come first, and a pin
//	    is refused only if no frame that could be freed can be written.
//	B11 What nobody waits for (RunWriter, Prefetch) takes nothing that somebody
//	    needs: it waits for no frame, and Prefetch writes no page.
//
// # Not promised
//
//   - That a page that nobody changed is still in the pool.
//   - Verification of what storage reads: that is storage's own duty.
//   - Which page is evicted, other than that it is unpinned and that the
//     choice is a function of the calls before.
//   - That a page which Prefetch was asked for is read.
//   - That reading goes on while the log, too, has no space left: a dirty page
//     whose record is not durable cannot be written, and where only such pages
//     are left, whoever needs a frame waits for the log.
//
// # Departures from PostgreSQL
//
//   - A dirty page is copied under the shared latch and written from the copy,
//     so that a writer does not wait for a disk; PostgreSQL keeps the latch
//     for the write. It costs a copy of 8 KiB.
//   - The LSNs of dropped pages are remembered (Neon's last-written LSN
//     cache), for storages that may be behind.
//   - The background writer looks at every frame up to the end of its span, and
//     does not sleep longer where nothing happens.
//
// Sources: PostgreSQL 15 storage/buffer/bufmgr.c (BufferAlloc, BgBufferSync,
// DropRelationBuffers), freelist.c (clock sweep).
//
// Reading route: pool.go, sweep.go, write.go, lsns.go; drop.go, full.go,
// clean.go, prefetch.go.
package buffer
