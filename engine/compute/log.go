package compute

import (
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// admit blocks until there is room for a heap record with a value of n bytes,
// and an image if storage may want one (rule C3).
func (e *Engine) admit(n int) error { return e.pg.Admit(1, n+page.TupleHoff) }

// admitSmall is admit for a record without image and data: commit, horizon, a
// new status page.
func (e *Engine) admitSmall() error { return e.pg.Admit(0, 0) }

// append builds and appends the record that m describes, whose pages are
// latched, marked dirty and changed. An error has ended the boot.
func (e *Engine) append(m *wal.MTR) (wal.LSN, error) { return e.pg.Append(m) }

// logHorizon appends a new XID horizon (rule T1). It takes memory of its own:
// who begins a transaction may be in the middle of using another.
func (e *Engine) logHorizon(horizon uint32) error {
	if err := e.admitSmall(); err != nil {
		return err
	}
	m := e.pg.MTR()
	defer e.pg.Done(m)
	wal.NextXID(m, horizon)
	_, err := e.append(m)
	return err
}
