package db_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/db"
	"tornpage/engine/row"
)

func drawCell(t *rapid.T) row.Value {
	switch k := row.Type(rapid.IntRange(0, 7).Draw(t, "type")); k {
	case row.Int4:
		return row.NewInt4(rapid.Int32().Draw(t, "int4"))
	case row.Int8, row.Timestamp:
		return row.Value{Kind: k, N: rapid.Int64().Draw(t, "n")}
	case row.Bool:
		return row.NewBool(rapid.Bool().Draw(t, "bool"))
	case row.Text, row.Bytea, row.Char:
		return row.Value{Kind: k, B: rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes")}
	}
	return row.Null()
}

func drawCells(t *rapid.T, least, most int) []row.Value {
	return rapid.SliceOfN(rapid.Custom(drawCell), least, most).Draw(t, "values")
}

func table() *row.Table {
	return &row.Table{Name: "t", Columns: []row.Column{{Name: "k", Type: row.Int4, NotNull: true}, {Name: "v", Type: row.Text}},
		Indexes: []row.Index{{Name: "t_pkey", Unique: true, Primary: true, Columns: []row.IndexColumn{{Column: 0}}}}}
}

// fillStmt draws a valid statement.
func fillStmt(t *rapid.T, s *db.Stmt) {
	name := func() string { return rapid.StringMatching("[a-z]{1,63}").Draw(t, "name") }
	some := func() bool { return rapid.Bool().Draw(t, "some") }
	switch s.Kind {
	case db.Begin:
		s.Level = db.Level(rapid.IntRange(0, 2).Draw(t, "level"))
		return
	case db.Commit, db.Rollback:
		return
	case db.Savepoint, db.RollbackTo, db.Release:
		s.Name = name()
		return
	case db.CreateTable:
		s.Def = table()
		return
	}
	s.Table = name()
	switch s.Kind {
	case db.CreateIndex:
		s.NewIndex = &row.Index{Name: name(), Unique: some(), Fill: 70, Columns: []row.IndexColumn{{Column: 1, Desc: some()}}}
	case db.Insert:
		s.Row = append(s.Row, drawCells(t, 1, row.MaxColumns)...)
	case db.Get, db.Update, db.Delete:
		s.Key = append(s.Key, drawCells(t, 1, row.MaxKey)...)
	case db.Scan:
		if s.Heap = some(); !s.Heap {
			s.From = db.Bound{Key: append(s.From.Key, drawCells(t, 0, 8)...), Inclusive: some()}
			s.To = db.Bound{Key: append(s.To.Key, drawCells(t, 0, 8)...), Inclusive: some()}
			s.Desc = some()
		}
	}
	if !s.Heap && len(s.Key) > 0 && some() {
		s.Index = name()
	}
	if s.Kind == db.Update {
		for range rapid.IntRange(1, 3).Draw(t, "sets") {
			s.Sets = append(s.Sets, db.Set{Column: rapid.IntRange(0, 63).Draw(t, "column"), Add: some(), Value: drawCell(t)})
		}
	}
	if s.Kind == db.Get || s.Kind == db.Scan {
		s.ForUpdate, s.Limit = some(), rapid.IntRange(0, 1<<31-1).Draw(t, "limit")
		s.After = append(s.After, rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "after")...)
	}
}

func drawBatch(t *rapid.T) *db.Batch {
	b := &db.Batch{ID: rapid.Uint64().Draw(t, "id")}
	for range rapid.IntRange(1, 8).Draw(t, "statements") {
		fillStmt(t, b.Add(db.Kind(rapid.IntRange(1, 16).Draw(t, "kind"))))
	}
	return b
}

// shown is a batch in words: empty and absent lists look the same.
func shown(b *db.Batch) (out []string) {
	for i := range b.Stmts {
		s := b.Stmts[i]
		def, index := s.Def, s.NewIndex
		s.Def, s.NewIndex = nil, nil
		out = append(out, fmt.Sprintf("%+v %+v %+v", s, def, index))
	}
	return out
}

func drawResults(t *rapid.T) *db.Results {
	r := &db.Results{}
	r.Reset(rapid.Uint64().Draw(t, "id"))
	r.State = db.State(rapid.IntRange(0, 2).Draw(t, "state"))
	for range rapid.IntRange(0, 4).Draw(t, "results") {
		s := r.Add()
		s.Count, s.At = rapid.IntRange(0, 1<<31-1).Draw(t, "count"), db.Token(rapid.Uint64().Draw(t, "at"))
		if rapid.Bool().Draw(t, "outcome") {
			s.Outcome = db.Outcome{Status: db.Status(rapid.IntRange(1, 3).Draw(t, "status")), Token: 7, Text: "text"}
		}
		if rapid.Bool().Draw(t, "error") {
			s.Err = &db.Error{Code: db.Code(rapid.IntRange(1, 15).Draw(t, "code")), Text: "what", Hint: rapid.StringN(0, 5, -1).Draw(t, "hint")}
			continue
		}
		columns := rapid.IntRange(1, 5).Draw(t, "columns")
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			require.True(t, r.AddRow(drawCells(t, columns, columns)))
		}
		if s.Rows() > 0 && rapid.Bool().Draw(t, "more") {
			s.More, s.Next = true, append(s.Next, "position"...)
		}
	}
	return r
}

