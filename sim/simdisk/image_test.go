package simdisk

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tornpage/engine/host"
)

// contentOf is every visible file.
func contentOf(t require.TestingT, d *Disk) map[string]string {
	m := map[string]string{}
	for _, n := range d.List() {
		m[n] = string(all(t, open(t, d, n)))
	}
	return m
}

// TestImageRoundTrip: an image goes through bytes and comes back, has one
// encoding, and starts disks that share nothing that one of them writes.
func TestImageRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := New(Config{}, rapid.Uint64().Draw(t, "key"))
		for range rapid.IntRange(0, 8).Draw(t, "writes") {
			f := open(t, d, rapid.SampledFrom([]string{"a", "b", "wal/0"[:3]}).Draw(t, "name"))
			off := rapid.SampledFrom([]int64{0, 4000, 65_530, 200_000}).Draw(t, "off")
			_, err := f.WriteAt(bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, 300), off)
			require.NoError(t, err)
			if rapid.Bool().Draw(t, "cut") {
				_, err := f.Truncate(off + 100)
				require.NoError(t, err)
			}
		}
		want := contentOf(t, d)
		m := d.Image()
		b := m.Encode()
		back, err := DecodeImage(b)
		require.NoError(t, err)
		require.Equal(t, b, back.Encode())
		require.Equal(t, m.Digest(), back.Digest())

		for _, m := range []*Image{m, back} {
			e, err := m.Start(Config{}, 1)
			require.NoError(t, err)
			require.Equal(t, want, contentOf(t, e))
			checkRefs(t, d)
			e.PowerOff()
			require.Equal(t, want, contentOf(t, e), "it starts synced")
			for _, n := range e.List() {
				f := open(t, e, n)
				fill(t, f, 'z', 10, 70_000)
				_, err := f.Truncate(5)
				require.NoError(t, err)
				require.NoError(t, f.Sync())
			}
			e.PowerOff()
		}
		for _, n := range d.List() {
			fill(t, open(t, d, n), 'y', 10, 70_000)
		}
		d.Loss()
		require.Equal(t, b, m.Encode(), "an image never changes")
		e, err := m.Start(Config{}, 1)
		require.NoError(t, err)
		require.Equal(t, want, contentOf(t, e))
	})
}

// TestImageKeepsUndo: a disk goes on after its image was taken; what it had at
// risk still is, and does not reach the image.
func TestImageKeepsUndo(t *testing.T) {
	d, f := oldFile(t, Config{})
	d.Set(LostWrite, Rate{Next: 1})
	fill(t, f, 'x', 0, PageSize)
	m := d.Image()
	require.Equal(t, "abcd", firstOf(t, again(t, d)))
	e, err := m.Start(Config{}, 1)
	require.NoError(t, err)
	require.Equal(t, "xbcd", firstOf(t, open(t, e, "f")))
}

func TestImageDoesNotFit(t *testing.T) {
	d, _ := oldFile(t, Config{})
	_, err := d.Image().Start(Config{Size: 4096}, 1)
	require.ErrorIs(t, err, host.ErrNoSpace)
}

// seal puts the checksum behind a hand-made image.
func seal(b []byte) []byte { return binary.LittleEndian.AppendUint64(b, Digest(k0, b)) }

// TestImageErrors: bad images are refused with the place.
func TestImageErrors(t *testing.T) {
	d, _ := oldFile(t, Config{})
	good := d.Image().Encode()
	body := good[:len(good)-8]
	edit := func(at int, c ...byte) []byte {
		b := bytes.Clone(body)
		copy(b[at:], c)
		return seal(b)
	}
	// Offsets: magic 0, files 8, name length 12, name 14, size 15, chunks 23,
	// index 27, blocks 31.
	for _, x := range []struct {
		b    []byte
		want string
	}{
		{nil, "does not begin"},
		{good[:len(good)-1], "checksum"},
		{bytes.Replace(good, []byte("aaaa"), []byte("aaab"), 1), "checksum"},
		{seal(body[:100]), "bytes needed"},
		{seal(append(bytes.Clone(body), 1)), "behind the last file"},
		{edit(8, 255, 255, 255, 255), "bytes needed"},
		{edit(14, '/'), "name"},
		{edit(15, 0, 0, 0, 0, 0, 1, 0, 0), "at most"},
		{edit(15, 1, 0, 0), "behind its end"},
		{edit(27, 200), "chunk 200"},
		{edit(31, 0, 0), "with a block"},
		{edit(33, make([]byte, 4096)...), "block of zeros"},
	} {
		_, err := DecodeImage(x.b)
		require.ErrorContains(t, err, x.want)
		require.ErrorContains(t, err, "image")
	}
}

// FuzzDecodeImage: no bytes make it panic or allocate without bound, and what
// it takes encodes to the same bytes.
func FuzzDecodeImage(f *testing.F) {
	d := New(Config{}, 1)
	f.Add(d.Image().Encode())
	g := open(f, d, "data")
	fill(f, g, 'a', 100, 300)
	fill(f, g, 'b', 200_000, 300)
	open(f, d, "empty")
	b := d.Image().Encode()
	f.Add(b)
	f.Add(b[:len(b)-9])
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range [][]byte{b, seal(bytes.Clone(b))} {
			m, err := DecodeImage(b)
			if err != nil {
				require.ErrorContains(t, err, "disk image")
				continue
			}
			require.Equal(t, b, m.Encode())
			_, err = m.Start(Config{}, 1)
			require.NoError(t, err)
		}
	})
}
