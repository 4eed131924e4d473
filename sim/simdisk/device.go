package simdisk

import "tornpage/engine/host"

// maxDepth is the deepest queue, a power of two.
const maxDepth = 64

// device is the performance of the disk. A command takes the next of Depth
// slots in turn, waits for it, for the operation budget and for the channel,
// and then takes a drawn latency; its slot is free when it completes.
type device struct {
	slots  [maxDepth]int64 // when each is free, ns
	next   uint32
	depth  uint32
	opsAt  int64 // when the operation budget has room
	busAt  int64 // when the channel is free
	last   uint64
	lastAt int64 // file and offset where the last command ended

	reading, writing direction
	near, barrier    latency
	hasNear          bool
	maxIO            int64
	callNS           int64
	bytePS           int64

	key   uint64
	draws uint64
	stall int64
	slow  int64

	struckStall, struckSlow uint64
}

// direction is what differs between reads and writes.
type direction struct {
	opNS   int64 // ns an operation takes of the budget
	bytePS int64 // ps a byte takes of the channel
	lat    latency
}

func (v *device) init(p Profile, key uint64) {
	v.depth, v.slow, v.key = uint32(p.Depth), 1, key
	v.maxIO, v.callNS, v.bytePS = p.MaxIO, p.CacheCall, p.CacheByte
	v.reading.init(p.ReadIOPS, p.ReadBytes, p.Read)
	v.writing.init(p.WriteIOPS, p.WriteBytes, p.Write)
	v.hasNear = p.Near != Quantiles{}
	v.near.init(p.Near)
	v.barrier.init(p.Barrier)
}

func (w *direction) init(iops, bytes int64, q Quantiles) {
	if iops > 0 {
		w.opNS = 1_000_000_000 / iops
	}
	if bytes > 0 {
		w.bytePS = 1_000_000_000_000 / bytes
	}
	w.lat.init(q)
}

// begin is when the device starts to look at a command.
func (v *device) begin(now int64) int64 {
	if now < v.stall {
		v.struckStall++
		return v.stall
	}
	return now
}

// command gives runs commands of together n bytes to the device, and returns
// when the last completes. near says that the first continues the last one.
func (v *device) command(now int64, w *direction, runs int32, n int64, near bool) int64 {
	at := v.begin(now)
	if at >= Forever {
		return Forever
	}
	ops := int64(runs)
	if v.maxIO > 0 && n > v.maxIO*ops {
		ops = (n + v.maxIO - 1) / v.maxIO
	}
	at = max(at, v.opsAt, v.slots[v.next])
	v.opsAt = at + ops*w.opNS*v.slow
	at = max(at, v.busAt)
	v.busAt = at + n*w.bytePS/1000*v.slow
	lat := &w.lat
	if near && v.hasNear {
		lat = &v.near
	}
	v.draws++
	wait := lat.draw(host.Mix(v.key + v.draws*k1))
	if ops > 1 {
		wait += (ops - 1) * lat.median() / int64(v.depth)
	}
	if v.slow > 1 {
		v.struckSlow++
	}
	done := max(v.busAt, v.opsAt-w.opNS*v.slow) + wait*v.slow
	v.slots[v.next] = done
	v.next++
	if v.next >= v.depth {
		v.next = 0
	}
	return done
}

// flush is a barrier after everything until at.
func (v *device) flush(at int64) int64 {
	at = v.begin(at)
	if at >= Forever {
		return Forever
	}
	v.draws++
	return at + v.barrier.draw(host.Mix(v.key+v.draws*k1))*v.slow
}

// cached is a call that only copies n bytes of memory.
func (v *device) cached(now int64, n int) int64 {
	return now + v.callNS + int64(n)*v.bytePS/1000
}

// ReadDone is when a read of n bytes that is issued at now completes, both in
// ns: at once from the cache, or after the device. It brings the pages into the
// cache, which may push others out: read when the time has come.
func (f *File) ReadDone(now, off int64, n int) int64 {
	d := f.d
	if f.gone || off < 0 || off >= f.size || n <= 0 {
		return d.dev.cached(now, 0)
	}
	n = int(min(int64(n), f.size-off))
	var missed, runs int32
	for at, end := off, off+int64(n); at < end; {
		in := uint32(at & (chunkSize - 1))
		m := int(min(int64(chunkSize-in), end-at))
		if c := f.peek(uint32(at >> chunkShift)); c != nil {
			a, b := f.bringIn(c, uint32(at>>chunkShift), in, m)
			missed += a
			runs += b
		}
		at += int64(m)
	}
	d.writeBack(now)
	if missed == 0 {
		d.stats.CacheHits++
		return d.dev.cached(now, n)
	}
	near := d.dev.last == f.id && d.dev.lastAt == off
	d.dev.last, d.dev.lastAt = f.id, off+int64(n)
	d.stats.DeviceReads += uint64(missed)
	return d.dev.command(now, &d.dev.reading, runs, int64(missed)*PageSize, near)
}

// WriteDone is when a write of n bytes that WriteAt has just done completes,
// issued at now. It went to memory; but a writer who pushes dirty pages out of
// the cache waits until they are written.
func (f *File) WriteDone(now int64, n int) int64 {
	return max(f.d.writeBack(now), f.d.dev.cached(now, n))
}

// writeBack gives evicted dirty pages to the device.
func (d *Disk) writeBack(now int64) int64 {
	k := &d.cache
	if k.writeRuns == 0 {
		return now
	}
	done := d.dev.command(now, &d.dev.writing, k.writeRuns, k.writeBytes, false)
	d.stats.WrittenBack += uint64(k.writeBytes)
	k.writeRuns, k.writeBytes = 0, 0
	return done
}

// SyncDone is when a sync completes that begins at now: ask before SyncTo. The
// file's dirty sectors are written, a command for each run of dirty pages, and
// then the device's own cache is flushed. A sync of a clean file costs a call.
func (f *File) SyncDone(now int64) int64 {
	d := f.d
	at := d.writeBack(now)
	if f.dirty.n == 0 && len(f.sizes) == 0 {
		return max(at, d.dev.cached(now, 0))
	}
	near := d.dev.last == f.id
	d.dev.last, d.dev.lastAt = f.id, f.size
	n := int64(f.dirty.n) << d.geo.shift
	return d.dev.flush(d.dev.command(now, &d.dev.writing, max(f.runs, 1), n, near))
}

// NameDone is when a name operation (open, create, remove, rename, list,
// truncate) completes: the directory is in memory.
func (d *Disk) NameDone(now int64) int64 { return d.dev.cached(now, 0) }

// SyncDirDone is when a directory sync that begins at now completes: a block of
// the file system's journal is written and flushed.
func (d *Disk) SyncDirDone(now int64) int64 {
	return d.dev.flush(d.dev.command(now, &d.dev.writing, 1, 4096, false))
}
