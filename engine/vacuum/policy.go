package vacuum

// Counters are what is known of a table since its last vacuum, in row
// versions. They are kept in memory: a boot starts with zeros, as PostgreSQL
// does after a crash.
type Counters struct {
	Live     uint64 // estimate of the live rows
	Dead     uint64 // versions that vacuum could remove, now or soon
	Inserted uint64 // rows inserted since the last vacuum, those of aborted transactions included
	Pages    uint32 // blocks of the table at the last vacuum
}

// Ended counts what a transaction that has ended did to the table
// (AtEOXact_PgStat_Relations).
func (c *Counters) Ended(inserted, updated, deleted uint64, committed bool) {
	c.Inserted += inserted
	if committed {
		c.Live += inserted
		c.Live -= min(c.Live, deleted)
		c.Dead += updated + deleted
		return
	}
	c.Dead += inserted + updated
}

// Pruned counts versions that went without a vacuum.
func (c *Counters) Pruned(n uint64) { c.Dead -= min(c.Dead, n) }

// Vacuumed takes over what a vacuum that has ended found. Blocks that it
// skipped are taken to hold what the table's blocks held on average before
// (vac_estimate_reltuples).
func (c *Counters) Vacuumed(s Stats) {
	live := s.Live
	if skipped := s.Blocks - min(s.Blocks, s.Scanned); skipped > 0 && c.Pages > 0 {
		live += c.Live * uint64(skipped) / uint64(c.Pages)
	}
	*c = Counters{Live: live, Dead: s.Recent + s.LeftDead, Pages: s.Blocks - s.Truncated}
}

// Policy says when autovacuum is due. The zero value has PostgreSQL's numbers.
type Policy struct {
	// Threshold is the number of dead versions below which nothing is done; 0:
	// 50 (autovacuum_vacuum_threshold).
	Threshold uint64
	// Percent of the live rows is added to Threshold; 0: 20
	// (autovacuum_vacuum_scale_factor 0.2); negative: none.
	Percent int64
	// InsertThreshold and InsertPercent say the same of rows inserted, so that
	// tables that only grow get a visibility map; 0: 1,000 and 20
	// (autovacuum_vacuum_insert_threshold and _scale_factor). InsertThreshold
	// negative: inserts alone are no reason.
	InsertThreshold int64
	InsertPercent   int64
}

// Due reports that a table with these counters wants a vacuum. More than the
// bound is wanted, not the bound itself (relation_needs_vacanalyze).
func (p Policy) Due(c Counters) bool {
	dead := orDefault(p.Threshold, 50) + share(c.Live, p.Percent)
	if c.Dead > dead {
		return true
	}
	if p.InsertThreshold < 0 {
		return false
	}
	return c.Inserted > uint64(orDefault(p.InsertThreshold, 1000))+share(c.Live, p.InsertPercent)
}

// share is so many hundredths of rows.
func share(rows uint64, percent int64) uint64 {
	percent = orDefault(percent, 20)
	if percent < 0 {
		return 0
	}
	// Divided first: rows times percent could overflow for what a broken
	// counter says.
	return rows/100*uint64(percent) + rows%100*uint64(percent)/100
}

// orDefault is v, or d where v is zero.
func orDefault[T int | int64 | uint32 | uint64](v, d T) T {
	if v == 0 {
		return d
	}
	return v
}
