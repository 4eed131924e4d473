package db

import (
	"fmt"
	"math"

	"tornpage/engine/row"
)

// Kinds of messages beside kindAsk and kindAnswer.
const (
	kindBatch   = 3
	kindResults = 4
)

// isBatch reports a message of statements, by its head alone.
func isBatch(b []byte) bool { return len(b) >= headSize && b[3] == kindBatch }

// AppendBatch encodes a valid batch over dst's memory. The result may be longer
// than MaxMessage: DecodeBatch then refuses it.
func AppendBatch(dst []byte, b *Batch) []byte {
	dst = begin(dst, kindBatch)
	dst = le.AppendUint64(dst, b.ID)
	dst = append(dst, byte(len(b.Stmts)))
	for i := range b.Stmts {
		dst = appendStmt(dst, &b.Stmts[i])
	}
	return seal(dst)
}

// appendStmt writes kind, flags, and the fields that the flags name, in their
// order.
func appendStmt(dst []byte, s *Stmt) []byte {
	f := s.fields()
	dst = append(dst, byte(s.Kind))
	dst = le.AppendUint32(dst, f)
	if f&fLevel != 0 {
		dst = append(dst, byte(s.Level))
	}
	for i, name := range [...]string{s.Name, s.Table, s.Index} {
		if f&(fName<<i) != 0 {
			dst = append(append(dst, byte(len(name))), name...)
		}
	}
	if f&fDef != 0 {
		at := len(dst)
		dst = row.AppendTable(append(dst, 0, 0), s.Def)
		le.PutUint16(dst[at:], uint16(len(dst)-at-2))
	}
	if f&fNewIndex != 0 {
		dst = row.AppendIndexDef(dst, s.NewIndex)
	}
	for i, list := range [...][]row.Value{s.Row, s.Key, s.From.Key, s.To.Key} {
		if f&(fRow<<i) != 0 {
			dst = appendRow(append(dst, byte(len(list))), list)
		}
	}
	if f&fSets != 0 {
		dst = append(dst, byte(len(s.Sets)))
		for i := range s.Sets {
			add := byte(0)
			if s.Sets[i].Add {
				add = 1
			}
			dst = appendValue(append(dst, byte(s.Sets[i].Column), add), &s.Sets[i].Value)
		}
	}
	if f&fLimit != 0 {
		dst = le.AppendUint32(dst, uint32(s.Limit))
	}
	if f&fAfter != 0 {
		dst = le.AppendUint16(dst, uint16(len(s.After)))
		dst = append(dst, s.After...)
	}
	return dst
}

func appendRow(dst []byte, values []row.Value) []byte {
	for i := range values {
		dst = appendValue(dst, &values[i])
	}
	return dst
}

// appendValue writes the type, then the number in its width, or the length and
// the bytes.
func appendValue(dst []byte, v *row.Value) []byte {
	dst = append(dst, byte(v.Kind))
	switch v.Kind {
	case row.Text, row.Bytea, row.Char:
		dst = le.AppendUint16(dst, uint16(len(v.B)))
		return append(dst, v.B...)
	case row.Int4:
		return le.AppendUint32(dst, uint32(v.N))
	case row.Int8, row.Timestamp:
		return le.AppendUint64(dst, uint64(v.N))
	case row.Bool:
		return append(dst, byte(v.N))
	}
	return dst
}

func (r *reader) u32(field string, most uint32) uint32 {
	b := r.take(4, field)
	if b == nil {
		return 0
	}
	n := le.Uint32(b)
	if n > most {
		r.at -= 4
		r.fail(field, uint64(n), uint64(most))
		return 0
	}
	return n
}

// str reads a string; old is returned if it is the same, so that a reader of
// similar messages allocates nothing.
func (r *reader) str(old, field string) string {
	b := r.take(int(r.u8("length of a name", maxName)), field)
	if string(b) == old {
		return old
	}
	return string(b)
}

// value reads a value, which points into the message.
func (r *reader) value(v *row.Value) {
	*v = row.Value{Kind: row.Type(r.u8("type of a value", int(row.Timestamp)))}
	switch v.Kind {
	case row.Text, row.Bytea, row.Char:
		v.B = r.take(r.u16("length of a value", MaxValue), "value")
	case row.Int4:
		v.N = int64(int32(r.u32("value", math.MaxUint32)))
	case row.Int8, row.Timestamp:
		v.N = int64(r.u64("value"))
	case row.Bool:
		v.N = int64(r.u8("bool", 1))
	}
}

