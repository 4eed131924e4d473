package compute

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"tornpage/engine/buffer"
	"tornpage/engine/db"
	"tornpage/engine/heap"
	"tornpage/engine/host"
	"tornpage/engine/wal"
)

// Put writes one row; nil deletes it.
func (e *Engine) Put(key int64, value []byte) db.Outcome {
	w := e.takeWork()
	defer e.giveWork(w)
	w.rows = append(w.rows, thinRow{key, value})
	return e.writeRows(w, false)
}

// MultiPut writes several rows, all or none: values.At(i) to keys[i]. With
// rollback it writes and then aborts.
func (e *Engine) MultiPut(keys []int64, values *db.Values, rollback bool) db.Outcome {
	w := e.takeWork()
	defer e.giveWork(w)
	for i, k := range keys {
		w.rows = append(w.rows, thinRow{k, values.At(i)})
	}
	slices.SortFunc(w.rows, func(a, b thinRow) int { return cmp.Compare(a.key, b.key) }) // T6
	return e.writeRows(w, rollback)
}

// CompareAndSet writes value to a row that holds old (nil: that is absent).
// Otherwise the outcome is aborted by WhyMismatch, and held gets what it holds.
func (e *Engine) CompareAndSet(key int64, old, value []byte, held *db.Values) db.Outcome {
	w := e.takeWork()
	defer e.giveWork(w)
	w.rows = append(w.rows, thinRow{key, value})
	if o, ok := e.check(w.rows); !ok {
		return o
	}
	e.lock(w.rows)
	defer e.unlock(w.rows)
	held.Reset()
	s, err := e.holds(w, key, held)
	if err != nil {
		return aborted(db.WhyStorage, err)
	}
	if now := held.At(0); (now == nil) != (old == nil) || !bytes.Equal(now, old) {
		e.stats.Mismatched++
		return db.Outcome{Status: db.Aborted, Why: db.WhyMismatch, Token: s}
	}
	held.Reset()
	return e.transact(w, false)
}

// writeRows writes w.rows, which are in key order.
func (e *Engine) writeRows(w *work, rollback bool) db.Outcome {
	if o, ok := e.check(w.rows); !ok {
		return o
	}
	e.lock(w.rows)
	defer e.unlock(w.rows)
	return e.transact(w, rollback)
}

// check refuses what cannot be written.
func (e *Engine) check(rows []thinRow) (o db.Outcome, ok bool) {
	if err := e.usable(); err != nil {
		return aborted(db.WhyClosed, err), false
	}
	for i, r := range rows {
		switch {
		case !e.geo.Has(r.key):
			return aborted(db.WhyRequest, e.badKey(r.key)), false
		case len(r.value) > e.geo.ValueBytes:
			return aborted(db.WhyRequest, fmt.Errorf("value of %d bytes for key %d, at most %d",
				len(r.value), r.key, e.geo.ValueBytes)), false
		case i > 0 && rows[i-1].key == r.key:
			return aborted(db.WhyRequest, fmt.Errorf("key %d twice", r.key)), false
		}
	}
	return o, true
}

func (e *Engine) lock(rows []thinRow) {
	for _, r := range rows {
		e.locks.Lock(r.key)
	}
}

func (e *Engine) unlock(rows []thinRow) {
	for _, r := range rows {
		e.locks.Unlock(r.key)
	}
}

// transact is a transaction over rows whose locks are held.
func (e *Engine) transact(w *work, rollback bool) db.Outcome {
	xid, err := e.txns.Begin()
	if err != nil {
		return aborted(db.WhyStorage, err)
	}
	for _, r := range w.rows {
		if err := e.writeRow(w, xid, r); err != nil {
			e.abort(w, xid)
			return aborted(db.WhyStorage, err)
		}
	}
	if rollback {
		e.abort(w, xid)
		return db.Outcome{Status: db.Aborted, Why: db.WhyRollback}
	}
	return e.commit(w, xid)
}

// step is how an attempt to change a page ended.
type step uint8

const (
	changed step = iota
	again        // the page was pruned, or a status is at hand now
	noRoom       // others have to end first
)

