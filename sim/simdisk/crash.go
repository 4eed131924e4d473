package simdisk

import (
	"slices"
)

// Mode is how much of what was at risk a power-off keeps. It is drawn for each
// crash and file, so that the extremes, which a coin for each sector would
// almost never give, are common.
type Mode uint8

// The modes of a crash.
const (
	KeepNothing Mode = iota // the state of the last sync
	KeepAll                 // everything, as if a sync had come just before
	KeepPrefix              // every write up to a drawn one, as an ordered disk would
	KeepCoin                // each sector any of its versions
	KeepFew                 // a coin that mostly falls on old
	KeepMost                // a coin that mostly falls on new
	modes
)

var modeNames = [modes]string{"nothing", "all", "prefix", "coin", "few", "most"}

// String is the mode's name.
func (m Mode) String() string {
	if m < modes {
		return modeNames[m]
	}
	return "?"
}

// modeOf has the modes by drawn eighth: a quarter each of nothing and all would
// leave few torn pages, so it is one in eight each, and three for the coin.
var modeOf = [8]Mode{KeepNothing, KeepAll, KeepPrefix, KeepCoin, KeepCoin, KeepCoin, KeepFew, KeepMost}

// rare is how seldom KeepFew keeps and KeepMost does not, one in so many.
const rare = 12

// crashDraw draws for one file (or the names) in one crash.
type crashDraw struct {
	d    *Disk
	id   uint64
	mode Mode
	cut  uint64 // KeepPrefix: changes up to here are kept
}

func (d *Disk) drawMode(site, id uint64, first, last uint64) crashDraw {
	r := d.stream(site, d.crashes, id, 0)
	k := crashDraw{d: d, id: id, mode: modeOf[r.N(uint64(len(modeOf)))]}
	k.cut = first - 1 + r.N(last-first+2)
	return k
}

// pick chooses one of n things in order of age, number 0 the persisted one and
// n-1 the newest, for the entity (a, b).
func (k *crashDraw) pick(site, a, b uint64, n uint64) uint64 {
	if n == 1 || k.mode == KeepNothing {
		return 0
	}
	if k.mode == KeepAll {
		return n - 1
	}
	r := k.d.stream(site, k.d.crashes^k.id, a, b)
	switch k.mode {
	case KeepFew:
		if !r.Chance(1, rare) {
			return 0
		}
		return 1 + r.N(n-1)
	case KeepMost:
		if !r.Chance(1, rare) {
			return n - 1
		}
		return r.N(n - 1)
	}
	return r.N(n)
}

// PowerOff cuts the power: what was not synced becomes one of the states that
// the disk allows, and the cache is cold. All handles are void: open the files
// again. Fault switches stay on.
func (d *Disk) PowerOff() Report {
	d.crashes++
	rep := Report{Crash: d.crashes, Digest: k0}
	d.stats.PowerOffs++
	d.crashNames(&rep)
	for _, f := range d.files {
		f.open = 0
		if f.dirty.n+f.ghosts.n > 0 || len(f.sizes) > 0 {
			f.crash(&rep)
		}
	}
	d.used = 0
	for _, e := range d.names {
		d.used += blocks(e.file.size)
	}
	d.cache.clear()
	return rep
}

// crashNames decides which name operations persisted, and forgets files that
// have no name now.
func (d *Disk) crashNames(rep *Report) {
	rep.NamesAtRisk = len(d.ops)
	if len(d.ops) > 0 {
		k := d.drawMode(siteName, 0, d.ops[0].number, d.opCount)
		for i := range d.ops {
			op := &d.ops[i]
			keep := op.number <= k.cut
			if k.mode != KeepPrefix {
				keep = k.pick(siteName, op.nth, op.file.id, 2) == 1
			}
			if keep && d.applyOp(op) {
				rep.NamesKept++
				rep.Digest = fold(rep.Digest^op.number, k3)
			}
		}
	}
	d.ops = d.ops[:0]
	d.names = slices.Clone(d.kept)
	for _, f := range d.files {
		f.refs, f.linked = 0, false
	}
	for _, e := range d.names {
		e.file.refs, e.file.linked, e.file.name = 2, true, e.name
	}
	d.files = slices.DeleteFunc(d.files, func(f *File) bool {
		if f.refs == 0 {
			f.discard()
			f.gone = true
		}
		return f.gone
	})
}

// choice is what became of a sector: it holds the bytes that were right from
// one write until another.
type choice struct {
	sector      uint32
	from, until Version
}