func requireSameResults(t require.TestingT, want, got *db.Results) {
	require.Equal(t, want.ID, got.ID)
	require.Equal(t, want.State, got.State)
	require.Equal(t, want.Len(), got.Len())
	for i := range want.Len() {
		w, g := want.At(i), got.At(i)
		require.Equal(t, []any{w.Count, w.At, w.Err, w.Outcome, w.More, string(w.Next), w.Rows()},
			[]any{g.Count, g.At, g.Err, g.Outcome, g.More, string(g.Next), g.Rows()})
		for j := range w.Rows() {
			require.Equal(t, fmt.Sprint(w.Row(j)), fmt.Sprint(g.Row(j)))
		}
	}
}

// TestBatchRoundTrip: what is encoded is decoded, in memory that other messages
// have used, and any flipped bit or cut is noticed.
func TestBatchRoundTrip(t *testing.T) {
	var got db.Batch
	var gotResults db.Results
	rapid.Check(t, func(t *rapid.T) {
		b, r := drawBatch(t), drawResults(t)
		require.NoError(t, b.Validate())
		bb, rb := db.AppendBatch(nil, b), db.AppendResults(nil, r)
		require.NoError(t, db.DecodeBatch(bb, &got))
		require.Equal(t, b.ID, got.ID)
		require.Equal(t, shown(b), shown(&got))
		require.NoError(t, db.DecodeResults(rb, &gotResults))
		requireSameResults(t, r, &gotResults)

		var bad *db.CodecError
		bit := rapid.IntRange(0, 8*len(bb)-1).Draw(t, "bit")
		bb[bit/8] ^= 1 << (bit % 8)
		require.ErrorAs(t, db.DecodeBatch(bb, &db.Batch{}), &bad)
		require.ErrorAs(t, db.DecodeResults(rb[:rapid.IntRange(0, len(rb)-1).Draw(t, "cut")], &db.Results{}), &bad)
		require.ErrorAs(t, db.DecodeResults(db.AppendBatch(nil, b), &db.Results{}), &bad)
		require.ErrorAs(t, db.DecodeBatch(rb, &db.Batch{}), &bad)
	})
}

// TestAnswerBounds: rule D9: rows are cut at the bounds, each result holds one,
// and the largest answer can be sent and decoded.
func TestAnswerBounds(t *testing.T) {
	var r db.Results
	r.Reset(1)
	wide := make([]row.Value, row.MaxColumns)
	wide[0] = row.NewText(string(make([]byte, db.MaxValue)))
	total := 0
	for range db.MaxStmts {
		s := r.Add()
		rows := 0
		for r.AddRow(wide) {
			rows++
		}
		require.GreaterOrEqual(t, rows, 1)
		require.Equal(t, rows, s.Rows())
		s.More, s.Next = true, make([]byte, db.MaxPosition)
		s.Err = &db.Error{Code: db.CodeLimit, Text: string(make([]byte, 5000)), Hint: string(make([]byte, 5000))}
		s.Outcome = db.Outcome{Status: db.Aborted, Text: string(make([]byte, 5000))}
		total += rows
	}
	require.Greater(t, total, db.MaxStmts)
	b := db.AppendResults(nil, &r)
	require.LessOrEqual(t, len(b), db.MaxMessage)
	var got db.Results
	require.NoError(t, db.DecodeResults(b, &got))
	require.Equal(t, 1, got.At(db.MaxStmts-1).Rows())

	r.Reset(2)
	r.Add()
	n := 0
	for ; r.AddRow([]row.Value{row.Null()}); n++ {
		require.Less(t, n, 1<<17)
	}
	require.Equal(t, 65536-64*64, n)
	require.NoError(t, db.DecodeResults(db.AppendResults(nil, &r), &got))
	r.Reset(3)
	r.Add()
	require.True(t, r.AddText(string(make([]byte, 100_000))))
	require.Len(t, r.At(0).Row(0)[0].B, db.MaxValue)
}

