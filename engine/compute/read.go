package compute

import (
	"fmt"

	"tornpage/engine/db"
	"tornpage/engine/heap"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// Read reads keys in one snapshot, adds their values to into, and gives the
// LSN of the last commit in the snapshot. If that is below atLeast, the
// outcome is aborted by WhyBehind.
func (e *Engine) Read(keys []int64, atLeast wal.LSN, into *db.Values) db.Outcome {
	if err := e.usable(); err != nil {
		return aborted(db.WhyClosed, err)
	}
	for _, k := range keys {
		if !e.geo.Has(k) {
			return aborted(db.WhyRequest, e.badKey(k))
		}
	}
	e.stats.Reads++
	s := e.txns.Take()
	defer e.txns.Give(s)
	if s.LSN < atLeast {
		return db.Outcome{Status: db.Aborted, Why: db.WhyBehind}
	}
	w := e.takeWork()
	defer e.giveWork(w)
	w.view.Set(s)
	for _, k := range keys {
		if err := e.readRow(w, k, into); err != nil {
			return aborted(db.WhyStorage, err)
		}
	}
	return db.Outcome{Status: db.Committed, Token: s.LSN}
}

func (e *Engine) badKey(k int64) error {
	return fmt.Errorf("key %d is not in the table: its keys are 0 to %d", k, e.geo.Rows-1)
}

// home is the page of a key.
func (e *Engine) home(key int64) page.ID {
	return page.ID{Rel: e.cfg.Rel, Block: e.geo.Block(key)}
}

// readRow adds the version of key that w.view sees.
func (e *Engine) readRow(w *work, key int64, into *db.Values) error {
	for {
		f, err := e.pool.Pin(e.home(key))
		if err != nil {
			return err
		}
		f.RLock()
		found, err := heap.Find(f.ID(), f.Page(), key, &w.view)
		e.m.Charge(host.WorkTuple, found.Examined)
		if err == nil && found.Ask == 0 {
			into.Add(found.Value)
		}
		f.RUnlock()
		e.pool.Unpin(f)
		if err != nil || found.Ask == 0 {
			return err
		}
		if err := w.view.Resolve(found.Ask); err != nil {
			return err
		}
	}
}

// holds reads one row of a writer that has its lock: what is published now.
func (e *Engine) holds(w *work, key int64, into *db.Values) (at wal.LSN, err error) {
	s := e.txns.Take()
	defer e.txns.Give(s)
	w.view.Set(s)
	return s.LSN, e.readRow(w, key, into)
}