// writeRow changes one row, whose lock is held, on its home page.
func (e *Engine) writeRow(w *work, xid uint32, r thinRow) error {
	for {
		if err := e.admit(e.geo.ValueBytes); err != nil {
			return err
		}
		f, err := e.pool.Pin(e.home(r.key))
		if err != nil {
			return err
		}
		f.Lock()
		since := e.txns.Moves()
		w.ask = w.ask[:0]
		st, err := e.changePage(w, f, xid, r)
		f.Unlock()
		e.pool.Unpin(f)
		if err == nil {
			err = w.view.Resolve(w.ask...)
		}
		switch {
		case err != nil:
			return err
		case st == changed:
			return nil
		case st == noRoom:
			e.stats.PageFull++
			e.m.Mark("heap.page-full")
			if err := e.txns.WaitMoved(since); err != nil {
				return err
			}
		}
	}
}

// changePage tries to change the row on the latched page.
func (e *Engine) changePage(w *work, f *buffer.Frame, xid uint32, r thinRow) (step, error) {
	// Taken under the latch: nothing switches before the page has been looked
	// at, so that a "no room" is never due to this snapshot.
	s := e.txns.Take()
	defer e.txns.Give(s)
	w.view.Set(s)
	id, p := f.ID(), f.Page()
	found, err := heap.Find(id, p, r.key, &w.view)
	e.m.Charge(host.WorkTuple, found.Examined)
	switch {
	case err != nil:
		return again, err
	case found.Ask != 0:
		w.ask = append(w.ask, found.Ask)
		return again, nil
	case r.value == nil && found.Off == 0:
		return changed, nil // there is nothing to delete
	}
	if r.value != nil {
		if st, err := e.makeRoom(w, f, len(r.value)); st != changed || err != nil {
			return st, err
		}
	}
	f.MarkDirty()
	e.m.Charge(host.WorkTuple, 1)
	c := heap.Change{XID: xid, Key: r.key, Value: r.value, Old: found.Off}
	w.tuple = c.Apply(&w.mtr, e.st.Floor(), id, p, w.tuple)
	_, err = e.append(&w.mtr)
	return changed, err
}

// makeRoom sees to it that a value of n bytes fits on the page. changed: it
// does, and the page is as it was.
func (e *Engine) makeRoom(w *work, f *buffer.Frame, n int) (step, error) {
	room := e.geo.HasRoom(f.Page(), n)
	if room == heap.Tight {
		fate := w.view.Fate(f.Page().PruneXID())
		if fate != heap.Gone && fate != heap.Aborted {
			room = heap.Fits // pruning would not help
		}
	}
	if room == heap.Fits {
		return changed, nil
	}
	st, err := e.prune(w, f)
	if st == noRoom && room == heap.Tight {
		return changed, err
	}
	return st, err
}

// prune prunes the latched page. again: it did, or needs statuses first; the
// caller starts over, and asks for room in the log again. noRoom: there is
// nothing to prune.
func (e *Engine) prune(w *work, f *buffer.Frame) (step, error) {
	id, p, plan := f.ID(), f.Page(), &w.plan
	plan.Make(p, &w.view)
	e.m.Charge(host.WorkPrune, 1)
	if len(plan.Ask) > 0 {
		w.ask = append(w.ask, plan.Ask...)
		return again, nil
	}
	if plan.Empty() {
		// A hint, not logged: do not look here again before that XID has ended.
		p.SetPruneXID(plan.Prunable)
		return noRoom, nil
	}
	f.MarkDirty()
	if err := p.Prune(plan.Redirected, nil, plan.Unused); err != nil {
		return again, &heap.Corrupt{ID: id, Reason: err.Error()}
	}
	p.SetPruneXID(plan.Prunable)
	wal.HeapPrune(&w.mtr, id, p, plan.LatestRemoved, plan.Redirected, nil, plan.Unused)
	if _, err := e.append(&w.mtr); err != nil {
		return again, err
	}
	e.stats.Pruned++
	e.m.Mark("heap.pruned")
	return again, nil
}
