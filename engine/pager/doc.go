// Package pager is what access methods change pages with: the buffer pool, the
// log, back-pressure and the sizes of relations, joined so that a change is
// made in one way only.
//
// # Model
//
// A change is a mini-transaction. Its maker asks for room in the log (Admit),
// pins and latches the pages, marks them dirty and changes them, describes the
// change in a wal.MTR, and calls Append, which builds the record (images are
// decided from storage's Floor), pays CPU time, has storage append it, and
// builds again if the floor has moved meanwhile.
//
//	m := pg.MTR()
//	defer pg.Done(m)
//	pg.Admit(1, n)
//	f, err := pg.Pool().Pin(id); f.Lock(); f.MarkDirty(); change f.Page()
//	wal.HeapInsert(m, ...)
//	lsn, err := pg.Append(m)
//	f.Unlock(); pg.Pool().Unpin(f)
//
// # Rules
//
//	P1  Admit is called without latches, before each mini-transaction.
//	P2  A task that needs several pins at once reserves them all before the
//	    first one (buffer rule B7), and holds no other pin while it does.
//	P3  Cold pages are pinned before a latch is taken, never under one.
//	P4  Pages are latched in the order of their IDs, or left to right along the
//	    level of a tree and then upwards: no cycle can arise.
//	P5  The first error of Append, or of Admit other than engine.ErrFull, ends
//	    the boot: a page may hold a change whose record is not in the log.
//	P6  A relation grows by Extend, one block at a time. The number is taken in
//	    memory only; the block exists once a record makes it. A page of zeros
//	    below Blocks is one whose maker died or gave up: whoever meets it may
//	    make it, and readers find nothing on it.
//
// # Not promised
//
//   - That a block whose number Extend gave is used by anybody.
package pager
