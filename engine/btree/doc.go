// Package btree is the index: a B-link tree (Lehman and Yao, 1981) in the shape
// of PostgreSQL 15's nbtree, on package pager.
//
// # Model
//
// A tree is a set of (key, row) entries in that order; the row's TID is the tie
// breaker. Entries are index tuples in PostgreSQL's layout: the tree sees bytes
// and a comparator. Block 0 is the metapage, which leads to the root. All pages
// of a level are linked to their siblings on both sides. A page's range ends at
// its high key, the first item of all but the rightmost page of a level. An
// internal page holds downlinks, each with a key that every entry below it is
// above; the first has none (minus infinity).
//
// A search reads a page, lets go of it, and reads the child. If that was split
// meanwhile, the key is above the high key, and the search goes right. A split
// is two records: the page is divided, and says so by a flag; then the parent
// gets the downlink, and the flag goes. A deletion is two records or more: the
// parent's downlink goes and the leaf says that it is half-dead; then the page
// is unlinked from its siblings, after any parents that led to nothing else.
// Between the two the tree works. Whoever meets a half-done step on the way to
// a change completes it (splits), or vacuum does (both).
//
// Changes are decided on what was seen without latches. Then all pages of the
// change are pinned, latched, and compared with what was seen by their LSNs;
// if one differs, the operation starts over.
//
// # Promises
//
//   - After a crash between any two records every entry whose record is in the
//     log is found, and none that was removed; the next operations complete
//     what was under way.
//   - A scan gives each entry that was there all the time once and in order,
//     whatever splits and deletions happen meanwhile. It holds no page between
//     two entries, and an open cursor holds nothing back.
//   - An insert that is refused with engine.ErrFull has not put its entry in.
//   - Damaged pages give errors that name the page, its LSN and what to do.
//     Check reports them, and what does not fit together, and never panics.
//   - At most 4 pages are pinned at once, by a split that completes a child's
//     and by the unlinking of an internal page. Warm, lookups, scans and inserts
//     without a split do not allocate.
//
// # Not promised
//
//   - Uniqueness: callers look up equal keys and judge their rows first, and
//     keep others from doing so meanwhile.
//   - That a row found is still there: rows are removed from the index before
//     their line pointers are used again, and a scan may have read before.
//   - That the tree gets lower when it gets smaller.
//   - That an empty leaf goes: the last of several children of its parent, and
//     the rightmost leaf, stay until entries come.
//
// # Rules
//
//	X1  One Tree of an index in a process, and one vacuum of it at a time.
//	X2  A search latches one page at a time, and pins it before.
//	X3  Who is to change something goes right over a page with an unfinished
//	    split only after completing it: no page is split, and none deleted,
//	    before its own downlink is there. Readers pass.
//	X4  Several pages are latched from the lower level to the higher one, and
//	    on a level from left to right, the metapage last; all are pinned before
//	    the first latch, and reserved before the first pin.
//	X5  What was seen without latches counts only if the page's LSN is the same.
//	X6  A deleted page keeps its right link, and is made anew only when every
//	    operation of this boot that began before its unlinking has ended. A
//	    crash ends all operations. Links that a cursor keeps between two leaves
//	    count only if no page was unlinked since.
//	X7  On a level, a page's high key equals the key of the next page's
//	    downlink, but for unfinished splits, and pages being deleted have none:
//	    see Check.
//
// # Departures from PostgreSQL
//
//   - Posting lists (deduplication) are not written nor replayed, and leaf
//     entries are not removed outside of vacuum: no hint bits are set (LP_DEAD,
//     HAS_GARBAGE), since a page changes by logged records only.
//   - High keys keep all key columns; only the row is left out where keys differ.
//     Of the split point's choice the even split, the fill factors and the search
//     nearby for keys that differ are there, not the strategies for duplicates
//     and for rising groups.
//   - The latches of a split's halves are not kept until the parent has the
//     downlink: the flag and rule X3 do, as after a crash. A parent is found by
//     its key from the root, not over a remembered path.
//   - Vacuum walks the leaves in key order, where PostgreSQL reads blocks in order and
//     needs cycle ids to notice splits. Once a boot it also looks at every block
//     for free pages.
//   - The fast root is always the root.
//   - A backward scan whose left link has become doubtful descends again for the
//     entry before the last one.
//   - An exact duplicate, key and row, is refused: see ErrDuplicate.
//   - Deleted pages are freed by counting this boot's operations (X6), not by
//     transaction ids; the record's safexid is whatever Config.NextXID says.
//
// Sources: PostgreSQL 15 access/nbtree/README, nbtree.h, nbtxlog.h,
// nbtsplitloc.c (constants and layouts); Lehman and Yao, "Efficient Locking for
// Concurrent Operations on B-Trees", 1981; Lanin and Shasha, "A Symmetric
// Concurrent B-Tree Algorithm", 1986 (deletion).
//
// Reading route: tree.go, key.go, descend.go, grip.go, insert.go, split.go,
// finish.go, free.go, cursor.go, vacuum.go, delete.go; check.go, checkwalk.go,
// checkpage.go.
package btree
