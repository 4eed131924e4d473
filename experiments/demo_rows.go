package experiments

import (
	"fmt"
	"slices"

	"tornpage/checkers"
	"tornpage/engine/heap"
	"tornpage/engine/page"
)

// DemoValue is what a row holds: the number of the write that made it, 0 for no
// row.
type DemoValue uint64

// String is "no row", "value 17", "mixed bytes".
func (v DemoValue) String() string {
	switch uint64(v) {
	case 0:
		return "no row"
	case damaged:
		return "mixed bytes"
	}
	return fmt.Sprintf("value %d", uint64(v))
}

// MarshalJSON gives a number, null for no row, and a text for bytes that no
// client wrote.
func (v DemoValue) MarshalJSON() ([]byte, error) {
	switch uint64(v) {
	case 0:
		return []byte("null"), nil
	case damaged:
		return []byte(`"mixed bytes"`), nil
	}
	return fmt.Appendf(nil, "%d", uint64(v)), nil
}

// The ways in which a row is wrong.
const (
	damageBoth    = "both versions" // the old and the new one are visible; a read finds the old one
	damageLatent  = "both versions, the right one first"
	damageOld     = "update lost"
	damageLost    = "row lost"
	damageRisen   = "back from the dead"
	damageMixed   = "mixed bytes"
	damageRefused = "cannot be read"
)

// DemoRow is a row that reads wrong after recovery.
type DemoRow struct {
	Key       int64     `json:"key"`
	Block     int64     `json:"block"`
	Committed DemoValue `json:"committed"` // by the last acknowledged write
	Read      DemoValue `json:"read"`      // now
	Damage    string    `json:"damage"`
	// Versions are the values that are visible on the page.
	Versions []DemoValue `json:"visible_versions"`
}

// truth is what a client knows of a row.
type truth struct {
	values []uint64 // acknowledged, in order
	open   bool     // the outcome of a write is unknown
	read   uint64   // after the cut
	state  checkers.Outcome
}

// truths gathers what the history says of each key: writes before the event,
// and the first read after it.
func truths(h *checkers.History, cut int64) map[int64]*truth {
	all := map[int64]*truth{}
	for i := range h.Ops {
		o := &h.Ops[i]
		for j, k := range o.Keys {
			t := all[k]
			if t == nil {
				t = &truth{}
				all[k] = t
			}
			switch {
			case o.Writes() && o.Call < cut && o.Outcome == checkers.Committed:
				t.values = append(t.values, o.Values[j])
			case o.Writes() && o.Call < cut && o.Outcome != checkers.Aborted:
				t.open = true
			case o.Kind != checkers.Get || o.Call < cut || t.state != 0:
			case o.Outcome == checkers.Committed:
				t.state, t.read = o.Outcome, o.Results[j]
			case o.Outcome == checkers.Aborted:
				t.state = o.Outcome
			}
		}
	}
	return all
}

// wrongRows lists the rows that read wrong after the first recovery, and those
// that do not yet, though their page is wrong. Nothing was read: none.
func (t *tornRun) wrongRows(perPage int64) (wrong, latent []DemoRow) {
	all := truths(t.History, t.cutAt)
	keys := make([]int64, 0, len(all))
	for k := range all {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		know := all[k]
		if know.open || know.state == 0 {
			continue
		}
		r := DemoRow{Key: k, Block: k / perPage, Read: DemoValue(know.read)}
		if n := len(know.values); n > 0 {
			r.Committed = DemoValue(know.values[n-1])
		}
		for _, v := range versions(t.read.page(r.Block), k) {
			if v.visible {
				r.Versions = append(r.Versions, v.value)
			}
		}
		if r.judge(know); r.Damage == damageLatent {
			latent = append(latent, r)
		} else if r.Damage != "" {
			wrong = append(wrong, r)
		}
	}
	return wrong, latent
}

// judge names the damage of a row, "" for none.
func (r *DemoRow) judge(know *truth) {
	switch {
	case know.state == checkers.Aborted:
		r.Damage = damageRefused
	case r.Read == r.Committed && len(r.Versions) > 1:
		r.Damage = damageLatent
	case r.Read == r.Committed:
	case uint64(r.Read) == damaged:
		r.Damage = damageMixed
	case r.Read == 0:
		r.Damage = damageLost
	case r.Committed == 0:
		r.Damage = damageRisen
	case len(r.Versions) > 1:
		r.Damage = damageBoth
	default:
		r.Damage = damageOld
	}
}

// tupleVersion is a version of a row on its page.
type tupleVersion struct {
	value   DemoValue
	sector  int
	visible bool
}

// versions lists the versions of a row on a page. All transactions of the demo
// have committed by the time that a page is looked at, so that a version is
// visible unless another one has ended it.
func versions(p *page.Page, key int64) []tupleVersion {
	var found []tupleVersion
	for off := uint16(1); off <= p.MaxOffset(); off++ {
		item := p.Item(off)
		if len(item) < page.TupleHeader {
			continue
		}
		t := page.Tuple(item)
		k, value, ok := heap.ParseRow(t.Data())
		if !ok || k != key || t.Xmin() == 0 {
			continue
		}
		ended := t.Xmax() != 0 && t.Infomask()&(page.XmaxInvalid|page.XmaxLockOnly) == 0
		found = append(found, tupleVersion{
			value: DemoValue(decodeValue(value)), sector: p.ItemID(off).Offset() / demoSector, visible: !ended,
		})
	}
	return found
}
