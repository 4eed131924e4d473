package row

import (
	"errors"
	"fmt"

	"tornpage/engine/page"
)

// Limits of definitions.
const (
	MaxName     = 63                 // bytes (PostgreSQL's NAMEDATALEN 64 less its zero byte)
	MaxColumns  = 64                 // of a table
	MaxIndexes  = 16                 // of a table; with MaxColumns a definition fits in one row
	MaxKey      = 8                  // columns of an index
	MaxKeyBytes = page.MaxIndexTuple // of an index tuple, header included
	MinFill     = 10                 // percent (BTREE_MIN_FILLFACTOR, HEAP_MIN_FILLFACTOR)
	// MaxChar is the n of the longest char(n) that fits in a row of its own,
	// header of 4 bytes included.
	MaxChar = page.MaxTupleData - varHeader
)

// ErrDefinition is wrapped by what is wrong with a definition.
var ErrDefinition = errors.New("bad definition")

// Column is a column's definition.
type Column struct {
	Name    string
	Type    Type
	Len     int // of Char: its n, bytes; 0 for all others
	NotNull bool
}

// Table is a table's definition: a plain value.
type Table struct {
	Name    string
	Columns []Column
	Indexes []Index
	Fill    int // percent of a page that inserts fill (fillfactor); 0: 100
}

// Index is an index's definition.
type Index struct {
	Name    string
	Columns []IndexColumn
	Unique  bool // no two rows with equal keys, unless a column is null
	Primary bool // unique, and no column is null; one index at most
	Fill    int  // percent of a leaf that a split at the right end leaves; 0: 90
}

// IndexColumn is one column of a key.
type IndexColumn struct {
	Column int  // number in Table.Columns, from 0
	Desc   bool // descending, nulls first; else ascending, nulls last
}

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDefinition, fmt.Sprintf(format, args...))
}

// Primary is the primary key, nil if there is none.
func (t *Table) Primary() *Index {
	for i := range t.Indexes {
		if t.Indexes[i].Primary {
			return &t.Indexes[i]
		}
	}
	return nil
}

// Index is the index of that name, nil if there is none; "" is the primary
// key.
func (t *Table) Index(name string) *Index {
	if name == "" {
		return t.Primary()
	}
	for i := range t.Indexes {
		if t.Indexes[i].Name == name {
			return &t.Indexes[i]
		}
	}
	return nil
}

// Column is the number of the column of that name, -1 if there is none.
func (t *Table) Column(name string) int {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// Validate checks the definition and its limits.
func (t *Table) Validate() error {
	if err := checkName("table", t.Name); err != nil {
		return err
	}
	if n := len(t.Columns); n < 1 || n > MaxColumns {
		return bad("table %q has %d columns, want 1 to %d; split the table", t.Name, n, MaxColumns)
	}
	if n := len(t.Indexes); n > MaxIndexes {
		return bad("table %q has %d indexes, at most %d; drop some", t.Name, n, MaxIndexes)
	}
	if err := checkFill("table", t.Name, t.Fill); err != nil {
		return err
	}
	for i := range t.Columns {
		if err := t.Columns[i].validate(); err != nil {
			return err
		}
		if first := t.Column(t.Columns[i].Name); first != i {
			return bad("columns %d and %d of table %q are both named %q; rename one", first, i, t.Name, t.Columns[i].Name)
		}
	}
	if n := NewSchema(t).least(); n > page.MaxTupleSize {
		return bad("a row of table %q has at least %d bytes, header included, at most %d; shorten char columns or split the table",
			t.Name, n, page.MaxTupleSize)
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if err := t.ValidateIndex(x); err != nil {
			return err
		}
		for j := range i {
			if y := &t.Indexes[j]; y.Name == x.Name || y.Primary && x.Primary {
				return bad("indexes %d (%q) and %d (%q) of table %q have one name or are both primary; rename or drop one",
					j, y.Name, i, x.Name, t.Name)
			}
		}
	}
	return nil
}

func (c *Column) validate() error {
	if err := checkName("column", c.Name); err != nil {
		return err
	}
	switch {
	case !c.Type.Known():
		return bad("column %q has %v, want int4, int8, text, bytea, bool, char or timestamp", c.Name, c.Type)
	case c.Type == Char && (c.Len < 1 || c.Len > MaxChar):
		return bad("column %q is char(%d), want 1 to %d; use text for longer values", c.Name, c.Len, MaxChar)
	case c.Type != Char && c.Len != 0:
		return bad("column %q is %v with a length of %d; only char has one", c.Name, c.Type, c.Len)
	}
	return nil
}

// ValidateIndex checks an index of the table, which may not be in its list
// yet.
func (t *Table) ValidateIndex(x *Index) error {
	if err := checkName("index", x.Name); err != nil {
		return err
	}
	if err := checkFill("index", x.Name, x.Fill); err != nil {
		return err
	}
	switch n := len(x.Columns); {
	case n < 1 || n > MaxKey:
		return bad("index %q has %d columns, want 1 to %d", x.Name, n, MaxKey)
	case x.Primary && !x.Unique:
		return bad("index %q is primary and not unique; make it unique", x.Name)
	}
	for i, c := range x.Columns {
		if c.Column < 0 || c.Column >= len(t.Columns) {
			return bad("column %d of index %q is number %d of table %q, which has %d", i, x.Name, c.Column, t.Name, len(t.Columns))
		}
		for _, before := range x.Columns[:i] {
			if before.Column == c.Column {
				return bad("index %q has column %q twice", x.Name, t.Columns[c.Column].Name)
			}
		}
		if x.Primary && !t.Columns[c.Column].NotNull {
			return bad("column %q of primary key %q may be null; make it NOT NULL", t.Columns[c.Column].Name, x.Name)
		}
	}
	if n := NewKey(t, x).least(); n > MaxKeyBytes {
		return bad("an entry of index %q has at least %d bytes, at most %d; leave out a column", x.Name, n, MaxKeyBytes)
	}
	return nil
}

func checkName(what, name string) error {
	if n := len(name); n < 1 || n > MaxName {
		return bad("name of %s %q has %d bytes, want 1 to %d", what, cut(name), n, MaxName)
	}
	return nil
}

// cut shortens a name for an error.
func cut(name string) string { return name[:min(len(name), MaxName)] }

func checkFill(what, name string, fill int) error {
	if fill != 0 && (fill < MinFill || fill > 100) {
		return bad("fill factor of %s %q is %d percent, want %d to 100, or 0 for the default", what, name, fill, MinFill)
	}
	return nil
}
