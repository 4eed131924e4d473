// Package compute is the writer, over any engine.Storage: it joins access
// methods, buffer pool, transactions and the commit queue, and serves the
// client seam (db.Backend and db.Sessions).
//
// # Model
//
// There are two kinds of tables. The thin table, always there, has keys 0 to
// Rows-1 with a value each, on pages computed from the key, and one-shot
// requests. With Config.Relational there are also tables with columns and
// indexes (package table), a catalog of them, sessions with transactions,
// autovacuum and a background writer. They share everything below.
//
// An Engine lives for one boot: New, Open, then transactions, until something
// fails. Each change of a page is one mini-transaction, which is one log
// record: under the page's exclusive latch the page is marked dirty and
// changed, the record is described and built (images are decided from
// storage's Floor), CPU time is paid, and storage appends it and stamps the
// page. If the floor has moved meanwhile the record is built again.
//
//	Put: lock the row, take an XID, change the row's page, commit.
//	Commit: append the commit record, which changes the status page; enter the
//	commit queue; once published, unlock the rows and answer.
//
//	Statement: lock the table; take the statement's snapshot; find rows by an
//	index or in the heap; lock the row; change it and its index entries.
//
// # Rules
//
//	C1  Cold pages, and transaction statuses that are not cached, are fetched
//	    without latches and pins; whoever needs them starts over with the page.
//	C2  A task holds one page pin at a time, so that pools of any size make
//	    progress (B7).
//	C3  Admit is called without latches, before each mini-transaction.
//	C4  What is read is published state: nobody sees a commit that a crash
//	    could still lose.
//	C5  If a commit record was appended and its end is not known, the outcome
//	    is Unknown; if none was appended, it is Aborted.
//	C6  The first error of Append, Admit or WaitDurable ends the boot: nothing
//	    is committed, read from pages or written to storage after it.
//	C7  A writer that finds no room on a page gives up latch, pin and snapshot
//	    before it waits: the page gets room as others end, and readers never
//	    wait for writers.
//	C8  A session has at most one transaction. A statement that fails fails it,
//	    and only its rollback, or one to a savepoint, is left.
//	C9  A table or an index is known to others once the transaction that made
//	    it is published, and before its locks are given up. Definitions change
//	    one at a time, in transactions of their own.
//	C10 A relation's number is taken if a table has it or if it has a page:
//	    what a creation that did not commit leaves behind is never taken for
//	    another relation's.
//
// # Not promised
//
//   - That reads are the latest once a newer writer has fenced this one: a
//     writer learns of that only from storage, at its next commit.
//   - Fairness between writers that wait for room on one page.
//
// # Departures from PostgreSQL
//
//   - CREATE and DROP run in no transaction block. The catalog is one table
//     with one row a table, and a handle of each in memory; a dropped table's
//     pages, and those of a creation that failed, are not given back.
//   - A transaction's changes are one record a row, as there; several rows are
//     not changed under one hold of latches, since a record describes one
//     change.
//   - Deleting an absent row commits, with a commit record: every committed
//     write then has a commit LSN of its own.
//
// Reading route: config.go, engine.go, log.go; read.go, write.go, commit.go,
// serve.go for the thin table; session.go, statement.go, xact.go, catalog.go,
// ddl.go, auto.go, errors.go for tables.
package compute
