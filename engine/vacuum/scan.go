package vacuum

import "tornpage/engine/page"

// scan is the first pass: over the blocks below n.
func (v *Vacuum) scan(n uint32) error {
	for b := uint32(0); b < n; b++ {
		next, err := v.skip(b, n)
		if err != nil {
			return err
		}
		v.stats.Skipped += next - b
		b = next
		if err := v.first(b); err != nil {
			return err
		}
		v.rest()
	}
	return nil
}

// skip gives the next block from b on that is to be looked at. The last block
// always is: whether it is empty decides about cutting the tail.
func (v *Vacuum) skip(b, n uint32) (uint32, error) {
	if v.cfg.All || !v.seen {
		return b, nil
	}
	next := b
	for next < n-1 {
		yes, err := v.visibleOnMap(next)
		if err != nil {
			return 0, err
		}
		if !yes {
			break
		}
		next++
	}
	if next-b < v.cfg.SkipRun {
		return b, nil
	}
	v.m.Mark("vacuum.skipped")
	return next, nil
}

// visibleOnMap looks into a copy of the map page, which may be out of date: a
// bit that was cleared since means a change that the next vacuum finds, one
// that was set costs a look.
func (v *Vacuum) visibleOnMap(block uint32) (bool, error) {
	id := page.VMID(v.table.Rel, block)
	if !v.haveMap || v.nearMap != id {
		pool := v.pg.Pool()
		f, err := pool.Pin(id)
		if err != nil {
			return false, err
		}
		f.RLock()
		v.near = *f.Page()
		f.RUnlock()
		pool.Unpin(f)
		v.nearMap, v.haveMap = id, true
		v.m.Pay()
	}
	return page.VMGet(&v.near, block)&page.VMAllVisible != 0, nil
}

// first looks at one block in the first pass, and remembers its dead line
// pointers; if there is no room for them it makes room by a round.
func (v *Vacuum) first(b uint32) error {
	v.giveUp = v.giveUp[:0]
	if err := v.visit(b); err != nil {
		return err
	}
	s := &v.sight
	v.stats.Scanned++
	v.stats.Live += s.live
	v.stats.Recent += s.recent
	if s.rows {
		v.nonempty = b + 1
	}
	v.table.Free.Set(b, s.free)
	if len(s.dead) == 0 {
		return nil
	}
	v.stats.Dead += uint64(len(s.dead))
	if len(v.list.tids) > 0 && len(v.list.tids)+len(s.dead) > v.cfg.DeadTIDs {
		// The round looks at other pages: keep what this one showed. Nobody else
		// gives dead line pointers up meanwhile (rule V6).
		v.held = append(v.held[:0], s.dead...)
		if err := v.round(); err != nil {
			return err
		}
		v.list.add(b, v.held)
		return nil
	}
	v.list.add(b, s.dead)
	return nil
}
