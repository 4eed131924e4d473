package row_test

import (
	"testing"

	"tornpage/engine/row"
)

func BenchmarkRow(b *testing.B) {
	s := row.NewSchema(accounts())
	in := []row.Value{row.NewInt4(1), row.NewInt4(1), row.NewInt4(0), row.NewChar("")}
	var buf []byte
	var out []row.Value
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			buf = s.AppendTuple(buf[:0], 1, in)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			out, _ = s.Decode(buf, out[:0])
		}
	})
	b.Run("column", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			_, _ = s.DecodeColumn(buf, 2)
		}
	})
}

func BenchmarkCompare(b *testing.B) {
	table := &row.Table{Name: "t", Columns: []row.Column{{Name: "a", Type: row.Int4}, {Name: "b", Type: row.Text}}}
	for _, c := range []struct {
		name string
		key  []row.IndexColumn
		a, b []row.Value
	}{
		{"int4", []row.IndexColumn{{Column: 0}}, []row.Value{row.NewInt4(1)}, []row.Value{row.NewInt4(2)}},
		{"text", []row.IndexColumn{{Column: 1}}, []row.Value{row.NewText("some text")}, []row.Value{row.NewText("some more")}},
		{"int4,text", []row.IndexColumn{{Column: 0}, {Column: 1}}, []row.Value{row.NewInt4(1), row.NewText("a")}, []row.Value{row.NewInt4(1), row.NewText("b")}},
	} {
		b.Run(c.name, func(b *testing.B) {
			k := row.NewKey(table, &row.Index{Name: "x", Columns: c.key})
			x, y, compare := k.AppendKey(nil, c.a), k.AppendKey(nil, c.b), k.Comparator()
			b.ReportAllocs()
			for range b.N {
				compare(x, y)
			}
		})
	}
}
