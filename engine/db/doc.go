// Package db is what a client sees of a database: one-shot transactions over
// a table of keys, sessions that execute statements on tables, their codec, a
// server for both and a client for each.
//
// # Model
//
// A request is one transaction: Get, Put, CompareAndSet, MultiPut, MultiGet on
// the writer, View on a replica. Requests travel on a connection, one after
// the other, and each gets one response. A value is bytes; no value (nil) is
// an absent row, and writing it deletes.
//
// A session is a connection, from its first batch on. A batch is 1 to 64
// statements, executed one after the other up to the first that fails, and
// answered by one message with a result for each that was executed. Outside a
// transaction block each statement is a transaction; Begin opens a block, and
// Commit or Rollback ends it. Rows are typed values (engine/row).
//
// # Promises
//
//	D1  An outcome is Committed, Aborted or Unknown. Aborted means that the
//	    transaction has not happened and never will. What a client cannot know
//	    is Unknown, never a failure.
//	D2  A request or batch belongs to one boot of its server: the connection dies
//	    with the boot, so that no request reaches a later one.
//	D3  A message is length-checked, versioned and has a CRC-32C. A corrupt one
//	    gives an error that names the field, and breaks the connection; what
//	    was asked and not answered is then Unknown.
//	D4  A token is the LSN of a commit: that of the transaction for a write,
//	    that of the last commit in the snapshot for a read. A View with a token
//	    shows that commit or says that it is behind.
//	D5  A server whose backend does not serve refuses connections and requests;
//	    once it has stopped serving it breaks its connections.
//	D6  A session ends with its connection, however that ends: what is open is
//	    rolled back. A statement that waits for a lock is cancelled then.
//	D7  A statement that fails leaves no change. In a block it makes the block
//	    fail: all but Rollback, RollbackTo and Commit is refused, and Commit
//	    rolls back (as in PostgreSQL). A failed statement outside a block is a
//	    transaction that is Aborted, or Unknown (code storage).
//	D8  A batch without an answer is Unknown if it may have committed anything: a
//	    Commit in a block, or a change outside one. Else its transaction is
//	    Aborted, by D6. A batch that makes no sense is not sent.
//	D9  An answer has bounds (MaxMessage, 65,536 values). A result that meets
//	    them is cut, says so (More), holds at least one row, and gives the
//	    position to go on from. Parts of a scan see one snapshot at repeatable
//	    read, and each its own at read committed.
//
// # Not promised
//
//   - That a request is answered in bounded time: that is the client's
//     time-out, after which the connection is given up.
//   - That a write with an Unknown outcome has ended: it may commit as long as
//     the boot lives.
//   - Authentication, and pipelining: a client waits for each answer. A session
//     whose client does not is ended.
//   - Prepared statements, and SQL: a statement names table, index and columns.
//
// # Departures from PostgreSQL
//
//   - Begin within a block, Commit or Rollback without one, are errors, not
//     warnings.
//   - Serializable is refused (code not supported), never weakened.
//   - Positions to go on from take the place of cursors.
//
// Reading route: types.go, codec.go, server.go, client.go; then stmt.go,
// stmtcheck.go, result.go, session.go, conn.go, calls.go, stmtcodec.go,
// resultcodec.go.
package db
