package db

import "tornpage/engine/row"

// Begin opens a transaction block.
func (c *Conn) Begin(l Level) error {
	c.ask(Begin, "").Level = l
	return c.do()
}

// Commit ends the transaction block. Of a failed one the outcome is Aborted.
func (c *Conn) Commit() Outcome {
	c.ask(Commit, "")
	r, err := c.one(&c.batch)
	if err != nil && r.Outcome == (Outcome{}) { // there was nothing to commit
		return Outcome{Status: Aborted, Why: WhyStatement, Text: err.Error()}
	}
	return r.Outcome
}

// Rollback ends the transaction block, failed or not.
func (c *Conn) Rollback() error {
	c.ask(Rollback, "")
	return c.do()
}

// Savepoint marks a point in the block to which RollbackTo leads back.
func (c *Conn) Savepoint(name string) error { return c.savepoint(Savepoint, name) }

// RollbackTo undoes all since the savepoint, which stays.
func (c *Conn) RollbackTo(name string) error { return c.savepoint(RollbackTo, name) }

// Release forgets a savepoint and those after it, and keeps their changes.
func (c *Conn) Release(name string) error { return c.savepoint(Release, name) }

func (c *Conn) savepoint(k Kind, name string) error {
	c.ask(k, "").Name = name
	return c.do()
}

// CreateTable makes a table with its indexes.
func (c *Conn) CreateTable(def *row.Table) error {
	c.ask(CreateTable, "").Def = def
	return c.do()
}

// CreateIndex makes an index on a table, which may have rows.
func (c *Conn) CreateIndex(table string, def *row.Index) error {
	c.ask(CreateIndex, table).NewIndex = def
	return c.do()
}

// DropTable drops a table and its indexes.
func (c *Conn) DropTable(table string) error {
	c.ask(DropTable, table)
	return c.do()
}

// Insert adds a row.
func (c *Conn) Insert(table string, values ...row.Value) error {
	s := c.ask(Insert, table)
	s.Row = append(s.Row, values...)
	return c.do()
}

// Get reads the first row with a key, nil if there is none; index "" is the
// primary key.
func (c *Conn) Get(table, index string, key ...row.Value) ([]row.Value, error) {
	return c.get(table, index, key, false)
}

// GetForUpdate is Get, and locks the row until the transaction ends.
func (c *Conn) GetForUpdate(table, index string, key ...row.Value) ([]row.Value, error) {
	return c.get(table, index, key, true)
}

func (c *Conn) get(table, index string, key []row.Value, lock bool) ([]row.Value, error) {
	s := c.ask(Get, table)
	s.Index, s.Key, s.ForUpdate, s.Limit = index, append(s.Key, key...), lock, 1
	r, err := c.one(&c.batch)
	if err != nil || r.Rows() == 0 {
		return nil, err
	}
	return r.Row(0), nil
}

// Update changes the row with a key of a unique index, and says how many there
// were: 0 or 1.
func (c *Conn) Update(table, index string, key []row.Value, sets ...Set) (int, error) {
	s := c.ask(Update, table)
	s.Index, s.Key, s.Sets = index, append(s.Key, key...), append(s.Sets, sets...)
	return c.count()
}

// Delete removes the row with a key of a unique index, and says how many there
// were: 0 or 1.
func (c *Conn) Delete(table, index string, key ...row.Value) (int, error) {
	s := c.ask(Delete, table)
	s.Index, s.Key = index, append(s.Key, key...)
	return c.count()
}

// Scan executes a statement that gives rows, asks again as long as there are
// more, and gives each row to each, whose error ends it. At read committed the
// parts have snapshots of their own. each must not use c.
func (c *Conn) Scan(s *Stmt, each func(values []row.Value) error) (rows int, err error) {
	next := *s
	for {
		r, err := c.Exec(&next)
		for i := range r.Rows() {
			if err := each(r.Row(i)); err != nil {
				return rows, err
			}
			rows++
		}
		if err != nil || !r.More || s.Limit > 0 && rows >= s.Limit {
			return rows, err
		}
		c.after = append(c.after[:0], r.Next...)
		next.After = c.after
		if s.Limit > 0 {
			next.Limit = s.Limit - rows
		}
	}
}

// Vacuum vacuums a table and its indexes.
func (c *Conn) Vacuum(table string) error {
	c.ask(Vacuum, table)
	return c.do()
}

// Check checks a table and its indexes, and gives what it finds: nothing, if
// all is well.
func (c *Conn) Check(table string) (findings []string, err error) {
	_, err = c.Scan(&Stmt{Kind: Check, Table: table}, func(v []row.Value) error {
		findings = append(findings, string(v[0].B))
		return nil
	})
	return findings, err
}
