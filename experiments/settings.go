package experiments

import (
	"time"

	"tornpage/engine/buffer"
	"tornpage/engine/compute"
	"tornpage/engine/local"
	"tornpage/engine/remote"
	"tornpage/engine/table"
	"tornpage/engine/vacuum"
	"tornpage/faults"
	"tornpage/sim/simdisk"
)

// Settings is all that the scenario and config lines of a plan may say. The
// defaults are in parse; "tornpage list" prints them with their meaning.
type Settings struct {
	// The scenario line.
	Clients int           // clients, each a process on a machine of its own
	Ops     int           // operations in all
	Keys    int64         // rows of the table
	Group   int64         // consecutive keys that are read and written together
	Think   time.Duration // longest pause of a client between two operations
	Writes  int64         // percent of operations that write
	Groups  bool          // every write is of a group of keys and meant to commit
	Horizon time.Duration // when faults end at the latest
	Timeout time.Duration // how long a client waits for an answer

	// The config line.
	Compute compute.Config
	Local   local.Config
	Remote  remote.Config
	Disk    simdisk.Config
	Cores   int
	Tree    int  // entries of an index page
	Fill    int  // fill factor of tables and indexes, percent
	Value   int  // bytes of a value
	Fixed   bool // every value has all of them
}

// parse reads and checks the two lines of a plan.
func parse(p faults.Plan) (Settings, error) {
	var s Settings
	v := faults.NewValues("scenario", p.Params)
	s.Clients = int(v.Int("clients", 4, 1, 64))
	s.Ops = int(v.Int("ops", 300, 1, 1_000_000))
	s.Keys = v.Int("keys", 48, 1, 1_000_000)
	s.Group = v.Int("group", 3, 1, 64)
	s.Think = v.Duration("think", 40*time.Millisecond, 0, time.Minute)
	s.Writes = v.Int("writes", 50, 0, 100)
	s.Groups = v.Choice("mix", "all", "all", "groups") == "groups"
	s.Horizon = v.Duration("horizon", time.Second, 0, time.Hour)
	s.Timeout = v.Duration("timeout", 150*time.Millisecond, time.Millisecond, time.Minute)
	if err := v.Err(); err != nil {
		return s, err
	}
	return s, s.parseConfig(faults.NewValues("config", p.Config))
}

func (s *Settings) parseConfig(v *faults.Values) error {
	s.Value = int(v.Int("value.bytes", 24, 8, 2000))
	s.Fixed = v.Bool("value.fixed", false)
	s.Cores = int(v.Int("cores", 2, 1, 64))
	s.Compute = compute.Config{
		Rows: s.Keys, ValueBytes: s.Value,
		RowsPerPage: v.Int("rows.per-page", 2, 0, 400),
		Lines:       int(v.Int("heap.lines", 24, 0, 1000)),
		Pool:        buffer.Config{Frames: int(v.Int("pool.pages", 8, 4, 1<<20))},
		XIDBatch:    uint32(v.Int("xid.batch", 64, 1, 1<<20)),
		StatusCache: int(v.Int("status.cache", 64, 1, 1<<20)),
	}
	s.parseTables(v)
	s.Local = local.Config{
		WALBuffer:         int(v.Bytes("wal.buffer", 32<<10, 8<<10, 1<<30)),
		SegmentSize:       uint32(v.Bytes("wal.segment", 32<<10, 16<<10, 1<<30)),
		SegmentsKept:      int(v.Int("wal.kept", 2, 0, 1<<20)),
		CheckpointRecords: uint64(v.Int("checkpoint.records", 120, 0, 1<<40)),
		CheckpointBytes:   uint64(v.Bytes("checkpoint.bytes", 0, 0, 1<<40)),
		CheckpointTarget:  uint64(v.Int("checkpoint.target", 90, 0, 100)),
		FullPageWrites:    v.Bool("fpw", true),
		Checksums:         v.Bool("checksums", true),
		RedoPages:         int(v.Int("redo.pages", 16, 2, 1<<20)),
		TrustCache:        v.Bool("trust-cache", false),
	}
	s.Local.SpaceRetry = 20 * time.Millisecond
	if v.Bool("reserve", false) {
		s.Local.Reserve(s.Compute.Pool.Frames)
	}
	s.Remote = remote.Config{
		Unacknowledged: int(v.Bytes("remote.unacknowledged", 64<<10, 1<<10, 1<<30)),
		StreamWindow:   uint64(v.Bytes("remote.window", 64<<10, 1<<10, 1<<30)),
		History:        uint64(v.Bytes("remote.history", 64<<10, 0, 1<<40)),
		Retry:          v.Duration("remote.retry", 2*time.Millisecond, time.Microsecond, time.Second),
	}
	profile, err := simdisk.ProfileByName(v.Choice("disk.profile", "fast", simdisk.Profiles()...))
	if err != nil {
		return err
	}
	s.Disk = simdisk.Config{
		Sector:     int(v.Bytes("disk.sector", 512, 512, 8192)),
		Size:       v.Bytes("disk.size", 0, 0, 1<<50),
		CachePages: int(v.Int("disk.cache", 0, 0, 1<<30)),
		Profile:    profile,
	}
	if err := v.Err(); err != nil {
		return err
	}
	return s.Disk.Check()
}

