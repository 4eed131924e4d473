package btree

import (
	"errors"
	"fmt"

	"tornpage/engine/buffer"
	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/pager"
	"tornpage/engine/wal"
)

// Config describes an index. Zero values mean the defaults.
type Config struct {
	// Compare orders two whole index tuples by their keys alone. It must not
	// panic on any bytes.
	Compare func(a, b []byte) int
	// Attrs is the number of key columns, at least 1, at most 32
	// (INDEX_MAX_KEYS): pivots carry it.
	Attrs int
	// Fill is how full a split leaves a rightmost leaf, in percent. Default 90
	// (BTREE_DEFAULT_FILLFACTOR).
	Fill int
	// ItemsPerPage bounds the entries of a page, high key excluded; at least 3.
	// 0: as many as fit.
	ItemsPerPage int
	// NextXID is asked when a page is deleted: replicas may forget the page
	// once nothing older runs. nil: 0.
	NextXID func() uint64
}

// Errors of the tree.
var (
	ErrExists    = errors.New("the index exists already: open it, or drop it first")
	ErrMissing   = errors.New("there is no index here: create it first")
	ErrDuplicate = errors.New("the index has an entry of this key and row already: vacuum has left it out, or the row was indexed twice; rebuild the index")
)

// Tree is one index. There is one Tree of it in a process, for one boot.
type Tree struct {
	pg  *pager.Pager
	m   host.Machine
	rel page.Rel
	cfg Config

	known       bool   // the metapage has been read
	root, level uint32 // as the metapage says
	found       uint32 // blocks when the tree was opened: what lies below was there before this boot

	first, last *op // under way, in order of their beginning
	idle        *op
	epoch       uint64 // pages unlinked in this boot
	free        []freePage
	anew        uint64 // pages taken from free in this boot
	scanned     uint32 // blocks below have been looked at for free ones
	vacuum      *host.Latch
	cursors     *Cursor // idle
	visits      uint64  // of pages, for Pay
}

// New makes the tree of relation rel. It reads nothing yet.
func New(pg *pager.Pager, rel page.Rel, cfg Config) *Tree {
	if cfg.Attrs == 0 {
		cfg.Attrs = 1
	}
	if cfg.Fill == 0 {
		cfg.Fill = 90
	}
	if cfg.Compare == nil || cfg.Attrs < 0 || cfg.Attrs > maxAttrs || cfg.Fill < 10 || cfg.Fill > 100 {
		invariant.Broken("X1", "index %d with %d key columns, fill factor %d, comparator %t", rel, cfg.Attrs, cfg.Fill, cfg.Compare != nil)
	}
	if cfg.ItemsPerPage > 0 {
		cfg.ItemsPerPage = max(cfg.ItemsPerPage, 3)
	}
	m := pg.Machine()
	return &Tree{pg: pg, m: m, rel: rel, cfg: cfg, vacuum: host.NewLatch(m, host.WaitRelation), scanned: 1}
}

const (
	maxAttrs  = 32 // INDEX_MAX_KEYS
	maxLevels = 32 // a tree of 2^32 blocks whose pages have two children each
)

// Rel is the index's relation.
func (t *Tree) Rel() page.Rel { return t.rel }

// op is an operation under way, with its memory. As long as it runs, no page
// that was deleted since it began is used again (rule X6).
type op struct {
	prev, next *op
	began      uint64 // the epoch then
	xid        uint32
	update     bool   // finish splits that are met
	tuple      []byte // the entry, or downlink, to insert
	tuple2     []byte // a high key
	infinity   [page.IndexHeader]byte
	items      [][]byte
	offs       []uint16
	held       grip
	left       *page.Page // scratch for splits
	right      *page.Page
}

// begin registers an operation for transaction xid (0: none).
func (t *Tree) begin(xid uint32, update bool) *op {
	o := t.idle
	if o == nil {
		o = &op{}
	} else {
		t.idle = o.next
	}
	o.prev, o.next = t.last, nil
	if t.last != nil {
		t.last.next = o
	} else {
		t.first = o
	}
	t.last = o
	o.began, o.xid, o.update = t.epoch, xid, update
	return o
}

// end takes the operation off the list.
func (t *Tree) end(o *op) {
	if o.prev != nil {
		o.prev.next = o.next
	} else {
		t.first = o.next
	}
	if o.next != nil {
		o.next.prev = o.prev
	} else {
		t.last = o.prev
	}
	o.prev, o.next, t.idle = nil, t.idle, o
}

func (t *Tree) id(block uint32) page.ID { return page.ID{Rel: t.rel, Block: block} }

// corrupt reports a page that cannot be what it should be.
func (t *Tree) corrupt(f *buffer.Frame, format string, args ...any) error {
	return &page.Corrupt{ID: f.ID(), LSN: f.Page().LSN(), Reason: fmt.Sprintf("index page: "+format, args...)}
}

// Create makes an empty index: metapage and root, in one record.
func (t *Tree) Create() error {
	for {
		n, err := t.pg.Blocks(t.rel)
		if err != nil {
			return err
		}
		if n >= 2 {
			break
		}
		if _, err := t.pg.Extend(t.rel); err != nil {
			return err
		}
	}
	const root = 1
	if err := t.pg.Admit(0, page.IndexSpecial); err != nil {
		return err
	}
	o := t.begin(0, true)
	defer t.end(o)
	g, err := t.grab(o, root, metaBlock)
	if err != nil {
		return err
	}
	defer g.drop()
	r, m := g.page(root), g.page(0)
	if !r.Page.IsZero() || !m.Page.IsZero() {
		return fmt.Errorf("%v: %w", r.ID, ErrExists)
	}
	g.dirty()
	r.Page.InitIndex(page.IndexOpaque{Flags: page.IndexLeaf | page.IndexRoot})
	m.Page.InitIndexMeta(page.IndexMeta{Version: page.IndexVersion, Root: root, FastRoot: root})
	mtr := t.pg.MTR()
	defer t.pg.Done(mtr)
	wal.BtreeNewRoot(mtr, 0, r, wal.BtreePage{}, m, 0)
	if _, err := t.pg.Append(mtr); err != nil {
		return err
	}
	t.known, t.root, t.level, t.found, t.scanned = true, root, 0, 2, 2
	return nil
}

// open reads the metapage at the first use.
func (t *Tree) open() error {
	if t.known {
		return nil
	}
	blocks, err := t.pg.Blocks(t.rel)
	if err != nil {
		return err
	}
	f, err := t.pg.Pool().Pin(t.id(0))
	if err != nil {
		return err
	}
	defer t.pg.Pool().Unpin(f)
	f.RLock()
	defer f.RUnlock()
	if t.known {
		return nil // another task was faster
	}
	if f.Page().IsZero() {
		return fmt.Errorf("rel %d: %w", t.rel, ErrMissing)
	}
	m, err := f.Page().IndexMeta()
	if err == nil && m.Level >= maxLevels {
		err = fmt.Errorf("root on level %d, want below %d", m.Level, maxLevels)
	}
	if err != nil {
		return t.corrupt(f, "%v", err)
	}
	t.known, t.root, t.level, t.found = true, m.Root, m.Level, blocks
	return nil
}
