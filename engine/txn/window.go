package txn

import (
	"tornpage/engine/invariant"
	"tornpage/engine/wal"
)

// window has, for every XID whose end some snapshot may not see, when it
// ended: the LSN of its commit, or one of the values below. It stands for
// PostgreSQL's running set: a snapshot is an LSN and needs no copy of
// anything, however many transactions run and whatever savepoints they have.
// (Commit sequence numbers; for PostgreSQL: Heikki Linnakangas's CSN patch of
// 2014.)
//
// A chunk goes once all its XIDs have ended and every snapshot, present and to
// come, sees that: from then on the status pages tell all there is to tell.
type window struct {
	first  uint32   // number of chunks[0]
	chunks []*chunk // nil: gone
	closed *chunk   // those whose XIDs have all ended, in the order of that
	latest *chunk   // the last of them
	gone   int      // chunks at the front that are nil
	spare  *chunk
	spares int
}

// chunkXIDs is how many XIDs come and go together: 4 KiB with their owners.
const chunkXIDs = 256

// maxSpareChunks are kept for later, 256 KiB; what a long snapshot held back
// beyond that goes back to the heap.
const maxSpareChunks = 64

type chunk struct {
	number uint32
	open   int                // XIDs that have not ended
	last   wal.LSN            // no XID in it has committed later
	end    [chunkXIDs]wal.LSN // see the constants
	owner  [chunkXIDs]*Owner  // of those that run, if they have one
	next   *chunk             // closed, or spare
}

// What stands in place of a commit's LSN.
const (
	endOld     wal.LSN = 0         // not recorded: ended before every snapshot
	endAborted wal.LSN = 1<<64 - 2 // above every LSN: no snapshot sees it
	endRunning wal.LSN = 1<<64 - 1 // or not begun
)

// begin makes the window of a boot whose first XID is next.
func (w *window) begin(next uint32) {
	w.first = next / chunkXIDs
	c := w.extend()
	for i := range next % chunkXIDs {
		c.end[i] = endOld
		c.open--
	}
}

// extend adds a chunk.
func (w *window) extend() *chunk {
	c := w.spare
	if c == nil {
		c = &chunk{}
	} else {
		w.spare, c.next = c.next, nil
		w.spares--
	}
	c.number = w.first + uint32(len(w.chunks))
	c.open, c.last = chunkXIDs, 0
	for i := range c.end {
		c.end[i] = endRunning
	}
	w.chunks = append(w.chunks, c)
	return c
}

// at gives the chunk of xid; nil: it has gone, or is yet to come.
func (w *window) at(xid uint32) *chunk {
	n := xid / chunkXIDs
	if n < w.first || int(n-w.first) >= len(w.chunks) {
		return nil
	}
	return w.chunks[n-w.first]
}

// end is when xid ended. Visibility asks for every version: small enough to be
// copied to where it is called.
func (w *window) end(xid uint32) wal.LSN {
	// An XID before the first chunk has an index beyond all others.
	if i := xid/chunkXIDs - w.first; uint64(i) < uint64(len(w.chunks)) && w.chunks[i] != nil {
		return w.chunks[i].end[xid%chunkXIDs]
	}
	return w.outside(xid)
}

// outside is end of an XID that has no chunk.
func (w *window) outside(xid uint32) wal.LSN {
	if n := xid / chunkXIDs; n >= w.first && uint64(n-w.first) >= uint64(len(w.chunks)) {
		return endRunning
	}
	return endOld
}

// add puts the next XID into the window: it runs from now on.
func (w *window) add(xid uint32, o *Owner) {
	c := w.at(xid)
	if c == nil {
		c = w.extend()
	}
	if c.number != xid/chunkXIDs {
		invariant.Broken("T4", "XID %d begins out of order: chunk %d follows", xid, c.number)
	}
	c.owner[xid%chunkXIDs] = o
}

// owner is who xid, which runs, belongs to, or nil.
func (w *window) owner(xid uint32) *Owner {
	if c := w.at(xid); c != nil {
		return c.owner[xid%chunkXIDs]
	}
	return nil
}

// leave records the end of xid, which runs, and gives its owner.
func (w *window) leave(xid uint32, end wal.LSN) *Owner {
	c := w.at(xid)
	i := xid % chunkXIDs
	o := c.owner[i]
	c.end[i], c.owner[i] = end, nil
	if end != endAborted {
		c.last = max(c.last, end)
	}
	if c.open--; c.open == 0 {
		if w.closed == nil {
			w.closed = c
		} else {
			w.latest.next = c
		}
		w.latest = c
	}
	return o
}

// trim drops what every snapshot from oldest on sees.
func (w *window) trim(oldest wal.LSN) {
	for c := w.closed; c != nil && c.last <= oldest; c = w.closed {
		w.closed, c.next = c.next, nil
		w.chunks[c.number-w.first] = nil
		if w.spares < maxSpareChunks {
			c.next, w.spare = w.spare, c
			w.spares++
		}
	}
	for w.gone < len(w.chunks) && w.chunks[w.gone] == nil {
		w.gone++
	}
	if w.gone == 0 || 2*w.gone < len(w.chunks) {
		return // moving the rest down would cost more than it frees
	}
	n := copy(w.chunks, w.chunks[w.gone:])
	clear(w.chunks[n:])
	w.chunks = w.chunks[:n]
	w.first += uint32(w.gone)
	w.gone = 0
}

// running appends the XIDs below next that run.
func (w *window) running(dst []uint32, next uint32) []uint32 {
	for _, c := range w.chunks {
		if c == nil || c.open == 0 {
			continue
		}
		for i, end := range c.end {
			if xid := c.number*chunkXIDs + uint32(i); end == endRunning && xid < next {
				dst = append(dst, xid)
			}
		}
	}
	return dst
}

// recorded is how many XIDs the window has room for, gone chunks not counted.
func (w *window) recorded() int {
	n := 0
	for _, c := range w.chunks[w.gone:] {
		if c != nil {
			n += chunkXIDs
		}
	}
	return n
}
