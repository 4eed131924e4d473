package local_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"tornpage/engine"
	"tornpage/engine/buffer"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// set makes one change of the given cells and returns its LSN.
func (up *engineUp) set(at []cell) (wal.LSN, error) {
	byPage := map[uint32][]uint16{}
	for _, c := range at {
		byPage[c.page] = append(byPage[c.page], c.index)
	}
	var blocks []uint32
	for n := range up.w.pages {
		if byPage[n] != nil {
			blocks = append(blocks, n)
		}
	}
	if err := up.store.Admit(len(at)*cellBytes + len(blocks)*64); err != nil {
		return 0, err
	}
	up.w.next++
	id := up.w.next
	up.pool.Reserve(len(blocks))
	defer up.pool.Release(len(blocks))
	var frames []*buffer.Frame
	for _, n := range blocks {
		f, err := up.pool.Pin(page.ID{Rel: cellRel, Block: n})
		if err != nil {
			return 0, err
		}
		defer up.pool.Unpin(f)
		frames = append(frames, f)
	}
	var m wal.MTR
	m.Reset(cellRmgr, 0, uint32(id))
	for i, f := range frames {
		f.Lock()
		defer f.Unlock()
		p, flags := f.Page(), wal.TouchFlags(0)
		f.MarkDirty()
		if p.IsZero() {
			initCells(p)
			flags |= wal.WillInit
		}
		m.Touch(i, f.ID(), p, flags)
		for _, index := range byPage[blocks[i]] {
			v := cellAt(p, index)
			binary.LittleEndian.PutUint64(v, id)
			m.AddData(i, append(binary.LittleEndian.AppendUint16(nil, index), v...))
		}
	}
	for {
		floor := up.store.Floor()
		m.Build(floor)
		lsn, err := up.store.Append(&m, floor)
		if errors.Is(err, engine.ErrFloorMoved) {
			continue
		}
		if err == nil {
			up.w.history = append(up.w.history, change{id: id, lsn: lsn, cells: at})
			up.done++
		}
		return lsn, err
	}
}

// cutTo makes a truncation to so many pages.
func (up *engineUp) cutTo(pages uint32) (wal.LSN, error) {
	if err := up.store.Admit(64); err != nil {
		return 0, err
	}
	up.cut.Lock()
	defer up.cut.Unlock()
	var m wal.MTR
	wal.Truncate(&m, cellRel, pages)
	m.Build(0)
	lsn, err := up.store.Append(&m, 0)
	if err != nil {
		return 0, err
	}
	up.w.history = append(up.w.history, change{lsn: lsn, cut: true, pages: pages})
	up.pool.Drop(cellRel, pages)
	if n, err := up.store.Size(cellRel, 0); err != nil || n > pages {
		panic(fmt.Sprintf("cut to %d pages, but there are %d: %v", pages, n, err))
	}
	return lsn, nil
}

// cutter cuts pages off now and then.
func (up *engineUp) cutter() {
	r := up.m.Rand("test.cutter", 0)
	for {
		up.m.Sleep(time.Duration(r.N(uint64(3 * time.Millisecond))))
		lsn, err := up.cutTo(uint32(r.N(uint64(up.w.pages))))
		if err == nil && r.Chance(1, 2) {
			if err = up.store.WaitDurable(lsn); err == nil {
				up.w.acked = max(up.w.acked, lsn)
			}
		}
		if err != nil && !errors.Is(err, engine.ErrFull) {
			panic(err)
		}
	}
}

// commit is set, acknowledged once durable.
func (up *engineUp) commit(at []cell) error {
	up.cut.RLock()
	lsn, err := up.set(at)
	up.cut.RUnlock()
	if err == nil {
		err = up.store.WaitDurable(lsn)
	}
	if err == nil {
		up.w.acked = max(up.w.acked, lsn)
	}
	return err
}

// client commits random changes for ever.
func (up *engineUp) client(n uint64) {
	r := up.m.Rand("test.client", n)
	for {
		at := make([]cell, 0, 6)
		for range 1 + r.N(3) {
			p := uint32(r.N(uint64(up.w.pages)))
			if r.Chance(1, 2) {
				p %= 4 // hot
			}
			at = append(at, cell{p, uint16(r.N(cellCount))})
		}
		slices.SortFunc(at, func(a, b cell) int { return int(a.page*100+uint32(a.index)) - int(b.page*100+uint32(b.index)) })
		at = slices.Compact(at)
		switch err := up.commit(at); {
		case errors.Is(err, engine.ErrStopped):
			return
		case errors.Is(err, engine.ErrFull):
			up.refused++
			up.m.Sleep(100 * time.Microsecond)
		case err != nil:
			panic(err)
		}
		if r.Chance(1, 4) {
			up.m.Sleep(time.Duration(r.N(uint64(2 * time.Millisecond))))
		}
	}
}

// clients runs n clients and never returns.
func (up *engineUp) clients(n int) {
	for i := range n {
		up.m.Go("client", func() { up.client(uint64(i)) })
	}
	for {
		up.m.Sleep(time.Hour)
	}
}
