package db

import (
	"math"

	"tornpage/engine/row"
)

// Flags of an encoded result.
const (
	flagMore = 1 << iota
	flagErr
	flagOutcome
	flagRows
	flagResults = flagRows<<1 - 1
)

// AppendResults encodes r over dst's memory.
func AppendResults(dst []byte, r *Results) []byte {
	dst = begin(dst, kindResults)
	dst = le.AppendUint64(dst, r.ID)
	dst = append(dst, byte(r.State), byte(len(r.list)))
	for i := range r.list {
		dst = appendResult(dst, &r.list[i])
	}
	return seal(dst)
}

func appendResult(dst []byte, s *Result) []byte {
	flags := byte(0)
	for i, there := range [...]bool{s.More, s.Err != nil, s.Outcome != Outcome{}, s.Rows() > 0} {
		if there {
			flags |= 1 << i
		}
	}
	dst = append(dst, flags)
	dst = le.AppendUint32(dst, uint32(s.Count))
	dst = le.AppendUint64(dst, uint64(s.At))
	if s.More {
		dst = le.AppendUint16(dst, uint16(len(s.Next)))
		dst = append(dst, s.Next...)
	}
	if s.Err != nil {
		dst = append(dst, byte(s.Err.Code))
		dst = appendText(appendText(dst, s.Err.Text), s.Err.Hint)
	}
	if flags&flagOutcome != 0 {
		dst = append(dst, byte(s.Outcome.Status), byte(s.Outcome.Why))
		dst = le.AppendUint64(dst, uint64(s.Outcome.Token))
		dst = appendText(dst, s.Outcome.Text)
	}
	if flags&flagRows != 0 {
		dst = append(dst, byte(s.columns))
		dst = le.AppendUint32(dst, uint32(s.Rows()))
		dst = appendRow(dst, s.values)
	}
	return dst
}

// appendText writes length and text, which is cut.
func appendText(dst []byte, s string) []byte {
	s = s[:min(len(s), maxText)]
	return append(le.AppendUint16(dst, uint16(len(s))), s...)
}

func (r *reader) text(field string) string {
	return string(r.take(r.u16("length of a text", maxText), field))
}

// DecodeResults decodes msg into p, whose memory it uses. Rows point into msg.
// After an error p's contents mean nothing.
func DecodeResults(msg []byte, p *Results) error {
	r := reader{b: msg}
	r.head(kindResults)
	p.Reset(r.u64("batch number"))
	p.State = State(r.u8("state", int(states)-1))
	n := int(r.u8("number of results", MaxStmts))
	for i := 0; i < n && r.err == nil; i++ {
		r.result(p, p.Add())
	}
	return r.end()
}

func (r *reader) result(p *Results, s *Result) {
	flags := r.u8("flags of a result", flagResults)
	s.Count = int(r.u32("count", math.MaxInt32))
	s.At = Token(r.u64("snapshot"))
	if flags&flagMore != 0 {
		s.More = true
		s.Next = append(s.Next, r.take(r.u16("length of a position", MaxPosition), "position")...)
	}
	if flags&flagErr != 0 {
		s.Err = &Error{Code: Code(r.u8("code", int(codes)-1)), Text: r.text("text"), Hint: r.text("hint")}
		if r.err == nil && s.Err.Code == 0 {
			r.fail("code", 0, 1)
		}
	}
	if flags&flagOutcome != 0 {
		s.Outcome = Outcome{Status: Status(r.u8("status", int(statuses)-1)), Why: Why(r.u8("reason", int(whys)-1)),
			Token: Token(r.u64("token")), Text: r.text("text")}
		if r.err == nil && s.Outcome.Status == 0 {
			r.fail("status", 0, uint64(Committed))
		}
	}
	if flags&flagRows == 0 {
		return
	}
	s.columns = int(r.u8("number of columns", row.MaxColumns))
	rows := int(r.u32("number of rows", maxValues))
	if values := rows * s.columns; r.err == nil && (values == 0 || values > maxValues-p.count) {
		r.fail("number of values in rows", uint64(values), uint64(maxValues-p.count))
		return
	}
	p.count += rows * s.columns
	s.values = r.row(s.values, rows*s.columns)
}
