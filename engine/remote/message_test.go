package remote

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// draw gives a message in which exactly the fields of its kind are set.
func draw(t *rapid.T) message {
	m := message{kind: kind(rapid.IntRange(1, int(kinds)-1).Draw(t, "kind"))}
	for _, f := range layouts[m.kind] {
		n := rapid.Uint64().Draw(t, "field")
		switch f {
		case fEpoch:
			m.epoch = n
		case fAt:
			m.at = wal.LSN(n)
		case fPrev:
			m.prev = wal.LSN(n)
		case fCRC:
			m.crc = uint32(n)
		case fDurable:
			m.durable = wal.LSN(n)
		case fNext:
			m.next = uint32(n)
		case fID:
			m.id = n
		case fRel:
			m.page.Rel = page.Rel(n)
		case fBlock:
			m.page.Block = uint32(n)
		case fStatus:
			m.status = status(n % uint64(statuses))
		case fRunning:
			for x := range uint32(n % 5) {
				m.running = append(m.running, x*3+1)
			}
		case fBody:
			m.body = rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(t, "body")
		}
	}
	return m
}

func TestMessageRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := draw(t)
		b := encode(nil, &m)
		got := message{running: []uint32{9, 9, 9}}
		require.NoError(t, decode(b, &got))
		if len(got.running) == 0 {
			got.running = nil
		}
		require.Equal(t, m, got)
		for range 3 {
			bad := append([]byte(nil), b...)
			i := rapid.IntRange(0, len(bad)*8-1).Draw(t, "bit")
			bad[i/8] ^= 1 << (i % 8)
			require.Error(t, decode(bad, &got), "bit %d", i)
		}
		require.Error(t, decode(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")], &got))
	})
}

func TestMessageErrors(t *testing.T) {
	var m message
	b := encode(nil, &message{kind: msgPage, status: statusOK, body: []byte("x")})
	b[msgHeader+16] = byte(statuses)
	le.PutUint32(b[4:], messageSum(b))
	require.ErrorContains(t, decode(b, &m), "status is 4, want 3")

	b = encode(nil, &message{kind: msgStarted, running: []uint32{5, 5}})
	require.ErrorContains(t, decode(b, &m), "must ascend")

	b = encode(nil, &message{kind: msgStarted})
	le.PutUint32(b[len(b)-4:], 1<<30)
	le.PutUint32(b[4:], messageSum(b))
	require.ErrorContains(t, decode(b, &m), "running transactions is 1073741824, want 0")

	b = append(encode(nil, &message{kind: msgAck}), 0)
	le.PutUint32(b[4:], messageSum(b))
	require.ErrorContains(t, decode(b, &m), "bytes after the end")
}

// Every kind has a layout, if an empty one, and a body only at the end.
func TestLayouts(t *testing.T) {
	for k := kind(1); k < kinds; k++ {
		require.NotNil(t, layouts[k], "kind %d", k)
		for i, f := range layouts[k] {
			require.True(t, f != fBody || i == len(layouts[k])-1, "kind %d", k)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for k := kind(1); k < kinds; k++ {
		f.Add(encode(nil, &message{kind: k, at: 4096, body: []byte("abc"), running: []uint32{3, 4}})[msgHeader:], byte(k))
	}
	f.Fuzz(func(t *testing.T, rest []byte, k byte) {
		// The CRC is made right, so that the fuzzer gets past it.
		b := append([]byte{0x72, 0x52, msgVersion, k, 0, 0, 0, 0}, rest...)
		le.PutUint32(b[4:], messageSum(b))
		var m message
		if decode(b, &m) != nil {
			return
		}
		require.Equal(t, b, encode(nil, &m))
	})
}

// record is a small commit record after p.
func record(p *chain, xid uint32) []byte {
	var m wal.MTR
	wal.Commit(&m, xid, 0)
	m.Build(0)
	b, _ := m.Finish(p.pos.Prev, p.pos.CRC)
	return append(b[:len(b):len(b)], make([]byte, pad(uint32(len(b)))-len(b))...)
}

// FuzzChain: foreign bytes give errors, and what is read goes forward.
func FuzzChain(f *testing.F) {
	c := newChain()
	one := record(&c, 7)
	f.Add(one)
	_ = c.check(one, nil)
	f.Add(append(one, record(&c, 8)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := newChain()
		n := 0
		err := c.check(b, func(r *wal.Record) { n += pad(r.Len) })
		require.Equal(t, firstLSN+wal.LSN(n), c.pos.End)
		require.Equal(t, err == nil, n == len(b))
	})
}

// The chain knows who runs: whoever wrote and did not end, until a writer's
// next boot.
func TestChainRunning(t *testing.T) {
	c := newChain()
	add := func(build func(m *wal.MTR)) {
		var m wal.MTR
		build(&m)
		m.Build(0)
		b, _ := m.Finish(c.pos.Prev, c.pos.CRC)
		b = append(b[:len(b):len(b)], make([]byte, pad(uint32(len(b)))-len(b))...)
		require.NoError(t, c.check(b, nil))
	}
	work := func(xid uint32) func(m *wal.MTR) { return func(m *wal.MTR) { m.Reset(wal.RmgrHeap, 0, xid) } }
	add(work(9))
	add(work(5))
	add(work(9))
	require.Equal(t, []uint32{5, 9}, c.state().XIDs)
	require.EqualValues(t, 10, c.state().Next)
	add(func(m *wal.MTR) { wal.Abort(m, 5, 0) })
	require.Equal(t, []uint32{9}, c.state().XIDs)
	add(func(m *wal.MTR) { wal.NextXID(m, 100) })
	add(func(m *wal.MTR) { wal.CheckpointRecord(m, wal.Checkpoint{Redo: 1, NextXID: 50}, true) })
	require.Empty(t, c.state().XIDs)
	require.EqualValues(t, 100, c.state().Next)
	require.Error(t, c.check(record(&chain{pos: wal.Position{Prev: 1}}, 3), nil))
}
