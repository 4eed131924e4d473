package computetest

import (
	"cmp"
	"fmt"
	"slices"

	"tornpage/engine/invariant"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// replay is the state that a log makes.
type replay struct {
	pages   map[page.ID]*page.Page
	sizes   map[page.Rel]uint32
	next    uint32                             // horizon of XIDs
	evicted map[page.ID]map[wal.LSN]*page.Page // to compare with
	refs    []wal.PageRef
}

// Replay makes all pages from the surviving log, and compares the evicted
// versions with it on the way.
func (d *Mem) Replay() (pages map[page.ID]*page.Page, next uint32, err error) {
	r, err := d.replay()
	return r.pages, r.next, err
}

func (d *Mem) replay() (r replay, err error) {
	records, err := d.Records()
	if err != nil {
		return r, err
	}
	r = replay{pages: map[page.ID]*page.Page{}, sizes: map[page.Rel]uint32{}, evicted: map[page.ID]map[wal.LSN]*page.Page{}}
	for _, v := range d.evicted {
		if r.evicted[v.id] == nil {
			r.evicted[v.id] = map[wal.LSN]*page.Page{}
		}
		r.evicted[v.id][page.LSNOf(v.id, v.p)] = v.p
	}
	for i := range records {
		if err := r.record(&records[i]); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (r *replay) record(rec *wal.Record) (err error) {
	if rec.Rmgr == wal.RmgrXLOG && rec.Op() == wal.InfoNextXID {
		if r.next, err = rec.NextXID(); err != nil {
			return err
		}
	}
	rel, blocks, cut, err := rec.Truncate()
	if err != nil {
		return err
	}
	if cut {
		cutOff(r.pages, rel, blocks, r.sizes[rel])
		r.sizes[rel] = min(r.sizes[rel], blocks)
	}
	r.refs = rec.Pages(r.refs[:0])
	for _, ref := range r.refs {
		if err := r.page(rec, ref); err != nil {
			return err
		}
	}
	return nil
}

func (r *replay) page(rec *wal.Record, ref wal.PageRef) error {
	p := r.pages[ref.ID]
	if p == nil {
		if !ref.Init {
			return fmt.Errorf("%v changes %v before anything made it", rec, ref.ID)
		}
		p = new(page.Page)
		r.pages[ref.ID] = p
	}
	if _, err := wal.Apply(rec, ref.Block, p); err != nil {
		return err
	}
	r.sizes[ref.ID.Rel] = max(r.sizes[ref.ID.Rel], ref.ID.Block+1)
	if old := r.evicted[ref.ID][rec.End]; old != nil {
		if err := Equal(ref.ID, old, p); err != nil {
			return fmt.Errorf("evicted version against redo of %v: %w", rec, err)
		}
	}
	return nil
}

// cutOff takes the blocks from one on to the relation's end away.
func cutOff(pages map[page.ID]*page.Page, rel page.Rel, from, end uint32) {
	for b := from; b < end; b++ {
		delete(pages, page.ID{Rel: rel, Block: b})
	}
}

// resize keeps up with the sizes that a record changes.
func (d *Mem) resize(m *wal.MTR) {
	if rel, blocks, ok := m.Truncation(); ok {
		cutOff(d.pages, rel, blocks, d.sizes[rel])
		d.sizes[rel] = min(d.sizes[rel], blocks)
	}
	for i := range m.Blocks() {
		if id, p, _, _ := m.Block(i); p != nil {
			d.sizes[id.Rel] = max(d.sizes[id.Rel], id.Block+1)
		}
	}
}

// checkPages holds the pages that the mini-transaction touches against those
// that its record changes.
func checkPages(m *wal.MTR, e entry, prevCRC uint32) {
	rec, _, err := wal.Decode(e.bytes, e.at, prevCRC)
	if err != nil {
		invariant.Broken("W1", "own record cannot be read: %v", err)
	}
	var touched, changed []page.ID
	for i := range m.Blocks() {
		if id, p, _, _ := m.Block(i); p != nil {
			touched = append(touched, id)
		}
	}
	for _, ref := range rec.Pages(nil) {
		changed = append(changed, ref.ID)
	}
	order := func(a, b page.ID) int { return cmp.Or(cmp.Compare(a.Rel, b.Rel), cmp.Compare(a.Block, b.Block)) }
	slices.SortFunc(touched, order)
	slices.SortFunc(changed, order)
	if !slices.Equal(touched, changed) {
		invariant.Broken("W7", "%v touches %v and changes %v", &rec, touched, changed)
	}
}
