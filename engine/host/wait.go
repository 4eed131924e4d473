package host

// Wait events label what a blocked task waits for, so that a run can print its
// load by wait: the average number of active sessions per label. The names
// follow PostgreSQL's "type:event".
const (
	WaitCPU WaitEvent = iota // running or queued for a core (coop.EventCPU)
	WaitSleep
	WaitRecv
	WaitDial
	WaitDataRead
	WaitDataWrite
	WaitDataSync
	WaitWALRead
	WaitWALWrite
	WaitWALSync
	WaitControlRead
	WaitControlWrite
	WaitControlSync
	WaitDirSync
	WaitName // create, remove, rename, list
	WaitWALInsert
	WaitWALBuffer
	WaitWALWriter
	WaitDurable
	WaitCommitQueue
	WaitBufferContent
	WaitBufferPin
	WaitBufferIO
	WaitTuple
	WaitCheckpoint
	WaitPageServer
	WaitLogServer
	WaitWork
	WaitClient
	WaitSpace
	WaitRelation
	WaitKey
	WaitTransaction
	// WaitEvents is the number of wait events.
	WaitEvents
)

var waitNames = [WaitEvents]string{
	"CPU", "Timeout:Sleep", "Client:Recv", "Net:Dial",
	"IO:DataRead", "IO:DataWrite", "IO:DataSync",
	"IO:WALRead", "IO:WALWrite", "IO:WALSync",
	"IO:ControlRead", "IO:ControlWrite", "IO:ControlSync", "IO:DirSync", "IO:Name",
	"LWLock:WALInsert", "LWLock:WALBuffer", "Activity:WALWriter", "IPC:Durable", "IPC:CommitQueue",
	"LWLock:BufferContent", "LWLock:BufferPin", "IPC:BufferIO", "Lock:Tuple", "IPC:Checkpoint",
	"Net:PageServer", "Net:LogServer", "Activity:Work", "Net:Client", "IPC:Space",
	"Lock:Relation", "Lock:Key", "Lock:Transaction",
}

// EventName is the printed name of a wait event.
func EventName(ev WaitEvent) string {
	if ev < WaitEvents {
		return waitNames[ev]
	}
	return "?"
}

// FileClass tells which wait events a file's calls are accounted to.
type FileClass uint8

// The classes of files that engines have.
const (
	ClassData FileClass = iota
	ClassWAL
	ClassControl
)

var classEvents = [...][3]WaitEvent{
	ClassData:    {WaitDataRead, WaitDataWrite, WaitDataSync},
	ClassWAL:     {WaitWALRead, WaitWALWrite, WaitWALSync},
	ClassControl: {WaitControlRead, WaitControlWrite, WaitControlSync},
}

// ReadEvent, WriteEvent and SyncEvent are the wait events of the class.
func (c FileClass) ReadEvent() WaitEvent  { return classEvents[c][0] }
func (c FileClass) WriteEvent() WaitEvent { return classEvents[c][1] }
func (c FileClass) SyncEvent() WaitEvent  { return classEvents[c][2] }
