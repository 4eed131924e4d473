// Package simdisk is the disk of a simulated machine: what its bytes are, what a
// power-off makes of them, and how long calls take. It is pure state: no task,
// no waiting, no clock. The world asks how long, lets the task wait, and calls.
//
// # Model
//
// A file is visible bytes, in chunks of 64 KiB, and for each sector that differs
// from what is persisted the list of its versions: the persisted one and every
// one since (MaxVersions of them). A page cache of 8 KiB pages lies above the
// device. What leaves it is written first, so eviction persists what no sync
// asked for. Size and names have versions too.
//
//	write      visible at once; each sector whose bytes changed gets a version
//	sync       the versions up to the sync's begin persist, the size with them
//	eviction   the newest version of the page's sectors persists
//	power-off  each sector becomes one of its versions, the size one of its
//	           sizes since the sync, each name operation is done or not; bytes
//	           behind the size are gone, a grown region that did not persist is
//	           zeros
//
// # Promises
//
//	D1  After a power-off a sector is one of its versions, never a mixture.
//	D2  Sectors choose alone and every combination can occur: this is what tears
//	    an 8 KiB page. Nothing, everything and every prefix of the writes are
//	    drawn on purpose (Mode), since coins would hardly give them.
//	D3  What was written before a sync began survives once SyncTo returned nil,
//	    unless a fault is switched on. Until then all of it is at risk.
//	D4  A failed sync marks the sectors clean without storing them: visible until
//	    evicted or until a power-off, then the old bytes are back. The next sync
//	    succeeds and proves nothing; writing again, the same bytes too, makes
//	    them dirty again (Rebello et al., "Can Applications Recover from fsync
//	    Failures?", ATC 2020). The size stays at risk.
//	D5  Faults are switches, and off until set. Switching off ends them; what
//	    they did to bytes stays. A power-off or a loss moves no switch.
//	D6  Every choice is its own keyed draw, of the disk's key, the file's name at
//	    creation, the power-off, the sector and the version. So one more choice,
//	    or file, moves no other.
//	D7  A name operation persists or not, in order; one that no longer applies
//	    to the file it was meant for is skipped. A rename is atomic. The bytes of
//	    a removed file stay until its removal is durable and its handles closed.
//	D8  The same calls give the same bytes, digests and times on any machine.
//
// # Not promised
//
//   - Order between unsynced writes, even to one file: the model is weaker than
//     any file system on purpose.
//   - That a file exists after a power-off before SyncDir, even if it was synced.
//   - That all of the versions of a sector beyond MaxVersions stay possible.
//   - Detection: rot and lost writes read back without an error.
//   - That a read error needs a cache miss: the read faults strike any read,
//     since no engine may count on the cache.
//   - Real milliseconds: profiles give shapes and limits.
//
// # Faults
//
// A torn write is no fault but D2.
//
//	eio-read, eio-write  the call fails, nothing is stored
//	fail-sync            D4; a directory sync fails, and nothing else happens
//	lost-sync            the sync answers and does nothing
//	lost-write           acknowledged, and what it changed never stored: visible
//	                     as after D4
//	misdirect-read       the bytes come from elsewhere in the file, whole pages
//	                     (8 KiB) away
//	misdirect-write      lost-write, and the sectors land whole pages away
//	rot                  bits of a persisted sector flip
//	full                 nothing can grow
//	stall, slow          the device answers later, or not until told (SetStall)
//	loss                 an empty disk in its place
//
// # Use
//
// Read: ReadDone, wait, ReadAt. Write: WriteAt, WriteDone, wait. Sync: SyncPoint
// and SyncDone, wait, SyncTo. Directory sync: DirPoint and SyncDirDone, wait,
// SyncDirTo. A killed process needs only its handles closed.
//
// Reading route: file.go (read, write, truncate), pending.go (versions), sync.go,
// crash.go; names.go; cache.go, device.go and profile.go for time; strike.go for
// what faults do; memory.go for what an ended disk leaves to later ones.
package simdisk
