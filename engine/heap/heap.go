package heap

import (
	"errors"
	"fmt"

	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/pager"
)

// Xact is the transaction that an operation belongs to; txn.Xact is one.
type Xact interface {
	View
	Fates
	// XID is what new versions carry. It may block and take one; it is called
	// without latches.
	XID() (uint32, error)
	// Own tells whether the XID is the transaction's, or one of its savepoints'
	// that were not rolled back.
	Own(xid uint32) bool
	// Resolve finds out statuses that Sees or Fate could not tell. It may
	// block, and is called without latches and pins.
	Resolve(xids ...uint32) error
}

// FreeSpace is a free-space map; *fsm.Map is one. Neither method blocks.
type FreeSpace interface {
	Find(need int) (block uint32, ok bool)
	Set(block uint32, free int)
}

// Config says how rows lie on pages. The zero value is PostgreSQL's.
type Config struct {
	// FillFactor is how full Insert makes a page, in percent, 10 to 100; 0:
	// 100. The rest is for updates of rows on the page.
	FillFactor int
	// LinesPerPage bounds the line pointers of a page, so that a few rows fill
	// it; 0: 291 (MaxHeapTuplesPerPage).
	LinesPerPage int
}

// Result tells what a change met.
type Result uint8

// The results. All but Done leave the version as it was.
const (
	Done         Result = iota
	Updated             // another transaction made a newer version, and committed: see Latest
	Deleted             // another transaction deleted it, and committed
	SelfModified        // this transaction has updated or deleted it already
	Invisible           // it is not there (any more), or its maker has not committed
)

var resultNames = [...]string{"done", "updated", "deleted", "self-modified", "invisible"}

// String names the result.
func (r Result) String() string {
	if int(r) < len(resultNames) {
		return resultNames[r]
	}
	return fmt.Sprintf("result %d", uint8(r))
}

// Row is one version of a row.
type Row struct {
	TID   page.TID   // its place: what Update, Delete, Lock and Latest take
	Root  page.TID   // where its HOT chain begins: what indexes lead to and Fetch takes
	Tuple page.Tuple // a copy
}

// Stats counts what a handle did.
type Stats struct {
	Inserted uint64
	Updated  uint64 // all
	Hot      uint64 // of those, heap-only
	Moved    uint64 // of those, to another page
	Deleted  uint64
	Locked   uint64 // LOCK records, those of Moved included
	Pruned   uint64 // pages
	Removed  uint64 // versions that these prunings removed
	Extended uint64 // blocks added
}

// ErrTooBig says that a row does not fit on a page.
var ErrTooBig = errors.New("the row does not fit on a page: shorten it, or split it over several rows")

// Heap is a handle on the heap of one table, for one boot. Like a backend of
// PostgreSQL it remembers the block that it last inserted into: sessions that
// are to fill pages of their own have a handle each, over one FreeSpace.
type Heap struct {
	pg      *pager.Pager
	m       host.Machine
	rel     page.Rel
	free    FreeSpace // nil: none
	slack   int       // bytes that Insert leaves, for the fill factor
	lines   int       // line pointers a page may have
	minFree int       // with less, a page is worth pruning
	target  uint32    // block of the last insert
	aimed   bool      // there is one
	idle    *op
	scans   *Scan
	Stats   Stats
}

// New makes a handle. free may be nil.
func New(pg *pager.Pager, rel page.Rel, free FreeSpace, cfg Config) *Heap {
	if cfg.FillFactor == 0 {
		cfg.FillFactor = 100
	}
	if cfg.LinesPerPage == 0 {
		cfg.LinesPerPage = page.MaxHeapTuples
	}
	if cfg.FillFactor < 10 || cfg.FillFactor > 100 || cfg.LinesPerPage < 1 {
		invariant.Broken("E5", "rel %d with fill factor %d, want 10 to 100, and %d line pointers a page, want at least 1",
			rel, cfg.FillFactor, cfg.LinesPerPage)
	}
	slack := page.Size * (100 - cfg.FillFactor) / 100
	return &Heap{pg: pg, m: pg.Machine(), rel: rel, free: free, slack: slack,
		lines: min(cfg.LinesPerPage, page.MaxHeapTuples), minFree: max(slack, page.Size/10)}
}

// Rel is the relation.
func (h *Heap) Rel() page.Rel { return h.rel }

func (h *Heap) id(block uint32) page.ID { return page.ID{Rel: h.rel, Block: block} }

func (h *Heap) corrupt(at page.TID, format string, args ...any) error {
	return &Corrupt{ID: h.id(at.Block), Off: at.Offset, Reason: fmt.Sprintf(format, args...)}
}

// fitsPage refuses a tuple that is too long for any page, or no tuple.
func (h *Heap) fitsPage(t page.Tuple) error {
	switch {
	case len(t) < page.TupleHeader || t.Hoff() < page.TupleHeader || t.Hoff() > len(t):
		return fmt.Errorf("rel %d: %d bytes are no tuple", h.rel, len(t))
	case page.RoundUp(len(t)) > page.MaxTupleSize:
		return fmt.Errorf("rel %d: %w (it has %d bytes, at most %d)", h.rel, ErrTooBig, len(t), page.MaxTupleSize)
	}
	return nil
}

// userBits are what a tuple's maker says of its data: nulls, widths.
const userBits = 0x000F

// stamp makes t a new version by xid.
func stamp(t page.Tuple, xid uint32, infomask, infomask2 uint16) {
	t.SetXmin(xid)
	t.SetXmax(0)
	t.SetCid(0)
	t.SetInfomask(t.Infomask()&userBits | page.XmaxInvalid | infomask)
	t.SetInfomask2(t.Infomask2()&page.AttsMask | infomask2)
}