// row reads n values to the end of list, which is returned.
func (r *reader) row(list []row.Value, n int) []row.Value {
	for range n {
		if r.err != nil {
			break
		}
		list = append(list, row.Value{})
		r.value(&list[len(list)-1])
	}
	return list
}

// DecodeBatch decodes msg into b, whose memory it uses. Values and positions
// point into msg. It accepts only what Batch.Validate accepts. After an error
// b's contents mean nothing.
func DecodeBatch(msg []byte, b *Batch) error {
	r := reader{b: msg}
	r.head(kindBatch)
	b.Reset()
	b.ID = r.u64("batch number")
	n := int(r.u8("number of statements", MaxStmts))
	for i := 0; i < n && r.err == nil; i++ {
		s := b.slot()
		at := r.at
		r.stmt(b, s)
		if r.err == nil {
			if err := s.Validate(); err != nil {
				r.err = fmt.Errorf("message offset %d: statement %d: %w", at, i+1, err)
			}
		}
	}
	if r.err == nil && n == 0 {
		r.fail("number of statements", 0, 1)
	}
	return r.end()
}

func (r *reader) stmt(b *Batch, s *Stmt) {
	name, table, index := s.Name, s.Table, s.Index
	*s = Stmt{Sets: s.Sets[:0]}
	s.Kind = Kind(r.u8("kind of statement", int(kinds)-1))
	f := r.u32("flags of a statement", fAll)
	if f&fLevel != 0 {
		s.Level = Level(r.u8("isolation level", int(levels)-1))
	}
	if f&fName != 0 {
		s.Name = r.str(name, "name")
	}
	if f&fTable != 0 {
		s.Table = r.str(table, "table")
	}
	if f&fIndex != 0 {
		s.Index = r.str(index, "index")
	}
	if f&(fDef|fNewIndex) != 0 {
		r.definitions(f, s)
	}
	s.Row = r.list(b, f&fRow, "number of values", row.MaxColumns)
	s.Key = r.list(b, f&fKey, "number of key values", row.MaxKey)
	s.From.Key = r.list(b, f&fFrom, "number of values of from", row.MaxKey)
	s.To.Key = r.list(b, f&fTo, "number of values of to", row.MaxKey)
	if f&fSets != 0 {
		r.sets(s)
	}
	if f&fLimit != 0 {
		s.Limit = int(r.u32("limit", math.MaxInt32))
	}
	if f&fAfter != 0 {
		s.After = r.take(r.u16("length of a position", MaxPosition), "position")
	}
	s.Desc, s.Heap, s.ForUpdate = f&fDesc != 0, f&fHeap != 0, f&fForUpdate != 0
	s.From.Inclusive, s.To.Inclusive = f&fFromIn != 0, f&fToIn != 0
	if got := s.fields(); r.err == nil && got != f {
		r.fail("flags of the statement before", uint64(f), uint64(got))
	}
}

func (r *reader) list(b *Batch, there uint32, field string, most int) []row.Value {
	if there == 0 || r.err != nil {
		return nil
	}
	from := len(b.values)
	b.values = r.row(b.values, int(r.u8(field, most)))
	return b.values[from:len(b.values):len(b.values)]
}

func (r *reader) sets(s *Stmt) {
	n := int(r.u8("number of sets", maxSets))
	for i := 0; i < n && r.err == nil; i++ {
		x := Set{Column: int(r.u8("column of a set", row.MaxColumns-1)), Add: r.u8("flag of a set", 1) == 1}
		r.value(&x.Value)
		s.Sets = append(s.Sets, x)
	}
}

func (r *reader) definitions(f uint32, s *Stmt) {
	if f&fDef != 0 {
		def := r.take(r.u16("length of the table definition", row.MaxDefinition), "table definition")
		if r.err == nil {
			at := r.at - len(def)
			if s.Def, r.err = row.DecodeTable(def); r.err != nil {
				r.err = fmt.Errorf("message offset %d: %w", at, r.err)
			}
		}
	}
	if f&fNewIndex != 0 && r.err == nil {
		x, n, err := row.DecodeIndexDef(r.b[r.at:])
		if err != nil {
			r.err = fmt.Errorf("message offset %d: %w", r.at, err)
			return
		}
		r.at += n
		s.NewIndex = &x
	}
}
