package db

import (
	"fmt"
	"math"

	"tornpage/engine/row"
)

// Bounds of batches and their answers.
const (
	MaxStmts    = 64   // of a batch
	MaxPosition = 4096 // bytes of Stmt.After and Result.Next: an index entry and a row's place
	maxName     = row.MaxName
	maxSets     = row.MaxColumns
)

// Fields of a statement, as bits: which are there (the flags of its encoding)
// and which a kind needs or may have.
const (
	fLevel uint32 = 1 << iota
	fName
	fTable
	fIndex
	fDef
	fNewIndex
	fRow
	fKey
	fFrom
	fTo
	fSets
	fLimit
	fAfter
	fDesc
	fHeap
	fForUpdate
	fFromIn
	fToIn
	fAll = fToIn<<1 - 1
)

var fieldNames = [...]string{"level", "name", "table", "index", "table definition", "index definition", "row", "key", "from", "to",
	"sets", "limit", "after", "desc", "heap", "for update", "from inclusive", "to inclusive"}

const fRead = fLimit | fAfter | fForUpdate

var kindFields = [kinds]struct{ need, may uint32 }{
	Begin:       {0, fLevel},
	Savepoint:   {fName, 0},
	RollbackTo:  {fName, 0},
	Release:     {fName, 0},
	CreateTable: {fDef, 0},
	CreateIndex: {fTable | fNewIndex, 0},
	DropTable:   {fTable, 0},
	Insert:      {fTable | fRow, 0},
	Get:         {fTable | fKey, fIndex | fRead},
	Update:      {fTable | fKey | fSets, fIndex},
	Delete:      {fTable | fKey, fIndex},
	Scan:        {fTable, fIndex | fFrom | fFromIn | fTo | fToIn | fDesc | fHeap | fRead},
	Vacuum:      {fTable, 0},
	Check:       {fTable, 0},
}

// fields is which fields of s are not empty.
func (s *Stmt) fields() (f uint32) {
	for i, there := range [...]bool{s.Level != 0, s.Name != "", s.Table != "", s.Index != "", s.Def != nil, s.NewIndex != nil,
		len(s.Row) > 0, len(s.Key) > 0, len(s.From.Key) > 0, len(s.To.Key) > 0, len(s.Sets) > 0, s.Limit != 0, len(s.After) > 0,
		s.Desc, s.Heap, s.ForUpdate, s.From.Inclusive, s.To.Inclusive} {
		if there {
			f |= 1 << i
		}
	}
	return f
}

// Validate checks what can be checked without a catalog: that the statement has
// the fields of its kind and no other, within the limits.
func (s *Stmt) Validate() error {
	if s.Kind == 0 || s.Kind >= kinds {
		return fmt.Errorf("statement %d is not known", s.Kind)
	}
	f, want := s.fields(), kindFields[s.Kind]
	for i, name := range fieldNames {
		switch bit := uint32(1) << i; {
		case want.need&bit != 0 && f&bit == 0:
			return fmt.Errorf("%v without %s", s.Kind, name)
		case (want.need|want.may)&bit == 0 && f&bit != 0:
			return fmt.Errorf("%v with %s, which it has no use for", s.Kind, name)
		}
	}
	if err := s.bounds(); err != nil {
		return err
	}
	switch {
	case s.Level >= levels:
		return fmt.Errorf("%v with level %d, at most %d", s.Kind, s.Level, levels-1)
	case s.Heap && f&(fIndex|fFrom|fTo|fDesc) != 0:
		return fmt.Errorf("%v of the heap with %s: only an index has an order", s.Kind, "an index, bounds or desc")
	case s.Def != nil:
		return s.Def.Validate()
	}
	return nil
}

