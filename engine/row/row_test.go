package row_test

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/row"
)

// accounts and history are pgbench's tables.
func accounts() *row.Table {
	return &row.Table{Name: "pgbench_accounts", Fill: 100, Columns: []row.Column{
		{Name: "aid", Type: row.Int4, NotNull: true}, {Name: "bid", Type: row.Int4},
		{Name: "abalance", Type: row.Int4}, {Name: "filler", Type: row.Char, Len: 84},
	}, Indexes: []row.Index{{Name: "pgbench_accounts_pkey", Unique: true, Primary: true, Columns: []row.IndexColumn{{Column: 0}}}}}
}

func history() *row.Table {
	return &row.Table{Name: "pgbench_history", Columns: []row.Column{
		{Name: "tid", Type: row.Int4}, {Name: "bid", Type: row.Int4}, {Name: "aid", Type: row.Int4},
		{Name: "delta", Type: row.Int4}, {Name: "mtime", Type: row.Timestamp}, {Name: "filler", Type: row.Char, Len: 22},
	}}
}

// TestSizes: bytes of data by rows of real tables. A Heap/INSERT record has 55
// bytes more (152, 63, 257, 1,067, 79 and 79 in the logs of PostgreSQL 15).
func TestSizes(t *testing.T) {
	i := row.NewInt4
	wide := &row.Table{Name: "w", Columns: []row.Column{{Name: "a", Type: row.Int4}, {Name: "b", Type: row.Int4}, {Name: "c", Type: row.Text}}}
	narrow := &row.Table{Name: "n", Columns: wide.Columns[:2]}
	text := &row.Table{Name: "t", Columns: wide.Columns[2:]}
	for _, c := range []struct {
		table *row.Table
		row   []row.Value
		want  int
	}{
		{accounts(), []row.Value{i(1), i(1), i(0), row.NewChar("")}, 152 - 55},
		{narrow, []row.Value{i(1), i(2)}, 63 - 55},
		{wide, []row.Value{i(1), i(2), row.NewText(strings.Repeat("x", 190))}, 257 - 55},
		{wide, []row.Value{i(1), i(2), row.NewText(strings.Repeat("x", 1000))}, 1067 - 55},
		{history(), []row.Value{i(1), i(2), i(3), i(4), row.NewTimestamp(5), row.Null()}, 79 - 55},
		{text, []row.Value{row.NewText(strings.Repeat("k", 23))}, 79 - 55},
	} {
		require.NoError(t, c.table.Validate())
		s := row.NewSchema(c.table)
		require.NoError(t, s.Check(c.row))
		tuple := s.AppendTuple(nil, 7, c.row)
		require.Equal(t, page.TupleHoff, tuple.Hoff(), c.table.Name)
		require.Len(t, tuple.Data(), c.want, c.table.Name)
		require.Equal(t, s.Size(c.row), len(tuple))
	}
	ix := &row.Index{Name: "x", Columns: []row.IndexColumn{{Column: 0}}}
	require.Len(t, row.NewKey(accounts(), ix).AppendKey(nil, []row.Value{i(1)}), 16, "as in INSERT_LEAF of 64 bytes")
	require.Len(t, row.NewKey(text, ix).AppendKey(nil, []row.Value{row.NewText(strings.Repeat("k", 23))}), 32, "of 80 bytes")
}

// TestRealTuples: bytes that a PostgreSQL 15.18 server logged (pgbench, TPC-B,
// transaction 2,407): the heap tuple from its bitmap on, and the index entry.
func TestRealTuples(t *testing.T) {
	s := row.NewSchema(history())
	tuple := s.AppendTuple([]byte("something before"), 2407, []row.Value{row.NewInt4(71), row.NewInt4(9), row.NewInt4(258516),
		row.NewInt4(-4131), row.NewTimestamp(0x0003_0483_3d35_6e80), row.Null()})
	require.Equal(t, "1f4700000009000000d4f10300ddefffff806e353d83040300", hex.EncodeToString(tuple[page.TupleHeader:]))
	require.EqualValues(t, 2407, tuple.Xmin())
	require.EqualValues(t, 6, tuple.Infomask2())
	require.EqualValues(t, 0x0801, tuple.Infomask())
	require.Equal(t, 0x18, tuple.Hoff())

	a := accounts()
	k := row.NewKey(a, a.Primary())
	entry := page.IndexTuple(k.AppendKey(nil, []row.Value{row.NewInt4(258516)}))
	require.Equal(t, "0000000000001000d4f1030000000000", hex.EncodeToString(entry))
	entry.SetTID(page.TID{Block: 0x4022, Offset: 0x32})
	require.Equal(t, "0000224032001000d4f1030000000000", hex.EncodeToString(entry))
	require.NoError(t, k.Validate(entry))
}