// parseTables reads what tables with indexes have, beyond the thin one.
func (s *Settings) parseTables(v *faults.Values) {
	s.Tree = int(v.Int("tree.items", 4, 0, 400))
	s.Fill = int(v.Int("fill", 0, 0, 100))
	s.Compute.Tables = table.Config{
		LinesPerPage: s.Compute.Lines, ItemsPerPage: s.Tree,
		Vacuum: vacuum.Config{
			DeadTIDs: int(v.Int("vacuum.dead", 8, 0, 1<<23)), BypassPercent: -1, SkipRun: 1,
			TruncateBlocks: 1, TruncateFraction: 1 << 20, LockTries: 3, LockWait: 2 * time.Millisecond,
			CostDelay: v.Duration("vacuum.delay", 0, 0, time.Second), CostLimit: int(v.Int("vacuum.limit", 20, 1, 10_000)),
		},
	}
	s.Compute.Auto = compute.AutoConfig{
		Naptime: v.Duration("vacuum.nap", 100*time.Millisecond, time.Millisecond, time.Hour),
		Policy: vacuum.Policy{Threshold: uint64(v.Int("vacuum.threshold", 10, 1, 1<<30)), Percent: 5,
			InsertThreshold: v.Int("vacuum.inserts", 20, 1, 1<<30), InsertPercent: 5},
	}
	s.Compute.Writer = buffer.WriterConfig{
		Delay:    v.Duration("writer.delay", 10*time.Millisecond, time.Microsecond, time.Hour),
		MaxPages: int(v.Int("writer.pages", 4, 1, 1<<20)),
	}
}

// tableDims are the dimensions of tables with indexes.
func tableDims() []faults.Dim {
	return []faults.Dim{
		{Key: "pool.pages", Values: []string{"8", "12"}},
		{Key: "heap.lines", Values: []string{"4", "8", "16"}},
		{Key: "tree.items", Values: []string{"4", "3", "8"}},
		{Key: "fill", Values: []string{"0", "50"}},
		{Key: "value.bytes", Values: []string{"24", "200", "900"}},
		{Key: "vacuum.nap", Values: []string{"50ms", "10ms", "300ms"}},
		{Key: "vacuum.threshold", Values: []string{"10", "1", "100"}},
		{Key: "vacuum.dead", Values: []string{"8", "1", "1000"}},
		{Key: "vacuum.delay", Values: []string{"0s", "1ms"}},
		{Key: "writer.delay", Values: []string{"10ms", "1ms", "10s"}},
		{Key: "xid.batch", Values: []string{"4", "64"}},
		{Key: "status.cache", Values: []string{"4", "64"}},
		{Key: "cores", Values: []string{"1", "2", "4"}},
	}
}

// configDims are the dimensions of the engine that seeds vary, the tiniest
// first. With the keys of scenarioDims the pool is never more than a quarter
// of the table.
func configDims() []faults.Dim {
	return []faults.Dim{
		{Key: "pool.pages", Values: []string{"4", "6"}},
		{Key: "rows.per-page", Values: []string{"1", "2"}},
		{Key: "value.bytes", Values: []string{"24", "200", "900"}},
		{Key: "heap.lines", Values: []string{"8", "24", "60"}},
		{Key: "xid.batch", Values: []string{"4", "64"}},
		{Key: "status.cache", Values: []string{"4", "64"}},
		{Key: "cores", Values: []string{"1", "2", "4"}},
	}
}

// scenarioDims are the dimensions of the load.
func scenarioDims() []faults.Dim {
	return []faults.Dim{
		{Key: "clients", Values: []string{"4", "2", "8"}},
		{Key: "keys", Values: []string{"48", "96"}},
		{Key: "writes", Values: []string{"50", "80"}},
	}
}

// localDims are those of storage local.
func localDims() []faults.Dim {
	return []faults.Dim{
		{Key: "wal.buffer", Values: []string{"8KiB", "16KiB", "64KiB"}},
		{Key: "wal.segment", Values: []string{"16KiB", "32KiB", "64KiB"}},
		{Key: "wal.kept", Values: []string{"2", "0", "4"}},
		{Key: "checkpoint.records", Values: []string{"40", "120", "400"}},
		{Key: "checkpoint.target", Values: []string{"0", "90"}},
		{Key: "reserve", Values: []string{"off", "on"}},
		{Key: "redo.pages", Values: []string{"2", "4", "16"}},
		{Key: "disk.sector", Values: []string{"512", "4096"}},
		{Key: "disk.cache", Values: []string{"0", "32"}},
		{Key: "disk.profile", Values: []string{"fast", "nvme", "gp3"}},
	}
}
