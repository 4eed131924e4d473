package vacuum

import (
	"fmt"

	"tornpage/engine/buffer"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// begin starts a transaction on a key that no other works on; nil: one does.
func (b *boot) begin(key int64) *xact {
	if b.keys[key] {
		return nil
	}
	b.keys[key] = true
	b.w.xid++
	b.open[b.w.xid] = true
	return &xact{xid: b.w.xid, key: key}
}

// end commits x, or aborts it.
func (b *boot) end(x *xact, commit bool) error {
	defer func() { delete(b.keys, x.key) }()
	if !commit {
		delete(b.open, x.xid)
		return nil
	}
	b.turn.Lock()
	defer b.turn.Unlock()
	if err := b.pg.Admit(0, 100); err != nil {
		return err
	}
	m := b.pg.MTR()
	defer b.pg.Done(m)
	wal.NextXID(m, x.xid)
	lsn, err := b.pg.Append(m)
	if err != nil {
		return err
	}
	x.lsn = lsn
	b.w.limbo = append(b.w.limbo, x)
	if err := b.st.WaitDurable(lsn); err != nil {
		return err
	}
	b.w.limbo = b.w.limbo[1:]
	b.w.publish(x)
	delete(b.open, x.xid)
	return nil
}

// on pins a page, and its map page, and calls f under the exclusive latch.
func (b *boot) on(id page.ID, f func(f, vf *buffer.Frame) error) error {
	pool := b.pg.Pool()
	if err := b.pg.Admit(2, 200+b.w.pad); err != nil {
		return err
	}
	pool.Reserve(2)
	defer pool.Release(2)
	vf, err := pool.Pin(page.VMID(id.Rel, id.Block))
	if err != nil {
		return err
	}
	defer pool.Unpin(vf)
	fr, err := pool.Pin(id)
	if err != nil {
		return err
	}
	defer pool.Unpin(fr)
	fr.Lock()
	defer fr.Unlock()
	return f(fr, vf)
}

// append appends m, whose heap page f is changed; cleared: with its map page.
func (b *boot) append(m *wal.MTR, vf *buffer.Frame, cleared bool) error {
	if cleared {
		defer vf.Unlock()
	}
	_, err := b.pg.Append(m)
	return err
}

// clear takes the mark all-visible from a page that is about to change, and
// gives the flag of the record for it.
func (b *boot) clear(f, vf *buffer.Frame) (flag uint8) {
	if f.Page().Flags()&page.AllVisible == 0 {
		return 0
	}
	vf.Lock()
	vf.MarkDirty()
	f.Page().SetFlag(page.AllVisible, false)
	page.VMSet(vf.Page(), f.ID().Block, 0)
	return wal.AllVisibleCleared
}

// put adds a tuple to a relation: on a page with room, otherwise on a new one.
func (b *boot) put(rel page.Rel, xid uint32, data []byte) (tid page.TID, err error) {
	b.grow.Lock()
	defer b.grow.Unlock()
	need := page.RoundUp(page.TupleHoff + len(data))
	n, err := b.pg.Blocks(rel)
	if err != nil {
		return tid, err
	}
	for block := uint32(0); ; block++ { // an index: the first page with room
		if rel == tableRel {
			found, ok := b.free.Find(need)
			switch {
			case ok:
				block = found
			case block == 0 && n > 0:
				block = n - 1
			default:
				block = n
			}
		}
		id := page.ID{Rel: rel, Block: block}
		extended := block >= n
		if extended {
			if id, err = b.pg.Extend(rel); err != nil {
				return tid, err
			}
		}
		done := false
		err = b.on(id, func(f, vf *buffer.Frame) error {
			if extended && !f.Page().IsZero() {
				return fmt.Errorf("%v is new and has LSN %v", id, f.Page().LSN())
			}
			tid.Block = id.Block
			done, err = b.putOn(f, vf, xid, data, &tid)
			return err
		})
		if done || err != nil {
			return tid, err
		}
		if rel == tableRel {
			b.free.Set(id.Block, 0)
		}
	}
}

func (b *boot) putOn(f, vf *buffer.Frame, xid uint32, data []byte, tid *page.TID) (bool, error) {
	p := f.Page()
	fresh := p.Upper() == 0
	if !fresh && !b.fits(p, len(data)) {
		return false, nil
	}
	f.MarkDirty()
	if fresh {
		p.Init(0)
	}
	flag := b.clear(f, vf)
	off, ok := p.InsertTuple(f.ID().Block, 0, page.NewTuple(nil, xid, 0, 2, data))
	if !ok {
		return false, fmt.Errorf("%v: no room for %d bytes, free %d", f.ID(), len(data), p.Free())
	}
	tid.Offset = off
	m := b.pg.MTR()
	defer b.pg.Done(m)
	wal.HeapInsert(m, xid, f.ID(), p, off, flag, fresh)
	b.imply(m, 1, vf, flag)
	return true, b.append(m, vf, flag != 0)
}

// imply names the map page of a record that clears its bit.
func (b *boot) imply(m *wal.MTR, slot int, vf *buffer.Frame, flag uint8) {
	if flag != 0 {
		wal.ImplyVM(m, slot, vf.ID(), vf.Page())
	}
}

func (b *boot) fits(p *page.Page, n int) bool {
	return p.Free() >= page.RoundUp(page.TupleHoff+n) && (int(p.MaxOffset()) < b.w.lines || p.Flags()&page.HasFreeLines != 0)
}

// remove deletes the version at tid.
func (b *boot) remove(xid uint32, tid page.TID) error {
	id := page.ID{Rel: tableRel, Block: tid.Block}
	return b.on(id, func(f, vf *buffer.Frame) error {
		f.MarkDirty()
		flag := b.clear(f, vf)
		if !f.Page().DeleteTuple(id.Block, tid.Offset, page.Xmax{XID: xid, Infomask2: page.KeysUpdated}) {
			return fmt.Errorf("no version at %v to delete", tid)
		}
		m := b.pg.MTR()
		defer b.pg.Done(m)
		wal.HeapDelete(m, xid, id, f.Page(), tid.Offset, flag)
		b.imply(m, 1, vf, flag)
		return b.append(m, vf, flag != 0)
	})
}

// hot updates the version at tid on its page; false: there is no room.
func (b *boot) hot(xid uint32, tid page.TID, data []byte) (done bool, err error) {
	id := page.ID{Rel: tableRel, Block: tid.Block}
	err = b.on(id, func(f, vf *buffer.Frame) error {
		p := f.Page()
		if !b.fits(p, len(data)) {
			return nil
		}
		f.MarkDirty()
		flag := b.clear(f, vf)
		t := page.NewTuple(nil, xid, 0, 2, data)
		t.SetInfomask(t.Infomask() | page.Updated)
		t.SetInfomask2(t.Infomask2() | page.HeapOnly)
		off, ok := p.InsertTuple(id.Block, 0, t)
		if !ok || !p.SupersedeTuple(tid.Offset, page.Xmax{XID: xid}, page.TID{Block: id.Block, Offset: off}, true) {
			return fmt.Errorf("update of %v failed: free %d", tid, p.Free())
		}
		m := b.pg.MTR()
		defer b.pg.Done(m)
		wal.HeapUpdate(m, b.pg.Floor(), wal.UpdateArgs{XID: xid, Old: id, New: id, OldPage: p, NewPage: p,
			OldOff: tid.Offset, NewOff: off, Hot: true, Flags: flag})
		b.imply(m, 1, vf, flag)
		done = true
		return b.append(m, vf, flag != 0)
	})
	return done, err
}

// insert adds a row and its index entries.
func (b *boot) insert(x *xact, value int64) error {
	tid, err := b.put(tableRel, x.xid, rowData(x.key, value, b.w.pad))
	if err != nil {
		return err
	}
	for i := range b.w.indexes {
		if _, err := b.put(indexRel(i), x.xid, entryData(x.key, tid)); err != nil {
			return err
		}
	}
	x.value = value
	return nil
}

// write gives the key a new value, 0: deletes it; what the key has now is
// looked up in an index, or by reading the table.
func (b *boot) write(x *xact, value int64, how int) error {
	tid, _, found, err := b.find(x.key, len(b.w.states)-1, how)
	if err != nil {
		return err
	}
	if !found {
		if value == 0 {
			return nil
		}
		return b.insert(x, value)
	}
	if value != 0 && how%2 == 0 {
		done, err := b.hot(x.xid, tid, rowData(x.key, value, b.w.pad))
		if done || err != nil {
			x.value = value
			return err
		}
	}
	if err := b.remove(x.xid, tid); err != nil || value == 0 {
		return err
	}
	return b.insert(x, value)
}
