package row

import (
	"fmt"
	"slices"

	"tornpage/engine/invariant"
	"tornpage/engine/page"
)

// An index tuple (itup.h, nbtree.h) is a header of 8 bytes, a TID and t_info;
// with nulls a bitmap of 4 bytes (INDEX_MAX_KEYS 32 bits) and 4 of padding;
// the key, padded to a multiple of 8.
const (
	keyNulls   = 0x8000 // t_info: INDEX_NULL_MASK
	keyVar     = 0x4000 // INDEX_VAR_MASK
	keyAlt     = 0x2000 // INDEX_ALT_TID_MASK: a pivot, or a search prefix
	keySize    = 0x1FFF // INDEX_SIZE_MASK
	keyHead    = page.IndexHeader
	keyHeadNul = 16

	// In the offset field of a tuple with keyAlt:
	pivotAttrs = 0x0FFF // BT_OFFSET_MASK: columns that are there
	pivotTID   = 0x1000 // BT_PIVOT_HEAP_TID_ATTR: a TID ends the tuple
	// pivotAny marks a search prefix: its absent columns equal all, where those
	// of a pivot are below all. Never stored; PostgreSQL leaves the bit free.
	pivotAny     = 0x8000
	pivotTIDSize = 8
)

// Key is how the entries of an index are laid out and ordered: made once for a
// definition, never changed.
type Key struct {
	name    string
	attrs   []attr
	columns []int
}

// NewKey lays out a valid index of t.
func NewKey(t *Table, x *Index) *Key {
	k := &Key{name: x.Name, attrs: make([]attr, len(x.Columns)), columns: make([]int, len(x.Columns))}
	for i, c := range x.Columns {
		k.attrs[i] = newAttr(&t.Columns[c.Column])
		k.attrs[i].desc = c.Desc
		k.columns[i] = c.Column
	}
	return k
}

// Columns is the number of columns of the key.
func (k *Key) Columns() int { return len(k.attrs) }

// Column is the number in the table of the key's column i.
func (k *Key) Column(i int) int { return k.columns[i] }

// Has reports whether a column of the table, by number, belongs to the key.
func (k *Key) Has(column int) bool { return slices.Contains(k.columns, column) }

func (k *Key) least() int {
	var empty Value
	at := 0
	for i := range k.attrs {
		if k.attrs[i].notNull {
			at = k.attrs[i].after(at, &empty)
		}
	}
	return roundUp(keyHead+at, page.Align)
}

// Pick appends the key's values out of a row's to dst.
func (k *Key) Pick(dst, row []Value) []Value {
	for _, c := range k.columns {
		dst = append(dst, row[c])
	}
	return dst
}

// Same reports whether two rows have the same key, null and null counting as
// the same: an update between them needs no new entry.
func (k *Key) Same(a, b []Value) bool {
	for _, c := range k.columns {
		if Compare(a[c], b[c]) != 0 {
			return false
		}
	}
	return true
}

// Check checks that the row's key is not too long for the index. Schema.Check
// comes first.
func (k *Key) Check(row []Value) error {
	at, nulls := 0, false
	for i, c := range k.columns {
		if row[c].IsNull() {
			nulls = true
			continue
		}
		at = k.attrs[i].after(at, &row[c])
	}
	head := keyHead
	if nulls {
		head = keyHeadNul
	}
	if n := roundUp(head+at, page.Align); n > MaxKeyBytes {
		return fmt.Errorf("entry of index %q has %d bytes, at most %d: %w; index a shorter column", k.name, n, MaxKeyBytes, ErrLimit)
	}
	return nil
}

// CheckKey checks that the values, of the first columns of the key, can be
// searched for: number, types, lengths. Nulls may be.
func (k *Key) CheckKey(key []Value) error {
	if len(key) > len(k.attrs) {
		return fmt.Errorf("%d values for the %d columns of index %q: %w", len(key), len(k.attrs), k.name, ErrType)
	}
	n := keyHeadNul
	for i := range key {
		if key[i].IsNull() {
			continue
		}
		if err := k.attrs[i].check(&key[i]); err != nil {
			return err
		}
		n = k.attrs[i].after(n, &key[i])
	}
	if n > keySize&^(page.Align-1) {
		return fmt.Errorf("a search in index %q for %d bytes, at most %d: %w; nothing so long is in it", k.name, n, MaxKeyBytes, ErrLimit)
	}
	return nil
}

// AppendRow appends the entry of a row that Schema.Check and Check accept, with
// a zero TID.
func (k *Key) AppendRow(dst []byte, row []Value) []byte {
	var key [MaxKey]Value
	return k.AppendKey(dst, k.Pick(key[:0], row))
}

// AppendKey appends the entry with these values, one for each column of the
// key, and a zero TID.
func (k *Key) AppendKey(dst []byte, key []Value) []byte {
	if len(key) != len(k.attrs) {
		invariant.Broken("R1", "%d values for the %d columns of index %q", len(key), len(k.attrs), k.name)
	}
	return k.append(dst, key)
}

// AppendSearch appends a tuple to search with: it compares equal to all entries
// whose first columns have these values. It is never stored. Without values it
// equals all.
func (k *Key) AppendSearch(dst []byte, key []Value) []byte {
	from := len(dst)
	dst = k.append(dst, key)
	if len(key) < len(k.attrs) {
		t := dst[from:]
		le.PutUint16(t[4:], pivotAny|uint16(len(key)))
		le.PutUint16(t[6:], le.Uint16(t[6:])|keyAlt)
	}
	return dst
}

func (k *Key) append(dst []byte, key []Value) []byte {
	from := len(dst)
	info, head := 0, keyHead
	for i := range key {
		if key[i].IsNull() {
			info, head = keyNulls, keyHeadNul
			break
		}
	}
	dst = append(dst, make([]byte, head)...)
	for i := range key {
		v := &key[i]
		if v.IsNull() {
			continue
		}
		if v.Kind != k.attrs[i].kind {
			invariant.Broken("R1", "column %q is %v, the value %v", k.attrs[i].name, k.attrs[i].kind, v.Kind)
		}
		if k.attrs[i].size < 0 {
			info |= keyVar
		}
		if info&keyNulls != 0 {
			dst[from+keyHead+i/8] |= 1 << (i % 8)
		}
		dst = k.attrs[i].put(dst, from, v)
	}
	dst = pad(dst, from, page.Align)
	size := len(dst) - from
	if size > keySize {
		invariant.Broken("R1", "entry of index %q has %d bytes, at most %d", k.name, size, MaxKeyBytes)
	}
	le.PutUint16(dst[from+6:], uint16(info|size))
	return dst
}

// HasNull reports whether a column of the entry is null: no two such entries
// are equal to a unique index.
func HasNull(entry []byte) bool { return len(entry) >= keyHead && le.Uint16(entry[6:])&keyNulls != 0 }
