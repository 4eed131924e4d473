package row_test

import (
	"cmp"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
	"tornpage/engine/row"
)

// slowCompare is R3 on values.
func slowCompare(x *row.Index, a, b []row.Value, n int) int {
	for i := range n {
		if c := row.Compare(a[i], b[i]); c != 0 {
			if x.Columns[i].Desc {
				return -c
			}
			return c
		}
	}
	return 0
}

// TestCompare: rules R3 and R5, against values; the fast paths are among it.
func TestCompare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t)
		if len(table.Indexes) == 0 {
			table.Indexes = []row.Index{{Name: "x", Columns: []row.IndexColumn{{Column: 0, Desc: rapid.Bool().Draw(t, "desc")}}}}
		}
		x := &table.Indexes[rapid.IntRange(0, len(table.Indexes)-1).Draw(t, "index")]
		k := row.NewKey(table, x)
		ra, rb := drawRow(t, table), drawRow(t, table)
		va, vb := k.Pick(nil, ra), k.Pick(nil, rb)
		for i := range va { // equal values are what draws seldom give
			if rapid.Bool().Draw(t, "same") {
				vb[i], rb[k.Column(i)] = va[i], ra[k.Column(i)]
			}
		}
		a, b := k.AppendKey(nil, va), k.AppendKey(nil, vb)
		want := slowCompare(x, va, vb, len(va))
		require.Equal(t, want, k.Compare(a, b))
		require.Equal(t, -want, k.Compare(b, a))
		require.Equal(t, want, k.Comparator()(a, b))
		require.Equal(t, want == 0, k.Same(ra, rb))
		n := rapid.IntRange(0, len(va)).Draw(t, "prefix")
		search := k.AppendSearch(nil, va[:n])
		require.NoError(t, k.CheckKey(va[:n]))
		want = slowCompare(x, va, vb, n)
		require.Equal(t, want, k.Comparator()(search, b))
		require.Equal(t, -want, k.Comparator()(b, search))
		require.Equal(t, want, k.ComparePrefix(a, b, n))
		if n < len(va) { // a pivot that has lost its last columns is below what it was made of
			pivot := page.IndexTuple(append([]byte{}, search...))
			binary.LittleEndian.PutUint16(pivot[4:], uint16(n))
			require.Equal(t, n, pivot.Attrs())
			require.Equal(t, cmp.Or(want, -1), k.Comparator()(pivot, b))
			require.Equal(t, -cmp.Or(want, -1), k.Comparator()(b, pivot))
			require.Zero(t, k.Compare(pivot, pivot))
		}
	})
}

// TestComparatorAgainstCompare: the fast comparators are Compare, whatever the
// bytes: entries, pivots with and without their column, nulls, damage.
func TestComparatorAgainstCompare(t *testing.T) {
	table := &row.Table{Name: "t", Columns: []row.Column{{Name: "a", Type: row.Int4}, {Name: "b", Type: row.Int8}, {Name: "c", Type: row.Timestamp}}}
	rapid.Check(t, func(t *rapid.T) {
		column := rapid.IntRange(0, 2).Draw(t, "column")
		k := row.NewKey(table, &row.Index{Name: "x", Columns: []row.IndexColumn{{Column: column, Desc: rapid.Bool().Draw(t, "desc")}}})
		draw := func(label string) []byte {
			b := make([]byte, rapid.SampledFrom([]int{0, 7, 8, 12, 15, 16, 16, 16, 24}).Draw(t, label))
			if len(b) >= 8 {
				binary.LittleEndian.PutUint16(b[4:], rapid.SampledFrom([]uint16{0, 1, 1, 2, 0x1001, 0x8000, 0x8001}).Draw(t, "offset"))
				binary.LittleEndian.PutUint16(b[6:], rapid.SampledFrom([]uint16{0, 0, 0x2000, 0x2000, 0x8000, 0xA000}).Draw(t, "info")|uint16(len(b)))
			}
			for i := 8; i < len(b); i++ {
				b[i] = rapid.SampledFrom([]byte{0, 0, 1, 0x7F, 0x80, 0xFF}).Draw(t, "byte")
			}
			return b
		}
		a, b := draw("a"), draw("b")
		require.Equal(t, k.Compare(a, b), k.Comparator()(a, b), "%x %x", a, b)
	})
}

