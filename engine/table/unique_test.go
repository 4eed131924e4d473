package table

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
	"tornpage/engine/row"
)

// The behaviour of tables is tested through sessions, in engine/compute: that
// is where transactions are.

// TestKeyHash: equal keys have equal hashes, whatever row they are of, so that
// two inserts of one key meet at one lock (rule R3). Different keys of these
// lengths do not share a lock often.
func TestKeyHash(t *testing.T) {
	def := &row.Table{Name: "t", Columns: []row.Column{{Name: "a", Type: row.Int4}, {Name: "b", Type: row.Char, Len: 6}, {Name: "c", Type: row.Text}},
		Indexes: []row.Index{{Name: "k", Columns: []row.IndexColumn{{Column: 2}, {Column: 1, Desc: true}, {Column: 0}}, Unique: true}}}
	require.NoError(t, def.Validate())
	key := row.NewKey(def, &def.Indexes[0])
	seen := map[uint64]string{}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 6, 6).Draw(t, "char")
		values := []row.Value{
			row.NewInt4(rapid.Int32().Draw(t, "int")), row.NewChar(text), row.NewText(rapid.StringN(0, 20, 40).Draw(t, "text")),
		}
		entry := key.AppendRow(nil, values)
		page.IndexTuple(entry).SetTID(page.TID{Block: 7, Offset: 9})
		values[1] = row.NewChar(text + "      "[:6-len(text)]) // padded
		again := key.AppendRow(nil, values)
		require.Zero(t, key.Compare(entry, again))
		require.Equal(t, hash(entry), hash(again))

		name := string(again[6:])
		if other, there := seen[hash(again)]; there {
			require.Equal(t, other, name, "two keys, one hash")
		}
		seen[hash(again)] = name
	})
}

// TestApply: assignments take effect in order, and each on what the one before
// has left.
func TestApply(t *testing.T) {
	def := &row.Table{Name: "t", Columns: []row.Column{{Name: "n", Type: row.Int4}, {Name: "m", Type: row.Int8}}}
	tab := &Table{def: def}
	v := []row.Value{row.NewInt4(5), row.Null()}
	require.NoError(t, tab.apply(v, []Set{{Column: 0, Add: true, Value: row.NewInt4(2)}, {Column: 0, Add: true, Value: row.NewInt4(-10)},
		{Column: 1, Add: true, Value: row.NewInt8(1)}}))
	require.Equal(t, row.NewInt4(-3), v[0])
	require.True(t, v[1].IsNull(), "null plus anything is null")
	require.ErrorIs(t, tab.apply(v, []Set{{Column: 2}}), row.ErrType)
	require.ErrorIs(t, tab.apply(v, []Set{{Column: 0, Add: true, Value: row.NewInt8(1)}}), row.ErrType)
	v[0] = row.NewInt4(1 << 30)
	require.ErrorIs(t, tab.apply(v, []Set{{Column: 0, Add: true, Value: row.NewInt4(1 << 30)}}), row.ErrRange)
}
