package table

import (
	"errors"
	"fmt"

	"tornpage/engine/btree"
	"tornpage/engine/fsm"
	"tornpage/engine/heap"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/pager"
	"tornpage/engine/row"
	"tornpage/engine/txn"
	"tornpage/engine/vacuum"
	"tornpage/engine/wal"
)

// Errors of statements. Those of row (types, lengths), txn (deadlocks, limits),
// pager and storage come as they are.
var (
	ErrUnique   = errors.New("unique violation")
	ErrConflict = errors.New("could not serialize: the row was changed after this transaction's snapshot")
	ErrNoIndex  = errors.New("no such index")
	ErrKey      = errors.New("the key does not name one row")
	ErrGone     = errors.New("no such table any more")
	ErrPosition = errors.New("no position of such a scan")
)

// Env is what tables of one boot share.
type Env struct {
	Pager *pager.Pager
	Txns  *txn.Manager
	Locks *txn.LockTable
}

// Config is the geometry of all tables. Every field is a dimension that seeds
// may vary.
type Config struct {
	LinesPerPage int // line pointers that a heap page may grow to; 0: as many as fit
	ItemsPerPage int // entries of an index page; 0: as many as fit
	Vacuum       vacuum.Config
}

// Table is one table of one boot. Make it with Open.
type Table struct {
	env      Env
	m        host.Machine
	cfg      Config
	def      *row.Table
	schema   *row.Schema
	rel      page.Rel
	heap     *heap.Heap
	free     *fsm.Map
	indexes  []*Index
	vacuumer vacuumer
	idle     *work
	gone     bool // dropped

	Counters vacuum.Counters // the caller tells of transactions that ended
}

// Index is one index of a table.
type Index struct {
	def  *row.Index
	key  *row.Key
	rel  page.Rel
	tree *btree.Tree
	from wal.LSN // snapshots below do not see it (rule R6)
}

// Rels are the relations of a table: its heap, then its indexes in the order of
// the definition.
type Rels struct {
	Heap    page.Rel
	Indexes []page.Rel
	From    []wal.LSN // of each index: snapshots below do not see it
}

// Open makes the handle of a table that exists.
func Open(env Env, def *row.Table, rels Rels, cfg Config) *Table {
	t := &Table{
		env: env, m: env.Pager.Machine(), cfg: cfg, def: def, schema: row.NewSchema(def), rel: rels.Heap,
		free: &fsm.Map{},
	}
	t.heap = heap.New(env.Pager, t.rel, t.free, heap.Config{FillFactor: def.Fill, LinesPerPage: cfg.LinesPerPage})
	for i := range def.Indexes {
		t.indexes = append(t.indexes, t.openIndex(&def.Indexes[i], rels.Indexes[i], rels.From[i]))
	}
	t.vacuumer = t.newVacuum()
	return t
}

func (t *Table) openIndex(def *row.Index, rel page.Rel, from wal.LSN) *Index {
	x := &Index{def: def, key: row.NewKey(t.def, def), rel: rel, from: from}
	x.tree = btree.New(t.env.Pager, rel, btree.Config{
		Compare: x.key.Comparator(), Attrs: x.key.Columns(), Fill: def.Fill, ItemsPerPage: t.cfg.ItemsPerPage,
		NextXID: func() uint64 { return uint64(t.env.Txns.Next()) },
	})
	return x
}

// Def is the table's definition.
func (t *Table) Def() *row.Table { return t.def }

// Rel is the table's heap.
func (t *Table) Rel() page.Rel { return t.rel }

// index finds an index that x's snapshot may use; "" is the primary key.
func (t *Table) index(x *txn.Xact, name string) (*Index, error) {
	for _, ix := range t.indexes {
		if ix.def.Name != name && (name != "" || !ix.def.Primary) {
			continue
		}
		if s := x.Snapshot(); s != nil && s.LSN < ix.from {
			return nil, fmt.Errorf("%w: %q of table %q is newer than this transaction's snapshot; begin a new transaction", ErrNoIndex, ix.def.Name, t.def.Name)
		}
		return ix, nil
	}
	if name == "" {
		return nil, fmt.Errorf("%w: table %q has no primary key; name an index", ErrNoIndex, t.def.Name)
	}
	return nil, fmt.Errorf("%w: %q of table %q", ErrNoIndex, name, t.def.Name)
}

// work is the memory of one statement, used again by later ones.
type work struct {
	search []byte
	tuple  []byte     // of the row that was read
	fresh  []byte     // of the row that is written
	entry  [][]byte   // of each index, for a written row
	tids   []page.TID // of a lookup
	values []row.Value
	want   []row.Value
	rival  []byte // a row with the same key
	rivals []row.Value
	claims []claim
	next   *work
}

func (t *Table) take() *work {
	w := t.idle
	if w == nil {
		w = &work{entry: make([][]byte, len(t.indexes))}
	} else {
		t.idle, w.next = w.next, nil
	}
	for len(w.entry) < len(t.indexes) {
		w.entry = append(w.entry, nil)
	}
	w.claims = w.claims[:0]
	return w
}

func (t *Table) give(w *work) { w.next, t.idle = t.idle, w }

// Lock locks the table until the transaction ends. Every use of a table begins
// with it.
func (t *Table) Lock(x *txn.Xact, mode txn.Mode) error {
	if err := t.env.Locks.Acquire(x.Owner(), txn.TableLock(t.rel), mode); err != nil {
		return err
	}
	if t.gone { // while this waited
		return fmt.Errorf("%w: %q was dropped", ErrGone, t.def.Name)
	}
	return nil
}

// Drop says that the table was dropped. Whoever waits for its lock, or finds
// its handle, gets ErrGone.
func (t *Table) Drop() { t.gone = true }
