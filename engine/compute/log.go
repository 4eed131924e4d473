package compute

import (
	"errors"

	"tornpage/engine"
	"tornpage/engine/host"
	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// Sizes for Admit, in bytes: about what a record takes in the log.
const (
	admitSmall = 256 // a record without image and data: commit, horizon, a new status page
	admitSlack = 512 // of a heap record, besides its value and its image
)

// admit blocks until there is room for a heap record with a value of n bytes,
// and an image if storage may want one (rule C3).
func (e *Engine) admit(n int) error {
	if e.st.Floor() != 0 {
		n += page.Size
	}
	return e.admitBytes(n + admitSlack)
}

func (e *Engine) admitBytes(n int) error {
	err := e.st.Admit(n)
	if err != nil {
		e.fail(err)
	}
	return err
}

// append builds and appends the record that m describes, whose pages are
// latched, marked dirty and changed. An error has ended the boot.
func (e *Engine) append(m *wal.MTR) (wal.LSN, error) {
	for {
		if e.failed != nil {
			return 0, e.failed
		}
		floor := e.st.Floor()
		m.Build(floor)
		e.m.Charge(host.WorkRecord, 1)
		e.m.Charge(host.WorkRecordBytes, int(m.Len()+63)/64)
		// Images are decided. Time passes here, as it does in real engines, so
		// that the floor can move before the record is in the log.
		e.m.Pay()
		lsn, err := e.st.Append(m, floor)
		if err == nil {
			e.appended(m, lsn)
			return lsn, nil
		}
		if !errors.Is(err, engine.ErrFloorMoved) {
			e.fail(err)
			return 0, err
		}
		e.stats.Rebuilt++
		e.m.Mark("append.floor-moved")
	}
}

// appended counts, and checks that storage has stamped the pages.
func (e *Engine) appended(m *wal.MTR, lsn wal.LSN) {
	e.stats.Records++
	e.stats.LogBytes += uint64(m.Len())
	for i := range m.Blocks() {
		id, p, _, image := m.Block(i)
		if p == nil {
			continue
		}
		if image {
			e.stats.Images++
		}
		if got := page.LSNOf(id, p); got != lsn {
			invariant.Broken("S4", "%s appended up to %v left %v with LSN %v",
				wal.OpName(m.Rmgr(), m.Info()), lsn, id, got)
		}
	}
}

// logHorizon appends a new XID horizon (rule T1). It takes memory of its own:
// who begins a transaction may be in the middle of using another.
func (e *Engine) logHorizon(horizon uint32) error {
	if err := e.admitBytes(admitSmall); err != nil {
		return err
	}
	w := e.takeWork()
	defer e.giveWork(w)
	wal.NextXID(&w.mtr, horizon)
	_, err := e.append(&w.mtr)
	return err
}
