package host

import (
	"time"

	"tornpage/engine/host/coop"
)

// Machine is one boot of one process on a machine, and all that engine code may
// ask of the world. Once the process is dead every method panics with a private
// value that unwinds the task (rule H2).
//
// Methods block (and so switch) only where they say so.
type Machine interface {
	// Name is the process's name, unique in the world; it survives reboots.
	Name() string
	// Zone is the availability zone of the machine.
	Zone() string
	// Boot counts the boots of this process, from 1.
	Boot() uint64

	// Now is monotonic time since some moment before the process's boot.
	Now() time.Duration
	// Wall is the machine's idea of the date: it may be skewed, drift and jump.
	Wall() time.Time
	// Sleep blocks for d; for d <= 0 it pays the debt and lets others run.
	Sleep(d time.Duration)
	// After calls f once, in d, as a handler (rule H6). It never switches.
	After(d time.Duration, f func())

	// Go starts a task of this process; it never switches. The process ends
	// when its boot function returns, whatever its other tasks do.
	Go(name string, f func())
	// NewCond makes a condition whose waiters are accounted to ev.
	NewCond(ev WaitEvent) *Cond

	// Charge says that n units of work w were done: it adds CPU debt and never
	// switches.
	Charge(w Work, n int)
	// Pay serves the debt on one of the machine's cores. It is a switch point,
	// also when nothing is owed, and allowed while a latch is held.
	Pay()

	// Rand is the random stream of (seed, process, boot, site, entity). Fetch
	// it once and keep it; site is a constant string.
	Rand(site string, entity uint64) Rand

	// Lookup gives the address of a process by name. Unknown names are an error
	// of the configuration and panic.
	Lookup(name string) Addr
	// NameOf is the name behind an address, for messages.
	NameOf(a Addr) string
	// Send sends b, of at most MaxDatagram bytes, as a datagram. It never
	// switches; b stays the caller's. The datagram may be lost, late, doubled or out of order, without a word.
	Send(to Addr, port Port, b []byte)
	// Recv blocks for the next datagram to port, which it appends to b[:0].
	Recv(port Port, b []byte) (from Addr, msg []byte)
	// Handle gives datagrams to port to f, as a handler (rule H6), from now on;
	// msg is valid only until f returns. f nil: back to Recv.
	Handle(port Port, f func(from Addr, msg []byte))
	// Dial blocks for a connection to a port that somebody listens to.
	// Errors: ErrRefused (nobody listens), ErrTimeout.
	Dial(to Addr, port Port) (Conn, error)
	// Listen calls accept, as a handler, with each new connection to port.
	Listen(port Port, accept func(Conn))

	// Disk is a disk of the machine by its name in the configuration. Unknown
	// names panic.
	Disk(name string) Disk

	// Mark says that a rare path was taken. It never switches; a fault plan may
	// crash the machine in it, and then it does not return.
	Mark(name string)
	// Exit ends the process, whose reason is kept for whoever looks; it does
	// not return. A process that cannot go on safely (a failed sync, a torn
	// page without an image) says so by exiting.
	Exit(reason error)
	// Logf writes a line of the process's log. It must not print addresses,
	// map order or real time.
	Logf(format string, args ...any)
}

// Conn is a connection: messages arrive whole, once, in order, or not at all.
// A break may be seen by one side long before the other, or by one side only.
type Conn interface {
	// Peer is the process at the other end.
	Peer() Addr
	// Send queues b, of at most MaxMessage bytes, for the peer. It never
	// switches; b stays the caller's.
	// After a break it does nothing: Recv tells of it.
	Send(b []byte)
	// Recv blocks for the next message, which it appends to b[:0]. After the
	// last message before a break it gives ErrBroken, or ErrClosed after Close
	// on either side.
	Recv(b []byte) ([]byte, error)
	// OnRecv gives messages to f as a handler instead; msg is valid only until
	// f returns. The last call has err set and msg nil.
	OnRecv(f func(msg []byte, err error))
	// Close breaks the connection in both directions. What was sent before may
	// still arrive.
	Close()
}

// Disk is a directory of files without subdirectories. Names are at risk of a
// power-off until SyncDir: a created file may be missing, a removed one may be
// back, a rename may be undone (but is never half done). All methods block. A
// name that is empty, ".", "..", longer than 255 bytes or has a slash, a
// backslash or a zero byte is an error.
type Disk interface {
	// Open opens a file; create makes it if missing. Errors: ErrNotExist,
	// ErrNoSpace, ErrIO.
	Open(name string, class FileClass, create bool) (File, error)
	// Remove removes the name; open files stay readable. Errors: ErrNotExist.
	Remove(name string) error
	// Rename gives the file a new name, replacing a file of that name.
	Rename(old, new string) error
	// List gives the names, sorted.
	List() ([]string, error)
	// SyncDir blocks until all names are as they are now even after power-off.
	SyncDir() error
}

// File is an open file. ReadAt, WriteAt, Sync and Truncate block.
type File interface {
	// ReadAt reads len(b) bytes, or fewer and io.EOF at the end of the file.
	// Errors: ErrIO.
	ReadAt(b []byte, off int64) (int, error)
	// WriteAt writes all of b or gives an error, after which any part may be
	// written. The bytes can be read at once, and each sector of them is at
	// risk until a Sync that began later has returned nil. Errors: ErrNoSpace,
	// ErrIO.
	WriteAt(b []byte, off int64) (int, error)
	// Sync makes data and size survive power-off. After an error nothing is
	// known: the machine may have dropped what was unsynced, and another Sync
	// proves nothing (Rebello et al., "Can Applications Recover from fsync
	// Failures?", ATC 2020).
	Sync() error
	// Truncate sets the size; growing adds zeros.
	Truncate(size int64) error
	// Size is the size in bytes.
	Size() (int64, error)
	// Close releases the file. It does not sync.
	Close() error
}

// Cond and WaitEvent are the task core's.
type (
	Cond      = coop.Cond
	WaitEvent = coop.WaitEvent
)

// Addr is the small number that stands for a process's name in one world or
// one deployment.
type Addr uint32

// Port tells the services of one process apart.
type Port uint8