// TestPivots: pivots with a heap TID, and the one below everything.
func TestPivots(t *testing.T) {
	a := accounts()
	k := row.NewKey(a, a.Primary())
	five, six := k.AppendKey(nil, []row.Value{row.NewInt4(5)}), k.AppendKey(nil, []row.Value{row.NewInt4(6)})
	pivot := page.AppendPivot(nil, five, 1, &page.TID{Block: 7, Offset: 1})
	compare := k.Comparator()
	require.Zero(t, compare(pivot, five))
	require.Equal(t, -1, compare(pivot, six))
	values, err := k.Decode(pivot, nil)
	require.NoError(t, err)
	require.Equal(t, []row.Value{row.NewInt4(5)}, values)
	infinite := page.MinusInfinity(3)
	least := k.AppendKey(nil, []row.Value{row.NewInt4(-1 << 31)})
	require.Equal(t, -1, compare(infinite[:], least))
	require.Equal(t, 1, compare(least, infinite[:]))
	require.NoError(t, k.Validate(infinite[:]))
	all := k.AppendSearch(nil, nil)
	require.Zero(t, compare(all, least))
	require.Zero(t, compare(six, all))

	desc := row.NewKey(a, &row.Index{Name: "d", Columns: []row.IndexColumn{{Column: 1, Desc: true}}})
	null := desc.AppendKey(nil, []row.Value{row.Null()})
	require.True(t, row.HasNull(null))
	require.False(t, row.HasNull(five))
	require.Equal(t, -1, desc.Compare(null, five), "nulls first")
	require.Equal(t, -1, desc.Compare(infinite[:], null), "R4")
	require.Equal(t, 1, row.NewKey(a, &row.Index{Name: "a", Columns: []row.IndexColumn{{Column: 1}}}).Compare(null, five), "nulls last")
}

func fuzzKey() (*row.Table, *row.Key) {
	table := &row.Table{Name: "t", Columns: []row.Column{{Name: "a", Type: row.Bool}, {Name: "b", Type: row.Text},
		{Name: "c", Type: row.Int8}, {Name: "d", Type: row.Char, Len: 3}, {Name: "e", Type: row.Int4}}}
	return table, row.NewKey(table, &row.Index{Name: "x", Columns: []row.IndexColumn{{Column: 0}, {Column: 1, Desc: true}, {Column: 2}, {Column: 3}, {Column: 4}}})
}

// FuzzKey: no bytes make Compare or Decode panic; Compare is antisymmetric, and
// what Decode accepts is encoded to what is equal.
func FuzzKey(f *testing.F) {
	_, k := fuzzKey()
	full := []row.Value{row.NewBool(true), row.NewText("some"), row.NewInt8(-1), row.NewChar("ab"), row.NewInt4(7)}
	long := append([]row.Value{}, full...)
	long[1] = row.NewText(string(make([]byte, 200)))
	nulls := append([]row.Value{}, full...)
	nulls[0], nulls[2] = row.Null(), row.Null()
	f.Add(k.AppendKey(nil, full), k.AppendKey(nil, long))
	f.Add(k.AppendKey(nil, nulls), k.AppendSearch(nil, full[:2]))
	f.Add(page.AppendPivot(nil, k.AppendKey(nil, full), 5, &page.TID{Block: 1, Offset: 2}), []byte{0, 0, 0, 0, 0, 0, 0, 0xe0})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		require.Equal(t, -k.Compare(a, b), k.Compare(b, a))
		_ = k.Comparator()(a, b)
		values, err := k.Decode(a, nil)
		require.Equal(t, err == nil, k.Validate(a) == nil)
		if err != nil || len(values) != k.Columns() {
			return
		}
		again := k.AppendKey(nil, values)
		require.NoError(t, k.Validate(again))
		require.Zero(t, k.Compare(a, again))
	})
}

// FuzzTuple: no bytes make Decode panic, and R2.
func FuzzTuple(f *testing.F) {
	table, _ := fuzzKey()
	s := row.NewSchema(table)
	f.Add([]byte(s.AppendTuple(nil, 1, []row.Value{row.NewBool(true), row.NewText("some"), row.NewInt8(-1), row.NewChar("ab"), row.NewInt4(7)})))
	f.Add([]byte(s.AppendTuple(nil, 1, []row.Value{row.Null(), row.NewText(string(make([]byte, 200))), row.Null(), row.Null(), row.NewInt4(7)})))
	f.Fuzz(func(t *testing.T, b []byte) {
		values, err := s.Decode(b, nil)
		for i := range s.Columns() {
			v, errColumn := s.DecodeColumn(b, i)
			if err == nil {
				require.NoError(t, errColumn)
				require.Equal(t, values[i], v)
			}
		}
		if err != nil || s.Check(values) != nil { // a fuzzed tuple may be longer than a page
			return
		}
		again, err := s.Decode(s.AppendTuple(nil, 1, values), nil)
		require.NoError(t, err)
		requireEqual(t, values, again)
	})
}

// TestHas: a column that is not in the key changes nothing about it.
func TestHas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t)
		if len(table.Indexes) == 0 {
			table.Indexes = []row.Index{{Name: "x", Columns: []row.IndexColumn{{Column: 0}}}}
		}
		k := row.NewKey(table, &table.Indexes[rapid.IntRange(0, len(table.Indexes)-1).Draw(t, "index")])
		a, b := drawRow(t, table), drawRow(t, table)
		for c := range b {
			if k.Has(c) {
				b[c] = a[c]
			}
		}
		require.True(t, k.Same(a, b))
		has := 0
		for c := range b {
			if k.Has(c) {
				has++
			}
		}
		require.Positive(t, has)
	})
}
