// Package engine holds the seam between compute and storage.
//
// Compute (access methods, buffer pool, transactions, commit queue) is one
// piece of code over Storage; an experiment changes the storage and nothing
// else. Follower is the replica's side of the same storage.
//
// # Rules of the seam
//
//	S1  LSNs are opaque above the seam: they only grow, may jump, and are
//	    compared, stored and handed back, never computed with.
//	S2  Append is atomic: after any crash a mini-transaction is in the log
//	    whole or not at all, and the log that survives is a prefix of the log
//	    that was appended.
//	S3  What is at or below Durable survives every fault that the storage
//	    declares to tolerate.
//	S4  A page is handed to Evict only when its LSN is at or below Durable
//	    (the write-ahead rule).
//	S5  ReadPage never gives zeros, or an older page, for one that was changed.
//	S6  After an error of WaitDurable or Append other than ErrFloorMoved the
//	    boot is over: everything above Durable is unknown.
//	S7  There is no undo: what a crash leaves unfinished is aborted by having
//	    no commit record.
package engine

import (
	"errors"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// Storage is what compute asks of storage. One value lives for one boot.
type Storage interface {
	// Open recovers, blocks until everything ever acknowledged can be read,
	// and fences every older writer. Crash in it: the next Open starts over.
	// An error names file, block and LSN and means that this storage refuses
	// to serve.
	Open() (State, error)
	// Admit blocks until there is room for about so many bytes of log. It is
	// the only back-pressure: called without latches, before a
	// mini-transaction is built. ErrFull refuses this change and no more: once
	// there is space again, so does Admit; every other error is final (S6).
	Admit(bytes int) error
	// Floor is the redo point that decides images: a page whose LSN is at or
	// below it needs a full-page image in the next record that changes it.
	// 0: no page does.
	Floor() wal.LSN
	// Append puts a built mini-transaction into the log, gives the LSN of its
	// end, and stamps its pages with that. builtFor is the Floor that the
	// images were decided for; if it moved so that an image is missing,
	// ErrFloorMoved says: build again. Append may pay CPU time, and so switch,
	// but never waits for I/O or peers; the caller holds the content latches
	// of the pages. Crash before Durable reaches the LSN: all or nothing.
	Append(m *wal.MTR, builtFor wal.LSN) (wal.LSN, error)
	// Durable is the end of the log that survives (S3). It only grows.
	Durable() wal.LSN
	// WaitDurable blocks until Durable has reached lsn. Errors are final (S6).
	WaitDurable(lsn wal.LSN) error
	// ReadPage blocks for the page as of at (0: as it is now). changedBy is
	// the LSN of the last change that the caller knows of, or an upper bound:
	// a storage that is behind waits for it. A page that does not exist gives
	// ErrNoPage, never zeros. Storage local keeps the current version only.
	ReadPage(id page.ID, changedBy, at wal.LSN, p *page.Page) error
	// Evict tells that the caller forgets this version; afterwards ReadPage
	// gives it or a newer one. Local writes it (and blocks), others remember
	// its LSN or do nothing. The caller keeps p unchanged until it returns.
	Evict(id page.ID, p *page.Page) error
	// Size is the number of blocks of the relation as of at (0: now).
	Size(r page.Rel, at wal.LSN) (uint32, error)
}

// State is what Open found.
type State struct {
	Survived wal.LSN // end of what earlier boots left: all that they appended above it is gone
	End      wal.LSN // end of the log with what Open itself wrote; all of it is durable
	Epoch    uint64  // of the writer; larger than every earlier one
	NextXID  uint32  // every smaller XID is committed, or aborted
	Redo     wal.LSN // where redo started; 0 if there was none
	Records  uint64  // log records that redo looked at
	Images   uint64  // pages that redo restored from a full-page image
}

// Follower is a replica's side of a storage.
type Follower interface {
	// Start blocks for the state to begin from: a durable LSN, and the
	// transactions that ran then.
	Start() (wal.LSN, Running, error)
	// Next blocks for the next whole mini-transactions, with the durable point
	// and the commits up to it in LSN order.
	Next() (Batch, error)
	// ReadPage blocks for the page as of at, which is at or below the durable
	// point of the last Batch.
	ReadPage(id page.ID, at wal.LSN, p *page.Page) error
	// Hold promises that this follower reads nothing older than at and needs
	// no row version that died before xmin; it holds back garbage collection.
	Hold(at wal.LSN, xmin uint32)
}

// Running is a set of transactions, each neither committed nor aborted.
type Running struct {
	XIDs []uint32 // sorted
	Next uint32   // no transaction from Next on has begun
}

// Batch is one delivery to a follower.
type Batch struct {
	Durable wal.LSN      // nothing above it is in the batch
	Records []wal.Record // whole mini-transactions, valid until the next call
	Commits []Commit     // those among Records, in LSN order
}

// Commit is the end of one transaction.
type Commit struct {
	XID     uint32
	LSN     wal.LSN
	Aborted bool
}

// Errors of the seam. Storages wrap them with the place.
var (
	ErrFloorMoved = errors.New("the redo point moved: build the record again with images")
	ErrNoPage     = errors.New("no such page")
	ErrFenced     = errors.New("a newer writer has taken over")
	ErrStopped    = errors.New("storage stopped: everything above the durable point is unknown")
	ErrFull       = errors.New("the disk is full: changes are refused, reads go on; free space or add some")
)
