package compute

import (
	"tornpage/engine/buffer"
	"tornpage/engine/db"
	"tornpage/engine/page"
	"tornpage/engine/txn"
	"tornpage/engine/wal"
)

// commit ends a transaction whose changes are in the log, and blocks until
// that is published.
func (e *Engine) commit(w *work, xid uint32) db.Outcome {
	if err := e.admitSmall(); err != nil {
		return aborted(db.WhyStorage, err)
	}
	f, err := e.pool.Pin(page.StatusID(xid))
	if err != nil {
		// The end of this transaction cannot be written down, and so its rows
		// stay locked for ever: only a new boot can go on.
		e.fail(err)
		return aborted(db.WhyStorage, err)
	}
	e.queue.Lock()
	c, tried, err := e.appendEnd(w, f, xid, page.Committed)
	e.queue.Unlock()
	e.pool.Unpin(f)
	switch {
	case err != nil && !tried:
		return aborted(db.WhyStorage, err)
	case err != nil:
		return unknown(err)
	}
	lsn := c.LSN
	if err := e.queue.Wait(c); err != nil {
		e.fail(err)
		return unknown(err)
	}
	return db.Outcome{Status: db.Committed, Token: lsn}
}

func unknown(err error) db.Outcome {
	return db.Outcome{Status: db.Unknown, Why: db.WhyStorage, Text: err.Error()}
}

// appendEnd appends a commit or abort record and sets the status; the status
// page is pinned. A commit enters the queue, whose latch is held. tried: the
// record may be in the log though there is an error.
func (e *Engine) appendEnd(w *work, f *buffer.Frame, xid uint32, s page.XactStatus) (c *txn.Commit, tried bool, err error) {
	id, p := f.ID(), f.Page()
	f.Lock()
	defer f.Unlock()
	if err := e.initStatus(&w.mtr, f); err != nil {
		return nil, false, err
	}
	if e.failed != nil {
		return nil, false, e.failed
	}
	f.MarkDirty()
	page.SetStatus(p, xid, s)
	if s == page.Committed {
		wal.Commit(&w.mtr, xid, wall(e.m))
	} else {
		wal.Abort(&w.mtr, xid, wall(e.m))
	}
	w.mtr.Touch(0, id, p, wal.Implied)
	lsn, err := e.append(&w.mtr)
	if err != nil {
		return nil, true, err
	}
	if s == page.Committed {
		c = e.queue.Enter(xid, lsn)
	}
	return c, true, nil
}

// initStatus makes a page that nobody has used a status page.
func (e *Engine) initStatus(m *wal.MTR, f *buffer.Frame) error {
	id, p := f.ID(), f.Page()
	if page.LSNOf(id, p) != 0 {
		return nil
	}
	f.MarkDirty()
	page.InitStatus(p)
	wal.StatusZeroPage(m, id.Block)
	m.Touch(0, id, p, wal.Implied)
	_, err := e.append(m)
	return err
}

// abort ends a transaction that shall not be. Nobody waits for its record: a
// crash that loses it aborts the transaction all the same.
func (e *Engine) abort(w *work, xid uint32) {
	if e.failed == nil {
		e.logAbort(w, xid)
	}
	e.stats.Aborted++
	e.txns.Aborted(xid)
}

func (e *Engine) logAbort(w *work, xid uint32) {
	if err := e.admitSmall(); err != nil {
		return
	}
	f, err := e.pool.Pin(page.StatusID(xid))
	if err != nil {
		e.fail(err)
		return
	}
	defer e.pool.Unpin(f)
	// The error has ended the boot, which aborts the transaction too.
	_, _, _ = e.appendEnd(w, f, xid, page.Aborted)
}
