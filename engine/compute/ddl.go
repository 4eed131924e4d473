package compute

import (
	"fmt"

	"tornpage/engine/db"
	"tornpage/engine/page"
	"tornpage/engine/row"
	"tornpage/engine/table"
	"tornpage/engine/txn"
)

// Definitions change in transactions of their own, one after the other
// (Engine.ddl). PostgreSQL allows them within others.

// createTable makes a table with its indexes.
func (e *Engine) createTable(def *row.Table) (db.Outcome, error) {
	if err := def.Validate(); err != nil {
		return db.Outcome{}, err
	}
	e.ddl.Lock()
	defer e.ddl.Unlock()
	if e.catalog.tables[def.Name] != nil {
		return db.Outcome{}, fmt.Errorf("%w: table %q", errTaken, def.Name)
	}
	if n := len(e.catalog.tables); n >= e.cfg.MaxTables {
		return db.Outcome{}, fmt.Errorf("%w: %d, which is the limit; drop some, or put rows of several into one", errTables, n)
	}
	rels, err := e.newRels(1 + len(def.Indexes))
	if err != nil {
		return db.Outcome{}, err
	}
	r := table.Rels{Heap: rels[0], Indexes: rels[1:], From: make([]db.Token, len(def.Indexes))}
	t := table.Open(e.env(), def, r, e.cfg.Tables)
	if err := t.CreateIndexes(); err != nil {
		return db.Outcome{}, err
	}
	return e.changeCatalog(func(x *txn.Xact) error {
		return e.catalog.rows.Insert(x, encodeEntry(def, r))
	}, func(db.Token) {
		e.install(def, r)
		e.m.Mark("compute.table-created")
	})
}

func (e *Engine) newRels(n int) ([]page.Rel, error) {
	var rels []page.Rel
	for range n {
		r, err := e.freeRel()
		if err != nil {
			return nil, err
		}
		rels = append(rels, r)
	}
	return rels, nil
}

// changeCatalog runs f as a transaction and commits it. done is called when the
// commit is published and the transaction's locks are still held.
func (e *Engine) changeCatalog(f func(x *txn.Xact) error, done func(lsn db.Token)) (db.Outcome, error) {
	x, err := e.txns.Start(txn.ReadCommitted)
	if err != nil {
		return db.Outcome{}, err
	}
	x.Statement()
	if err := f(x); err != nil {
		e.endFailed(x)
		return db.Outcome{}, err
	}
	x.EndStatement()
	return e.commitXact(x, done), nil
}

// endFailed ends a transaction of which a statement has failed.
func (e *Engine) endFailed(x *txn.Xact) {
	if e.failed != nil {
		x.Abandon()
		return
	}
	e.abortXact(x)
}

// createIndex makes an index on a table, from the rows that it has. Writers of
// the table wait.
func (e *Engine) createIndex(name string, def *row.Index) (db.Outcome, error) {
	e.ddl.Lock()
	defer e.ddl.Unlock()
	t, err := e.table(name)
	if err != nil {
		return db.Outcome{}, err
	}
	if t.Def().Index(def.Name) != nil {
		return db.Outcome{}, fmt.Errorf("%w: index %q of table %q", errTaken, def.Name, name)
	}
	grown := *t.Def()
	grown.Indexes = append(append([]row.Index(nil), grown.Indexes...), *def)
	if err := grown.Validate(); err != nil {
		return db.Outcome{}, err
	}
	rel, err := e.freeRel()
	if err != nil {
		return db.Outcome{}, err
	}
	var added *table.Addition
	o, err := e.changeCatalog(func(x *txn.Xact) error {
		var err error
		if added, err = t.AddIndex(x, &grown, rel); err != nil {
			return err
		}
		rels := t.Rels()
		sets := encodeEntry(&grown, rels)
		_, err = e.catalog.rows.Update(x, "", sets[:1], []table.Set{
			{Column: catalogTrees, Value: sets[catalogTrees]}, {Column: catalogDef, Value: sets[catalogDef]},
		})
		return err
	}, func(lsn db.Token) {
		added.Done(lsn)
		added = nil
		e.m.Mark("compute.index-created")
	})
	if added != nil {
		added.Undo()
	}
	return o, err
}

// dropTable removes a table. Its pages are given up after the commit; a crash
// in between leaves them to nobody.
func (e *Engine) dropTable(name string) (db.Outcome, error) {
	e.ddl.Lock()
	defer e.ddl.Unlock()
	t, err := e.table(name)
	if err != nil {
		return db.Outcome{}, err
	}
	o, err := e.changeCatalog(func(x *txn.Xact) error {
		if err := t.Lock(x, txn.AccessExclusive); err != nil {
			return err
		}
		_, err := e.catalog.rows.Delete(x, "", []row.Value{row.NewText(name)})
		return err
	}, func(db.Token) {
		t.Drop()
		delete(e.catalog.tables, name)
		e.m.Mark("compute.table-dropped")
	})
	return o, err
}
