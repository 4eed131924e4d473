package compute

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"tornpage/engine/page"
	"tornpage/engine/row"
	"tornpage/engine/table"
	"tornpage/engine/txn"
	"tornpage/engine/wal"
)

// The catalog is a table like any other, of one row a table. PostgreSQL's
// numbers of pg_class and of its index on names.
const (
	catalogRel   page.Rel = 1259
	catalogIndex page.Rel = 2663
	// firstRel is where users' relations begin. The thin table (Config.Rel) has
	// the first number.
	firstRel = DefaultRel + 1
)

// The columns of the catalog.
const (
	catalogName = iota
	catalogHeap // relation of the heap
	catalogTrees
	catalogDef
)

func catalogTable() *row.Table {
	return &row.Table{
		Name: "catalog",
		Columns: []row.Column{
			{Name: "name", Type: row.Text, NotNull: true},
			{Name: "heap", Type: row.Int8, NotNull: true},
			{Name: "indexes", Type: row.Bytea, NotNull: true}, // relations, 4 bytes each
			{Name: "definition", Type: row.Bytea, NotNull: true},
		},
		Indexes: []row.Index{{Name: "name", Columns: []row.IndexColumn{{Column: catalogName}}, Unique: true, Primary: true}},
	}
}

// catalog is the tables of one boot.
type catalog struct {
	rows   *table.Table            // on storage
	tables map[string]*table.Table // by name
	used   map[page.Rel]bool       // relations that a table has
}

// errTaken refuses a table whose name is in use, errNoTable one that is not.
var (
	errTaken   = errors.New("there is such a table or index already")
	errNoTable = errors.New("no such table")
	errTables  = errors.New("too many tables")
)

// openCatalog reads the definitions of all tables, and makes the catalog
// itself in a new data set.
func (e *Engine) openCatalog() error {
	c := &e.catalog
	c.tables, c.used = map[string]*table.Table{}, map[page.Rel]bool{}
	def := catalogTable()
	rels := table.Rels{Heap: catalogRel, Indexes: []page.Rel{catalogIndex}, From: []wal.LSN{0}}
	c.rows = table.Open(e.env(), def, rels, table.Config{})
	n, err := e.pg.Blocks(catalogIndex)
	if err != nil {
		return err
	}
	if n == 0 {
		if err := c.rows.CreateIndexes(); err != nil {
			return fmt.Errorf("make the catalog: %w", err)
		}
	}
	x, err := e.txns.Start(txn.ReadCommitted)
	if err != nil {
		return err
	}
	defer x.End()
	x.Statement()
	defer x.EndStatement()
	return c.rows.Scan(x, table.Scan{Heap: true}, func(v []row.Value, _ []byte) error {
		def, rels, err := decodeEntry(v)
		if err != nil {
			return fmt.Errorf("catalog, table %v: %w", v[catalogName], err)
		}
		e.install(def, rels)
		return nil
	})
}

func (e *Engine) env() table.Env {
	return table.Env{Pager: e.pg, Txns: e.txns, Locks: e.lockTable}
}

// install makes a committed table known.
func (e *Engine) install(def *row.Table, rels table.Rels) {
	c := &e.catalog
	c.tables[def.Name] = table.Open(e.env(), def, rels, e.cfg.Tables)
	c.used[rels.Heap] = true
	for _, r := range rels.Indexes {
		c.used[r] = true
	}
}

// encodeEntry is a catalog row.
func encodeEntry(def *row.Table, rels table.Rels) []row.Value {
	var trees []byte
	for _, r := range rels.Indexes {
		trees = binary.LittleEndian.AppendUint32(trees, uint32(r))
	}
	return []row.Value{
		catalogName:  row.NewText(def.Name),
		catalogHeap:  row.NewInt8(int64(rels.Heap)),
		catalogTrees: row.NewBytea(trees),
		catalogDef:   row.NewBytea(row.AppendTable(nil, def)),
	}
}

func decodeEntry(v []row.Value) (*row.Table, table.Rels, error) {
	var rels table.Rels
	def, err := row.DecodeTable(v[catalogDef].B)
	if err != nil {
		return nil, rels, err
	}
	trees := v[catalogTrees].B
	if len(trees) != 4*len(def.Indexes) || def.Name != string(v[catalogName].B) {
		return nil, rels, fmt.Errorf("the row names %d bytes of relations for %d indexes of %q", len(trees), len(def.Indexes), def.Name)
	}
	rels.Heap = page.Rel(v[catalogHeap].N)
	for i := range def.Indexes {
		rels.Indexes = append(rels.Indexes, page.Rel(binary.LittleEndian.Uint32(trees[4*i:])))
		rels.From = append(rels.From, 0) // older than every snapshot of this boot
	}
	return def, rels, nil
}

// table finds a table by name.
func (e *Engine) table(name string) (*table.Table, error) {
	t := e.catalog.tables[name]
	if t == nil {
		return nil, fmt.Errorf("%w: %q", errNoTable, name)
	}
	return t, nil
}

// tables are all tables, by name.
func (e *Engine) allTables() []*table.Table {
	c := &e.catalog
	all := make([]*table.Table, 0, len(c.tables))
	for _, name := range slices.Sorted(maps.Keys(c.tables)) {
		all = append(all, c.tables[name])
	}
	return all
}

// freeRel gives the number of a relation that has no page and no owner. What a
// creation that did not commit has left behind keeps its number for ever.
func (e *Engine) freeRel() (page.Rel, error) {
	for r := firstRel; ; r++ {
		if e.catalog.used[r] {
			continue
		}
		n, err := e.pg.Blocks(r)
		if err != nil {
			return 0, err
		}
		if n == 0 {
			e.catalog.used[r] = true
			return r, nil
		}
	}
}
