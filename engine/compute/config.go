package compute

import (
	"tornpage/engine/buffer"
	"tornpage/engine/heap"
	"tornpage/engine/host"
	"tornpage/engine/page"
	"tornpage/engine/table"
	"tornpage/engine/txn"
	"tornpage/engine/wal"
)

// DefaultRel is the first file number of users' relations (PostgreSQL's
// FirstNormalObjectId).
const DefaultRel page.Rel = 16384

// Config sizes an engine. Every field is a dimension that seeds may vary.
type Config struct {
	Rel         page.Rel      // the table; 0: DefaultRel
	Rows        int64         // keys 0 to Rows-1; 0: 64
	RowsPerPage int64         // 0: as many as fit in two versions of the largest size
	ValueBytes  int           // the longest value; 0: 200
	Lines       int           // line pointers a page may have before it is pruned; 0: as many as fit
	Pool        buffer.Config // the page pool; small ones make evictions common
	XIDBatch    uint32        // XIDs a logged horizon reserves; 0: 1,024
	StatusCache int           // statuses of ended transactions kept at hand; 0: 262,144

	// Relational opens the catalog: sessions can have tables. Without it there
	// is the thin table only, and the log has no record of anything else.
	Relational bool
	MaxTables  int          // of one data set: each has a handle in memory; 0: 10,000
	Tables     table.Config // how rows and entries lie on pages, and vacuum
	Locks      txn.Config   // bounds of a transaction
	Auto       AutoConfig   // autovacuum
	// Writer is the background writer's, which runs if Relational is set and
	// Delay is not negative.
	Writer buffer.WriterConfig

	// Troubled, if set, is told of errors that end background work and nothing
	// else: an autovacuum that met a damaged page. It must not block.
	Troubled func(err error)

	// Published, if set, is told of every commit as it becomes visible. It
	// must not block.
	Published func(xid uint32, lsn wal.LSN)
}

// Table is the configuration with its defaults filled in, and how the table
// lies on its pages: what a replica of the engine needs to know.
func (c Config) Table() (Config, heap.Geometry, error) { return c.withDefaults() }

func (c Config) withDefaults() (Config, heap.Geometry, error) {
	if c.Rel == 0 {
		c.Rel = DefaultRel
	}
	if c.Rows == 0 {
		c.Rows = 64
	}
	if c.ValueBytes == 0 {
		c.ValueBytes = 200
	}
	if c.MaxTables == 0 {
		c.MaxTables = 10_000
	}
	g, err := heap.NewGeometry(c.Rows, c.RowsPerPage, c.ValueBytes)
	if c.Lines > 0 {
		g.Bound(c.Lines)
	}
	return c, g, err
}

// Stats counts what an engine did since Open.
type Stats struct {
	Committed  uint64 // transactions that wrote, published
	Aborted    uint64 // transactions that ended with an abort record
	Mismatched uint64 // compare-and-sets that wrote nothing
	Reads      uint64 // reading transactions
	Records    uint64 // log records
	LogBytes   uint64 // their bytes, without what storage puts around them
	Images     uint64 // full-page images in them
	Rebuilt    uint64 // records built again because the floor had moved
	Pruned     uint64 // prunings
	PageFull   uint64 // waits for room on a page
	LockWaits  uint64 // waits for a row lock
	Grouped    uint64 // commits that another one's wait made durable
	Horizons   uint64 // XID horizons logged
	StatusRead uint64 // transaction statuses read from pages
	Pool       buffer.Stats
}

// epoch2000 is 2000-01-01 UTC in microseconds since 1970: the zero of
// PostgreSQL's TimestampTz.
const epoch2000 = 946684800 * 1e6

// wall is the machine's idea of the date as a TimestampTz.
func wall(m host.Machine) int64 { return m.Wall().UnixMicro() - epoch2000 }
