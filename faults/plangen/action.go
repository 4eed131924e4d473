package plangen

import (
	"time"

	"pgregory.net/rapid"

	"tornpage/faults"
)

// actionsOf returns generators of a kind's actions and of their cures; none if
// the space has no target.
func actionsOf(k faults.Kind, s faults.Space) []*rapid.Generator[faults.Action] {
	switch k {
	case faults.KindKill:
		return over(s.Hosts,
			func(_ *rapid.T, h string) faults.Action { return faults.Kill{Host: h} },
			func(_ *rapid.T, h string) faults.Action { return faults.Boot{Name: h} })
	case faults.KindPowerOff:
		return over(s.Machines,
			func(_ *rapid.T, m string) faults.Action { return faults.PowerOff{Machine: m} },
			func(_ *rapid.T, m string) faults.Action { return faults.Boot{Name: m} })
	case faults.KindPause:
		return over(s.Hosts, func(_ *rapid.T, h string) faults.Action { return faults.Pause{Host: h} })
	case faults.KindZoneDown:
		return over(s.Zones,
			func(_ *rapid.T, z string) faults.Action { return faults.Zone{Zone: z} },
			func(_ *rapid.T, z string) faults.Action { return faults.Zone{Zone: z, Up: true} })
	case faults.KindSlowNIC:
		return over(s.Machines, func(t *rapid.T, m string) faults.Action {
			return faults.NIC{Machine: m, Slow: rapid.Uint32Range(2, 1000).Draw(t, "slow")}
		})
	case faults.KindSkew:
		return over(s.Hosts, func(t *rapid.T, h string) faults.Action {
			ms := nonZero(10_000).Draw(t, "skew")
			return faults.Clock{Name: h, Skew: time.Duration(ms) * time.Millisecond}
		})
	case faults.KindDrift:
		return over(s.Hosts, func(t *rapid.T, h string) faults.Action {
			return faults.Clock{Name: h, Drift: nonZero(1_000).Draw(t, "drift")}
		})
	case faults.KindCut, faults.KindDrop, faults.KindDelay, faults.KindDup, faults.KindReorder, faults.KindCorrupt:
		return linkActions(k, s)
	}
	return over(s.Disks, func(t *rapid.T, d faults.DiskName) faults.Action { return diskAction(t, k, d) })
}

// over makes a generator of each form, over the targets.
func over[T any](targets []T, forms ...func(*rapid.T, T) faults.Action) []*rapid.Generator[faults.Action] {
	if len(targets) == 0 {
		return nil
	}
	var all []*rapid.Generator[faults.Action]
	for _, form := range forms {
		all = append(all, rapid.Custom(func(t *rapid.T) faults.Action {
			return form(t, rapid.SampledFrom(targets).Draw(t, "target"))
		}))
	}
	return all
}

func nonZero(most int64) *rapid.Generator[int64] {
	return rapid.Custom(func(t *rapid.T) int64 {
		n := rapid.Int64Range(1, most).Draw(t, "size")
		if rapid.Bool().Draw(t, "negative") {
			return -n
		}
		return n
	})
}

func rate() *rapid.Generator[faults.Rate] {
	return rapid.Map(rapid.Uint32Range(1, uint32(faults.Million)), func(n uint32) faults.Rate { return faults.Rate(n) })
}

func linkActions(k faults.Kind, s faults.Space) []*rapid.Generator[faults.Action] {
	var ends []faults.End
	for _, h := range s.Hosts {
		ends = append(ends, faults.HostEnd(h))
	}
	for _, z := range s.Zones {
		ends = append(ends, faults.ZoneEnd(z))
	}
	if len(ends) < 2 {
		return nil
	}
	forms := []func(*rapid.T, faults.Ends) faults.Action{
		func(t *rapid.T, e faults.Ends) faults.Action { return linkAction(t, k, e) },
	}
	if k == faults.KindCut {
		forms = append(forms, func(_ *rapid.T, e faults.Ends) faults.Action { return faults.Heal{Ends: e} })
	}
	var all []*rapid.Generator[faults.Action]
	for _, form := range forms {
		all = append(all, rapid.Custom(func(t *rapid.T) faults.Action { return form(t, drawEnds(t, ends)) }))
	}
	return all
}

// drawEnds draws two different ends.
func drawEnds(t *rapid.T, ends []faults.End) faults.Ends {
	from := rapid.IntRange(0, len(ends)-1).Draw(t, "from")
	to := rapid.IntRange(0, len(ends)-2).Draw(t, "to")
	if to >= from {
		to++
	}
	return faults.Ends{From: ends[from], To: ends[to], Both: rapid.Bool().Draw(t, "both")}
}

func linkAction(t *rapid.T, k faults.Kind, e faults.Ends) faults.Action {
	l := faults.Link{Ends: e}
	switch k {
	case faults.KindCut:
		return faults.Cut{Ends: e}
	case faults.KindDrop:
		l.Faults.Drop = rate().Draw(t, "drop")
	case faults.KindDelay:
		l.Faults.Delay = micros(1, time.Second).Draw(t, "delay")
	case faults.KindDup:
		l.Faults.Dup = rate().Draw(t, "dup")
	case faults.KindReorder:
		l.Faults.Reorder = rate().Draw(t, "reorder")
	default:
		l.Faults.Corrupt = rate().Draw(t, "corrupt")
	}
	return l
}

func diskAction(t *rapid.T, k faults.Kind, disk faults.DiskName) faults.Action {
	d := faults.Disk{Disk: disk}
	switch k {
	case faults.KindFailSync:
		return faults.FailSync{Disk: disk, Count: rapid.Uint32Range(1, 10).Draw(t, "count")}
	case faults.KindRot:
		return faults.Rot{Disk: disk, Sectors: rapid.Uint32Range(1, 100).Draw(t, "sectors")}
	case faults.KindLose:
		return faults.Lose{Disk: disk}
	case faults.KindLostWrite:
		d.Faults.LostWrite = rate().Draw(t, "rate")
	case faults.KindLostSync:
		d.Faults.LostSync = rate().Draw(t, "rate")
	case faults.KindEIORead:
		d.Faults.EIORead = rate().Draw(t, "rate")
	case faults.KindEIOWrite:
		d.Faults.EIOWrite = rate().Draw(t, "rate")
	case faults.KindMisdirectRead:
		d.Faults.MisdirectRead = rate().Draw(t, "rate")
	case faults.KindMisdirectWrite:
		d.Faults.MisdirectWrite = rate().Draw(t, "rate")
	case faults.KindFull:
		d.Faults.Full = true
	case faults.KindStall:
		d.Faults.Stall = true
	default: // slow-disk
		d.Faults.Slow = rapid.Uint32Range(2, 1000).Draw(t, "slow")
	}
	return d
}
