package faults

import (
	"strconv"
	"time"
)

// field is one key of a group of faults (link, disk, clock), in the order in
// which a plan prints it. Exactly one of the pointers is set; parser, printer,
// checks and merging all walk the same list.
type field struct {
	kind   Kind
	key    string
	rate   *Rate
	factor *uint32
	flag   *bool
	dur    *time.Duration
	ppm    *int64
	signed bool // dur may be negative
}

func (l *LinkFaults) fields() []field {
	return []field{
		{kind: KindDrop, key: "drop", rate: &l.Drop},
		{kind: KindDelay, key: "delay", dur: &l.Delay},
		{kind: KindDup, key: "dup", rate: &l.Dup},
		{kind: KindReorder, key: "reorder", rate: &l.Reorder},
		{kind: KindCorrupt, key: "corrupt", rate: &l.Corrupt},
	}
}

func (d *DiskFaults) fields() []field {
	return []field{
		{kind: KindLostWrite, key: "lost-write", rate: &d.LostWrite},
		{kind: KindLostSync, key: "lost-sync", rate: &d.LostSync},
		{kind: KindEIORead, key: "eio-read", rate: &d.EIORead},
		{kind: KindEIOWrite, key: "eio-write", rate: &d.EIOWrite},
		{kind: KindMisdirectRead, key: "misdirect-read", rate: &d.MisdirectRead},
		{kind: KindMisdirectWrite, key: "misdirect-write", rate: &d.MisdirectWrite},
		{kind: KindFull, key: "full", flag: &d.Full},
		{kind: KindStall, key: "stall", flag: &d.Stall},
		{kind: KindSlowDisk, key: "slow", factor: &d.Slow},
	}
}

func (c *Clock) fields() []field {
	return []field{
		{kind: KindSkew, key: "skew", dur: &c.Skew, signed: true},
		{kind: KindDrift, key: "drift", ppm: &c.Drift},
	}
}

func (f field) set() bool {
	switch {
	case f.rate != nil:
		return *f.rate != 0
	case f.factor != nil:
		return *f.factor != 0
	case f.flag != nil:
		return *f.flag
	case f.dur != nil:
		return *f.dur != 0
	default:
		return *f.ppm != 0
	}
}

func (f field) String() string {
	switch {
	case f.rate != nil:
		return f.key + "=" + f.rate.String()
	case f.factor != nil:
		return f.key + "=" + formatFactor(*f.factor)
	case f.flag != nil:
		return f.key
	case f.dur != nil:
		return f.key + "=" + FormatDuration(*f.dur)
	default:
		return f.key + "=" + strconv.FormatInt(*f.ppm, 10) + "ppm"
	}
}

// merge adds the same field of another group that acts at the same time: the
// stronger of two faults, except that skews and drifts add up.
func (f field) merge(o field) {
	switch {
	case f.rate != nil:
		*f.rate = max(*f.rate, *o.rate)
	case f.factor != nil:
		*f.factor = max(*f.factor, *o.factor)
	case f.flag != nil:
		*f.flag = *f.flag || *o.flag
	case f.dur != nil && f.signed:
		*f.dur = min(max(*f.dur+*o.dur, -maxSpan), maxSpan)
	case f.dur != nil:
		*f.dur = max(*f.dur, *o.dur)
	default:
		*f.ppm = min(max(*f.ppm+*o.ppm, -maxDriftPPM), maxDriftPPM)
	}
}

func kindsOf(fields []field) []Kind {
	var kinds []Kind
	for _, f := range fields {
		if f.set() {
			kinds = append(kinds, f.kind)
		}
	}
	return kinds
}