// drawTable draws a valid definition; the first column cannot be null, so that
// there may be a primary key.
func drawTable(t *rapid.T) *row.Table {
	table := &row.Table{Name: "t", Fill: rapid.SampledFrom([]int{0, 10, 100}).Draw(t, "fill")}
	for i := range rapid.IntRange(1, 12).Draw(t, "columns") {
		c := row.Column{Name: string(rune('a' + i)), Type: row.Type(rapid.IntRange(1, 7).Draw(t, "type")),
			NotNull: i == 0 || rapid.Bool().Draw(t, "not null")}
		if c.Type == row.Char {
			c.Len = rapid.SampledFrom([]int{1, 3, 125, 126, 127, 130}).Draw(t, "len")
		}
		table.Columns = append(table.Columns, c)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "indexes") {
		x := row.Index{Name: string(rune('x' + i)), Primary: i == 0, Unique: i == 0 || rapid.Bool().Draw(t, "unique")}
		columns := rapid.Permutation(upTo(len(table.Columns))).Draw(t, "key columns")
		if i == 0 {
			columns = []int{0}
		}
		for _, c := range columns[:min(len(columns), rapid.IntRange(1, row.MaxKey).Draw(t, "key"))] {
			x.Columns = append(x.Columns, row.IndexColumn{Column: c, Desc: rapid.Bool().Draw(t, "desc")})
		}
		table.Indexes = append(table.Indexes, x)
	}
	return table
}

func upTo(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

var smallText = rapid.OneOf(rapid.StringOfN(rapid.SampledFrom([]rune("ab \x00")), 0, 4, -1),
	rapid.StringOfN(rapid.Just('x'), 123, 130, -1))

func drawValue(t *rapid.T, c *row.Column) row.Value {
	if !c.NotNull && rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		return row.Null()
	}
	switch c.Type {
	case row.Int4:
		return row.NewInt4(rapid.OneOf(rapid.Int32Range(-2, 2), rapid.Int32()).Draw(t, "int4"))
	case row.Int8:
		return row.NewInt8(rapid.OneOf(rapid.Int64Range(-2, 2), rapid.Int64()).Draw(t, "int8"))
	case row.Timestamp:
		return row.NewTimestamp(rapid.Int64().Draw(t, "timestamp"))
	case row.Bool:
		return row.NewBool(rapid.Bool().Draw(t, "bool"))
	case row.Text:
		return row.NewText(smallText.Draw(t, "text"))
	case row.Char:
		s := smallText.Draw(t, "char")
		return row.NewChar(s[:min(len(s), c.Len)])
	}
	return row.NewBytea([]byte(smallText.Draw(t, "bytea")))
}

func drawRow(t *rapid.T, table *row.Table) (out []row.Value) {
	for i := range table.Columns {
		out = append(out, drawValue(t, &table.Columns[i]))
	}
	return out
}

func requireEqual(t require.TestingT, want, got []row.Value) {
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Kind, got[i].Kind, "%d", i)
		require.Zero(t, row.Compare(want[i], got[i]), "%d: %v, want %v", i, got[i], want[i])
	}
}

// TestRoundTrip: rule R2, for whole rows and for each column.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t)
		require.NoError(t, table.Validate())
		s, want := row.NewSchema(table), drawRow(t, table)
		require.NoError(t, s.Check(want))
		tuple := s.AppendTuple(make([]byte, rapid.IntRange(0, 9).Draw(t, "before")), 9, want)
		require.Equal(t, s.Size(want), len(tuple))
		got, err := s.Decode(tuple, nil)
		require.NoError(t, err)
		requireEqual(t, want, got)
		for i := range want {
			v, err := s.DecodeColumn(tuple, i)
			require.NoError(t, err)
			require.Equal(t, got[i], v)
		}
		require.NoError(t, s.Check(got))
		require.Equal(t, tuple, s.AppendTuple(nil, 9, got))
		for i := range table.Indexes {
			k := row.NewKey(table, &table.Indexes[i])
			require.NoError(t, k.Check(want))
			entry := k.AppendRow(nil, want)
			key, err := k.Decode(entry, nil)
			require.NoError(t, err)
			requireEqual(t, k.Pick(nil, want), key)
			require.Zero(t, len(entry)%page.Align)
			require.Equal(t, entry, k.AppendKey(nil, key))
		}
	})
}

// TestDamage: any change of a tuple's length or header is noticed or harmless,
// and nothing panics.
func TestDamage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t)
		s, values := row.NewSchema(table), drawRow(t, table)
		tuple := s.AppendTuple(nil, 9, values)
		cut := rapid.IntRange(0, len(tuple)-1).Draw(t, "cut")
		_, err := s.Decode(tuple[:cut], nil)
		require.Error(t, err)
		_, err = s.Decode(append(append(page.Tuple{}, tuple...), 0), nil)
		require.Error(t, err)
		for i := range values {
			_, _ = s.DecodeColumn(tuple[:cut], i)
		}
		at := rapid.IntRange(0, len(tuple)-1).Draw(t, "at")
		tuple[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "xor"))
		got, err := s.Decode(tuple, nil)
		if err != nil {
			require.Contains(t, err.Error(), "restore the page")
			return
		}
		require.NoError(t, s.Check(got))
	})
}

