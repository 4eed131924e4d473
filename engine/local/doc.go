// Package local is storage A: PostgreSQL on one machine's disks. A write-ahead
// log in segment files, data files of 8 KiB pages that are overwritten in place,
// full-page images against torn pages, checkpoints, and recovery by redo.
//
// # Model
//
// Append copies a record into the log buffer and returns. One task, the log
// writer, takes what is in the buffer, writes and syncs it, and publishes the
// durable point: while it does so the buffer fills again, and that is group
// commit. Pages are written back by eviction and by checkpoints, and synced by
// checkpoints only. A checkpoint notes the end of the log (the redo point),
// writes every page that was dirty then, syncs, and puts the redo point into
// the control file: recovery starts there.
//
// Files: "rel-N" for each relation and "rel-N_vm" for its visibility map,
// "control", one file for each log segment under PostgreSQL's names, and a
// reserve on each disk, "reserve.data" and "reserve.wal".
//
// # Tolerates
//
// kill and power-off of its machine at any moment, in recovery too, with any
// subset of unsynced sectors kept; a failed write or sync by ending the
// process; a full disk by refusing changes (L11). Lost, lying and misdirected I/O and rot are outside: they
// are refused where a checksum, a chain or an LSN shows them.
//
// # Rules
//
//	L1  The log goes on at its end. What lies behind it on disk (an older
//	    boot's tail, a recycled segment) never fits again: CRCs chain, and each
//	    boot that recovers begins with a checkpoint record that names its own
//	    redo point, so that no two boots continue with equal bytes.
//	L2  LSN, buffer and CRC chain are taken in one order, under the insertion
//	    latch, and under it the image decision is made again: if the redo point
//	    has moved or images have been switched on, the caller builds again.
//	L3  The durable point only grows (lsnwait). It passes a byte once the file, and the
//	    directory that names it, were synced after the byte was written.
//	L4  A page is written only when its LSN is at or below the durable point;
//	    in recovery the log that is read was synced before.
//	L5  A failed write or sync ends the process. It is never tried again: the
//	    machine may have dropped what it says it holds.
//	L6  The redo point in the control file moves to R after: every page that
//	    was dirty at R was written; every file written since the last time was
//	    synced, and the directory; and the checkpoint record is durable. The
//	    log below R is given up only after the control file was synced.
//	L7  The control file appears whole or not at all, and its two slots are
//	    written in turn.
//	L8  While full-page writes are on in the log, the first change of a page
//	    after a redo point has the page's image. Off is durable in the log
//	    before the first change without; on takes effect before it is logged.
//	L9  Recovery builds on nothing that might be in a cache only: it writes the
//	    control state, the log from the redo point on and every page that the
//	    log names again, and syncs all files (see Config.TrustCache).
//	L10 A relation that the log cuts ends there at once, for Size and ReadPage.
//	    Its file follows once the record is durable: before anything is written
//	    behind the cut, and before a checkpoint syncs. What was on its way to
//	    the file then is dropped, or was written before the file is cut. Redo
//	    cuts whatever the file's size, and forgives a change that it cannot
//	    repeat if its block is cut off later in the log.
//	L11 When a disk is full its reserve is given up, and until that is whole
//	    again Admit refuses. What was let in is written to the space: the log,
//	    the control file, new pages. If there is not enough even so, the log
//	    writer, checkpoints and recovery wait for space, and Evict refuses; no
//	    change is lost or acknowledged early. Without a reserve (Config) a
//	    full disk ends the process as a failed write does.
//
// Sources: PostgreSQL 15 access/transam/xlog.c (XLogInsertRecord,
// CreateCheckPoint, UpdateFullPageWrites, StartupXLOG), xlogutils.c (invalid
// pages), catalog/storage.c (RelationTruncate, smgr_redo), postmaster/
// checkpointer.c (pacing, time); Rebello et al., ATC 2020, for L5 and L9.
//
// # Not promised
//
//   - Telling a log whose durable end was damaged from one that a crash ended
//     there. The checkpoint record must be present, and a page with an LSN
//     beyond the log is refused; more is not known.
//   - Older versions of pages: ReadPage and Size refuse them.
//   - A page that recovery finds torn and that the log has no image of: with
//     checksums Open refuses, without them it is used as it is.
//   - That hint bits are safe from tearing: compute logs an image before the
//     first one after a redo point (wal.FPIForHint), if checksums are on.
//   - A hard limit of log in memory: Append never waits, so that callers who
//     were let in together may overfill the buffer (see lsnwait.Gate).
//   - That a storage opens on a full disk without a reserve, or once others
//     have taken what it gave up: recovery, which ends with a checkpoint, waits
//     for space then. With the reserve it opens, and refuses changes.
//   - That a file system which gives out space when it syncs, not when it is
//     written to (network file systems), reports a full disk as such: a failed
//     sync ends the process (L5).
//   - An answer while the log has no space and no reserve: who waits for a
//     commit then goes on waiting.
//
// # Departures from PostgreSQL
//
//   - One inserter at a time instead of eight insertion locks: a chained CRC
//     needs its predecessor's.
//   - The log is written by one task; committers never write it themselves.
//   - New segments are not filled with zeros first; old ones are renamed when
//     they are needed, not ahead of time as PostgreSQL's checkpoints do. A
//     directory sync then falls to the commit that enters the segment.
//   - Turning full-page writes on makes a checkpoint, see SetFullPageWrites.
//   - The pages of a checkpoint are written in page order, spread by the time
//     between the last two checkpoints and by the log written since, whichever
//     asks for more speed. PostgreSQL smooths the distance over many.
//   - Of the changes that redo could not repeat it remembers the smallest block
//     of each relation, which is enough; relations are not dropped in the log.
//   - PostgreSQL ends the process when the log's disk is full, and keeps no
//     reserve: an administrator's file to delete does the same (L11).
//   - PostgreSQL holds a checkpoint back while a relation is cut
//     (DELAY_CHKPT_COMPLETE); here the checkpoint makes the cut.
//
// Rejected: writing the tail of a partial log page alone (whole pages are what
// PostgreSQL writes, and what a device's IOPS are spent on); a ring buffer (see
// flush); keeping the epoch outside the control file.
//
// Reading route: storage.go, insert.go, writer.go, segment.go,
// lsnwait; checkpoint.go, fpw.go, relation.go, cut.go, space.go; recover.go,
// redo.go, control.go.
package local
