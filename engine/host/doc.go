// Package host is the seam between the engine and the machine it runs on: the
// interface Machine, and small parts that are the same on every machine.
//
// # Model
//
// A Machine value is one boot of one process. Its tasks run one at a time and
// switch only in calls that are documented to block, so engine code is plain
// blocking Go without mutexes, atomics, channels or go statements. sim
// implements Machine on a simulated world, oshost on a real clock, TCP and
// files; hosttest says in code what both must do. The engine cannot tell which
// one it runs on.
//
// # Promises
//
//	H1  Between two blocking calls no other task and no handler of the process
//	    runs.
//	H2  A killed task unwinds by a panic out of the call in which it blocks,
//	    and cannot do anything more to the world, whatever it defers. Engine
//	    code must not recover.
//	H3  kill takes the memory of a process; files stay as last written.
//	    power-off takes every process of a machine, and its disks go to one of
//	    the states that their unsynced writes allow: each sector as of its last
//	    sync or of any write since, in any combination; each name operation
//	    since the last SyncDir done or not.
//	H4  Each boot runs the same boot function against what is left, on new
//	    memory. Its Boot is one more.
//	H5  Charge never switches. Sends, signals and Go take effect at now plus
//	    debt. Blocking calls pay the debt first; a Cond.Wait with debt pays it
//	    and returns at once (look again).
//	H6  A handler (Handle, Listen, OnRecv, After) runs between tasks, must not
//	    block, and may send, signal, start tasks and charge.
//	H7  Messages are copied when sent. A link may flip bits of a datagram, so
//	    datagrams carry checksums of their sender's own. A connection is
//	    checked below the seam: what it delivers is what was sent, or it breaks.
//	H8  Rand draws depend on (seed, process, boot, site, entity, count) alone.
//
// Two rules bind the engine; a breach panics:
//
//	H-latch  A latch is released only in the way in which it is held.
//	H-size   A datagram has at most MaxDatagram bytes, a message MaxMessage.
//
// # Not promised
//
//   - That a file or a rename exists after power-off before SyncDir.
//   - Any order between unsynced writes, even to one file.
//   - That Recv, Dial or Conn.Recv ever return.
//   - That Wall has anything to do with Now, or with another machine's Wall.
//   - That a bit that rotted on a disk is reported: checksums are the engine's.
//
// Reading route: machine.go (the seam), latch.go, charge.go, wait.go, then
// coop (tasks) and hosttest (the rules as tests).
package host
