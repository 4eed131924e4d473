// Package db is what a client sees of a database: one-shot transactions over
// a table of keys, their codec, a server for them and a client.
//
// # Model
//
// A request is one transaction: Get, Put, CompareAndSet, MultiPut, MultiGet on
// the writer, View on a replica. Requests travel on a connection, one after
// the other, and each gets one response. A value is bytes; no value (nil) is
// an absent row, and writing it deletes.
//
// # Promises
//
//	D1  An outcome is Committed, Aborted or Unknown. Aborted means that the
//	    transaction has not happened and never will. What a client cannot know
//	    is Unknown, never a failure.
//	D2  A request belongs to one boot of its server: the connection dies with
//	    the boot, so that no request reaches a later one.
//	D3  A message is length-checked, versioned and has a CRC-32C. A corrupt one
//	    gives an error that names the field, and breaks the connection; what
//	    was asked and not answered is then Unknown.
//	D4  A token is the LSN of a commit: that of the transaction for a write,
//	    that of the last commit in the snapshot for a read. A View with a token
//	    shows that commit or says that it is behind.
//	D5  A server whose backend does not serve refuses connections and requests;
//	    once it has stopped serving it breaks its connections.
//
// # Not promised
//
//   - That a request is answered in bounded time: that is the client's
//     time-out, after which the connection is given up.
//   - That a write with an Unknown outcome has ended: it may commit as long as
//     the boot lives.
//   - Authentication, pipelining, sessions with several statements.
//
// Reading route: types.go, codec.go, server.go, client.go.
package db
