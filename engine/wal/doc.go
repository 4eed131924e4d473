// Package wal is the write-ahead log's codec in PostgreSQL 15's shape and
// sizes: records, mini-transactions, full-page images, redo, the stream of log
// pages and segments, the control file. Pure code: no I/O, no tasks.
//
// # Model
//
// A record describes one atomic change of up to MaxBlocks pages. It has a
// header of 24 bytes, block references (with an image of the page, or data, or
// neither), and main data. Its LSN is its first byte; its End, a multiple of
// 8, is where the next one follows and what the LSN of its pages becomes.
// Records lie in log pages of 8 KiB with headers of 24 bytes (40 for the first
// of a segment) and may cross pages and segments.
//
// # Rules
//
//	W1  A record's CRC is computed from the CRC of the record before it. A
//	    departure from PostgreSQL: there a stale record behind the end of the
//	    log can fit again if its predecessor was rewritten with equal length.
//	W2  The log ends at the first place where no record fits. Reader says why.
//	W3  Images and WillInit blocks are applied unconditionally, deltas only if
//	    the page's LSN is below the record's End; on pages of parts (status,
//	    visibility map) they are applied unconditionally (page rule P3), and
//	    images of these there are none.
//	W4  NeedsImage alone decides images. MTR.Stale repeats the decision for
//	    the floor that holds when the record is inserted.
//	W5  An MTR is used in its order: Reset, SetMain, Touch, AddData, Build,
//	    Stale, Len, Finish, Stamp.
//	W6  A heap record is built from tuples that are on the page.
//	W7  Record.Pages is the whole truth about what a record changes on pages: a
//	    commit changes status pages that no block reference names, a heap record
//	    with AllVisibleCleared a page of the visibility map. The MTR touches the
//	    same pages, those as Implied. Only TRUNCATE does something else.
//	W8  TRUNCATE cuts the main fork and leaves the visibility map as it is. The
//	    bits of the blocks that it cuts are clear already: a bit never stands
//	    without its page's flag, an empty page never has the flag (HeapVisible
//	    refuses it), and only empty pages are cut. So a block that is made again
//	    later starts with clear bits.
//
// # Promises
//
//   - Bytes from outside never panic and never allocate more than MaxRecord:
//     Decode, Reader, Apply and DecodeControl are fuzzed.
//   - A record has the length that PostgreSQL 15 gives it, to the byte; testdata
//     holds a real server's lengths and a piece of its log.
//   - Once warm: no allocation for Build, Finish, Decode, Next, Apply.
//
// # Not promised
//
//   - Telling a crash's end of log from a damaged middle: both end it. Whoever
//     knows how far the log was durable compares.
//   - Compressed images, commits with more than subtransactions (relations to
//     remove, invalidation messages): not written; reading them gives an error.
//   - Multixacts, timelines other than 1, forks other than main and visibility
//     map.
//
// # Other departures from PostgreSQL
//
//   - XLOG info 0xC0, NEXTXID: PostgreSQL derives the XID horizon from records
//     and checkpoints, which a storage that opens without reading cannot.
//   - The visibility map: its pages are torn-safe by themselves, so VISIBLE never
//     has their image (64+8192 bytes there where it does); the heap page's image
//     follows the floor, as with PostgreSQL's data checksums. A new map page is
//     a WillInit block. The records that clear a bit imply the map page, where
//     PostgreSQL's redo goes there by itself.
//   - A page without rows is never marked all-visible (W8): a vacuum looks at it
//     again. TRUNCATE says that it cuts the heap (flag 1), not the map (2).
//   - The control file: two slots of one sector instead of one.
//
// Sources: PostgreSQL 15 access/xlogrecord.h, xlog_internal.h, heapam_xlog.h,
// xact.h, catalog/storage_xlog.h, catalog/pg_control.h (layouts and constants).
//
// Reading route: record.go, mtr.go, decode.go, heaprec.go, redo.go, implied.go,
// vacuumrec.go, storagerec.go, layout.go, reader.go, control.go.
package wal