// crash gives each sector of the file, and its size, one of its versions.
func (f *File) crash(rep *Report) {
	d, p := f.d, &f.d.pool
	fr := FileReport{Name: f.name, SizeBefore: f.size, Lost: int(f.ghosts.n), AtRisk: int(f.dirty.n)}
	k := d.drawMode(siteMode, f.id, f.firstChange(), uint64(f.version))
	fr.Mode = k.mode
	before := f.size
	f.crashSize(&k)
	fr.Size = f.size
	h := fold(rep.Digest^f.id, uint64(f.size)^k4)
	choices := make([]choice, 0, f.dirty.n+f.ghosts.n)
	for _, l := range [...]*list{&f.dirty, &f.ghosts} {
		for i := l.head; i != 0; {
			q := &p.pendings[i]
			next := q.next
			v := q.base
			if l == &f.dirty {
				v = f.chooseVersion(&k, q)
			}
			ch := f.become(q, i, v, &fr)
			choices = append(choices, ch)
			h = fold(h^uint64(ch.sector)<<1, uint64(ch.from)^k1)
			i = next
		}
		*l = list{}
	}
	f.runs, f.cut = 0, false
	f.cutImage(max(before, int64(len(f.chunks))<<chunkShift))
	fr.Torn = d.geo.torn(choices)
	rep.Digest = h
	rep.Files = append(rep.Files, fr)
}

// firstChange is the number of the first change that is at risk.
func (f *File) firstChange() uint64 {
	p, first := &f.d.pool, f.version
	if len(f.sizes) > 0 {
		first = f.sizes[0].version
	}
	for i := f.dirty.head; i != 0; i = p.pendings[i].next {
		first = min(first, p.versions[p.pendings[i].base].until)
	}
	return max(uint64(first), 1)
}

func (f *File) crashSize(k *crashDraw) {
	n := 0
	if k.mode == KeepPrefix {
		for n < len(f.sizes) && uint64(f.sizes[n].version) <= k.cut {
			n++
		}
	} else {
		n = int(k.pick(siteSize, k.id, uint64(f.version), uint64(len(f.sizes))+1))
	}
	if n > 0 {
		f.synced = f.sizes[n-1].size
	}
	f.size, f.sizes = f.synced, f.sizes[:0]
}

// chooseVersion draws a dirty sector's fate; 0 is the newest, visible bytes.
func (f *File) chooseVersion(k *crashDraw, q *pending) int32 {
	p := &f.d.pool
	if k.mode == KeepPrefix {
		if uint64(q.cur) <= k.cut {
			return 0
		}
		v := q.newest
		for v != q.base && uint64(p.versions[v].from) > k.cut {
			v = p.versions[v].older
		}
		return v
	}
	age := k.pick(siteSector, uint64(q.sector), uint64(q.cur), uint64(q.count)+1)
	if age == uint64(q.count) {
		return 0
	}
	v := q.newest
	for n := uint64(q.count) - 1; n > age; n-- {
		v = p.versions[v].older
	}
	return v
}

// become gives a sector its chosen version and frees the others.
func (f *File) become(q *pending, i, v int32, fr *FileReport) choice {
	p, g := &f.d.pool, &f.d.geo
	c := f.chunks[q.sector>>g.chunkShift]
	s := q.sector & g.chunkMask
	ch := choice{q.sector, q.cur, ^Version(0)}
	switch {
	case v == 0:
		fr.New++
	case v == q.base:
		fr.Old++
	default:
		fr.Between++
	}
	if v != 0 {
		ch.from, ch.until = p.versions[v].from, p.versions[v].until
		f.put(c, i, v)
	}
	c.pend[s] = 0
	c.dirty.unset(s)
	c.ghost.unset(s)
	p.freePending(i)
	return ch
}

// cutImage makes sure that nothing is left behind the end of the file, which
// reached until a byte before.
func (f *File) cutImage(reach int64) {
	f.trim()
	if c := f.peek(uint32(f.size >> chunkShift)); c != nil && f.size < reach {
		if c.shared {
			c.own()
		}
		clear(c.data[f.size&(chunkSize-1):])
	}
}

// torn lists the pages that are a mixture: no moment exists at which all their
// sectors held what they hold now.
func (g *geometry) torn(choices []choice) []int64 {
	slices.SortFunc(choices, func(a, b choice) int { return int(a.sector) - int(b.sector) })
	var pages []int64
	for i := 0; i < len(choices); {
		page := choices[i].sector >> g.pageShift
		from, until := Version(0), ^Version(0)
		for ; i < len(choices) && choices[i].sector>>g.pageShift == page; i++ {
			from, until = max(from, choices[i].from), min(until, choices[i].until)
		}
		if from >= until {
			pages = append(pages, int64(page))
		}
	}
	return pages
}
