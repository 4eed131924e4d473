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
// Files: "rel-N" for each relation, "control", and one file for each log
// segment under PostgreSQL's names.
//
// # Tolerates
//
// kill and power-off of its machine at any moment, in recovery too, with any
// subset of unsynced sectors kept; a failed write or sync, and a full disk, by
// ending the process. Lost, lying and misdirected I/O and rot are outside: they
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
//
// Sources: PostgreSQL 15 access/transam/xlog.c (XLogInsertRecord,
// CreateCheckPoint, UpdateFullPageWrites, StartupXLOG), postmaster/
// checkpointer.c (pacing); Rebello et al., ATC 2020, for L5 and L9.
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
//   - Going on when a disk is full. The process ends with the reason; nothing
//     that was acknowledged is lost, and the next boot goes on if there is room.
//
// # Departures from PostgreSQL
//
//   - One inserter at a time instead of eight insertion locks: a chained CRC
//     needs its predecessor's.
//   - The log is written by one task; committers never write it themselves.
//   - New segments are not filled with zeros first; old ones are renamed when
//     they are needed, not ahead of time. A directory sync then falls to the
//     commit that enters the segment.
//   - Turning full-page writes on makes a checkpoint, see SetFullPageWrites.
//   - The pages of a checkpoint are written in page order, spread by the time
//     between the last two checkpoints and by the log written since, whichever
//     asks for more speed. PostgreSQL smooths the distance over many.
//   - A missing page is refused in redo. PostgreSQL remembers it, since the
//     relation may be dropped later in the log; relations here are not dropped.
//
// Rejected: writing the tail of a partial log page alone (whole pages are what
// PostgreSQL writes, and what a device's IOPS are spent on); a ring buffer (see
// flush); keeping the epoch outside the control file.
//
// Reading route: storage.go, insert.go, writer.go, segment.go,
// lsnwait; checkpoint.go, fpw.go, relation.go; recover.go, control.go.
package local