func TestStmtValidate(t *testing.T) {
	one := []row.Value{row.NewInt4(1)}
	for want, s := range map[string]db.Stmt{
		"statement 0 is not known":                                {},
		"statement 99 is not known":                               {Kind: 99},
		"savepoint without name":                                  {Kind: db.Savepoint},
		"commit with table, which it has no use for":              {Kind: db.Commit, Table: "t"},
		"insert without row":                                      {Kind: db.Insert, Table: "t"},
		"get without key":                                         {Kind: db.Get, Table: "t"},
		"update without sets":                                     {Kind: db.Update, Table: "t", Key: one},
		"delete with for update, which it has no use for":         {Kind: db.Delete, Table: "t", Key: one, ForUpdate: true},
		"get with 9 key values, at most 8":                        {Kind: db.Get, Table: "t", Key: make([]row.Value, 9)},
		"insert with 65 values, at most 64":                       {Kind: db.Insert, Table: "t", Row: make([]row.Value, 65)},
		"insert with 64 bytes of table, at most 63":               {Kind: db.Insert, Table: string(make([]byte, 64)), Row: one},
		"insert: a value of type 9":                               {Kind: db.Insert, Table: "t", Row: []row.Value{{Kind: 9}}},
		"insert: int4 with the value 4294967296: out of range":    {Kind: db.Insert, Table: "t", Row: []row.Value{{Kind: row.Int4, N: 1 << 32}}},
		"insert: a value of 8193 bytes, at most 8192":             {Kind: db.Insert, Table: "t", Row: []row.Value{row.NewBytea(make([]byte, 8193))}},
		"update of column 64, want 0 to 63":                       {Kind: db.Update, Table: "t", Key: one, Sets: []db.Set{{Column: 64}}},
		"scan with a limit of -1 rows, want 0 to 2147483647":      {Kind: db.Scan, Table: "t", Limit: -1},
		"begin with level 3, at most 2":                           {Kind: db.Begin, Level: 3},
		"scan of the heap with an index, bounds or desc: only an": {Kind: db.Scan, Table: "t", Heap: true, Desc: true},
		"index of column 64, want 0 to 63":                        {Kind: db.CreateIndex, Table: "t", NewIndex: &row.Index{Columns: []row.IndexColumn{{Column: 64}}}},
		"fill factor 101; at most 63, 8, 100":                     {Kind: db.CreateIndex, Table: "t", NewIndex: &row.Index{Fill: 101}},
		"bad definition: name of table":                           {Kind: db.CreateTable, Def: &row.Table{}},
	} {
		require.ErrorContains(t, s.Validate(), want)
	}
	require.EqualError(t, (&db.Batch{}).Validate(), "0 statements, want 1 to 64")
	b := db.Batch{Stmts: make([]db.Stmt, 65)}
	require.EqualError(t, b.Validate(), "65 statements, want 1 to 64")
	b.Stmts = b.Stmts[:2]
	b.Stmts[0].Kind = db.Commit
	require.EqualError(t, b.Validate(), "statement 2: statement 0 is not known")
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		s    db.Stmt
		in   db.State
		want db.Code
	}{
		{db.Stmt{Kind: db.Begin}, db.Idle, 0},
		{db.Stmt{Kind: db.Begin}, db.Open, db.CodeRequest},
		{db.Stmt{Kind: db.Begin, Level: db.Serializable}, db.Idle, db.CodeNotSupported},
		{db.Stmt{Kind: db.Insert}, db.Idle, 0},
		{db.Stmt{Kind: db.Insert}, db.Open, 0},
		{db.Stmt{Kind: db.Insert}, db.Failed, db.CodeFailedBlock},
		{db.Stmt{Kind: db.Savepoint}, db.Failed, db.CodeFailedBlock},
		{db.Stmt{Kind: db.Savepoint}, db.Idle, db.CodeRequest},
		{db.Stmt{Kind: db.Commit}, db.Idle, db.CodeRequest},
		{db.Stmt{Kind: db.Commit}, db.Failed, 0},
		{db.Stmt{Kind: db.Rollback}, db.Failed, 0},
		{db.Stmt{Kind: db.RollbackTo}, db.Failed, 0},
		{db.Stmt{Kind: db.RollbackTo}, db.Idle, db.CodeRequest},
		{db.Stmt{Kind: db.Vacuum}, db.Open, db.CodeRequest},
		{db.Stmt{Kind: db.Vacuum}, db.Idle, 0},
	} {
		err := c.s.Refused(c.in)
		if c.want == 0 {
			require.Nil(t, err, "%v when %v", c.s.Kind, c.in)
			continue
		}
		require.NotNil(t, err, "%v when %v", c.s.Kind, c.in)
		require.Equal(t, c.want, err.Code)
	}
}

