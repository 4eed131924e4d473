package db_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/db"
)

func drawValues(t *rapid.T, v *db.Values, n int) {
	for range n {
		if rapid.IntRange(0, 4).Draw(t, "absent") == 0 {
			v.Add(nil)
			continue
		}
		v.Add(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "value"))
	}
}

func drawRequest(t *rapid.T) *db.Request {
	r := &db.Request{
		ID: rapid.Uint64().Draw(t, "id"), Op: db.Op(rapid.IntRange(1, 6).Draw(t, "op")),
		Rollback: rapid.Bool().Draw(t, "rollback"), AtLeast: db.Token(rapid.Uint64().Draw(t, "token")),
		Keys: rapid.SliceOfN(rapid.Int64(), 0, db.MaxKeys).Draw(t, "keys"),
	}
	drawValues(t, &r.Values, rapid.IntRange(0, 10).Draw(t, "values"))
	return r
}

func drawResponse(t *rapid.T) *db.Response {
	r := &db.Response{ID: rapid.Uint64().Draw(t, "id"), Outcome: db.Outcome{
		Status: db.Status(rapid.IntRange(1, 3).Draw(t, "status")), Why: db.Why(rapid.IntRange(0, 8).Draw(t, "why")),
		Token: db.Token(rapid.Uint64().Draw(t, "token")), Text: rapid.StringN(0, 20, 100).Draw(t, "text"),
	}}
	drawValues(t, &r.Values, rapid.IntRange(0, 10).Draw(t, "values"))
	return r
}

func requireSame(t require.TestingT, a, b *db.Values) {
	require.Equal(t, a.Len(), b.Len())
	for i := range a.Len() {
		require.Equal(t, a.At(i), b.At(i))
	}
}

// TestRoundTrip: what is encoded is decoded, and any flipped bit is noticed.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, p := drawRequest(t), drawResponse(t)
		qb, pb := db.AppendRequest(nil, q), db.AppendResponse(nil, p)
		var q2 db.Request
		var p2 db.Response
		require.NoError(t, db.DecodeRequest(qb, &q2))
		require.NoError(t, db.DecodeResponse(pb, &p2))
		require.Equal(t, q.ID, q2.ID)
		require.Equal(t, q.Op, q2.Op)
		require.Equal(t, q.Rollback, q2.Rollback)
		require.Equal(t, q.AtLeast, q2.AtLeast)
		require.Len(t, q2.Keys, len(q.Keys))
		for i := range q.Keys {
			require.Equal(t, q.Keys[i], q2.Keys[i])
		}
		requireSame(t, &q.Values, &q2.Values)
		require.Equal(t, p.ID, p2.ID)
		require.Equal(t, p.Outcome, p2.Outcome)
		requireSame(t, &p.Values, &p2.Values)

		bit := rapid.IntRange(0, len(qb)*8-1).Draw(t, "bit")
		qb[bit/8] ^= 1 << (bit % 8)
		var bad *db.CodecError
		require.ErrorAs(t, db.DecodeRequest(qb, &q2), &bad)
		cut := rapid.IntRange(0, len(pb)-1).Draw(t, "cut")
		require.ErrorAs(t, db.DecodeResponse(pb[:cut], &p2), &bad)
		require.ErrorAs(t, db.DecodeResponse(db.AppendRequest(nil, q), &p2), &bad)
	})
}

func TestLongTextIsCut(t *testing.T) {
	p := &db.Response{ID: 1}
	p.Refuse(db.WhyStorage, string(bytes.Repeat([]byte("x"), 5000)))
	var got db.Response
	require.NoError(t, db.DecodeResponse(db.AppendResponse(nil, p), &got))
	require.Len(t, got.Outcome.Text, 1024)
}

func TestValidate(t *testing.T) {
	values := func(n int) (v db.Values) {
		for range n {
			v.Add([]byte{1})
		}
		return v
	}
	for _, c := range []struct {
		name string
		r    db.Request
		want string
	}{
		{"get", db.Request{Op: db.OpGet, Keys: []int64{1}}, ""},
		{"get without key", db.Request{Op: db.OpGet}, "get with 0 keys, want 1, at most 256"},
		{"put", db.Request{Op: db.OpPut, Keys: []int64{1}, Values: values(1)}, ""},
		{"put without value", db.Request{Op: db.OpPut, Keys: []int64{1}}, "put with 0 values, want 1"},
		{"cas", db.Request{Op: db.OpCAS, Keys: []int64{1}, Values: values(2)}, ""},
		{"multi-put", db.Request{Op: db.OpMultiPut, Keys: []int64{1, 2}, Values: values(2), Rollback: true}, ""},
		{"multi-put of nothing", db.Request{Op: db.OpMultiPut}, "multi-put with 0 keys, want 1, at most 256"},
		{"too many", db.Request{Op: db.OpView, Keys: make([]int64, 257)}, "view with 257 keys, want 257, at most 256"},
		{"rollback of a put", db.Request{Op: db.OpPut, Keys: []int64{1}, Values: values(1), Rollback: true}, "put cannot be rolled back, multi-put can"},
		{"nonsense", db.Request{Op: 0}, "operation 0 is not known"},
	} {
		err := c.r.Validate()
		if c.want == "" {
			require.NoError(t, err, c.name)
			continue
		}
		require.EqualError(t, err, c.want, c.name)
	}
	var long db.Request
	long.Reset(db.OpPut)
	long.Keys = []int64{1}
	long.Values.Add(make([]byte, db.MaxValue+1))
	require.ErrorContains(t, long.Validate(), "8193 bytes, at most 8192")
}

// FuzzDecode: no bytes make a decoder panic; what it accepts is encoded to
// what decodes again, and never holds more than the message did.
func FuzzDecode(f *testing.F) {
	var q db.Request
	q.Reset(db.OpMultiPut)
	q.Keys = []int64{1, 2}
	q.Values.Add([]byte("one"))
	q.Values.Add(nil)
	f.Add(db.AppendRequest(nil, &q), false)
	var p db.Response
	p.Refuse(db.WhyMismatch, "text")
	p.Values.Add([]byte("held"))
	f.Add(db.AppendResponse(nil, &p), false)
	f.Add(db.AppendRequest(nil, &q)[8:], true)
	f.Add([]byte("TP"), false)
	f.Fuzz(func(t *testing.T, b []byte, seal bool) {
		if seal { // get past the checksum
			b = db.Sealed(b)
		}
		var q, q2 db.Request
		if err := db.DecodeRequest(b, &q); err == nil {
			require.NoError(t, db.DecodeRequest(db.AppendRequest(nil, &q), &q2))
			require.LessOrEqual(t, 8*len(q.Keys)+q.Values.Len(), len(b))
		} else {
			require.True(t, errors.As(err, new(*db.CodecError)))
		}
		var p, p2 db.Response
		if err := db.DecodeResponse(b, &p); err == nil {
			require.NoError(t, db.DecodeResponse(db.AppendResponse(nil, &p), &p2))
			require.LessOrEqual(t, len(p.Outcome.Text)+p.Values.Len(), len(b))
		} else {
			require.True(t, errors.As(err, new(*db.CodecError)))
		}
	})
}

func BenchmarkCodec(b *testing.B) {
	var q, q2 db.Request
	q.Reset(db.OpPut)
	q.Keys = append(q.Keys, 7)
	q.Values.Add(make([]byte, 100))
	var buf []byte
	b.ReportAllocs()
	for range b.N {
		buf = db.AppendRequest(buf, &q)
		if err := db.DecodeRequest(buf, &q2); err != nil {
			b.Fatal(err)
		}
	}
}
