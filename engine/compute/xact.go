package compute

import (
	"slices"

	"tornpage/engine/buffer"
	"tornpage/engine/db"
	"tornpage/engine/page"
	"tornpage/engine/txn"
	"tornpage/engine/wal"
)

// This file ends transactions of sessions. Their XIDs may lie on several
// status pages, all of which one record changes.

// ending is the memory of one end in progress.
type ending struct {
	ids    []page.ID
	frames []*buffer.Frame
	next   *ending
}

func (e *Engine) takeEnding() *ending {
	d := e.endings
	if d == nil {
		return &ending{}
	}
	e.endings, d.next = d.next, nil
	return d
}

// commitXact commits and ends a transaction: durably and published if it wrote.
// done, which may be nil, is called before its locks are given up.
func (e *Engine) commitXact(x *txn.Xact, done func(lsn db.Token)) db.Outcome {
	xid, subs := x.Tree()
	if xid == 0 {
		lsn := e.txns.Published()
		if s := x.Snapshot(); s != nil {
			lsn = s.LSN
		}
		x.End()
		return db.Outcome{Status: db.Committed, Token: lsn}
	}
	if err := e.admitSmall(); err != nil {
		e.abortXact(x)
		return aborted(whyOf(err), err)
	}
	c, tried, err := e.logEnd(xid, subs, page.Committed)
	switch {
	case err != nil && !tried:
		e.abortXact(x)
		return aborted(db.WhyStorage, err)
	case err != nil:
		x.Abandon()
		return unknown(err)
	}
	lsn := c.LSN
	if err := e.queue.Wait(c); err != nil {
		e.fail(err)
		x.Abandon()
		return unknown(err)
	}
	if done != nil {
		done(lsn)
	}
	x.End()
	return db.Outcome{Status: db.Committed, Token: lsn}
}

// abortXact rolls a transaction back. Nobody waits for its record: a crash
// that loses it aborts the transaction all the same, and so does a full disk
// that leaves no room for it.
func (e *Engine) abortXact(x *txn.Xact) {
	if xid, subs := x.Tree(); xid != 0 {
		e.stats.Aborted++
		e.logAbortTree(xid, subs)
	}
	x.Abort()
}

// logAbortTree writes the abort record of a transaction or of a savepoint.
func (e *Engine) logAbortTree(xid uint32, subs []uint32) {
	if e.failed != nil || e.admitSmall() != nil {
		return
	}
	// An error has ended the boot, which aborts the transaction too.
	_, _, _ = e.logEnd(xid, subs, page.Aborted)
}

// logEnd appends a commit or abort record of a tree of XIDs and sets their
// statuses. tried: the record may be in the log though there is an error.
func (e *Engine) logEnd(xid uint32, subs []uint32, s page.XactStatus) (c *txn.Commit, tried bool, err error) {
	d := e.takeEnding()
	defer func() { d.next, e.endings = e.endings, d }()
	d.ids = append(d.ids[:0], page.StatusID(xid))
	for _, sub := range subs { // ascending, and so are their pages
		if id := page.StatusID(sub); id != d.ids[len(d.ids)-1] {
			d.ids = append(d.ids, id)
		}
	}
	if len(d.ids) > 1 {
		e.pool.Reserve(len(d.ids))
		defer e.pool.Release(len(d.ids))
	}
	defer func() {
		for _, f := range d.frames {
			e.pool.Unpin(f)
		}
		d.frames = d.frames[:0]
	}()
	for _, id := range d.ids {
		f, err := e.pool.Pin(id)
		if err != nil {
			// The end of this transaction cannot be written down, and so its rows
			// stay locked for ever: only a new boot can go on.
			e.fail(err)
			return nil, false, err
		}
		d.frames = append(d.frames, f)
	}
	if s == page.Committed {
		e.queue.Lock()
		defer e.queue.Unlock()
	}
	return e.appendTree(d, xid, subs, s)
}

// appendTree is logEnd with the pages pinned and, for a commit, the queue
// locked.
func (e *Engine) appendTree(d *ending, xid uint32, subs []uint32, s page.XactStatus) (c *txn.Commit, tried bool, err error) {
	m := e.pg.MTR()
	defer e.pg.Done(m)
	for _, f := range d.frames {
		f.Lock()
		defer f.Unlock()
	}
	for _, f := range d.frames {
		if err := e.initStatus(m, f); err != nil {
			return nil, false, err
		}
	}
	if e.failed != nil {
		return nil, false, e.failed
	}
	if s == page.Committed {
		wal.CommitTree(m, xid, subs, wall(e.m))
	} else {
		wal.AbortTree(m, xid, subs, wall(e.m))
	}
	for i, f := range d.frames {
		f.MarkDirty()
		m.Touch(i, f.ID(), f.Page(), wal.Implied)
	}
	set := func(xid uint32) {
		i := slices.Index(d.ids, page.StatusID(xid))
		page.SetStatus(d.frames[i].Page(), xid, s)
	}
	set(xid)
	for _, sub := range subs {
		set(sub)
	}
	lsn, err := e.append(m)
	if err != nil {
		return nil, true, err
	}
	if s == page.Committed {
		c = e.queue.Enter(xid, lsn, subs...)
	}
	return c, true, nil
}
