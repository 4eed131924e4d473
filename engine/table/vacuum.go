package table

import (
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/txn"
	"tornpage/engine/vacuum"
)

// vacuumer is the vacuum of a table, with what it holds its locks as.
type vacuumer struct {
	turn  *host.Latch // one vacuum of the table at a time
	owner *txn.Owner
	vac   *vacuum.Vacuum
}

func (t *Table) newVacuum() vacuumer {
	v := vacuumer{
		turn:  host.NewLatch(t.m, host.WaitRelation),
		owner: t.env.Locks.NewOwner("vacuum of table " + t.def.Name),
	}
	id := txn.TableLock(t.rel)
	v.vac = vacuum.New(t.env.Pager, vacuum.Table{Rel: t.rel, Free: t.free, Lines: t.cfg.LinesPerPage, Lock: vacuum.Lock{
		Try: func() bool {
			ok, err := t.env.Locks.TryAcquire(v.owner, id, txn.AccessExclusive)
			return ok && err == nil
		},
		Unlock: func() { t.env.Locks.Release(v.owner, id, txn.AccessExclusive) },
		Wanted: func() bool { return t.env.Locks.Wanted(id) },
	}}, t.cfg.Vacuum)
	return v
}

// Vacuum vacuums the table and its indexes. Another vacuum, or the creation of
// an index, waits for it; reading and writing go on.
func (t *Table) Vacuum() (vacuum.Stats, error) {
	v := &t.vacuumer
	v.turn.Lock()
	defer v.turn.Unlock()
	if err := t.env.Locks.Acquire(v.owner, txn.TableLock(t.rel), txn.ShareUpdateExclusive); err != nil {
		return vacuum.Stats{}, err
	}
	defer t.env.Locks.ReleaseAll(v.owner)
	if t.gone {
		return vacuum.Stats{}, ErrGone
	}
	var view txn.View
	view.Begin(t.env.Txns)
	var indexes []vacuum.Index
	for _, ix := range t.indexes {
		indexes = append(indexes, treeVacuum{ix})
	}
	s, err := v.vac.Run(&view, indexes)
	if err == nil {
		t.Counters.Vacuumed(s)
	}
	return s, err
}

// treeVacuum is an index as vacuum knows it.
type treeVacuum struct{ ix *Index }

func (v treeVacuum) Vacuum(dead func(page.TID) bool) (vacuum.IndexStats, error) {
	s, err := v.ix.tree.Vacuum(dead)
	return vacuum.IndexStats{Removed: uint64(s.Deleted), Left: uint64(s.Entries), Pages: uint32(s.Pages)}, err
}