func seedBatch() *db.Batch {
	b := &db.Batch{ID: 3}
	b.Add(db.Begin).Level = db.RepeatableRead
	b.Add(db.CreateTable).Def = table()
	s := b.Add(db.CreateIndex)
	s.Table, s.NewIndex = "t", &row.Index{Name: "x", Columns: []row.IndexColumn{{Column: 1, Desc: true}}}
	s = b.Add(db.Insert)
	s.Table, s.Row = "t", []row.Value{row.NewInt4(1), row.NewText("a"), row.NewInt8(5), row.NewBool(true), row.Null()}
	s = b.Add(db.Update)
	s.Table, s.Sets = "t", []db.Set{{Column: 1, Add: true, Value: row.NewInt4(1)}}
	s.Key = []row.Value{row.NewInt4(1)}
	s = b.Add(db.Scan)
	s.Table, s.From, s.To, s.Limit, s.After = "t", db.Bound{Key: s.Key, Inclusive: true}, db.Bound{Key: []row.Value{row.NewChar("z")}}, 5, []byte("p")
	b.Add(db.Savepoint).Name = "s"
	return b
}

// FuzzBatch: no bytes make the decoder panic, past the checksum too; what it
// accepts is valid, is encoded to what it was, and is no larger than the
// message.
func FuzzBatch(f *testing.F) {
	f.Add(db.AppendBatch(nil, seedBatch()), false)
	f.Add(db.AppendBatch(nil, seedBatch())[8:], true)
	f.Add([]byte("TP\x01\x03"), false)
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		if seal {
			b = db.SealedBatch(b)
		}
		var got, again db.Batch
		if err := db.DecodeBatch(b, &got); err != nil {
			require.Contains(t, err.Error(), "message offset ")
			return
		}
		require.NoError(t, got.Validate())
		out := db.AppendBatch(nil, &got)
		require.Equal(t, b, out)
		require.NoError(t, db.DecodeBatch(out, &again))
	})
}

// FuzzResults: likewise.
func FuzzResults(f *testing.F) {
	var r db.Results
	r.Reset(4)
	r.Add().Count = 3
	require.True(f, r.AddRow([]row.Value{row.NewInt4(1), row.NewText("a"), row.Null()}))
	r.Last().More, r.Last().Next = true, []byte("next")
	r.Add().Fail(db.Errorf(db.CodeUnique, "hint", "text"))
	r.Last().Outcome = db.Outcome{Status: db.Committed, Token: 5}
	f.Add(db.AppendResults(nil, &r), false)
	f.Add(db.AppendResults(nil, &r)[8:], true)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		if seal {
			b = db.SealedResults(b)
		}
		var got, again db.Results
		if err := db.DecodeResults(b, &got); err != nil {
			require.ErrorAs(t, err, new(*db.CodecError))
			return
		}
		for i := range got.Len() {
			require.LessOrEqual(t, got.At(i).Rows(), len(b))
		}
		require.NoError(t, db.DecodeResults(db.AppendResults(nil, &got), &again))
		requireSameResults(t, &got, &again)
	})
}

// TestWarmCodec: messages of the usual shape allocate nothing once warm.
func TestWarmCodec(t *testing.T) {
	b := &db.Batch{}
	s := b.Add(db.Update)
	s.Table, s.Key, s.Sets = "accounts", []row.Value{row.NewInt4(1)}, []db.Set{{Column: 2, Add: true, Value: row.NewInt4(5)}}
	s = b.Add(db.Insert)
	s.Table, s.Row = "history", []row.Value{row.NewInt4(1), row.NewText("text")}
	var in, out []byte
	var got db.Batch
	var r, back db.Results
	cell := []row.Value{row.NewInt4(1), row.NewText("text")}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		in = db.AppendBatch(in, b)
		if db.DecodeBatch(in, &got) != nil {
			t.FailNow()
		}
		r.Reset(1)
		r.Add().Count = 1
		r.Add().Outcome = db.Outcome{Status: db.Committed, Token: 9}
		r.AddRow(cell)
		out = db.AppendResults(out, &r)
		if db.DecodeResults(out, &back) != nil {
			t.FailNow()
		}
	}))
	require.Equal(t, shown(b), shown(&got))
}

func BenchmarkBatch(b *testing.B) {
	batch, got := seedBatch(), db.Batch{}
	batch.Stmts = append(batch.Stmts[:1], batch.Stmts[3:]...)
	var buf []byte
	b.ReportAllocs()
	for range b.N {
		buf = db.AppendBatch(buf, batch)
		if err := db.DecodeBatch(buf, &got); err != nil {
			b.Fatal(err)
		}
	}
}
