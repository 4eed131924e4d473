package heap

import (
	"encoding/binary"
	"fmt"

	"tornpage/engine/page"
)

var le = binary.LittleEndian

const (
	keySize   = 8       // int8
	shortMax  = 0x7F    // largest total of a varlena with a 1-byte header (VARATT_SHORT_MAX)
	longHead  = 4       // header of a longer one
	rowAtts   = 2       // key, value
	maxLong   = 1 << 30 // a varlena's length has 30 bits
	updateEnd = 2       // versions of a row that must fit: the present and the next
	rowLines  = 3       // line pointers of a row: the redirect and two versions
)

// AppendRow appends a row's user data: key, then value as a varlena, with the
// 1-byte header where it is short enough.
func AppendRow(dst []byte, key int64, value []byte) []byte {
	dst = le.AppendUint64(dst, uint64(key))
	if n := len(value) + 1; n <= shortMax {
		dst = append(dst, byte(n<<1|1))
	} else {
		dst = le.AppendUint32(dst, uint32(len(value)+longHead)<<2)
	}
	return append(dst, value...)
}

// RowSize is the length of AppendRow's data for a value of n bytes.
func RowSize(n int) int {
	if n+1 <= shortMax {
		return keySize + 1 + n
	}
	return keySize + longHead + n
}

// ParseRow takes a tuple's user data apart; value points into it. False: the
// data is no row.
func ParseRow(b []byte) (key int64, value []byte, ok bool) {
	if len(b) < keySize+1 {
		return 0, nil, false
	}
	key = int64(le.Uint64(b))
	b = b[keySize:]
	if b[0]&1 == 1 {
		n := int(b[0] >> 1)
		return key, b[1:], n == len(b)
	}
	if len(b) < longHead {
		return 0, nil, false
	}
	n := le.Uint32(b)
	return key, b[longHead:], n&3 == 0 && n>>2 < maxLong && int(n>>2) == len(b)
}

// Geometry is how a table lies on its pages.
type Geometry struct {
	Rows        int64 // keys 0 to Rows-1
	RowsPerPage int64 // consecutive keys on a page
	ValueBytes  int   // the longest value
	Lines       int   // line pointers a page may grow to (rule E4)
}

// NewGeometry checks the numbers. rowsPerPage 0: as many as fit in two
// versions of the largest size.
func NewGeometry(rows, rowsPerPage int64, valueBytes int) (Geometry, error) {
	tuple := page.RoundUp(page.TupleHoff + RowSize(valueBytes))
	room := page.Size - page.HeaderSize
	most := min(room/(updateEnd*tuple+rowLines*page.ItemIDSize), page.MaxHeapTuples/rowLines)
	if rows < 1 || valueBytes < 0 || most < 1 {
		return Geometry{}, fmt.Errorf("table of %d rows with values up to %d bytes: want at least one row, and two versions of it on a page", rows, valueBytes)
	}
	if rowsPerPage == 0 {
		rowsPerPage = int64(most)
	}
	if rowsPerPage < 1 || rowsPerPage > int64(most) {
		return Geometry{}, fmt.Errorf("%d rows a page with values up to %d bytes: want 1 to %d, so that two versions of each fit", rowsPerPage, valueBytes, most)
	}
	if blocks := (rows-1)/rowsPerPage + 1; blocks > 1<<32-1 {
		return Geometry{}, fmt.Errorf("%d rows at %d a page need %d blocks, want below 2^32", rows, rowsPerPage, blocks)
	}
	lines := (room - updateEnd*tuple*int(rowsPerPage)) / page.ItemIDSize
	return Geometry{Rows: rows, RowsPerPage: rowsPerPage, ValueBytes: valueBytes,
		Lines: min(lines, page.MaxHeapTuples)}, nil
}

// Bound lowers the number of line pointers a page may grow to, so that pages
// are pruned sooner; never below what rule E4 needs.
func (g *Geometry) Bound(lines int) {
	g.Lines = min(g.Lines, max(lines, rowLines*int(g.RowsPerPage)))
}

// Block is the home page of a key.
func (g Geometry) Block(key int64) uint32 { return uint32(key / g.RowsPerPage) }

// Blocks is the number of pages of the table.
func (g Geometry) Blocks() uint32 { return g.Block(g.Rows-1) + 1 }

// Has reports whether the table has this key.
func (g Geometry) Has(key int64) bool { return key >= 0 && key < g.Rows }
