package main

// setting is what list says of a key: the value without which a plan runs, and
// what it means. A test holds the defaults against those of experiments.
type setting struct{ value, about string }

var known = map[string]setting{
	// The scenario line.
	"clients": {"4", "clients, each on a machine of its own"},
	"ops":     {"300", "operations in all, before faults end"},
	"keys":    {"48", "rows of the table"},
	"group":   {"3", "consecutive keys read and written together"},
	"think":   {"40ms", "longest pause of a client between operations"},
	"writes":  {"50", "percent of operations that write"},
	"mix":     {"all", "all: writes of every kind; groups: only puts of a group of keys"},
	"horizon": {"1s", "when faults end, if the plan says nothing"},
	"timeout": {"150ms", "how long a client waits for an answer"},

	// The config line: the engine.
	"value.bytes":   {"24", "bytes of a value"},
	"value.fixed":   {"off", "every value has all of its bytes"},
	"cores":         {"2", "cores of the writer's machine"},
	"rows.per-page": {"2", "rows that a page is filled with; 0: as many as fit"},
	"heap.lines":    {"24", "rows and dead versions that fit a page; 0: as many as its bytes allow"},
	"pool.pages":    {"8", "pages of the buffer pool"},
	"xid.batch":     {"64", "transaction numbers logged ahead"},
	"status.cache":  {"64", "transaction statuses remembered"},

	// The engine: tables with indexes.
	"tree.items":       {"4", "entries of an index page; 0: as many as fit"},
	"fill":             {"0", "percent to which pages are filled; 0: 100, and 90 of an index"},
	"vacuum.nap":       {"100ms", "how often autovacuum looks at each table"},
	"vacuum.threshold": {"10", "dead rows, beside 5 %, that make a vacuum due"},
	"vacuum.inserts":   {"20", "inserted rows, beside 5 %, that make one due"},
	"vacuum.dead":      {"8", "dead rows that a vacuum remembers in a round; 0: 8 Mi"},
	"vacuum.delay":     {"0s", "rest of a vacuum when its cost limit is reached"},
	"vacuum.limit":     {"20", "cost after which a vacuum rests"},
	"writer.delay":     {"10ms", "rounds of the background writer"},
	"writer.pages":     {"4", "pages that it writes in a round"},

	// Storage local.
	"wal.buffer":         {"32KiB", "log buffer"},
	"wal.segment":        {"32KiB", "log segment file"},
	"wal.kept":           {"2", "segments kept to be used again"},
	"checkpoint.records": {"120", "records between checkpoints; 0: never by records"},
	"checkpoint.bytes":   {"0", "log bytes between checkpoints; 0: never by bytes"},
	"checkpoint.target":  {"90", "percent of the interval over which pages are written"},
	"fpw":                {"on", "full-page images after a checkpoint"},
	"checksums":          {"on", "checksums of pages"},
	"reserve":            {"off", "space kept on each disk, so that a full one refuses changes and the process goes on"},
	"redo.pages":         {"16", "pages that recovery keeps in memory"},
	"trust-cache":        {"off", "go on after a failed sync"},

	// Storage remote.
	"remote.unacknowledged": {"64KiB", "log that may wait for an acknowledgement"},
	"remote.window":         {"64KiB", "log on its way to one reader of the stream"},
	"remote.history":        {"64KiB", "log for which old pages can be read"},
	"remote.retry":          {"2ms", "pause before a connection is dialled again"},

	// The disks.
	"disk.sector":  {"512", "bytes that a disk writes whole"},
	"disk.size":    {"0", "bytes of a disk; 0: no limit"},
	"disk.cache":   {"0", "pages of the operating system's cache; 0: no limit"},
	"disk.profile": {"fast", "how long a disk takes"},
}
