package vacuum

import "time"

// Config says how much a vacuum does, and how fast. The zero value has
// PostgreSQL 15's numbers, and no delay.
type Config struct {
	// All looks at every block, also at those that the visibility map calls
	// all-visible (DISABLE_PAGE_SKIPPING).
	All bool
	// SkipRun is how many all-visible blocks in a row are worth skipping; 0: 32
	// (SKIP_PAGES_THRESHOLD: reading on is cheaper than a gap).
	SkipRun uint32
	// DeadTIDs is how many dead line pointers are remembered at once, of 8 bytes
	// each; more make further rounds over the indexes. 0: 8 Mi, which is
	// PostgreSQL's maintenance_work_mem of 64 MiB. One block's are always taken
	// whole, which may exceed it.
	DeadTIDs int
	// BypassPercent: when dead line pointers lie on less than so many hundredths
	// of the blocks, they are left to a later vacuum, since each index would be
	// read for them. 0: 2 (BYPASS_THRESHOLD_PAGES); negative: never.
	BypassPercent int
	// NoTruncate keeps the empty tail.
	NoTruncate bool
	// TruncateBlocks and TruncateFraction: the tail is cut if so many of its
	// blocks are empty, or the relation's number divided by the fraction. 0:
	// 1,000 (REL_TRUNCATE_MINIMUM) and 16 (REL_TRUNCATE_FRACTION).
	TruncateBlocks   uint32
	TruncateFraction uint32
	// LockTries and LockWait: how often the table lock is tried for the cut, and
	// how long is waited in between. 0: 100 and 50 ms
	// (VACUUM_TRUNCATE_LOCK_TIMEOUT, _LOCK_WAIT_INTERVAL).
	LockTries int
	LockWait  time.Duration
	// CostDelay is the rest after each CostLimit of cost; 0: none
	// (vacuum_cost_delay; autovacuum's own is 2 ms).
	CostDelay time.Duration
	// CostLimit, and the cost of a block that was in the pool, of one that was
	// read, and of one that became dirty. 0: 200, 1, 2, 20 (vacuum_cost_*).
	CostLimit, CostHit, CostMiss, CostDirty int
}

// withDefaults puts in the numbers for the zeros.
func (c Config) withDefaults() Config {
	c.SkipRun = orDefault(c.SkipRun, 32)
	c.DeadTIDs = max(1, orDefault(c.DeadTIDs, 8<<20))
	c.BypassPercent = orDefault(c.BypassPercent, 2)
	c.TruncateBlocks = orDefault(c.TruncateBlocks, 1000)
	c.TruncateFraction = orDefault(c.TruncateFraction, 16)
	c.LockTries = orDefault(c.LockTries, 100)
	c.CostLimit = max(1, orDefault(c.CostLimit, 200))
	c.CostHit = orDefault(c.CostHit, 1)
	c.CostMiss = orDefault(c.CostMiss, 2)
	c.CostDirty = orDefault(c.CostDirty, 20)
	if c.LockWait == 0 {
		c.LockWait = 50 * time.Millisecond
	}
	return c
}

// pause is how long to rest for a balance of cost, and the balance that is
// left (vacuum_delay_point). At most four delays: an index vacuum or a slow
// read must not be followed by a rest of seconds.
func (c *Config) pause(balance int) (rest time.Duration, left int) {
	if c.CostDelay <= 0 || balance < c.CostLimit {
		return 0, balance
	}
	rest = c.CostDelay * time.Duration(balance) / time.Duration(c.CostLimit)
	return min(rest, 4*c.CostDelay), 0
}
