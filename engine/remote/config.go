package remote

import (
	"time"

	"tornpage/engine/heap"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/wal"
)

// Config is every size, name and interval of the storage, for all four of its
// processes. A zero means the default named at the field.
type Config struct {
	// Log and Pages name the processes of the log host and the page host.
	// Default "log" and "pages".
	Log, Pages string
	// LogPort and PagePort are where they listen. Default 21 and 22.
	LogPort, PagePort host.Port
	// LogDisk is the disk of the log host. Default "log".
	LogDisk string

	// Unacknowledged is how much log, in bytes, the writer may have sent or
	// kept without an acknowledgement before Admit holds callers back.
	// Default 1 MiB.
	Unacknowledged int
	// StreamWindow is how much log, in bytes, is on its way to one reader of
	// the stream before the log host waits for it. Default 1 MiB.
	StreamWindow uint64
	// History is how far behind the newest LSN, in bytes of log, pages can be
	// read though nobody holds them: time for a follower to begin. Default
	// 1 MiB.
	History uint64
	// Retry is the pause before a connection is dialled again. Default 2 ms.
	Retry time.Duration

	// Heartbeat is how often the side that dialled a connection asks whether
	// the other is there. Default 50 ms.
	Heartbeat time.Duration
	// Silence is how long a side hears nothing before it gives a connection
	// up. Default four heartbeats: three may be lost or late.
	Silence time.Duration

	// Redo replays records. Default wal.StandardRedo().
	Redo *wal.Redo

	// Synced, if set, is told by the log host of each new durable point before
	// anybody else is. It must not block.
	Synced func(wal.LSN)

	// Rel and Geometry are the table that a follower serves, and DBPort is
	// where. They must be the writer's.
	Rel      page.Rel
	Geometry heap.Geometry
	DBPort   host.Port
}

func (c Config) withDefaults() Config {
	if c.Log == "" {
		c.Log = "log"
	}
	if c.Pages == "" {
		c.Pages = "pages"
	}
	if c.LogPort == 0 {
		c.LogPort = 21
	}
	if c.PagePort == 0 {
		c.PagePort = 22
	}
	if c.LogDisk == "" {
		c.LogDisk = "log"
	}
	if c.Unacknowledged <= 0 {
		c.Unacknowledged = 1 << 20
	}
	if c.StreamWindow == 0 {
		c.StreamWindow = 1 << 20
	}
	if c.History == 0 {
		c.History = 1 << 20
	}
	if c.Retry <= 0 {
		c.Retry = 2 * time.Millisecond
	}
	if c.Heartbeat <= 0 {
		c.Heartbeat = 50 * time.Millisecond
	}
	if c.Silence <= 0 {
		c.Silence = 4 * c.Heartbeat
	}
	if c.Redo == nil {
		redo := wal.StandardRedo()
		c.Redo = &redo
	}
	return c
}