func (s *Stmt) bounds() error {
	for _, c := range [...]struct {
		what    string
		n, most int
	}{
		{"bytes of name", len(s.Name), maxName}, {"bytes of table", len(s.Table), maxName}, {"bytes of index", len(s.Index), maxName},
		{"values", len(s.Row), row.MaxColumns}, {"key values", len(s.Key), row.MaxKey}, {"values of from", len(s.From.Key), row.MaxKey},
		{"values of to", len(s.To.Key), row.MaxKey}, {"sets", len(s.Sets), maxSets}, {"bytes of after", len(s.After), MaxPosition},
	} {
		if c.n > c.most {
			return fmt.Errorf("%v with %d %s, at most %d", s.Kind, c.n, c.what, c.most)
		}
	}
	for _, list := range [...][]row.Value{s.Row, s.Key, s.From.Key, s.To.Key} {
		for i := range list {
			if err := checkValue(&list[i]); err != nil {
				return fmt.Errorf("%v: %w", s.Kind, err)
			}
		}
	}
	for i := range s.Sets {
		if c := s.Sets[i].Column; c < 0 || c >= row.MaxColumns {
			return fmt.Errorf("%v of column %d, want 0 to %d", s.Kind, c, row.MaxColumns-1)
		}
		if err := checkValue(&s.Sets[i].Value); err != nil {
			return fmt.Errorf("%v: %w", s.Kind, err)
		}
	}
	if s.Limit < 0 || int64(s.Limit) > math.MaxInt32 {
		return fmt.Errorf("%v with a limit of %d rows, want 0 to %d", s.Kind, s.Limit, math.MaxInt32)
	}
	if s.NewIndex != nil {
		return checkIndex(s.NewIndex)
	}
	return nil
}

// checkIndex checks a definition without its table: that it can be carried.
func checkIndex(x *row.Index) error {
	if len(x.Name) > maxName || len(x.Columns) > row.MaxKey || x.Fill < 0 || x.Fill > 100 {
		return fmt.Errorf("index with a name of %d bytes, %d columns, fill factor %d; at most %d, %d, 100",
			len(x.Name), len(x.Columns), x.Fill, maxName, row.MaxKey)
	}
	for _, c := range x.Columns {
		if c.Column < 0 || c.Column >= row.MaxColumns {
			return fmt.Errorf("index of column %d, want 0 to %d", c.Column, row.MaxColumns-1)
		}
	}
	return nil
}

// checkValue checks what the codec could not carry. Columns have narrower
// limits.
func checkValue(v *row.Value) error {
	switch {
	case v.Kind != 0 && !v.Kind.Known():
		return fmt.Errorf("a value of %v", v.Kind)
	case len(v.B) > MaxValue:
		return fmt.Errorf("a value of %d bytes, at most %d", len(v.B), MaxValue)
	case v.Kind == row.Int4 && int64(int32(v.N)) != v.N, v.Kind == row.Bool && v.N&^1 != 0:
		return fmt.Errorf("%v with the value %d: %w", v.Kind, v.N, row.ErrRange)
	}
	return nil
}

// Validate checks the number of statements and each of them.
func (b *Batch) Validate() error {
	if n := len(b.Stmts); n < 1 || n > MaxStmts {
		return fmt.Errorf("%d statements, want 1 to %d", n, MaxStmts)
	}
	for i := range b.Stmts {
		if err := b.Stmts[i].Validate(); err != nil {
			return fmt.Errorf("statement %d: %w", i+1, err)
		}
	}
	return nil
}

// Refused says why a session in a state does not execute the statement; nil:
// it does. An error leaves an open block failed (D7).
func (s *Stmt) Refused(in State) *Error {
	block := in != Idle
	switch k := s.Kind; {
	case in == Failed && k != Rollback && k != RollbackTo && k != Commit:
		return Errorf(CodeFailedBlock, "roll back, or roll back to a savepoint", "%v in a transaction that has failed", k)
	case k == Begin && s.Level == Serializable:
		return Errorf(CodeNotSupported, "use repeatable read, and lock what must not change with for update", "isolation level serializable")
	case k == Begin && block:
		return Errorf(CodeRequest, "use a savepoint", "begin within a transaction")
	case k.Control() && k != Begin && !block:
		return Errorf(CodeRequest, "begin one", "%v without a transaction", k)
	case k == Vacuum && block:
		return Errorf(CodeRequest, "end the transaction first", "vacuum within a transaction")
	}
	return nil
}
