package row_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
	"tornpage/engine/row"
)

// largest is a table at all limits but the row's.
func largest() *row.Table {
	name := func(i int) string { return fmt.Sprintf("%063d", i) }
	t := &row.Table{Name: name(0), Fill: 100}
	for i := range row.MaxColumns {
		t.Columns = append(t.Columns, row.Column{Name: name(i), Type: row.Bool, NotNull: true})
	}
	for i := range row.MaxIndexes {
		x := row.Index{Name: name(i), Fill: 10}
		for j := range row.MaxKey {
			x.Columns = append(x.Columns, row.IndexColumn{Column: j, Desc: true})
		}
		t.Indexes = append(t.Indexes, x)
	}
	return t
}

// TestDefinition: each limit, from its legal side by largest and accounts.
func TestDefinition(t *testing.T) {
	require.NoError(t, largest().Validate())
	require.NoError(t, accounts().Validate())
	for _, c := range []struct {
		edit func(*row.Table)
		want string
	}{
		{func(t *row.Table) { t.Name = "" }, `name of table "" has 0 bytes, want 1 to 63`},
		{func(t *row.Table) { t.Columns[1].Name = strings.Repeat("x", 64) }, "has 64 bytes, want 1 to 63"},
		{func(t *row.Table) { t.Columns = nil }, "has 0 columns, want 1 to 64; split the table"},
		{func(t *row.Table) { t.Columns = make([]row.Column, 65) }, "has 65 columns, want 1 to 64"},
		{func(t *row.Table) { t.Columns[1].Name = "aid" }, `columns 0 and 1 of table "pgbench_accounts" are both named "aid"; rename one`},
		{func(t *row.Table) { t.Columns[1].Type = 0 }, `column "bid" has null, want int4`},
		{func(t *row.Table) { t.Columns[1].Type = 8 }, `column "bid" has type 8, want int4`},
		{func(t *row.Table) { t.Columns[1].Len = 8 }, `column "bid" is int4 with a length of 8; only char has one`},
		{func(t *row.Table) { t.Columns[3].Len = 0 }, `column "filler" is char(0), want 1 to 8132; use text`},
		{func(t *row.Table) { t.Columns[3].Len, t.Columns[3].NotNull = 8132, true }, "has at least 8164 bytes, header included, at most 8160"},
		{func(t *row.Table) { t.Fill = 9 }, "is 9 percent, want 10 to 100, or 0 for the default"},
		{func(t *row.Table) { t.Indexes = make([]row.Index, 17) }, "has 17 indexes, at most 16; drop some"},
		{func(t *row.Table) { t.Indexes = append(t.Indexes, t.Indexes[0]) }, "have one name or are both primary; rename or drop one"},
		{func(t *row.Table) { t.Indexes[0].Unique = false }, "is primary and not unique"},
		{func(t *row.Table) { t.Columns[0].NotNull = false }, `column "aid" of primary key "pgbench_accounts_pkey" may be null; make it NOT NULL`},
		{func(t *row.Table) { t.Indexes[0].Columns = nil }, "has 0 columns, want 1 to 8"},
		{func(t *row.Table) { t.Indexes[0].Columns[0].Column = 4 }, `column 0 of index "pgbench_accounts_pkey" is number 4 of table "pgbench_accounts", which has 4`},
		{func(t *row.Table) {
			t.Indexes[0].Columns = append(t.Indexes[0].Columns, row.IndexColumn{Column: 0, Desc: true})
		}, `has column "aid" twice`},
		{func(t *row.Table) {
			t.Columns[3] = row.Column{Name: "f", Type: row.Char, Len: 2700, NotNull: true}
			t.Indexes[0].Columns[0].Column = 3
		}, "has at least 2712 bytes, at most 2704; leave out a column"},
	} {
		table := accounts()
		c.edit(table)
		err := table.Validate()
		require.ErrorIs(t, err, row.ErrDefinition)
		require.ErrorContains(t, err, c.want)
	}
}

func TestLookup(t *testing.T) {
	a := accounts()
	require.Equal(t, &a.Indexes[0], a.Index(""))
	require.Equal(t, &a.Indexes[0], a.Index("pgbench_accounts_pkey"))
	require.Nil(t, a.Index("other"))
	require.Nil(t, history().Index(""))
	require.Equal(t, 2, a.Column("abalance"))
	require.Equal(t, -1, a.Column("x"))
}

// TestDefinitionCodec: what is stored is read back; a flipped bit or a cut is
// an error that says where.
func TestDefinitionCodec(t *testing.T) {
	big := row.AppendTable(nil, largest())
	require.Len(t, big, row.MaxDefinition)
	require.LessOrEqual(t, len(big), page.MaxTupleData-100, "R6")
	got, err := row.DecodeTable(big)
	require.NoError(t, err)
	require.Equal(t, largest(), got)
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t)
		b := row.AppendTable([]byte("before"), table)[6:]
		got, err := row.DecodeTable(b)
		require.NoError(t, err)
		require.Equal(t, table, got)
		bit := rapid.IntRange(0, 8*len(b)-1).Draw(t, "bit")
		b[bit/8] ^= 1 << (bit % 8)
		_, err = row.DecodeTable(b)
		require.ErrorAs(t, err, new(*row.DefError))
		require.ErrorContains(t, err, "restore the catalog")
		b[bit/8] ^= 1 << (bit % 8)
		_, err = row.DecodeTable(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")])
		require.ErrorAs(t, err, new(*row.DefError))
		for i := range table.Indexes {
			b := row.AppendIndexDef(nil, &table.Indexes[i])
			x, n, err := row.DecodeIndexDef(append(b, 1, 2))
			require.NoError(t, err)
			require.Equal(t, len(b), n)
			require.Equal(t, table.Indexes[i], x)
			_, _, err = row.DecodeIndexDef(b[:len(b)-1])
			require.Error(t, err)
		}
	})
}

// FuzzDefinition: no bytes make the decoder panic, past the checksum too; what
// it accepts is valid and is stored as it was.
func FuzzDefinition(f *testing.F) {
	f.Add(row.AppendTable(nil, accounts()), false)
	f.Add(row.AppendTable(nil, largest())[8:], true)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		if seal {
			b = row.Sealed(b)
		}
		table, err := row.DecodeTable(b)
		if err != nil {
			require.True(t, errors.As(err, new(*row.DefError)) || errors.Is(err, row.ErrDefinition))
			return
		}
		require.NoError(t, table.Validate())
		require.Equal(t, b, row.AppendTable(nil, table))
	})
}
