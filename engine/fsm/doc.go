// Package fsm is the free-space map of a relation: which block has room for so
// many bytes. Pure code in memory: no I/O, no tasks, no log.
//
// # Model
//
// One byte a block is its category: the free bytes in steps of 32, rounded
// down. Over them stands a tree of maxima, level by level, each half as long as
// the one below. Find asks for a category, rounded up, and climbs from the
// block after the last answer to the first subtree that has it, then descends
// to its leftmost block. Memory: two bytes a block.
//
// # Rules
//
//	F1  A category promises no more than was last Set: a block that Find gives
//	    had room for the request then. It may have none now; whoever meets that
//	    says so by Set and asks again.
//	F2  Find gives the first such block after its last answer, in a circle, so
//	    that inserters that ask at the same time get different blocks
//	    (PostgreSQL's fp_next_slot).
//	F3  No block at or above Len is ever given: Truncate forgets those that a
//	    relation has lost, before anybody can ask.
//
// # The rule for every storage
//
// The map is a hint that no log record describes and no storage keeps: a boot
// starts with an empty one. It is fed by vacuum and by attempts that failed,
// not by pruning (as PostgreSQL). Until vacuum has run, inserts use a
// relation's last block and then extend it.
//
// # Not promised
//
//   - That every block with room is known.
//   - The block with the best fit.
//
// # Departures from PostgreSQL
//
//   - One tree in memory instead of a fork of pages of 4,000 slots with a tree
//     each: a fork has to be written, verified and repaired, and is out of date
//     after a crash anyway.
//   - Find stays inside one tree, so that rule F2 holds over the whole relation
//     and not a page of the map at a time.
//
// Sources: PostgreSQL 15 storage/freespace/README, freespace.c (categories),
// fsmpage.c (the search).
package fsm