func TestCheck(t *testing.T) {
	table := &row.Table{Name: "t", Columns: []row.Column{{Name: "a", Type: row.Int4, NotNull: true},
		{Name: "b", Type: row.Char, Len: 3}, {Name: "c", Type: row.Text}},
		Indexes: []row.Index{{Name: "x", Columns: []row.IndexColumn{{Column: 2}}}}}
	s, k := row.NewSchema(table), row.NewKey(table, &table.Indexes[0])
	one, char := row.NewInt4(1), row.NewChar("x")
	long := func(n int) row.Value { return row.NewText(strings.Repeat("x", n)) }
	for _, c := range []struct {
		values []row.Value
		is     error
		text   string
	}{
		{[]row.Value{one, char, row.Null()}, nil, ""},
		{[]row.Value{row.Null(), char, row.Null()}, row.ErrNull, `column "a": null in a NOT NULL column; give a value`},
		{[]row.Value{row.NewInt8(1), char, row.Null()}, row.ErrType, `column "a" is int4, the value int8: wrong type`},
		{[]row.Value{{Kind: row.Int4, N: 1 << 40}, char, row.Null()}, row.ErrRange, `column "a" is int4, the value 1099511627776: out of range`},
		{[]row.Value{one, row.NewChar("xxxx"), row.Null()}, row.ErrLimit, `column "b" is char(3), the value has 4 bytes: too long`},
		{[]row.Value{one}, row.ErrType, `1 values for the 3 columns of table "t": wrong type`},
		{[]row.Value{one, row.Null(), long(page.MaxTupleSize - 24 - 8)}, nil, ""},
		{[]row.Value{one, row.Null(), long(page.MaxTupleSize - 24 - 7)}, row.ErrLimit,
			`row of table "t" has 8161 bytes, header included, at most 8160: too long; split it over several rows`},
	} {
		err := s.Check(c.values)
		require.ErrorIs(t, err, c.is)
		if c.is != nil {
			require.EqualError(t, err, c.text)
		}
	}
	require.NoError(t, k.Check([]row.Value{one, char, long(2704 - 8 - 4)}))
	require.EqualError(t, k.Check([]row.Value{one, char, long(2704 - 8 - 3)}),
		`entry of index "x" has 2712 bytes, at most 2704: too long; index a shorter column`)
	require.NoError(t, k.CheckKey([]row.Value{long(5000)}))
	require.ErrorIs(t, k.CheckKey([]row.Value{long(9000)}), row.ErrLimit)
	require.ErrorIs(t, k.CheckKey([]row.Value{char, char}), row.ErrType)
	require.ErrorIs(t, k.CheckKey([]row.Value{one}), row.ErrType)
	require.ErrorIs(t, s.CheckColumn(3, &one), row.ErrType)
	var broken *invariant.Violation
	func() {
		defer func() { broken, _ = recover().(*invariant.Violation) }()
		s.AppendTuple(nil, 1, []row.Value{char, char, char})
	}()
	require.NotNil(t, broken)
	require.Equal(t, "R1", broken.Rule)
}

func TestAdd(t *testing.T) {
	v, err := row.Add(row.NewInt4(5), row.NewInt4(-7))
	require.NoError(t, err)
	require.Equal(t, row.NewInt4(-2), v)
	v, err = row.Add(row.Null(), row.NewInt4(1))
	require.NoError(t, err)
	require.True(t, v.IsNull())
	_, err = row.Add(row.NewInt4(math.MaxInt32), row.NewInt4(1))
	require.EqualError(t, err, "2147483647 plus 1: int4 out of range; use a wider column")
	for _, c := range [][2]int64{{math.MaxInt64, 1}, {math.MinInt64, -1}, {math.MinInt64, math.MinInt64}} {
		_, err = row.Add(row.NewInt8(c[0]), row.NewInt8(c[1]))
		require.ErrorIs(t, err, row.ErrRange)
	}
	_, err = row.Add(row.NewInt8(1), row.NewInt4(1))
	require.ErrorIs(t, err, row.ErrType)
	v, err = row.Add(row.NewInt8(math.MinInt64), row.NewInt8(math.MaxInt64))
	require.NoError(t, err)
	require.EqualValues(t, -1, v.N)
}

func TestValueString(t *testing.T) {
	for want, v := range map[string]row.Value{"null": row.Null(), "-5": row.NewInt4(-5), `"a\n"`: row.NewText("a\n"), `"a"`: row.NewChar("a  "),
		`\x00ff`: row.NewBytea([]byte{0, 255}), "true": row.NewBool(true), "7": row.NewTimestamp(7)} {
		require.Equal(t, want, v.String())
	}
	require.Equal(t, "char", row.Char.String())
	require.Equal(t, "type 99", row.Type(99).String())
}
